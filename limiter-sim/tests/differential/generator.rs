//! Random steps: well-formed commands from templates, and damaged ones.

use limiter_sim::server::{Request, Role};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::case::Step;
use crate::scripts;

/// Words of a template in capitals are commands or options; these are filled in:
/// `k` key, `v` value, `i` integer, `f` number, `d` decimal that an 80-bit number holds, `s` seconds, `m` milliseconds, `as` and `am` the same as
/// instants, `h` field or member, `r` rank or index, `b` bound of a score range.
const TEMPLATES: &[&str] = &[
    "GET k",
    "SET k v",
    "SET k i",
    "SET k v EX s",
    "SET k v PX m",
    "SET k v EXAT as",
    "SET k v PXAT am",
    "SET k v NX",
    "SET k v XX",
    "SET k v KEEPTTL",
    "SET k v GET",
    "SET k v NX GET",
    "SET k v XX GET EX s",
    "SET k v NX PX m",
    "SET k v KEEPTTL EX s",
    "SET k v EX s PX m",
    "SET k v EX s EX s",
    "SET k v NX XX",
    "SET k v NX NX",
    "SETNX k v",
    "SETEX k s v",
    "PSETEX k m v",
    "GETSET k v",
    "GETDEL k",
    "GETEX k",
    "GETEX k EX s",
    "GETEX k PX m",
    "GETEX k PERSIST",
    "GETEX k PXAT am",
    "GETEX k EXAT as",
    "APPEND k v",
    "STRLEN k",
    "INCR k",
    "DECR k",
    "INCRBY k i",
    "DECRBY k i",
    "INCRBYFLOAT k d",
    "MGET k k k",
    "MSET k v k v",
    "MSETNX k v k v",
    "SETRANGE k r v",
    "GETRANGE k r r",
    "DEL k",
    "DEL k k",
    "UNLINK k",
    "EXISTS k k",
    "TOUCH k",
    "TYPE k",
    "EXPIRE k s",
    "PEXPIRE k m",
    "EXPIREAT k as",
    "PEXPIREAT k am",
    "EXPIRE k s NX",
    "EXPIRE k s XX",
    "EXPIRE k s GT",
    "EXPIRE k s LT",
    "PEXPIRE k m XX LT",
    "PEXPIRE k m NX XX",
    "EXPIREAT k as GT LT",
    "EXPIRE k s FOO",
    "TTL k",
    "PTTL k",
    "EXPIRETIME k",
    "PEXPIRETIME k",
    "PERSIST k",
    "RENAME k k",
    "RENAMENX k k",
    "KEYS *",
    "KEYS [a-b]",
    "KEYS ?",
    "DBSIZE",
    "SCAN 0",
    "SCAN 0 MATCH a* COUNT 100",
    "SCAN 0 COUNT 1000",
    "FLUSHALL",
    "FLUSHDB ASYNC",
    "FLUSHALL FOO",
    "HSET k h v",
    "HSET k h v h v",
    "HMSET k h v",
    "HSETNX k h v",
    "HGET k h",
    "HMGET k h h",
    "HGETALL k",
    "HKEYS k",
    "HVALS k",
    "HDEL k h",
    "HDEL k h h",
    "HEXISTS k h",
    "HLEN k",
    "HSTRLEN k h",
    "HINCRBY k h i",
    "HINCRBYFLOAT k h d",
    "LPUSH k v",
    "RPUSH k v v",
    "LPUSHX k v",
    "RPUSHX k v",
    "LPOP k",
    "RPOP k",
    "LPOP k r",
    "RPOP k r",
    "LLEN k",
    "LRANGE k r r",
    "LINDEX k r",
    "LTRIM k r r",
    "LSET k r v",
    "LREM k r v",
    "LINSERT k BEFORE v v",
    "LINSERT k AFTER v v",
    "SADD k h",
    "SADD k i h",
    "SADD k i i",
    "SREM k h",
    "SISMEMBER k h",
    "SMISMEMBER k h h",
    "SCARD k",
    "SMEMBERS k",
    "ZADD k f h",
    "ZADD k f h f h",
    "ZADD k NX f h",
    "ZADD k XX f h",
    "ZADD k GT f h",
    "ZADD k LT CH f h",
    "ZADD k INCR f h",
    "ZADD k GT LT f h",
    "ZADD k NX XX f h",
    "ZADD k INCR f h f h",
    "ZADD k XX INCR f h",
    "ZADD k CH f h",
    "ZREM k h",
    "ZCARD k",
    "ZCOUNT k b b",
    "ZSCORE k h",
    "ZMSCORE k h h",
    "ZINCRBY k f h",
    "ZRANK k h",
    "ZREVRANK k h",
    "ZRANK k h WITHSCORE",
    "ZRANGE k r r",
    "ZRANGE k r r WITHSCORES",
    "ZRANGE k b b BYSCORE",
    "ZRANGE k b b BYSCORE REV WITHSCORES",
    "ZRANGE k b b BYSCORE LIMIT r r",
    "ZRANGE k r r LIMIT r r",
    "ZRANGE k r r REV",
    "ZRANGEBYSCORE k b b",
    "ZRANGEBYSCORE k b b WITHSCORES LIMIT r r",
    "ZREVRANGEBYSCORE k b b",
    "ZREVRANGE k r r",
    "ZREVRANGE k r r WITHSCORES",
    "ZREMRANGEBYSCORE k b b",
    "ZREMRANGEBYRANK k r r",
    "ZPOPMIN k",
    "ZPOPMAX k",
    "ZPOPMIN k r",
    "ZPOPMAX k r",
    "PING",
    "PING v",
    "ECHO v",
    "SELECT 0",
    "SELECT 99",
    "SELECT x",
    "WAIT 0 0",
    "WAIT i 1",
    "READONLY",
    "READWRITE",
    "ASKING",
    "CLIENT GETNAME",
    "CLIENT SETNAME v",
    "CLIENT SETINFO lib-name x",
    "CONFIG GET maxmemory",
    "CONFIG GET maxmemory-policy",
    "AUTH v",
    "AUTH default v",
    "AUTH v v",
    "HELLO x",
    "HELLO 4",
];

/// Transactions and limits, in the proportion in which they should turn up.
const SPECIAL: &[&str] = &[
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH k",
    "WATCH k k",
    "WATCH k",
    "UNWATCH",
    "CONFIG SET maxmemory 1",
    "CONFIG SET maxmemory 0",
    "CONFIG SET maxmemory 0",
    "CONFIG SET min-replicas-to-write 1",
    "CONFIG SET min-replicas-to-write 0",
    "CONFIG SET min-replicas-to-write 0",
    "NOSUCH k v",
    "FOO",
    "SCRIPT nope",
    "CLIENT nope",
    "CONFIG nope",
    "CLIENT ID x",
    "SCRIPT FLUSH",
    "SCRIPT FLUSH FOO",
    "SCRIPT EXISTS v",
    "SCRIPT EXISTS",
    "SCRIPT LOAD",
    "SCRIPT KILL",
];

pub(crate) const KEYS: &[&str] = &["a", "a", "b", "b", "c", "ab", ""];

pub(crate) const VALUES: &[&str] = &[
    "",
    "0",
    "1",
    "-5",
    "10",
    "abc",
    "3.5",
    "1e3",
    " 1",
    "1 ",
    "01",
    "+1",
    "-0",
    "0x10",
    "inf",
    "nan",
    "hello world",
    "a\r\nb",
    "\u{e9}\u{0}x",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "18446744073709551616",
    "0123456789012345678901234567890123456789",
    "*",
    "%s",
];

const INTEGERS: &[&str] = &[
    "0",
    "1",
    "1",
    "2",
    "5",
    "-1",
    "-3",
    "10",
    "100",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "x",
    "",
    "1.5",
    "+1",
    "01",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "-1",
    "0.5",
    "1.5",
    "-2.25",
    "0.1",
    "3.0e2",
    "5e-1",
    "inf",
    "-inf",
    "+inf",
    "nan",
    "x",
    "",
    "1e400",
    "1e-400",
    "9007199254740993",
    "1e17",
    "1e20",
    "123456789.125",
    " 1",
    "1 ",
    "0x10",
    "-0",
    "1e-7",
    ".5",
    "5.",
    "+1",
    "infinity",
    "1e",
    "--1",
];

const DECIMALS: &[&str] = &[
    "0",
    "1",
    "-1",
    "0.5",
    "1.5",
    "-2.25",
    "0.1",
    "0.2",
    "3.0e2",
    "5e-1",
    "inf",
    "-inf",
    "nan",
    "x",
    "",
    "1e17",
    "100.5",
    "123456789.125",
    " 1",
    "1 ",
    "-0",
    "1e-7",
    ".5",
    "5.",
    "+1",
];

const SECONDS: &[&str] = &[
    "1000",
    "2000",
    "100000",
    "5000",
    "9223372036854775807",
    "9223372036854776",
    "9223372036854775",
    "0",
    "-1",
    "x",
    "1.5",
    "-9223372036854775808",
];

const MILLISECONDS: &[&str] = &[
    "1000000",
    "2000000",
    "100000000",
    "5000000",
    "9223372036854775807",
    "9223370000000000000",
    "0",
    "-1",
    "x",
    "",
    "-9223372036854775808",
];

const INSTANTS_S: &[&str] = &[
    "4102444800",
    "4102444900",
    "5000000000",
    "1",
    "0",
    "-1",
    "9223372036854775807",
    "9223372036854776",
    "x",
];

const INSTANTS_MS: &[&str] = &[
    "4102444800000",
    "4102444900000",
    "5000000000000",
    "1",
    "0",
    "-1",
    "9223372036854775807",
    "9223372036854775808",
    "x",
];

const FIELDS: &[&str] = &["f", "g", "f", "g", "h", "1", "2", "10", "", "-1", "x y"];

const RANKS: &[&str] = &[
    "0",
    "1",
    "2",
    "-1",
    "-2",
    "5",
    "100",
    "-100",
    "x",
    "",
    "9223372036854775807",
    "-9223372036854775808",
];

const BOUNDS: &[&str] = &[
    "0", "1", "2", "-inf", "+inf", "(1", "(0.5", "5", "-1", "(", "x", "nan", "inf", "(2",
];

fn word(token: &str) -> BoxedStrategy<String> {
    let pool = match token {
        "k" => KEYS,
        "v" => VALUES,
        "i" => INTEGERS,
        "f" => NUMBERS,
        "d" => DECIMALS,
        "s" => SECONDS,
        "m" => MILLISECONDS,
        "as" => INSTANTS_S,
        "am" => INSTANTS_MS,
        "h" => FIELDS,
        "r" => RANKS,
        "b" => BOUNDS,
        other => return Just(other.to_owned()).boxed(),
    };
    select(pool).prop_map(str::to_owned).boxed()
}

fn from_template(template: &'static str) -> BoxedStrategy<Vec<String>> {
    template.split(' ').map(word).collect::<Vec<_>>().boxed()
}

/// What is done to a well-formed command.
#[derive(Clone, Copy, Debug)]
enum Damage {
    None,
    DropLast,
    Repeat,
    Extra,
    LowerCase,
    Replace,
}

fn command() -> impl Strategy<Value = Vec<String>> {
    let damage = prop_oneof![
        20 => Just(Damage::None), 1 => Just(Damage::DropLast), 1 => Just(Damage::Repeat), 1 => Just(Damage::Extra),
        1 => Just(Damage::LowerCase), 1 => Just(Damage::Replace),
    ];
    let words = select(TEMPLATES).prop_flat_map(from_template);
    (words, damage, select(VALUES), any::<prop::sample::Index>()).prop_map(
        |(mut words, damage, value, at)| {
            match damage {
                Damage::None => {}
                Damage::DropLast if words.len() > 1 => words.truncate(words.len() - 1),
                Damage::DropLast => {}
                Damage::Repeat => words.extend(words.last().cloned()),
                Damage::Extra => words.push(value.to_owned()),
                Damage::LowerCase => words
                    .iter_mut()
                    .for_each(|word| word.make_ascii_lowercase()),
                Damage::Replace => {
                    let at = at.index(words.len());
                    if at > 0 {
                        value.clone_into(&mut words[at]);
                    }
                }
            }
            words
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        12 => command().prop_map(Request::new),
        3 => select(SPECIAL).prop_flat_map(from_template).prop_map(Request::new),
        6 => scripts::request(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let connection = prop_oneof![3 => Just(0_u32), 1 => Just(1_u32)];
    prop_oneof![
        80 => (connection, request()).prop_map(|(connection, request)| Step::Ask(connection, request)),
        1 => (0_u32..2).prop_map(Step::Reconnect),
        1 => Just(Step::Role(Role::Replica)),
        2 => Just(Step::Role(Role::Primary)),
    ]
}

/// A random case.
pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    vec(step(), 1..30)
}
