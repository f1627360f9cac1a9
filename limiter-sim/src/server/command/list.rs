//! The commands of the model.

use super::table::{Command, Flags, Keys, command};
use super::{
    connection, counters, hashes, keys, lists, ranges, scripting, server, set, sets, sorted_sets,
    strings, transactions,
};
use crate::server::Version;

const W: Flags = Flags::WRITE;
const WM: Flags = Flags::WRITE.with(Flags::DENY_OOM);
const R: Flags = Flags::READ;
const NL: Flags = Flags::NO_SCRIPT.with(Flags::LOADING);
const EVAL: Flags = Flags::NO_SCRIPT.with(Flags::SCRIPT);

/// The table, by family.
pub(super) static FAMILIES: [&[Command]; 9] = [
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

#[rustfmt::skip]
const STRINGS: &[Command] = &[
    command("get", 2, R, Keys::One, strings::get),
    command("set", -3, WM, Keys::One, set::set),
    command("setnx", 3, WM, Keys::One, set::setnx),
    command("setex", 4, WM, Keys::One, set::setex),
    command("psetex", 4, WM, Keys::One, set::psetex),
    command("getset", 3, WM, Keys::One, set::getset),
    command("getdel", 2, W, Keys::One, strings::getdel),
    command("getex", -2, W, Keys::One, strings::getex),
    command("append", 3, WM, Keys::One, strings::append),
    command("strlen", 2, R, Keys::One, strings::strlen),
    command("incr", 2, WM, Keys::One, counters::incr),
    command("decr", 2, WM, Keys::One, counters::decr),
    command("incrby", 3, WM, Keys::One, counters::incrby),
    command("decrby", 3, WM, Keys::One, counters::decrby),
    command("incrbyfloat", 3, WM, Keys::One, counters::incrbyfloat),
    command("mget", -2, R, Keys::All, strings::mget),
    command("mset", -3, WM, Keys::Pairs, strings::mset),
    command("msetnx", -3, WM, Keys::Pairs, strings::msetnx),
    command("setrange", 4, WM, Keys::One, strings::setrange),
    command("getrange", 4, R, Keys::One, strings::getrange),
    command("substr", 4, R, Keys::One, strings::getrange),
];

#[rustfmt::skip]
const KEYS: &[Command] = &[
    command("del", -2, W, Keys::All, keys::del),
    command("unlink", -2, W, Keys::All, keys::del),
    command("exists", -2, R, Keys::All, keys::exists),
    command("touch", -2, R, Keys::All, keys::exists),
    command("type", 2, R, Keys::One, keys::type_of),
    command("expire", -3, W, Keys::One, keys::expire).arity_until(Version::Redis62, 3),
    command("pexpire", -3, W, Keys::One, keys::pexpire).arity_until(Version::Redis62, 3),
    command("expireat", -3, W, Keys::One, keys::expireat).arity_until(Version::Redis62, 3),
    command("pexpireat", -3, W, Keys::One, keys::pexpireat).arity_until(Version::Redis62, 3),
    command("ttl", 2, R, Keys::One, keys::ttl),
    command("pttl", 2, R, Keys::One, keys::pttl),
    command("expiretime", 2, R, Keys::One, keys::expiretime).since(Version::Redis70),
    command("pexpiretime", 2, R, Keys::One, keys::pexpiretime).since(Version::Redis70),
    command("persist", 2, W, Keys::One, keys::persist),
    command("rename", 3, W, Keys::Two, keys::rename),
    command("renamenx", 3, W, Keys::Two, keys::renamenx),
    command("scan", -2, R, Keys::None, keys::scan),
    command("keys", 2, R, Keys::None, keys::keys),
    command("dbsize", 1, R, Keys::None, keys::dbsize),
    command("flushall", -1, W, Keys::None, keys::flush),
    command("flushdb", -1, W, Keys::None, keys::flush),
];

#[rustfmt::skip]
const HASHES: &[Command] = &[
    command("hset", -4, WM, Keys::One, hashes::hset),
    command("hmset", -4, WM, Keys::One, hashes::hmset),
    command("hsetnx", 4, WM, Keys::One, hashes::hsetnx),
    command("hget", 3, R, Keys::One, hashes::hget),
    command("hmget", -3, R, Keys::One, hashes::hmget),
    command("hgetall", 2, R, Keys::One, hashes::hgetall),
    command("hkeys", 2, R, Keys::One, hashes::hkeys),
    command("hvals", 2, R, Keys::One, hashes::hvals),
    command("hdel", -3, W, Keys::One, hashes::hdel),
    command("hexists", 3, R, Keys::One, hashes::hexists),
    command("hlen", 2, R, Keys::One, hashes::hlen),
    command("hstrlen", 3, R, Keys::One, hashes::hstrlen),
    command("hincrby", 4, WM, Keys::One, hashes::hincrby),
    command("hincrbyfloat", 4, WM, Keys::One, hashes::hincrbyfloat),
];

#[rustfmt::skip]
const LISTS: &[Command] = &[
    command("lpush", -3, WM, Keys::One, lists::lpush),
    command("rpush", -3, WM, Keys::One, lists::rpush),
    command("lpushx", -3, WM, Keys::One, lists::lpushx),
    command("rpushx", -3, WM, Keys::One, lists::rpushx),
    command("lpop", -2, W, Keys::One, lists::lpop),
    command("rpop", -2, W, Keys::One, lists::rpop),
    command("llen", 2, R, Keys::One, lists::llen),
    command("lrange", 4, R, Keys::One, lists::lrange),
    command("lindex", 3, R, Keys::One, lists::lindex),
    command("ltrim", 4, W, Keys::One, lists::ltrim),
    command("lset", 4, WM, Keys::One, lists::lset),
    command("lrem", 4, W, Keys::One, lists::lrem),
    command("linsert", 5, WM, Keys::One, lists::linsert),
];

#[rustfmt::skip]
const SETS: &[Command] = &[
    command("sadd", -3, WM, Keys::One, sets::sadd),
    command("srem", -3, W, Keys::One, sets::srem),
    command("sismember", 3, R, Keys::One, sets::sismember),
    command("smismember", -3, R, Keys::One, sets::smismember),
    command("scard", 2, R, Keys::One, sets::scard),
    command("smembers", 2, R, Keys::One, sets::smembers),
];

#[rustfmt::skip]
const SORTED_SETS: &[Command] = &[
    command("zadd", -4, WM, Keys::One, sorted_sets::zadd),
    command("zincrby", 4, WM, Keys::One, sorted_sets::zincrby),
    command("zrem", -3, W, Keys::One, sorted_sets::zrem),
    command("zcard", 2, R, Keys::One, sorted_sets::zcard),
    command("zscore", 3, R, Keys::One, sorted_sets::zscore),
    command("zmscore", -3, R, Keys::One, sorted_sets::zmscore),
    command("zrank", -3, R, Keys::One, sorted_sets::zrank).arity_until(Version::Redis70, 3),
    command("zrevrank", -3, R, Keys::One, sorted_sets::zrevrank).arity_until(Version::Redis70, 3),
    command("zcount", 4, R, Keys::One, sorted_sets::zcount),
    command("zremrangebyscore", 4, W, Keys::One, sorted_sets::zremrangebyscore),
    command("zremrangebyrank", 4, W, Keys::One, sorted_sets::zremrangebyrank),
    command("zpopmin", -2, W, Keys::One, sorted_sets::zpopmin),
    command("zpopmax", -2, W, Keys::One, sorted_sets::zpopmax),
    command("zrange", -4, R, Keys::One, ranges::zrange),
    command("zrevrange", -4, R, Keys::One, ranges::zrevrange),
    command("zrangebyscore", -4, R, Keys::One, ranges::zrangebyscore),
    command("zrevrangebyscore", -4, R, Keys::One, ranges::zrevrangebyscore),
];

#[rustfmt::skip]
const TRANSACTIONS: &[Command] = &[
    command("multi", 1, NL.with(Flags::UNQUEUED).with(Flags::NO_MULTI), Keys::None, transactions::multi),
    command("exec", 1, NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI), Keys::None, transactions::exec),
    command("discard", 1, NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI), Keys::None, transactions::discard),
    command("watch", -2, NL.with(Flags::UNQUEUED).with(Flags::NO_MULTI), Keys::All, transactions::watch),
    command("unwatch", 1, NL, Keys::None, transactions::unwatch),
];

#[rustfmt::skip]
const SCRIPTING: &[Command] = &[
    command("eval", -3, EVAL, Keys::Counted, scripting::eval),
    command("evalsha", -3, EVAL, Keys::Counted, scripting::evalsha),
    command("eval_ro", -3, Flags::NO_SCRIPT, Keys::Counted, scripting::eval).since(Version::Redis70),
    command("evalsha_ro", -3, Flags::NO_SCRIPT, Keys::Counted, scripting::evalsha).since(Version::Redis70),
    command("script", -2, Flags::NO_SCRIPT, Keys::None, scripting::script).subcommands(scripting::check),
];

#[rustfmt::skip]
const SERVER: &[Command] = &[
    command("quit", -1, NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI), Keys::None, connection::quit),
    command("reset", 1, NL.with(Flags::UNQUEUED).with(Flags::ENDS_MULTI), Keys::None, connection::reset),
    command("ping", -1, R, Keys::None, connection::ping),
    command("echo", 2, R.with(Flags::LOADING), Keys::None, connection::echo),
    command("select", 2, Flags::LOADING, Keys::None, connection::select),
    command("time", 1, Flags::LOADING, Keys::None, server::time),
    command("info", -1, Flags::LOADING, Keys::None, server::info),
    command("client", -2, NL, Keys::None, connection::client).subcommands(connection::check_client),
    command("hello", -1, NL, Keys::None, connection::hello),
    command("auth", -2, NL, Keys::None, connection::auth),
    command("readonly", 1, Flags::LOADING, Keys::None, connection::readonly),
    command("readwrite", 1, Flags::LOADING, Keys::None, connection::readwrite),
    command("asking", 1, R, Keys::None, connection::asking),
    command("wait", 3, Flags::NO_SCRIPT.with(Flags::SCRIPT_SINCE_82), Keys::None, server::wait),
    command("command", -1, Flags::LOADING, Keys::None, server::command),
    command("config", -2, NL, Keys::None, server::config).subcommands(server::check_config),
];
