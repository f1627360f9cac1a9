//! What one would write by hand: a script, and the connection.

use redis::aio::MultiplexedConnection;
use redis::{RedisResult, Value};

use super::Bench;
use super::limiters::WINDOW;
use super::load::Limiter;

/// The least that keeps a window: no damaged counter is noticed, and nothing told but the answer.
///
/// One key; arguments limit and length in milliseconds, as for the next.
pub(super) const LEAST: &str = "\
    local count = tonumber(redis.call('GET', KEYS[1]) or 0) \
    if count >= tonumber(ARGV[1]) then return 0 end \
    if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end \
    return 1";

/// The same, and it tells the total and how long the window lasts, as the stores do.
pub(super) const TELLING: &str = "\
    local count = tonumber(redis.call('GET', KEYS[1]) or 0) \
    local left = redis.call('PTTL', KEYS[1]) \
    if count >= tonumber(ARGV[1]) then return {0, count, left} end \
    if redis.call('INCR', KEYS[1]) == 1 then \
        redis.call('PEXPIRE', KEYS[1], ARGV[2]) \
        left = tonumber(ARGV[2]) \
    end \
    return {1, count + 1, left}";

/// Loads a script, and says its digest.
pub(super) fn load(bench: &Bench, script: &str) -> String {
    let mut load = redis::cmd("SCRIPT");
    load.arg("LOAD").arg(script);
    let digest = load.query(&mut bench.server.admin());
    digest.expect("the script is loaded")
}

pub(super) struct Raw {
    pub(super) connection: MultiplexedConnection,
    pub(super) digest: String,
    /// Goes before each key.
    pub(super) prefix: &'static str,
    pub(super) limit: u32,
}

impl Limiter for Raw {
    async fn admits(&self, account: &str) -> bool {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.digest).arg(1);
        command.arg([self.prefix, account].concat());
        command.arg(self.limit).arg(WINDOW.as_millis() as u64);
        let mut connection = self.connection.clone();
        let reply: RedisResult<Value> = command.query_async(&mut connection).await;
        let reply = reply.expect("the script runs");
        let admitted = match &reply {
            Value::Array(values) => &values[0],
            value => value,
        };
        *admitted == Value::Int(1)
    }
}
