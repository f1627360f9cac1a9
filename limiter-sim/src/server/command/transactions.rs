//! `MULTI`, `EXEC` and what goes with them.

use super::context::{Context, Outcome};
use crate::server::node::Node;
use crate::server::session::Transaction;
use crate::server::{Reply, Request};

pub(super) fn multi(cx: &mut Context<'_>) -> Outcome {
    cx.node.with_session(cx.connection, |session| {
        if session.multi.is_some() {
            return Err("ERR MULTI calls can not be nested".into());
        }
        session.multi = Some(Transaction::default());
        Ok(Reply::ok())
    })
}

pub(super) fn discard(cx: &mut Context<'_>) -> Outcome {
    cx.node.with_session(cx.connection, |session| {
        session.multi.take().ok_or("ERR DISCARD without MULTI")?;
        session.unwatch();
        Ok(Reply::ok())
    })
}

pub(super) fn exec(cx: &mut Context<'_>) -> Outcome {
    let (transaction, dirty) = cx.node.with_session(cx.connection, |session| {
        let transaction = session.multi.take();
        let dirty = session.dirty;
        if transaction.is_some() {
            session.unwatch();
        }
        (transaction, dirty)
    });
    let transaction = transaction.ok_or("ERR EXEC without MULTI")?;
    if transaction.broken {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    if dirty {
        return Ok(Reply::NilArray);
    }
    let connection = cx.connection;
    let run = |node: &mut Node, request: &Request| match request.command() {
        Some(command) => node.run_command(connection, command, request),
        None => Err("ERR unknown command".into()),
    };
    let replies: Vec<Reply> = cx.node.without_waiting(|node| {
        let replies = transaction.queue.iter().map(|request| run(node, request));
        replies
            .map(|reply| reply.unwrap_or_else(Reply::from))
            .collect()
    });
    Ok(Reply::array(replies))
}

pub(super) fn watch(cx: &mut Context<'_>) -> Outcome {
    let keys = cx.args(1);
    cx.node.with_session(cx.connection, |session| {
        if session.multi.is_some() {
            return Err("ERR WATCH inside MULTI is not allowed".into());
        }
        for key in keys {
            if !session.watched.contains(key) {
                session.watched.push(key.clone());
            }
        }
        Ok(Reply::ok())
    })
}

pub(super) fn unwatch(cx: &mut Context<'_>) -> Outcome {
    cx.node
        .with_session(cx.connection, |session| session.unwatch());
    Ok(Reply::ok())
}
