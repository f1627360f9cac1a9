//! The contract, as far as the store says that it keeps it, in the server's time.

use limiter_core::TokioTimer;
use limiter_core::conformance::{Real, check};

use crate::server::Server;

#[tokio::test]
async fn it_keeps_every_clause_of_what_it_offers() {
    let server = Server::start();
    let store = server.store().await;
    let report = check(&store, &Real(TokioTimer::default()), "redis").await;
    println!("{report}");
    assert!(report.passed(), "{report}");
}
