//! Random scripts: limiters as they are found in the wild, oddities, and sequences of random statements.

use limiter_sim::server::Request;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::generator::{KEYS, VALUES};

const WHOLE: &[&str] = &[
    "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1] .. '00000') end return n",
    "local v = tonumber(redis.call('GET', KEYS[1]) or '0') if v + 1 > tonumber(ARGV[1]) then return {0, v} end \
     redis.call('INCRBY', KEYS[1], 1) return {1, v + 1}",
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1]) local n = redis.call('ZCARD', KEYS[1]) \
     redis.call('ZADD', KEYS[1], ARGV[2], ARGV[2]) return {n, redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')}",
    "local h = redis.call('HMGET', KEYS[1], 't', 'n') local n = tonumber(h[2]) or 10 n = n - 0.5 \
     redis.call('HSET', KEYS[1], 't', ARGV[1], 'n', n) return {tostring(n), n, h[1]}",
    "return redis.call('HGETALL', KEYS[1])",
    "return {redis.call('SET', KEYS[1], ARGV[1]), redis.call('GET', KEYS[1]), redis.pcall('INCR', KEYS[1])}",
    "return {KEYS, ARGV}",
    "return #KEYS + #ARGV",
    "return {1, 2.9, -2.9, 'x', true, false, nil, 4}",
    "return {redis.call('EXISTS', KEYS[1]), {redis.call('TYPE', KEYS[1])}}",
    "return {err = ARGV[1]}",
    "return {ok = ARGV[1]}",
    "return redis.error_reply(ARGV[1])",
    "return redis.status_reply(ARGV[1])",
    "error(ARGV[1])",
    "error({err = ARGV[1] or 'X y'})",
    "error()",
    "\nlocal x = nil\nreturn x.y",
    "return nosuch",
    "nosuch = 1",
    "return tonumber(ARGV[1])",
    "return tostring(tonumber(ARGV[1]))",
    "return string.format('%.0f %5.2f %d %s', tonumber(ARGV[1]) or 1, 2.5, 3, ARGV[1])",
    "return redis.call('SET', KEYS[1], tonumber(ARGV[1]) or 0) and redis.call('GET', KEYS[1])",
    "return redis.call('SET', KEYS[1], (tonumber(ARGV[1]) or 1) / 3) and redis.call('GET', KEYS[1])",
    "redis.call('SET', KEYS[1], 'x') error('after a write')",
    "redis.call('SET', KEYS[1], 'x') return redis.call('INCR', KEYS[1])",
    "local r = redis.pcall(ARGV[1], KEYS[1]) return {type(r), type(r) == 'table' and r.err or 'none'}",
    "local ok, e = pcall(redis.call, 'INCR', KEYS[1]) return {tostring(ok), type(e), e}",
    "local ok, e = pcall(function() return redis.call('LPUSH', KEYS[1], 1) end) return {tostring(ok), type(e), e}",
    "local ok, e = pcall(error, {err = ARGV[1] or 'X y'}) return {tostring(ok), type(e)}",
    "local ok, e = xpcall(function() redis.call('GET') end, function(e) return e end) return {type(e), type(e) == 'table' and e.err or e}",
    "return redis.call()",
    "return redis.call(nil)",
    "return redis.call({})",
    "return redis.call('GET')",
    "return redis.call('nosuch', 1)",
    "return redis.call('MULTI')",
    "return redis.sha1hex(ARGV[1] or '')",
    "return redis.call('TTL', KEYS[1])",
    "redis.call('EXPIRE', KEYS[1], 1000) return {redis.call('TTL', KEYS[1]), redis.call('PERSIST', KEYS[1])}",
    "redis.call('DEL', 'nokey') return redis.call('SET', KEYS[1], 1)",
    "#!lua\nreturn redis.call('GET', KEYS[1])",
    "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])",
    "#!lua flags=no-writes\nreturn redis.call('SET', KEYS[1], 1)",
    "#!lua flags=allow-oom,no-cluster\nreturn redis.call('SET', KEYS[1], 1)",
    "#!lua flags=\nreturn redis.call('APPEND', KEYS[1], 'x')",
    "#!lua flags=zip\nreturn 1",
    "#!other\nreturn 1",
    "return 1 +",
    "if",
    "return 'unfinished",
    "local s = 0 for i = 1, 200 do s = s + i end return s",
    "local t = {} for i = 1, 20 do t[i] = i * i end return t",
    "return {1, {2, {3, {4}}}, {ok = 'fine'}, {err = 'bad'}}",
    "return redis.call('GET', 'undeclared')",
    "local co = coroutine.wrap(function() coroutine.yield(redis.call('EXISTS', 'k')) end) return co()",
    "return {tostring(1e15), tostring(123456789012345678), tostring(0.1), 2^53 .. ''}",
    "return cjson.encode({1, 2, {a = ARGV[1]}})",
    "return cjson.decode(ARGV[1])",
    "local ok, v = pcall(cjson.decode, ARGV[1]) return {tostring(ok), type(v)}",
    "return {bit.band(12, 10), bit.bor(12, 10), bit.bxor(12, 10), bit.bnot(1), bit.lshift(1, 5), bit.tohex(255)}",
    "redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000000) return redis.call('INCRBY', KEYS[1], ARGV[2])",
];

/// Statements for longer scripts. `@` is replaced by a literal.
const STATEMENTS: &[&str] = &[
    "redis.call('SET', KEYS[1], @)",
    "redis.call('INCRBY', KEYS[1], @)",
    "redis.pcall('INCRBY', KEYS[1], @)",
    "redis.call('HSET', KEYS[1], 'f', @)",
    "redis.pcall('HINCRBY', KEYS[1], 'f', @)",
    "redis.call('ZADD', KEYS[1], @, 'm')",
    "redis.pcall('ZADD', KEYS[1], @, 'm', 2, 'n')",
    "redis.call('RPUSH', KEYS[1], @)",
    "redis.call('DEL', KEYS[1])",
    "redis.pcall('EXPIRE', KEYS[1], @)",
    "out[#out + 1] = redis.call('GET', KEYS[1])",
    "out[#out + 1] = redis.pcall('GET', KEYS[1])",
    "out[#out + 1] = redis.pcall('SET', KEYS[1], @, 'NX')",
    "out[#out + 1] = redis.pcall('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
    "out[#out + 1] = redis.call('EXISTS', KEYS[1])",
    "out[#out + 1] = tostring(@)",
    "out[#out + 1] = @",
    "if redis.call('EXISTS', KEYS[1]) == 1 then out[#out + 1] = 'there' end",
    "if #ARGV > 1 then return out end",
    "if #ARGV > 2 then error(@) end",
    "out[#out + 1] = #tostring(@)",
    "local x = tonumber(@) if x then out[#out + 1] = x * 2 end",
    "redis.call('SET', KEYS[1], tostring(@))",
];

const LITERALS: &[&str] = &[
    "1",
    "0",
    "-1",
    "1.5",
    "0.1",
    "-0.5",
    "1e15",
    "1e17",
    "1e20",
    "1e100",
    "-1e15",
    "2^53",
    "2^63",
    "-2^63",
    "1/3",
    "1e-7",
    "123456789.125",
    "-0",
    "'x'",
    "'5'",
    "'0x10'",
    "''",
    "100",
    "1000",
    "3.0",
    "0/0",
    "1/0",
    "ARGV[1]",
    "nil",
    "true",
    "12345678901234567",
];

fn composed() -> impl Strategy<Value = String> {
    vec((select(STATEMENTS), select(LITERALS)), 1..6).prop_map(|statements| {
        let mut script = String::from("local out = {}\n");
        for (statement, literal) in statements {
            script.push_str(&statement.replace('@', literal));
            script.push('\n');
        }
        script + "return out"
    })
}

fn source() -> impl Strategy<Value = String> {
    prop_oneof![2 => select(WHOLE).prop_map(str::to_owned), 1 => composed()]
}

/// A request that has to do with scripts.
pub(crate) fn request() -> impl Strategy<Value = Request> {
    let command = select(&["EVAL", "EVAL", "EVAL", "EVAL", "EVAL_RO", "LOAD"][..]);
    let keys = vec(select(KEYS), 0..3);
    // Redis 8.2 breaks its own protocol with line breaks in errors of scripts.
    let argv = vec(
        select(VALUES).prop_filter("no line breaks", |value| !value.contains('\n')),
        0..4,
    );
    let count =
        prop_oneof![12 => Just(None), 1 => select(&["-1", "9", "x", ""][..]).prop_map(Some)];
    (command, source(), keys, argv, count).prop_map(|(command, source, keys, argv, count)| {
        if command == "LOAD" {
            return Request::new(["SCRIPT".to_owned(), command.to_owned(), source]);
        }
        let count = count.map_or_else(|| keys.len().to_string(), str::to_owned);
        let mut words = vec![command.to_owned(), source, count];
        words.extend(keys.into_iter().chain(argv).map(str::to_owned));
        Request::new(words)
    })
}
