//! A proxy between client and server that cuts, delays and swallows, byte by byte.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

use crate::{Server, janitor};

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client to the server.
    Request,
    /// From the server to the client.
    Reply,
}

/// What happens to the bytes from some point on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Both sides of the connection are closed.
    Cut,
    /// They are taken and never passed on; the connection stays open.
    Swallow,
    /// They wait until [`Proxy::release`].
    Hold,
}

/// One thing that goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// To which bytes.
    pub direction: Direction,
    /// After how many of them, counted from when it was armed: it strikes as soon as these have
    /// passed, or with 0 when the first one comes.
    pub after: usize,
    /// What it does.
    pub fate: Fate,
}

/// Passes on every connection to its own Unix socket, and every byte, until a [`Fault`] strikes.
///
/// It needs a tokio runtime, and ends with its value.
#[derive(Debug)]
pub struct Proxy {
    socket: PathBuf,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    released: Notify,
}

#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    passed: usize,
    struck: bool,
    holding: bool,
    one_by_one: bool,
}

impl Proxy {
    /// Stands between clients and `server`.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn before(server: &Server) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let socket = janitor::directory().join(format!("proxy-{number}"));
        let listener = UnixListener::bind(&socket).expect("a socket for a proxy");
        let shared = Arc::new(Shared::default());
        let accepting = tokio::spawn(accept(listener, server.socket(), Arc::clone(&shared)));
        Self {
            socket,
            shared,
            accepting,
        }
    }

    /// Where clients connect to.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// A client of its socket, without a login.
    ///
    /// # Panics
    /// Never: the address is a valid one.
    pub fn client(&self) -> redis::Client {
        let address = redis::ConnectionAddr::Unix(self.socket.clone());
        redis::Client::open(address).expect("a valid address")
    }

    /// Lets `fault` strike once, in place of any earlier one.
    pub fn arm(&self, fault: Fault) {
        let mut state = self.shared.state();
        state.fault = Some(fault);
        state.passed = 0;
        state.struck = false;
    }

    /// Takes back a fault that has not struck; returns whether it had.
    pub fn disarm(&self) -> bool {
        let mut state = self.shared.state();
        state.fault = None;
        state.struck
    }

    /// Passes on what is held.
    pub fn release(&self) {
        self.shared.state().holding = false;
        self.shared.released.notify_waiters();
    }

    /// Passes on every byte by itself, or no longer so.
    pub fn one_by_one(&self, whether: bool) {
        self.shared.state().one_by_one = whether;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of `count` bytes that have just come may pass, and what happens to the others.
    fn admit(&self, direction: Direction, count: usize) -> (usize, Option<Fate>) {
        let mut state = self.state();
        let Some(fault) = state.fault.filter(|fault| fault.direction == direction) else {
            return (count, None);
        };
        let left = fault.after - state.passed;
        if count < left {
            state.passed += count;
            return (count, None);
        }
        state.fault = None;
        state.struck = true;
        state.holding = fault.fate == Fate::Hold;
        (left, Some(fault.fate))
    }

    async fn wait_for_release(&self) {
        loop {
            let released = self.released.notified();
            if !self.state().holding {
                return;
            }
            released.await;
        }
    }
}

/// Takes connections until it is aborted, which ends those too.
async fn accept(listener: UnixListener, server: PathBuf, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        // A server that is away looks like a connection that is closed at once.
        if let Ok(upstream) = UnixStream::connect(&server).await {
            connections.spawn(connection(client, upstream, Arc::clone(&shared)));
        }
    }
}

/// Both directions of one connection; the end of one ends both.
async fn connection(client: UnixStream, server: UnixStream, shared: Arc<Shared>) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Whichever ends, drops the other, and with it all four halves.
    tokio::select! {
        _ = pump(Direction::Request, from_client, to_server, &shared) => {}
        _ = pump(Direction::Reply, from_server, to_client, &shared) => {}
    }
}

async fn pump(
    direction: Direction,
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: &Shared,
) -> io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    let mut swallowing = false;
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok(());
        }
        if swallowing {
            continue;
        }
        let (passing, fate) = shared.admit(direction, count);
        pass(&buffer[..passing], &mut to, shared).await?;
        match fate {
            None => {}
            Some(Fate::Cut) => return Ok(()),
            Some(Fate::Swallow) => swallowing = true,
            Some(Fate::Hold) => {
                shared.wait_for_release().await;
                pass(&buffer[passing..count], &mut to, shared).await?;
            }
        }
    }
}

async fn pass(bytes: &[u8], to: &mut OwnedWriteHalf, shared: &Shared) -> io::Result<()> {
    if !shared.state().one_by_one {
        return to.write_all(bytes).await;
    }
    for byte in bytes {
        to.write_all(&[*byte]).await?;
        // The other side reads what there is before the next one comes.
        tokio::task::yield_now().await;
    }
    Ok(())
}
