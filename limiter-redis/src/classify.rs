//! What is known to have happened when a request failed.
//!
//! The scripts read and judge before they write, so a refusal by the server itself, in front of the
//! script or inside it, is known to have charged nothing; where a later write of several is refused,
//! the script says so by a code of its own ([`scripts`](crate::scripts) has the reasoning). All else
//! may have been charged, unless it is known that nothing was sent.

use limiter_core::{Error, ErrorKind};
use redis::{ErrorKind as RedisKind, RedisError, ServerErrorKind};

use crate::refusal;

/// The error of a call that may write, and whose request failed with `error`.
pub(crate) fn write_error(error: RedisError) -> Error {
    put(kind(&error), error)
}

/// The error of a call that was decided together with others, and whose request failed with `error`.
/// An error from inside that script would be none that it raises, so nobody knows what was written
/// before it.
pub(crate) fn batch_error(error: RedisError) -> Error {
    match refusal::is_in_script(&error.to_string()) {
        true => put(ErrorKind::Uncertain, error),
        false => write_error(error),
    }
}

/// The error of a peek whose request failed with `error`. A peek writes nothing, so that nothing
/// was charged is known even where the answer was lost.
pub(crate) fn peek_error(error: RedisError) -> Error {
    let kind = match kind(&error) {
        ErrorKind::Uncertain => ErrorKind::Unavailable,
        kind => kind,
    };
    put(kind, error)
}

fn put(kind: ErrorKind, error: RedisError) -> Error {
    Error::new(kind, error.to_string()).with_source(error)
}

/// The kind of a call that may write.
pub(crate) fn kind(error: &RedisError) -> ErrorKind {
    match error.kind() {
        RedisKind::Io => io_kind(error),
        RedisKind::Server(ServerErrorKind::ResponseError) => {
            refusal::general(error.detail().unwrap_or_default())
        }
        RedisKind::Server(_) | RedisKind::Extension => {
            refusal::coded(error.code().unwrap_or_default(), error.detail())
        }
        // The client refused before it sent: no such node, no such primary, a connection that
        // could not be set up.
        RedisKind::AuthenticationFailed
        | RedisKind::InvalidClientConfig
        | RedisKind::Client
        | RedisKind::MasterNameNotFoundBySentinel
        | RedisKind::NoValidReplicasFoundBySentinel
        | RedisKind::EmptySentinelList
        | RedisKind::ClusterConnectionNotFound
        | RedisKind::RESP3NotSupported => ErrorKind::Unavailable,
        // An answer came, and it could not be read.
        RedisKind::Parse | RedisKind::UnexpectedReturnType => ErrorKind::Uncertain,
        _ => ErrorKind::Uncertain,
    }
}

/// Only opening a connection can be refused, or find no socket file; then nothing was sent. All
/// other I/O errors look the same before and after the request left: a time-out while connecting
/// looks like one while waiting for the answer, and a broken pipe like a lost reply.
fn io_kind(error: &RedisError) -> ErrorKind {
    if error.is_connection_refusal() {
        ErrorKind::Unavailable
    } else {
        ErrorKind::Uncertain
    }
}

#[cfg(test)]
mod tests;
