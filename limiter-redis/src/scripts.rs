//! The Lua texts that are sent to the server, whole and as they are.
//!
//! Each is a rule file followed by a driver file, concatenated at compile time; every file states
//! its keys, arguments, reply and units in its head. They are public so that a model of the server
//! can run the very text that a real server runs.

/// Decides one charge on a first-arrival window, and applies it if it is admitted.
///
/// One key; arguments limit (units), cost (units), length (milliseconds); the reply is an array of
/// three. At most three Redis commands, of which at most one, the last, writes.
pub const ACQUIRE_FIRST_ARRIVAL: &str = concat!(
    include_str!("lua/first_arrival.lua"),
    include_str!("lua/acquire.lua")
);

/// Looks at a first-arrival window and changes nothing. One key; no arguments; the reply is an
/// array of three.
pub const PEEK_FIRST_ARRIVAL: &str = concat!(
    include_str!("lua/first_arrival.lua"),
    include_str!("lua/peek.lua")
);
