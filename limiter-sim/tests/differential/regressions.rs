//! Each disagreement that was found, as the shortest sequence that showed it.

use limiter_sim::server::Role;

use crate::case::{Step, ask, run};
use crate::real::with_each;

macro_rules! regressions {
    ($($(#[$doc:meta])* $name:ident: [$($step:expr),* $(,)?];)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            with_each(|server| run(server, &[$($step),*]).unwrap_or_else(|problem| panic!("{problem}")));
        }
    )*};
}

regressions! {
    /// 6.2 and later tell a missing list from an empty answer even where no element was wanted.
    popping_nothing_from_no_list: [ask(["LPOP", "a", "0"]), ask(["RPUSH", "a", "x"]), ask(["LPOP", "a", "0"])];

    /// The flags in a script's first line count for the read-only commands too.
    a_writing_script_by_eval_ro: [Step::Role(Role::Replica), ask(["EVAL_RO", "#!lua\nreturn 1", "0"])];

    /// Valkey looks at the deadline of GETEX before it looks for the key.
    getex_without_key_or_deadline: [ask(["GETEX", "a", "EX", "9223372036854775807"])];

    /// The model printed what follows a zero byte.
    error_texts_end_at_a_zero_byte: [
        ask(["EVAL", "return {err = ARGV[1]}", "0", "X a\0b"]),
        ask(["EVAL", "error(ARGV[1])", "0", "X a\0b"]),
        ask(["NOSUCH", "a\0b"]),
        ask(["CLIENT", "a\0b", "x"]),
    ];

    /// A second BYSCORE or REV is a syntax error.
    zrange_options_once: [
        ask(["ZRANGE", "a", "0", "0", "BYSCORE", "BYSCORE"]),
        ask(["ZRANGE", "a", "0", "0", "REV", "REV"]),
    ];

    /// What is queued after an error counts for nothing, not even for the checks before EXEC.
    exec_after_an_error_on_a_replica: [
        ask(["MULTI"]),
        ask(["FOO"]),
        ask(["ZPOPMAX", "a"]),
        Step::Role(Role::Replica),
        ask(["EXEC"]),
    ];

    /// Scripts go by what was known of memory when the last command came in, not by what it is.
    a_script_in_a_transaction_that_sets_the_limit: [
        ask(["SET", "a", "x"]),
        ask(["MULTI"]),
        ask(["CONFIG", "SET", "maxmemory", "1"]),
        ask(["EVAL", "return redis.call('SET', KEYS[1], 1)", "1", "b"]),
        ask(["EVAL", "#!lua\nreturn 1", "0"]),
        ask(["SET", "c", "1"]),
        ask(["EXEC"]),
    ];

    /// Valkey forgets the queue when a command cannot be queued, and so has nothing to write.
    exec_of_writes_that_a_replica_refused: [
        ask(["MULTI"]),
        ask(["SET", "a", "x"]),
        Step::Role(Role::Replica),
        ask(["SET", "b", "x"]),
        ask(["EXEC"]),
    ];

    /// From Redis 8.2 on LSET takes the low 32 bits of the position.
    lset_far_out: [ask(["RPUSH", "a", "x"]), ask(["LSET", "a", "9223372036854775807", "y"])];

    /// The number of the connection apart, HELLO is known.
    hello: [ask(["HELLO"]), ask(["HELLO", "2"])];

    /// RESET leaves a transaction even if memory is short.
    reset_out_of_memory: [ask(["CONFIG", "SET", "maxmemory", "1"]), ask(["MULTI"]), ask(["RESET"])];

    /// The arguments of an unknown command are cut in bytes, not in characters.
    a_long_unknown_command: [
        ask(["NOSUCH", &"\u{e9}".repeat(100), "x"]),
        ask(["NOSUCH", "a", &"\u{e9}".repeat(63), "x"]),
        ask([&"\u{e9}".repeat(70)]),
    ];

    /// In 6.2 EXPIRE with a condition has the wrong number of words, which a transaction notices at once.
    conditions_of_expire_in_a_transaction: [ask(["MULTI"]), ask(["EXPIRE", "a", "1000", "NX"]), ask(["EXEC"])];

    /// An empty bound of a score range is 0.
    empty_bounds: [
        ask(["ZADD", "a", "1", "m"]),
        ask(["ZCOUNT", "a", "", "+inf"]),
        ask(["ZCOUNT", "a", "(", "+inf"]),
        ask(["ZCOUNT", "a", " 1", "+inf"]),
        ask(["ZCOUNT", "a", "0x1", "+inf"]),
    ];

    /// Valkey checks memory before it checks whether a script may write.
    a_read_only_script_out_of_memory: [
        ask(["CONFIG", "SET", "maxmemory", "1"]),
        ask(["EVAL_RO", "return redis.call('SET', KEYS[1], 1)", "1", "a"]),
    ];

    /// Valkey takes an engine that it does not know for one that writes.
    an_unknown_engine_out_of_memory: [
        ask(["CONFIG", "SET", "maxmemory", "1"]),
        ask(["EVAL", "#!other\nreturn 1", "0"]),
    ];

    /// Minus zero is printed by the command that stores it, and is zero afterwards from 7.0 on.
    minus_zero_as_score: [
        ask(["ZINCRBY", "a", "-0", "m"]),
        ask(["ZSCORE", "a", "m"]),
        ask(["ZADD", "b", "-0", "m"]),
        ask(["ZSCORE", "b", "m"]),
    ];

    /// Numbers from Lua are integers up to 2^62 only, and have 17 digits until 7.0.
    numbers_from_lua: [
        ask(["EVAL", "redis.call('SET', KEYS[1], -2^63) return redis.call('GET', KEYS[1])", "1", "a"]),
        ask(["EVAL", "redis.call('SET', KEYS[1], 1e23) return redis.call('GET', KEYS[1])", "1", "a"]),
        ask(["EVAL", "redis.call('SET', KEYS[1], 1/3) return redis.call('GET', KEYS[1])", "1", "a"]),
        ask(["EVAL", "return {double = 1/3}", "0"]),
    ];

    /// Sums have the 64 bits of an 80-bit number, not the 53 of a 64-bit one.
    sums_of_80_bits: [
        ask(["SET", "a", "9223372036854775807"]),
        ask(["INCRBYFLOAT", "a", "-2.25"]),
        ask(["SET", "b", "18446744073709551616"]),
        ask(["INCRBYFLOAT", "b", "100.5"]),
        ask(["SET", "d", "9223372036854775807"]),
        ask(["INCRBYFLOAT", "d", "0.1"]),
        ask(["HINCRBYFLOAT", "c", "f", "0.1"]),
        ask(["HINCRBYFLOAT", "c", "f", "0.2"]),
        ask(["HINCRBYFLOAT", "c", "f", "inf"]),
    ];

    /// 6.2 subtracts the smallest integer from zero without noticing.
    subtracting_the_smallest_integer: [ask(["DECRBY", "a", "-9223372036854775808"])];

    /// In 6.2 a count below 1 wins over a wrong type.
    popping_no_members_of_a_string: [ask(["SET", "a", "x"]), ask(["ZPOPMAX", "a", "-1"])];

    /// From Redis 8.2 on the count of LREM has a lower bound.
    lrem_of_the_smallest_count: [ask(["LREM", "a", "-9223372036854775808", "x"])];

    /// 6.2 takes one pattern only.
    config_get_with_two_patterns: [ask(["CONFIG", "GET", "maxmemory", "x"])];

    /// A server that becomes a replica evicts before it does; a replica evicts nothing.
    a_full_server_that_becomes_a_replica: [
        ask(["SET", "a", ""]),
        ask(["CONFIG", "SET", "maxmemory", "1"]),
        ask(["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]),
        Step::Role(Role::Replica),
        ask(["CONFIG", "SET", "maxmemory", "0"]),
    ];

    /// 6.2 does not know EVAL_RO, and the model knows that it does not: so what it does not know itself
    /// is still noticed later.
    a_command_of_later_versions_and_a_sum_beyond_all_digits: [
        ask(["SET", "a", "1e20"]),
        ask(["EVAL_RO", "return 1", "0"]),
        ask(["INCRBYFLOAT", "a", "100.5"]),
    ];

    /// What had expired before the server became a replica is gone, also for scripts of 6.2.
    a_replica_with_a_key_that_had_expired: [
        ask(["SET", "b", "", "PXAT", "1"]),
        Step::Role(Role::Replica),
        ask(["EVAL", "return {redis.call('EXISTS', KEYS[1]), {redis.call('TYPE', KEYS[1])}}", "1", "b"]),
    ];

    /// Whether the condition holds depends on the milliseconds between the two; the deadline does not.
    expire_later_than_the_same: [
        ask(["SET", "a", "x", "EX", "5000"]),
        ask(["EXPIRE", "a", "5000", "GT"]),
        ask(["EXPIRE", "a", "5000", "LT"]),
    ];

    /// From 7.0 on a lowered limit evicts before the next command, not at once.
    a_limit_of_memory_set_in_a_transaction: [
        ask(["MULTI"]),
        ask(["SET", "c", "", "PX", "1000000"]),
        ask(["CONFIG", "SET", "maxmemory-policy", "volatile-ttl"]),
        ask(["CONFIG", "SET", "maxmemory", "1"]),
        ask(["SET", "c", "0x10", "NX"]),
        ask(["EXEC"]),
    ];

    /// Valkey deletes where SET has a deadline that is not in the future; Redis keeps the key for the rest
    /// of the millisecond.
    set_with_a_deadline_that_is_now: [ask([
        "EVAL",
        "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) \
         redis.call('SET', KEYS[1], 'x', 'PXAT', now) local there = redis.call('EXISTS', KEYS[1]) \
         redis.call('DEL', KEYS[1]) return there",
        "1",
        "a",
    ])];

    /// A wrong password is refused. It is not among the random commands: in a transaction, Redis 8.2 and
    /// Valkey 9.1 announce a reply to it that they never send.
    a_wrong_password: [ask(["AUTH", "nobody", "x"]), ask(["AUTH", "default", "x"])];

    /// 6.2 has READWRITE without a cluster, but not READONLY.
    readonly_without_a_cluster: [ask(["READONLY"]), ask(["READWRITE"])];

    /// An unknown piece of information about a client is refused.
    client_information: [ask(["CLIENT", "SETINFO", "nan", "x"]), ask(["CLIENT", "SETINFO", "lib-ver", "a b"])];
}
