//! Real servers for whole-system tests: private processes, started and stopped by the tests.
//!
//! ```
//! use limiter_tests::servers;
//!
//! for program in servers() {
//!     let mut server = program.setup().start();
//!     let reply: String = redis::cmd("PING").query(&mut server.admin()).unwrap();
//!     assert_eq!(reply, "PONG", "on {program}");
//!     server.kill();
//!     server.restart();
//! } // Here each server is stopped, and its directory removed.
//! ```
//!
//! # The nouns
//!
//! A [`Program`] is a server's binary; [`servers`] finds all that this machine has. A [`Setup`]
//! says how to run one, and a [`Server`] is one that runs. A [`Proxy`] stands before one and loses
//! what it is told to. [`Watched`] and [`Cluster`] are whole topologies. [`on_every_server`] repeats an
//! asynchronous test on all of them.
//!
//! # Limitations
//!
//! Everything here panics where it cannot do what it was asked to: that is a failed test. It needs
//! Unix (sockets and signals), `sh` and `awk`.

mod certificates;
mod cluster;
mod connect;
mod every;
mod janitor;
mod ports;
mod program;
mod proxy;
mod sentinels;
mod server;
mod setup;
mod wait;

pub use certificates::Certificates;
pub use cluster::Cluster;
pub use every::{on_every, on_every_server};
pub use program::{Program, find_servers, servers};
pub use proxy::{Direction, Fate, Fault, Proxy};
pub use sentinels::Watched;
pub use server::Server;
pub use setup::{Persistence, Setup};
pub use wait::{eventually, pause_for};

/// The examples of the front page compile.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct FrontPage;
