//! One script, sent so that it runs at most once.

use std::sync::LazyLock;

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, ToRedisArgs, Value};

use crate::scripts;

macro_rules! scripts {
    ($($name:ident)+) => {$(
        pub(crate) static $name: Script = Script {
            text: scripts::$name,
            digest: LazyLock::new(|| digest(scripts::$name)),
        };
    )+};
}

scripts! { ACQUIRE_FIRST_ARRIVAL ACQUIRE_BATCH PEEK_FIRST_ARRIVAL ACQUIRE PEEK REFUND RENEW }

/// A script, and the digest by which the server's script cache knows it.
#[derive(Debug)]
pub(crate) struct Script {
    text: &'static str,
    digest: LazyLock<String>,
}

impl Script {
    /// Sends the script by its digest, and once more by its text where the server does not know
    /// it. Two requests at most, and at most one of them ran: a server that answers NOSCRIPT ran
    /// nothing. Loading the script first would be a third request, and a flush could still come
    /// between.
    pub(crate) async fn run<C>(
        &self,
        mut connection: C,
        keys: &[Vec<u8>],
        arguments: &[impl ToRedisArgs + Sync],
    ) -> Result<Value, RedisError>
    where
        C: ConnectionLike + Send,
    {
        let by_digest = command("EVALSHA", &self.digest, keys, arguments);
        match send(&mut connection, &by_digest).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                let by_text = command("EVAL", self.text, keys, arguments);
                send(&mut connection, &by_text).await
            }
            answered => answered,
        }
    }
}

fn command(name: &str, script: &str, keys: &[Vec<u8>], arguments: &[impl ToRedisArgs]) -> Cmd {
    let mut command = redis::cmd(name);
    command.arg(script).arg(keys.len()).arg(keys);
    for argument in arguments {
        command.arg(argument);
    }
    command
}

pub(crate) async fn send<C>(connection: &mut C, command: &Cmd) -> Result<Value, RedisError>
where
    C: ConnectionLike + Send,
{
    connection
        .req_packed_command(command)
        .await?
        .extract_error()
}

fn digest(text: &str) -> String {
    sha1_smol::Sha1::from(text).digest().to_string()
}
