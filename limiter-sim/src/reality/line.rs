//! One connection to a real server.

use std::path::Path;
use std::time::Duration;

use redis::{Client, Connection, ConnectionLike, RedisError, Value};

use crate::server::{Bytes, Reply, Request};

/// How long a reply is waited for: a server that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to a real server. Dropping it closes it.
pub(super) struct Line(Connection);

impl Line {
    pub(super) fn to(socket: &Path) -> Result<Self, String> {
        let open = || {
            let client = Client::open(format!("redis+unix://{}", socket.display()))?;
            let connection = client.get_connection_with_timeout(PATIENCE)?;
            connection.set_read_timeout(Some(PATIENCE))?;
            Ok(connection)
        };
        open()
            .map(Self)
            .map_err(|error: RedisError| format!("no connection to the server: {error}"))
    }

    /// Sends a request, and waits for the reply.
    ///
    /// # Errors
    /// Where the server does not answer.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Reply, String> {
        match self.0.req_packed_command(&request.to_resp()) {
            Ok(value) => reply(value),
            Err(error) => error_reply(&error)
                .ok_or_else(|| format!("the server does not answer {}: {error}", request.name())),
        }
    }

    /// The same with words.
    pub(super) fn words<const N: usize>(&mut self, words: [&str; N]) -> Result<Reply, String> {
        self.ask(&Request::new(words))
    }

    /// The text of a section of `INFO`.
    pub(super) fn info(&mut self, section: &str) -> Result<Info, String> {
        match self.words(["INFO", section])? {
            Reply::Bulk(text) => Ok(Info(text.lossy().into_owned())),
            other => Err(format!("INFO answers {other}")),
        }
    }
}

/// What `INFO` says.
pub(super) struct Info(String);

impl Info {
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.0.lines().filter_map(|line| line.split_once(':'));
        let found = fields.find(|(field, _)| *field == name);
        found.map(|(_, value)| value.trim())
    }

    pub(super) fn number(&self, name: &str) -> Result<u64, String> {
        let value = self.field(name).and_then(|value| value.parse().ok());
        value.ok_or_else(|| format!("INFO does not tell {name}"))
    }
}

fn reply(value: Value) -> Result<Reply, String> {
    Ok(match value {
        Value::Nil => Reply::Nil,
        Value::Int(number) => Reply::Int(number),
        Value::BulkString(bytes) => Reply::Bulk(bytes.into()),
        Value::Okay => Reply::ok(),
        Value::SimpleString(text) => Reply::status(&text),
        Value::Array(values) => Reply::array(
            values
                .into_iter()
                .map(reply)
                .collect::<Result<_, String>>()?,
        ),
        Value::ServerError(error) => {
            let error = RedisError::from(error);
            error_reply(&error).ok_or_else(|| format!("an error without a code: {error}"))?
        }
        other => return Err(format!("a reply that is not of RESP2: {other:?}")),
    })
}

/// The line that the server sent, if it was the server that said no.
fn error_reply(error: &RedisError) -> Option<Reply> {
    let code = error.code()?;
    let text = error
        .detail()
        .map_or_else(|| code.to_owned(), |detail| format!("{code} {detail}"));
    Some(Reply::Error(Bytes::from(text)))
}
