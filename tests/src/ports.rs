//! Free TCP ports on the loopback address.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below what operating systems hand out by themselves, also with [`BUS_OFFSET`] added.
const FIRST: u16 = 12_000;
const COUNT: u16 = 10_000;

/// A cluster's nodes talk to each other on their port plus this.
const BUS_OFFSET: u16 = 10_000;

/// A port that is free now, and whose cluster bus port is too. It is asked for once only in this
/// process; processes that test at the same time start from different numbers.
pub(crate) fn free() -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let start = process::id().wrapping_mul(101) % u32::from(COUNT);
    for _ in 0..COUNT {
        let taken = TAKEN.fetch_add(1, Ordering::Relaxed);
        let offset = (start + u32::from(taken)) % u32::from(COUNT);
        let port = FIRST + u16::try_from(offset).expect("an offset below COUNT");
        if is_free(port) && is_free(port + BUS_OFFSET) {
            return port;
        }
    }
    panic!("no free port on the loopback address");
}

fn is_free(port: u16) -> bool {
    TcpListener::bind(("127.0.0.1", port)).is_ok()
}
