//! What is answered in place of the service: status, fields, and a body that explains.

mod accept;
mod problem;

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use limiter_core::{Denial, Error, ErrorKind, Wait};

use crate::LimitBody;
use accept::Form;
use problem::{Problem, Type};

/// The whole seconds of a wait, rounded up and never 0: RFC 9110 §10.2.3 has no smaller unit, and a
/// client that is told 0 asks again at once.
pub(crate) fn whole_seconds(wait: Duration) -> u64 {
    let whole = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    whole.max(1)
}

/// A denial: 429 with the wait, or `never` where no wait will do.
pub(crate) fn denied<B>(
    request: &HeaderMap,
    denial: &Denial,
    never: StatusCode,
) -> Response<LimitBody<B>> {
    match denial.wait() {
        Wait::Never => refuse(request, never, None, &Problem::denied(Type::Never, denial)),
        wait => {
            let seconds = wait.duration().map(whole_seconds);
            let problem = Problem::denied(Type::Denied, denial);
            refuse(request, StatusCode::TOO_MANY_REQUESTS, seconds, &problem)
        }
    }
}

/// No decision. What the store said stays inside: it may name hosts and keys.
pub(crate) fn undecided<B>(request: &HeaderMap, error: &Error) -> Response<LimitBody<B>> {
    if error.kind() == ErrorKind::Invalid {
        let problem = Problem::of(Type::Invalid);
        return refuse(request, StatusCode::INTERNAL_SERVER_ERROR, None, &problem);
    }
    let seconds = error.retry_in().map(whole_seconds);
    let problem = Problem::of(Type::Undecided);
    refuse(request, StatusCode::SERVICE_UNAVAILABLE, seconds, &problem)
}

/// Nobody knows whose budget it would be.
pub(crate) fn without_identity<B>(
    request: &HeaderMap,
    status: StatusCode,
) -> Response<LimitBody<B>> {
    refuse(request, status, None, &Problem::of(Type::NoIdentity))
}

fn refuse<B>(
    request: &HeaderMap,
    status: StatusCode,
    seconds: Option<u64>,
    problem: &Problem<'_>,
) -> Response<LimitBody<B>> {
    let form = Form::preferred(request.get_all(ACCEPT));
    let text = match form {
        Form::Problem => problem.json(status, seconds),
        Form::Text => problem.text(seconds),
    };
    let mut response = Response::new(LimitBody::explanation(Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(form.media_type()));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = seconds {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
