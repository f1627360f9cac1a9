//! One opaque error for the whole contract.

use std::fmt;
use std::time::Duration;

/// What is known to have happened when no decision could be given.
///
/// The kind is chosen by what is *known*, never by what is likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The store did not decide and charged nothing: it refused, could not be reached, or is full.
    Unavailable,
    /// The request may have been decided and charged; the answer was lost.
    Uncertain,
    /// The stored state of a budget was not written by this store. Nothing was charged.
    Corrupt,
    /// The request can never be served as it was asked. Nothing was charged.
    Invalid,
}

impl ErrorKind {
    /// The kind in one lower-case word, stable, for logs and metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Uncertain => "uncertain",
            Self::Corrupt => "corrupt",
            Self::Invalid => "invalid",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

type Source = Box<dyn std::error::Error + Send + Sync + 'static>;

/// No decision could be given.
///
/// A denial is not an error: it is an answer, [`Decision::Denied`](crate::Decision::Denied). And an
/// error is never an empty counter: whoever admits after one gives extra allowance, and should know
/// it (see [`FailureMode`](crate::FailureMode)).
///
/// ```
/// use limiter_core::{Error, ErrorKind};
///
/// let error = Error::new(ErrorKind::Uncertain, "the connection broke after the request was sent");
/// assert!(error.may_have_spent());
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    retry_in: Option<Duration>,
    source: Option<Source>,
}

impl Error {
    /// An error of `kind`; `message` says what is known, in one line, without the kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            retry_in: None,
            source: None,
        }))
    }

    /// The store did not decide and charged nothing.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// The request may have been charged.
    pub fn uncertain(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Uncertain, message)
    }

    /// Foreign or damaged state under the budget that the message names.
    pub fn corrupt(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corrupt, message)
    }

    /// The request can never be served as asked.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Keeps `source` as the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// States when it is worth asking again.
    #[must_use]
    pub fn with_retry_in(mut self, wait: Duration) -> Self {
        self.0.retry_in = Some(wait);
        self
    }

    /// How long until it is worth asking again, where somebody knows: a circuit knows its next
    /// probe.
    pub fn retry_in(&self) -> Option<Duration> {
        self.0.retry_in
    }

    /// What is known to have happened.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What is known, in one line, without the kind.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the call may have been charged although no answer came. A kind that is not known to
    /// be unspent counts as possibly spent.
    pub fn may_have_spent(&self) -> bool {
        match self.0.kind {
            ErrorKind::Uncertain => true,
            ErrorKind::Unavailable | ErrorKind::Corrupt | ErrorKind::Invalid => false,
        }
    }

    /// Whether the same call may be sent again without a second charge: nothing was spent, and the
    /// cause may pass by itself.
    pub fn is_retryable(&self) -> bool {
        self.0.kind == ErrorKind::Unavailable
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.kind, self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
