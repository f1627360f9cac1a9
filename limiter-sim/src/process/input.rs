//! What can cross the seam into a process.

use crate::server::Reply;

/// Numbers a process's requests and timers in the order in which they were made.
pub(crate) type Ticket = u32;

/// Something that a process learned from outside.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Input {
    /// A client begins an attempt.
    Start { client: usize, attempt: u32 },
    /// The server's reply to a request.
    Reply { ticket: Ticket, reply: Reply },
    /// The connection's own error in place of a reply.
    Broken { ticket: Ticket, why: Break },
    /// A timer went off.
    Fired { timer: Ticket },
    /// The clock was read and showed this, in milliseconds.
    Clock(u64),
}

/// How a connection failed a request. The client sees an I/O error either way, and cannot tell
/// whether the server executed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Break {
    /// No reply came within the connection's response deadline.
    TimedOut,
    /// The connection had been broken before.
    Closed,
}
