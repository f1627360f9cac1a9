//! The Lua texts that are sent to the server, whole and as they are.
//!
//! Each is made of rule files and a driver file, concatenated at compile time; every file states its
//! keys, arguments, reply and units in its head. They are public so that a model of the server can run
//! the very text that a real server runs.
//!
//! The first-arrival window has small scripts of its own for the most common call: one charge, without
//! request id or refunds. All else is decided by scripts that know every rule. Rule files use plain
//! names, so there each is wrapped in a function, which is called when its rule is first needed.
//!
//! # Why an error says what it says
//!
//! Lua does not roll back: what a script has written stays when it fails. So every script reads and
//! judges everything, state of another type included, before it writes at all; what is left to fail is
//! the server's own refusal. A server that is out of memory, read-only, short of replicas or unable to
//! persist refuses the *first* write; none of these begins in the middle of a script. Later writes fail
//! only where a user may run some of the commands and not others, or where a command was renamed away.
//! Such an error is told apart by its code: `NOTWRITTEN` where the first write failed and
//! `HALFWRITTEN` where a later one did, which is *uncertain* for the caller.

/// A rule, as a function that makes it.
macro_rules! maker {
    ($form:literal $(, $before:literal)*; $($file:literal),+) => {
        concat!(
            "makers['", $form, "'] = function()\n",
            $($before, "\n",)*
            $(include_str!(concat!("lua/", $file, ".lua")),)+
            "end\n\n"
        )
    };
}

macro_rules! rules {
    () => {
        concat!(
            include_str!("lua/common.lua"),
            maker!("first-arrival"; "first_arrival", "first_arrival_general"),
            maker!("first-arrival-refundable", "local aligned = false"; "refundable"),
            maker!("aligned"; "first_arrival", "aligned"),
            maker!("aligned-refundable", "local aligned = true"; "refundable"),
            maker!("rolling"; "rolling"),
            maker!("token-bucket"; "token_bucket"),
            maker!("in-flight"; "in_flight")
        )
    };
}

/// Decides one charge on a first-arrival window, and applies it if it is admitted.
///
/// One key; arguments limit (units), cost (units), length (milliseconds); the reply is an array of
/// three. At most three Redis commands, of which at most one, the last, writes.
pub const ACQUIRE_FIRST_ARRIVAL: &str = include_str!("lua/acquire.lua");

/// Decides up to 64 charges on first-arrival windows, each for itself.
///
/// As many keys as there are distinct budgets; arguments and reply are lists that the text describes.
/// Each budget is read once, and written at most once. It is the one script that writes more than once
/// without being all or nothing: nothing in it raises an error after a write.
pub const ACQUIRE_BATCH: &str = concat!(
    include_str!("lua/first_arrival.lua"),
    include_str!("lua/acquire_batch.lua")
);

/// Looks at a first-arrival window and changes nothing. One key; no arguments; the reply is an
/// array of three.
pub const PEEK_FIRST_ARRIVAL: &str = concat!(
    include_str!("lua/first_arrival.lua"),
    include_str!("lua/peek.lua")
);

/// Decides one to sixteen charges of any rules, under a request id if there is one.
pub const ACQUIRE: &str = concat!(
    rules!(),
    include_str!("lua/record.lua"),
    include_str!("lua/acquire_all.lua")
);

/// Looks at one budget of any rule and changes nothing.
pub const PEEK: &str = concat!(rules!(), include_str!("lua/peek_any.lua"));

/// Gives back one charge.
pub const REFUND: &str = concat!(
    rules!(),
    include_str!("lua/record.lua"),
    include_str!("lua/refund.lua")
);

/// Extends a lease.
pub const RENEW: &str = concat!(
    include_str!("lua/common.lua"),
    maker!("in-flight"; "in_flight"),
    include_str!("lua/renew.lua")
);
