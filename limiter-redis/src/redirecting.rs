//! A cluster connection that follows redirections and resends nothing else.

use std::fmt;
use std::io;

use futures_util::FutureExt;
use redis::aio::ConnectionLike;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::{
    Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult, ServerErrorKind, Value,
};

use crate::refusal::NOT_WRITTEN;

/// How often one request follows a redirection or repeats a refusal, at most.
const MAX_REPEATS: usize = 4;

/// A cluster connection that repeats what a node is known to have refused, at most four times, and
/// nothing else.
///
/// MOVED and ASK are followed to the address that they name (ASK with ASKING right in front, on the
/// same connection) where the connection has that node, else MOVED is repeated by the slot map,
/// which it refreshes, and ASK is given up. TRYAGAIN and CLUSTERDOWN are repeated at once. An I/O
/// error is never repeated.
///
/// A `redis` cluster connection answers every request under way with one error when it cannot
/// refresh its slot map, whether the request was sent or not. So an error that is not the node's
/// reply to this very request is made an I/O error here, and the store answers *uncertain*: also
/// where a node could not be connected to.
#[derive(Clone)]
pub struct RedirectingConnection {
    cluster: ClusterConnection,
}

impl RedirectingConnection {
    /// Wraps `cluster`, which must have been built with `retries(0)`: otherwise it resends after
    /// time-outs and broken connections by itself, and can charge twice.
    pub fn new(cluster: ClusterConnection) -> Self {
        Self { cluster }
    }

    async fn follow(&mut self, command: &Cmd) -> RedisResult<Value> {
        let mut answer = self.cluster.req_packed_command(command).await;
        for _ in 0..MAX_REPEATS {
            let Some(refusal) = refusal(&answer) else {
                break;
            };
            let next = match (refusal, node(&answer)) {
                (ServerErrorKind::Ask, None) => break,
                (ServerErrorKind::Ask, Some(node)) => self.ask(command, node).await,
                (ServerErrorKind::Moved, Some(node)) => self.send_to(command, node).await,
                _ => self.cluster.req_packed_command(command).await,
            };
            answer = match next {
                // The refusal stands, and it is the refresh of the slot map that helps a MOVED.
                Err(error) if is_unconnected(&error) => match refusal {
                    ServerErrorKind::Ask => break,
                    _ => self.cluster.req_packed_command(command).await,
                },
                next => next,
            };
        }
        answer.map_err(uncertain_unless_refused)
    }

    async fn send_to(&mut self, command: &Cmd, node: SingleNodeRoutingInfo) -> RedisResult<Value> {
        let route = RoutingInfo::SingleNode(node);
        self.cluster.route_command(command.clone(), route).await
    }

    /// A pipeline is written whole, so that no other request gets between the two.
    async fn ask(&mut self, command: &Cmd, node: SingleNodeRoutingInfo) -> RedisResult<Value> {
        let mut pipeline = Pipeline::with_capacity(2);
        pipeline.cmd("ASKING").add_command(command.clone());
        let answers = self.cluster.route_pipeline(pipeline, 0, 2, node).await?;
        answers
            .into_iter()
            .nth(1)
            .ok_or_else(|| (ErrorKind::Parse, "ASKING was answered, the request was not").into())
    }
}

/// What the node refused, if the same request can be sent again because of it.
fn refusal(answer: &RedisResult<Value>) -> Option<ServerErrorKind> {
    let kind = match answer {
        Ok(Value::ServerError(error)) => error.kind()?,
        Ok(_) => return None,
        Err(error) => match error.kind() {
            ErrorKind::Server(kind) => kind,
            _ => return None,
        },
    };
    let can_repeat = matches!(
        kind,
        ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
    );
    can_repeat.then_some(kind)
}

/// The node that a redirection names; none where the server left its host out.
fn node(answer: &RedisResult<Value>) -> Option<SingleNodeRoutingInfo> {
    let (address, _slot) = match answer {
        Err(error) => error.redirect_node()?,
        Ok(_) => return None,
    };
    let (host, port) = address.rsplit_once(':')?;
    let host = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .to_owned();
    let port = port.parse().ok()?;
    (!host.is_empty()).then_some(SingleNodeRoutingInfo::ByAddress { host, port })
}

/// Whether the request was not sent because the connection does not have the node that it was meant
/// for. The kind alone would not do: a failed refresh of the slot map can have it too. Should the
/// text change one day, the answer is *uncertain*, and nothing is repeated.
fn is_unconnected(error: &RedisError) -> bool {
    error.kind() == ErrorKind::ClusterConnectionNotFound
        && error
            .to_string()
            .starts_with("Requested connection not found")
}

/// Keeps an error that can only be the node's reply to this request. A failed refresh of the slot
/// map asks for CLUSTER SLOTS, which no node refuses with these; one of them is a script's own.
fn uncertain_unless_refused(error: RedisError) -> RedisError {
    use ServerErrorKind::{Ask, ClusterDown, Moved, ReadOnly, TryAgain};
    match error.kind() {
        ErrorKind::Server(Moved | Ask | TryAgain | ClusterDown | ReadOnly) => error,
        ErrorKind::Extension if error.code() == Some(NOT_WRITTEN) => error,
        _ => RedisError::from(io::Error::other(error)),
    }
}

impl ConnectionLike for RedirectingConnection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        self.follow(cmd).boxed()
    }

    /// Forwarded as it is: redirections are not followed.
    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        self.cluster.req_packed_commands(pipeline, offset, count)
    }

    fn get_db(&self) -> i64 {
        self.cluster.get_db()
    }
}

/// The addresses are left out.
impl fmt::Debug for RedirectingConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedirectingConnection")
            .finish_non_exhaustive()
    }
}
