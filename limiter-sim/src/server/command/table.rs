//! The command table: name, arity, flags, keys, and the function that executes.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::context::{Context, Outcome};
use super::{
    hashes, keys, lists, ranges, scripting, server, sets, sorted_sets, strings, transactions,
};
use crate::server::number::parse_integer;
use crate::server::reply::Failure;
use crate::server::{Bytes, Node, Request, Version};

/// What a command may do and when it may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const READ: Self = Self(0);
    /// May change data.
    pub(crate) const WRITE: Self = Self(1);
    /// Needs memory.
    pub(crate) const DENY_OOM: Self = Self(2);
    /// Not from scripts.
    pub(crate) const NO_SCRIPT: Self = Self(4);
    /// Also while a dataset is loaded.
    pub(crate) const LOADING: Self = Self(8);
    /// Executed at once in a transaction.
    pub(crate) const UNQUEUED: Self = Self(16);
    /// Refused in a transaction by Valkey.
    pub(crate) const NO_MULTI: Self = Self(32);
    /// Allowed in a transaction when memory is short.
    pub(crate) const ENDS_MULTI: Self = Self(64);
    /// Scripts: may do anything.
    pub(crate) const SCRIPT: Self = Self(128);
    /// Allowed from scripts since Redis 7.2.
    pub(crate) const SCRIPT_SINCE_82: Self = Self(256);

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Where a command's keys are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    None,
    One,
    Two,
    /// From the first argument to the end.
    All,
    /// Every other argument: `key value key value`.
    Pairs,
    /// A count in the second argument, then so many keys.
    Counted,
}

/// One command of the table.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// The number of words; negative: at least so many.
    pub(crate) arity: i8,
    pub(crate) flags: Flags,
    pub(crate) keys: Keys,
    pub(crate) since: Version,
    /// Another number of words in versions up to this one.
    old_arity: Option<(Version, i8)>,
    pub(crate) run: fn(&mut Context<'_>) -> Outcome,
    /// From Redis 7.0 on: checks the subcommand before the command runs.
    pub(crate) subcommands: Option<fn(&Node, &Request) -> Result<(), Failure>>,
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Command")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Command {
    const fn new(
        name: &'static str,
        arity: i8,
        flags: Flags,
        keys: Keys,
        run: fn(&mut Context<'_>) -> Outcome,
    ) -> Self {
        Self {
            name,
            arity,
            flags,
            keys,
            since: Version::Redis62,
            old_arity: None,
            run,
            subcommands: None,
        }
    }

    const fn since(mut self, version: Version) -> Self {
        self.since = version;
        self
    }

    const fn arity_until(mut self, version: Version, arity: i8) -> Self {
        self.old_arity = Some((version, arity));
        self
    }

    const fn subcommands(mut self, check: fn(&Node, &Request) -> Result<(), Failure>) -> Self {
        self.subcommands = Some(check);
        self
    }

    pub(crate) fn accepts(&self, words: usize, version: Version) -> bool {
        let arity = match self.old_arity {
            Some((last, arity)) if version <= last => arity,
            _ => self.arity,
        };
        let least = usize::from(arity.unsigned_abs());
        if arity < 0 {
            words >= least
        } else {
            words == least
        }
    }

    pub(crate) fn may_write(&self) -> bool {
        self.flags.has(Flags::WRITE) || self.flags.has(Flags::SCRIPT)
    }

    /// The keys that the words name.
    pub(crate) fn keys<'a>(&self, argv: &'a [Bytes]) -> impl Iterator<Item = &'a Bytes> {
        let len = argv.len();
        let (first, last, step) = match self.keys {
            Keys::None => (1, 1, 1),
            Keys::One => (1, 2, 1),
            Keys::Two => (1, 3, 1),
            Keys::All => (1, len, 1),
            Keys::Pairs => (1, len, 2),
            Keys::Counted => {
                let count = argv
                    .get(2)
                    .and_then(|word| parse_integer(word))
                    .unwrap_or(0);
                (3, usize::try_from(count).unwrap_or(0).saturating_add(3), 1)
            }
        };
        let last = last.min(len);
        argv[first.min(last)..last].iter().step_by(step)
    }
}

/// The command of this name, in any case.
pub(crate) fn lookup(name: &[u8]) -> Option<&'static Command> {
    static INDEX: OnceLock<HashMap<&'static [u8], &'static Command>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let all = TABLES.iter().flat_map(|table| table.iter());
        all.map(|command| (command.name.as_bytes(), command))
            .collect()
    });
    let mut lower = [0_u8; 20];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    index.get(&*lower).copied()
}

const W: Flags = Flags::WRITE;
const WM: Flags = Flags::WRITE.with(Flags::DENY_OOM);
const R: Flags = Flags::READ;
const NL: Flags = Flags::NO_SCRIPT.with(Flags::LOADING);

static TABLES: [&[Command]; 9] = [
    STRINGS,
    KEYS,
    HASHES,
    LISTS,
    SETS,
    SORTED_SETS,
    TRANSACTIONS,
    SCRIPTING,
    SERVER,
];

const STRINGS: &[Command] = &[
    Command::new("get", 2, R, Keys::One, strings::get),
    Command::new("set", -3, WM, Keys::One, strings::set),
    Command::new("setnx", 3, WM, Keys::One, strings::setnx),
    Command::new("setex", 4, WM, Keys::One, strings::setex),
    Command::new("psetex", 4, WM, Keys::One, strings::psetex),
    Command::new("getset", 3, WM, Keys::One, strings::getset),
    Command::new("getdel", 2, W, Keys::One, strings::getdel),
    Command::new("getex", -2, W, Keys::One, strings::getex),
    Command::new("append", 3, WM, Keys::One, strings::append),
    Command::new("strlen", 2, R, Keys::One, strings::strlen),
    Command::new("incr", 2, WM, Keys::One, strings::incr),
    Command::new("decr", 2, WM, Keys::One, strings::decr),
    Command::new("incrby", 3, WM, Keys::One, strings::incrby),
    Command::new("decrby", 3, WM, Keys::One, strings::decrby),
    Command::new("incrbyfloat", 3, WM, Keys::One, strings::incrbyfloat),
    Command::new("mget", -2, R, Keys::All, strings::mget),
    Command::new("mset", -3, WM, Keys::Pairs, strings::mset),
    Command::new("msetnx", -3, WM, Keys::Pairs, strings::msetnx),
    Command::new("setrange", 4, WM, Keys::One, strings::setrange),
    Command::new("getrange", 4, R, Keys::One, strings::getrange),
    Command::new("substr", 4, R, Keys::One, strings::getrange),
];

const KEYS: &[Command] = &[
    Command::new("del", -2, W, Keys::All, keys::del),
    Command::new("unlink", -2, W, Keys::All, keys::del),
    Command::new("exists", -2, R, Keys::All, keys::exists),
    Command::new("touch", -2, R, Keys::All, keys::exists),
    Command::new("type", 2, R, Keys::One, keys::type_of),
    Command::new("expire", -3, W, Keys::One, keys::expire).arity_until(Version::Redis62, 3),
    Command::new("pexpire", -3, W, Keys::One, keys::pexpire).arity_until(Version::Redis62, 3),
    Command::new("expireat", -3, W, Keys::One, keys::expireat).arity_until(Version::Redis62, 3),
    Command::new("pexpireat", -3, W, Keys::One, keys::pexpireat).arity_until(Version::Redis62, 3),
    Command::new("ttl", 2, R, Keys::One, keys::ttl),
    Command::new("pttl", 2, R, Keys::One, keys::pttl),
    Command::new("expiretime", 2, R, Keys::One, keys::expiretime).since(Version::Redis70),
    Command::new("pexpiretime", 2, R, Keys::One, keys::pexpiretime).since(Version::Redis70),
    Command::new("persist", 2, W, Keys::One, keys::persist),
    Command::new("rename", 3, W, Keys::Two, keys::rename),
    Command::new("renamenx", 3, W, Keys::Two, keys::renamenx),
    Command::new("scan", -2, R, Keys::None, keys::scan),
    Command::new("keys", 2, R, Keys::None, keys::keys),
    Command::new("dbsize", 1, R, Keys::None, keys::dbsize),
    Command::new("flushall", -1, W, Keys::None, keys::flush),
    Command::new("flushdb", -1, W, Keys::None, keys::flush),
];

const HASHES: &[Command] = &[
    Command::new("hset", -4, WM, Keys::One, hashes::hset),
    Command::new("hmset", -4, WM, Keys::One, hashes::hmset),
    Command::new("hsetnx", 4, WM, Keys::One, hashes::hsetnx),
    Command::new("hget", 3, R, Keys::One, hashes::hget),
    Command::new("hmget", -3, R, Keys::One, hashes::hmget),
    Command::new("hgetall", 2, R, Keys::One, hashes::hgetall),
    Command::new("hkeys", 2, R, Keys::One, hashes::hkeys),
    Command::new("hvals", 2, R, Keys::One, hashes::hvals),
    Command::new("hdel", -3, W, Keys::One, hashes::hdel),
    Command::new("hexists", 3, R, Keys::One, hashes::hexists),
    Command::new("hlen", 2, R, Keys::One, hashes::hlen),
    Command::new("hstrlen", 3, R, Keys::One, hashes::hstrlen),
    Command::new("hincrby", 4, WM, Keys::One, hashes::hincrby),
    Command::new("hincrbyfloat", 4, WM, Keys::One, hashes::hincrbyfloat),
];

const LISTS: &[Command] = &[
    Command::new("lpush", -3, WM, Keys::One, lists::lpush),
    Command::new("rpush", -3, WM, Keys::One, lists::rpush),
    Command::new("lpushx", -3, WM, Keys::One, lists::lpushx),
    Command::new("rpushx", -3, WM, Keys::One, lists::rpushx),
    Command::new("lpop", -2, W, Keys::One, lists::lpop),
    Command::new("rpop", -2, W, Keys::One, lists::rpop),
    Command::new("llen", 2, R, Keys::One, lists::llen),
    Command::new("lrange", 4, R, Keys::One, lists::lrange),
    Command::new("lindex", 3, R, Keys::One, lists::lindex),
    Command::new("ltrim", 4, W, Keys::One, lists::ltrim),
    Command::new("lset", 4, WM, Keys::One, lists::lset),
    Command::new("lrem", 4, W, Keys::One, lists::lrem),
    Command::new("linsert", 5, WM, Keys::One, lists::linsert),
];

const SETS: &[Command] = &[
    Command::new("sadd", -3, WM, Keys::One, sets::sadd),
    Command::new("srem", -3, W, Keys::One, sets::srem),
    Command::new("sismember", 3, R, Keys::One, sets::sismember),
    Command::new("smismember", -3, R, Keys::One, sets::smismember),
    Command::new("scard", 2, R, Keys::One, sets::scard),
    Command::new("smembers", 2, R, Keys::One, sets::smembers),
];

const SORTED_SETS: &[Command] = &[
    Command::new("zadd", -4, WM, Keys::One, sorted_sets::zadd),
    Command::new("zincrby", 4, WM, Keys::One, sorted_sets::zincrby),
    Command::new("zrem", -3, W, Keys::One, sorted_sets::zrem),
    Command::new("zcard", 2, R, Keys::One, sorted_sets::zcard),
    Command::new("zscore", 3, R, Keys::One, sorted_sets::zscore),
    Command::new("zmscore", -3, R, Keys::One, sorted_sets::zmscore),
    Command::new("zrank", -3, R, Keys::One, sorted_sets::zrank).arity_until(Version::Redis70, 3),
    Command::new("zrevrank", -3, R, Keys::One, sorted_sets::zrevrank)
        .arity_until(Version::Redis70, 3),
    Command::new("zcount", 4, R, Keys::One, sorted_sets::zcount),
    Command::new(
        "zremrangebyscore",
        4,
        W,
        Keys::One,
        sorted_sets::zremrangebyscore,
    ),
    Command::new(
        "zremrangebyrank",
        4,
        W,
        Keys::One,
        sorted_sets::zremrangebyrank,
    ),
    Command::new("zpopmin", -2, W, Keys::One, sorted_sets::zpopmin),
    Command::new("zpopmax", -2, W, Keys::One, sorted_sets::zpopmax),
    Command::new("zrange", -4, R, Keys::One, ranges::zrange),
    Command::new("zrevrange", -4, R, Keys::One, ranges::zrevrange),
    Command::new("zrangebyscore", -4, R, Keys::One, ranges::zrangebyscore),
    Command::new(
        "zrevrangebyscore",
        -4,
        R,
        Keys::One,
        ranges::zrevrangebyscore,
    ),
];

const TRANSACTIONS: &[Command] = &[
    Command::new(
        "multi",
        1,
        NL.with(Flags::UNQUEUED).with(Flags::NO_MULTI),
        Keys::None,
        transactions::multi,
    ),
    Command::new(
        "exec",
        1,
        NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI),
        Keys::None,
        transactions::exec,
    ),
    Command::new(
        "discard",
        1,
        NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI),
        Keys::None,
        transactions::discard,
    ),
    Command::new(
        "watch",
        -2,
        NL.with(Flags::UNQUEUED).with(Flags::NO_MULTI),
        Keys::All,
        transactions::watch,
    ),
    Command::new("unwatch", 1, NL, Keys::None, transactions::unwatch),
];

const EVAL: Flags = Flags::NO_SCRIPT.with(Flags::SCRIPT);

const SCRIPTING: &[Command] = &[
    Command::new("eval", -3, EVAL, Keys::Counted, scripting::eval),
    Command::new("evalsha", -3, EVAL, Keys::Counted, scripting::evalsha),
    Command::new(
        "eval_ro",
        -3,
        Flags::NO_SCRIPT,
        Keys::Counted,
        scripting::eval,
    )
    .since(Version::Redis70),
    Command::new(
        "evalsha_ro",
        -3,
        Flags::NO_SCRIPT,
        Keys::Counted,
        scripting::evalsha,
    )
    .since(Version::Redis70),
    Command::new(
        "script",
        -2,
        Flags::NO_SCRIPT,
        Keys::None,
        scripting::script,
    )
    .subcommands(scripting::check),
];

const SERVER: &[Command] = &[
    Command::new(
        "quit",
        -1,
        NL.with(Flags::UNQUEUED),
        Keys::None,
        server::quit,
    ),
    Command::new("ping", -1, R, Keys::None, server::ping),
    Command::new("echo", 2, R.with(Flags::LOADING), Keys::None, server::echo),
    Command::new("select", 2, Flags::LOADING, Keys::None, server::select),
    Command::new("time", 1, Flags::LOADING, Keys::None, server::time),
    Command::new("info", -1, Flags::LOADING, Keys::None, server::info),
    Command::new("client", -2, NL, Keys::None, server::client).subcommands(server::check_client),
    Command::new("hello", -1, NL, Keys::None, server::hello),
    Command::new("auth", -2, NL, Keys::None, server::auth),
    Command::new("readonly", 1, Flags::LOADING, Keys::None, server::readonly),
    Command::new(
        "readwrite",
        1,
        Flags::LOADING,
        Keys::None,
        server::readwrite,
    ),
    Command::new("asking", 1, R, Keys::None, server::asking),
    Command::new(
        "wait",
        3,
        Flags::NO_SCRIPT.with(Flags::SCRIPT_SINCE_82),
        Keys::None,
        server::wait,
    ),
    Command::new("command", -1, Flags::LOADING, Keys::None, server::command),
    Command::new("config", -2, NL, Keys::None, server::config).subcommands(server::check_config),
];
