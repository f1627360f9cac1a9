//! A connection that holds decisions back, so that calls gather; notes what was sent; and loses replies.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use futures_util::future::{join, join_all};
use limiter_core::{Acquire, BudgetStore, Decision, Error};
use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, Value};
use tokio::sync::watch;

/// A request: its name, how many keys, and how many bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(crate) name: String,
    pub(crate) keys: usize,
    pub(crate) bytes: usize,
}

#[derive(Clone)]
pub(crate) struct Gate<C> {
    inner: C,
    open: watch::Sender<bool>,
    loses: Arc<AtomicBool>,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl<C> Gate<C> {
    pub(crate) fn before(inner: C) -> Self {
        Self {
            inner,
            open: watch::Sender::new(true),
            loses: Arc::default(),
            sent: Arc::default(),
        }
    }

    /// Holds replies back, or gives them out.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.send_replace(open);
    }

    /// From now on every reply is lost.
    pub(crate) fn lose_replies(&self) {
        self.loses.store(true, Ordering::Relaxed);
    }

    /// What was sent since the last look.
    pub(crate) fn sent(&self) -> Vec<Sent> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    /// Asks for all of these at once, in this order, while replies are held back.
    pub(crate) async fn gather(
        &self,
        store: &impl BudgetStore,
        requests: &[Acquire],
    ) -> Vec<Result<Decision, Error>> {
        self.set_open(false);
        let calls = join_all(requests.iter().map(|request| store.acquire(request)));
        let open = async {
            settle().await;
            self.set_open(true);
        };
        join(calls, open).await.0
    }
}

/// Lets every other task of this thread run until it waits.
pub(crate) async fn settle() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

impl<C: ConnectionLike + Clone + Send> ConnectionLike for Gate<C> {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        async move {
            let words: Vec<&[u8]> = cmd
                .args_iter()
                .map(|word| match word {
                    redis::Arg::Simple(word) => word,
                    _ => panic!("a command is made of words"),
                })
                .collect();
            let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
            self.sent.lock().unwrap().push(Sent {
                name: text(words[0]),
                keys: words
                    .get(2)
                    .map_or(0, |keys| text(keys).parse().unwrap_or(0)),
                bytes: cmd.get_packed_command().len(),
            });
            let reply = self.inner.req_packed_command(cmd).await;
            // A server that does not know the script says so at once.
            if !matches!(&reply, Ok(Value::Array(_))) {
                return reply;
            }
            let mut open = self.open.subscribe();
            let _ = open.wait_for(|open| *open).await;
            if self.loses.load(Ordering::Relaxed) {
                return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe).into());
            }
            reply
        }
        .boxed()
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        _: &'a Pipeline,
        _: usize,
        _: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        panic!("the store sends no pipelines")
    }

    fn get_db(&self) -> i64 {
        0
    }
}
