//! `cargo run --example service`: on port 3000, or PORT; with the store in memory, or on Redis at
//! REDIS_URL. WHEN_AWAY=admit admits where Redis cannot be asked; otherwise that is answered with 503.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use limiter_core::FailureMode;
use metrics_exporter_prometheus::PrometheusBuilder;
use service_example::{Limits, in_memory, on_redis, service};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("service: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let metrics = PrometheusBuilder::new().install_recorder()?;
    let (store, kind) = match env::var("REDIS_URL") {
        Ok(url) => {
            let store = on_redis(&url).map_err(|error| format!("REDIS_URL: {error}"))?;
            (store, "Redis")
        }
        Err(_) => (in_memory(), "memory"),
    };
    let admit = match env::var("WHEN_AWAY").as_deref() {
        Ok("admit") => true,
        Ok("refuse") | Err(_) => false,
        Ok(other) => {
            return Err(format!("WHEN_AWAY is {other:?}: it may be admit or refuse").into());
        }
    };
    let mode = || {
        if admit {
            FailureMode::Admit
        } else {
            FailureMode::Refuse
        }
    };
    let (router, releaser) = service(&store, Limits::default(), mode, metrics)?;
    tokio::spawn(releaser);
    let port = env::var("PORT").map_or(Ok(3000), |port| port.parse::<u16>());
    let port = port.map_err(|_| "PORT is a number from 0 to 65535")?;
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!(
        "limits are kept in {kind}; try: curl -i -H 'x-api-key: alice' http://{}/search",
        listener.local_addr()?
    );
    axum::serve(listener, router)
        .with_graceful_shutdown(async {
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}
