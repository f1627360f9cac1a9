//! The simulated connection: the `redis` crate's own trait, so that real client code runs on it.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisError, RedisFuture, Value};

use super::input::{Break, Ticket};
use super::seam::{Answer, Seam};
use crate::server::Request;

/// A connection to a modelled server, as the `redis` crate sees it.
///
/// Clones share one connection, like those of a multiplexed one: requests are executed in the order
/// in which they were made. After a break, the next request fails, and the one after that goes out
/// on a new connection, as with `redis::aio::ConnectionManager`.
#[derive(Clone, Debug)]
pub struct SimConnection {
    seam: Seam,
    connection: usize,
}

impl SimConnection {
    pub(crate) fn new(seam: Seam, connection: usize) -> Self {
        Self { seam, connection }
    }

    fn send(&self, bytes: &[u8]) -> Result<Vec<Sent>, RedisError> {
        let requests = Request::parse_all(bytes).map_err(|error| {
            RedisError::from(io::Error::new(
                io::ErrorKind::InvalidInput,
                error.to_string(),
            ))
        })?;
        let send = |request| Sent {
            seam: self.seam.clone(),
            ticket: self.seam.send(self.connection, request),
        };
        Ok(requests.into_iter().map(send).collect())
    }
}

impl ConnectionLike for SimConnection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let sent = self.send(&command.get_packed_command())?;
            let mut values = receive(sent).await?;
            values
                .pop()
                .ok_or_else(|| RedisError::from(io::Error::other("an empty command")))
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let sent = self.send(&pipeline.get_packed_pipeline())?;
            let values = receive(sent).await?;
            Ok(values.into_iter().skip(offset).take(count).collect())
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

/// A request on its way. Dropping it gives the answer up.
struct Sent {
    seam: Seam,
    ticket: Ticket,
}

impl Sent {
    async fn answer(&self) -> Answer {
        poll_fn(
            |context| match self.seam.take_answer(self.ticket, context.waker()) {
                Some(answer) => Poll::Ready(answer),
                None => Poll::Pending,
            },
        )
        .await
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.seam.abandon(self.ticket);
    }
}

async fn receive(sent: Vec<Sent>) -> Result<Vec<Value>, RedisError> {
    let mut values = Vec::with_capacity(sent.len());
    for request in &sent {
        match request.answer().await {
            Ok(reply) => values.push(redis::parse_redis_value(&reply.to_resp())?),
            Err(why) => return Err(io_error(why)),
        }
    }
    Ok(values)
}

fn io_error(why: Break) -> RedisError {
    RedisError::from(io::Error::from(match why {
        Break::TimedOut => io::ErrorKind::TimedOut,
        Break::Closed => io::ErrorKind::BrokenPipe,
    }))
}
