//! What a command sees while it runs.

use crate::server::dispatch::wrong_arity;
use crate::server::node::Node;
use crate::server::number::parse_integer;
use crate::server::reply::Failure;
use crate::server::session::ConnectionId;
use crate::server::{Bytes, Reply, Request, Version};

/// What a command's function answers.
pub(crate) type Outcome = Result<Reply, Failure>;

/// One command in execution.
pub(crate) struct Context<'a> {
    pub(crate) node: &'a mut Node,
    pub(crate) request: &'a Request,
    pub(crate) connection: ConnectionId,
}

impl<'a> Context<'a> {
    /// A word of the request; the command's name is word 0. The arity has been checked.
    pub(crate) fn arg(&self, at: usize) -> &'a Bytes {
        &self.request.argv()[at]
    }

    /// The words from this one on.
    pub(crate) fn args(&self, from: usize) -> &'a [Bytes] {
        self.request.argv().get(from..).unwrap_or_default()
    }

    pub(crate) fn argc(&self) -> usize {
        self.request.argv().len()
    }

    pub(crate) fn version(&self) -> Version {
        self.node.version()
    }

    pub(crate) fn integer(&self, at: usize) -> Result<i64, Failure> {
        integer(self.arg(at))
    }

    /// The command's name in lower case.
    pub(crate) fn name(&self) -> &'static str {
        self.request.command().map_or("", |command| command.name)
    }

    pub(crate) fn wrong_arity(&self) -> Failure {
        wrong_arity(self.name())
    }
}

/// An integer argument.
pub(crate) fn integer(word: &[u8]) -> Result<i64, Failure> {
    parse_integer(word).ok_or_else(Failure::not_integer)
}

/// Whether a word is this option, in any case.
pub(crate) fn is(word: &[u8], option: &str) -> bool {
    word.eq_ignore_ascii_case(option.as_bytes())
}
