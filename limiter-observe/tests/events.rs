//! What is written. A binary of its own: which events are wanted is decided once for a process, and
//! tests beside this one have no subscriber.

#[path = "support/mod.rs"]
mod support;

use std::io;
use std::sync::{Arc, Mutex};

use limiter_core::{Error, Limiter};
use limiter_memory::MemoryStore;
use limiter_observe::ObservedStore;

use support::{Broken, ask, policy};

/// A place for log lines.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn foreign() -> Error {
    Error::corrupt("foreign: key limiter:alice@example.org")
}

#[test]
fn events_name_policies_and_never_identities() {
    let log = Log::default();
    let _guard = {
        let lines = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_ansi(false)
            .with_writer(move || lines.clone())
            .finish();
        tracing_subscriber::util::SubscriberInitExt::set_default(subscriber)
    };
    let limiter = Limiter::new(ObservedStore::new(MemoryStore::new()), [policy("p", 1)]).unwrap();
    for _ in 0..2 {
        let _ = ask(&limiter, 1).unwrap();
    }
    let corrupt = Limiter::new(ObservedStore::new(Broken(foreign)), [policy("q", 1)]).unwrap();
    assert!(ask(&corrupt, 1).is_err());
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for part in [
        "acquire{store=MemoryStore policies=[\"p\"]}",
        "outcome=\"denied\"",
        "WARN",
        "kind=Corrupt",
    ] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert!(!text.contains("alice"), "{text}");
}
