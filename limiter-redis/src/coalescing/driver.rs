//! Sends what waits.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use futures_util::stream::{FuturesUnordered, StreamExt};
use redis::aio::ConnectionLike;

use super::batch::Batch;
use super::queue::{Queue, UnderWay, Work};
use crate::script;

/// Sends batches from `queue` until its store is gone. They reach the connection in their order: each
/// is polled once before the next is taken.
pub(super) async fn drive<C: ConnectionLike + Clone + Send>(queue: Driven, connection: C) {
    let mut batches = FuturesUnordered::new();
    poll_fn(|context| {
        loop {
            while let Poll::Ready(Some(())) = batches.poll_next_unpin(context) {}
            match queue.0.work(context) {
                Work::Send(batch, under_way) => {
                    batches.push(send(connection.clone(), batch, under_way));
                }
                Work::Wait => return Poll::Pending,
                Work::End => return Poll::Ready(()),
            }
        }
    })
    .await;
}

async fn send<C: ConnectionLike + Send>(connection: C, mut batch: Batch, _under_way: UnderWay) {
    batch.gather();
    let keys = batch.keys();
    if batch.is_alone() {
        let arguments = batch.arguments_alone();
        let script = &script::ACQUIRE_FIRST_ARRIVAL;
        batch.tell_alone(&script.run(connection, &keys, &arguments).await);
    } else {
        let arguments = batch.arguments();
        let script = &script::ACQUIRE_BATCH;
        batch.tell(&script.run(connection, &keys, &arguments).await);
    }
}

/// The driver's end of a queue.
#[derive(Debug)]
pub(super) struct Driven(pub(super) Arc<Queue>);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.driver_ended();
    }
}
