//! Every error in its kind.

use std::io;

use super::*;
use ErrorKind::{Corrupt, Unavailable, Uncertain};

fn of_reply(reply: &str) -> RedisError {
    redis::parse_redis_value(reply.as_bytes())
        .and_then(redis::Value::extract_error)
        .expect_err("an error reply")
}

/// What servers say without having run the script to its end.
const REFUSALS: &[&str] = &[
    "-LOADING Redis is loading the dataset in memory",
    "-BUSY Redis is busy running a script.",
    "-MASTERDOWN Link with MASTER is down",
    "-CLUSTERDOWN The cluster is down",
    "-READONLY You can't write against a read only replica.",
    "-MISCONF Errors writing to the AOF file",
    "-NOREPLICAS Not enough good replicas to write.",
    "-OOM command not allowed. script: 3802, on @user_script:59.",
    "-MOVED 3999 127.0.0.1:6381",
    "-ASK 3999 127.0.0.1:6381",
    "-TRYAGAIN Multiple keys request during rehashing of slot",
    "-CROSSSLOT Keys in request don't hash to the same slot",
    "-REDIRECT 127.0.0.1:6381",
    "-NOAUTH Authentication required.",
    "-WRONGPASS invalid username-password pair",
    "-NOPERM User u has no permissions to run 'evalsha'",
    "-DENIED Redis is running in protected mode",
    "-NOSCRIPT No matching script. Please use EVAL.",
    "-EXECABORT Transaction discarded",
    "-ERR max number of clients reached",
    "-ERR unknown command 'EVALSHA'",
    "-ERR The user executing the script can't run this command",
    "-ERR ACL failure in script: User u has no permissions",
    // As 6.2 says it: raised by a call, and handed on by a read.
    "-ERR Error running script (call to f_3): @user_script:5: @user_script: 5: -OOM command",
    "-ERR Error running script (call to f_3): @user_script:5: @user_script: 5: -READONLY You",
    "-ERR Error running script (call to f_3): @user_script:5: Script killed by user",
    "-@user_script: 18: The user executing the script can't run this command",
    "-@user_script: 18: -MASTERDOWN Link with MASTER is down",
    "-NEWCODE of a later server. script: 3802, on @user_script:59.",
    "-NOTWRITTEN @user_script: 5: -OOM command not allowed when used memory > 'maxmemory'.",
    "-NOTWRITTEN ERR ACL failure in script: User u has no permissions",
];

const FOREIGN_STATE: &[&str] = &[
    "-WRONGTYPE Operation against a key holding the wrong kind of value",
    "-ERR Error running script (call to f_3): @user_script:5: @user_script: 5: WRONGTYPE Op",
];

/// A script that failed in the middle, and what a proxy may say that had passed the request on.
const UNKNOWN: &[&str] = &[
    "-HALFWRITTEN @user_script: 5: Unknown Redis command called from Lua script",
    "-ERR Connection timed out",
    "-ERR",
    "-upstream failure",
    "-NEWCODE of a later server",
];

#[test]
fn replies_of_a_server_are_refusals_and_unknown_ones_are_uncertain() {
    let table = [
        (REFUSALS, Unavailable),
        (FOREIGN_STATE, Corrupt),
        (UNKNOWN, Uncertain),
    ];
    for (replies, expected) in table {
        for reply in replies {
            let error = of_reply(&format!("{reply}\r\n"));
            assert_eq!(kind(&error), expected, "{reply}");
        }
    }
}

#[test]
fn only_a_connection_that_could_not_be_opened_is_known_to_have_sent_nothing() {
    use io::ErrorKind as Io;
    let kinds = [
        (Io::ConnectionRefused, Unavailable),
        (Io::NotFound, Unavailable),
        (Io::TimedOut, Uncertain),
        (Io::WouldBlock, Uncertain),
        (Io::BrokenPipe, Uncertain),
        (Io::ConnectionReset, Uncertain),
        (Io::ConnectionAborted, Uncertain),
        (Io::NotConnected, Uncertain),
        (Io::UnexpectedEof, Uncertain),
        (Io::PermissionDenied, Uncertain),
        (Io::HostUnreachable, Uncertain),
        (Io::Other, Uncertain),
    ];
    for (io, expected) in kinds {
        assert_eq!(kind(&io::Error::from(io).into()), expected, "{io:?}");
    }
    let without_source = RedisError::from((RedisKind::Io, "connection dropped"));
    assert_eq!(kind(&without_source), Uncertain);
}

#[test]
fn what_the_client_says_by_itself() {
    let kinds = [
        (RedisKind::Client, Unavailable),
        (RedisKind::AuthenticationFailed, Unavailable),
        (RedisKind::InvalidClientConfig, Unavailable),
        (RedisKind::ClusterConnectionNotFound, Unavailable),
        (RedisKind::MasterNameNotFoundBySentinel, Unavailable),
        (RedisKind::NoValidReplicasFoundBySentinel, Unavailable),
        (RedisKind::EmptySentinelList, Unavailable),
        (RedisKind::RESP3NotSupported, Unavailable),
        (RedisKind::Parse, Uncertain),
        (RedisKind::UnexpectedReturnType, Uncertain),
        (RedisKind::Extension, Uncertain),
    ];
    for (redis, expected) in kinds {
        assert_eq!(kind(&(redis, "said").into()), expected, "{redis:?}");
    }
    let unreadable = redis::parse_redis_value(b"?what\r\n").expect_err("no RESP");
    assert_eq!(kind(&unreadable), Uncertain);
}

#[test]
fn a_peek_never_spends_and_keeps_the_cause() {
    let error = peek_error(io::Error::from(io::ErrorKind::TimedOut).into());
    assert_eq!(error.kind(), Unavailable);
    assert!(!error.may_have_spent());
    let error = write_error(io::Error::from(io::ErrorKind::TimedOut).into());
    assert!(error.may_have_spent());
    assert!(std::error::Error::source(&error).is_some());
}
