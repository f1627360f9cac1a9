//! Who is counted.

mod address;
mod forwarded;

use std::fmt;

use http::header::HeaderName;
use http::{Extensions, StatusCode};
use limiter_core::Identity;

pub use address::address;
pub use forwarded::{Forwarded, ForwardedHeader, forwarded_for};

use crate::Head;

/// Takes the identity from a request. Any closure from a [`Head`] to one is an `Identify`.
pub trait Identify: Send + Sync + 'static {
    /// Who is counted; `None` where the request does not say.
    fn identity(&self, head: &Head<'_>) -> Option<Identity>;
}

impl<F> Identify for F
where
    F: Fn(&Head<'_>) -> Option<Identity> + Send + Sync + 'static,
{
    fn identity(&self, head: &Head<'_>) -> Option<Identity> {
        self(head)
    }
}

/// What becomes of a request without an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WithoutIdentity {
    /// It is refused with this status, and charges nobody.
    Reject(StatusCode),
    /// All of them share one budget of each policy, which is nobody's own.
    Share,
}

impl Default for WithoutIdentity {
    /// 400 Bad Request.
    fn default() -> Self {
        Self::Reject(StatusCode::BAD_REQUEST)
    }
}

/// A name that no header field can have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableHeader(String);

impl fmt::Display for UnusableHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no header field can be called {:?}: a name is letters, digits and !#$%&'*+-.^_`|~",
            self.0
        )
    }
}

impl std::error::Error for UnusableHeader {}

/// The value of a header field, byte for byte. Where the field is there more than once, nobody can
/// say which one is meant, and there is no identity.
///
/// # Errors
/// Where no field can have that name.
pub fn header(name: &str) -> Result<impl Identify + Clone, UnusableHeader> {
    let name: HeaderName = name.parse().map_err(|_| UnusableHeader(name.to_owned()))?;
    Ok(move |head: &Head<'_>| {
        let mut values = head.headers.get_all(&name).iter();
        match (values.next(), values.next()) {
            (Some(value), None) => Some(Identity::from(value.as_bytes())),
            _ => None,
        }
    })
}

/// What a layer before this one has found out and put into the request's extensions: an account, a
/// peer's address (axum: `extension(|info: &ConnectInfo<SocketAddr>| address(info.0.ip(), 64))`).
pub fn extension<T, I>(
    identity: impl Fn(&T) -> I + Clone + Send + Sync + 'static,
) -> impl Identify + Clone
where
    T: Send + Sync + 'static,
    I: Into<Identity>,
{
    move |head: &Head<'_>| {
        let extensions: &Extensions = head.extensions;
        extensions.get::<T>().map(|value| identity(value).into())
    }
}

/// The path of the target, without its query. Each path has a budget of its own: behind a route with
/// parameters that is one for each value.
pub fn path() -> impl Identify + Clone {
    |head: &Head<'_>| Some(Identity::from(head.uri.path()))
}
