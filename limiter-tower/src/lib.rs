//! Rate limits over HTTP: a [`tower`](https://docs.rs/tower) layer that explains the refusal.
//!
//! ```
//! use std::time::Duration;
//! use limiter_core::{Limiter, Policy};
//! use limiter_memory::MemoryStore;
//! use limiter_tower::{RateLimitLayer, header};
//!
//! let policy = Policy::named("search")
//!     .scope("GET /search")
//!     .limit(100)
//!     .first_arrival(Duration::from_secs(60))
//!     .build()?;
//! let limiter = Limiter::new(MemoryStore::new(), [policy])?;
//! let layer = RateLimitLayer::builder(limiter, header("x-api-key")?).build()?;
//! // axum: Router::new().route("/search", get(search)).layer(layer)
//! # let _ = layer;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is answered
//!
//! | what happened | status | `Retry-After` | problem type |
//! |---|---|---|---|
//! | admitted | the service's own | – | – |
//! | denied | 429 | whole seconds, rounded up, at least 1 | `…/denied` |
//! | the cost can never be admitted | 429, or what [`never_status`](RateLimitLayerBuilder::never_status) says | none | `…/never` |
//! | the store cannot decide | 503 | only where its circuit knows when it asks again | `…/undecided` |
//! | no identity, and none shared | 400, or what [`without_identity`](RateLimitLayerBuilder::without_identity) says | none | `…/no-identity` |
//! | the request can never be decided as it is | 500 | none | `…/invalid` |
//!
//! A refusal has `Cache-Control: no-store` and a body that explains it: `application/problem+json`
//! ([RFC 9457]), or plain text where `Accept` prefers that. It names policies, never identities. A
//! problem type is a URI that leads nowhere:
//!
//! | type | title | status |
//! |---|---|---|
//! | `tag:limiter-rs.github.io,2026:problem/denied` | The rate limit is used up | 429 |
//! | `tag:limiter-rs.github.io,2026:problem/never` | The request asks for more than the rate limit ever admits | 429 |
//! | `tag:limiter-rs.github.io,2026:problem/undecided` | The rate limit cannot be decided now | 503 |
//! | `tag:limiter-rs.github.io,2026:problem/no-identity` | The request does not say whose rate limit it is under | 400 |
//! | `tag:limiter-rs.github.io,2026:problem/invalid` | The rate limit is set up wrongly | 500 |
//!
//! The second and fourth status are those of a layer that is not told otherwise. *Denied* and *never*
//! list the `policies` that denied, each with `name`, `unit`, `scope`, `limit`, `remaining` and, where a
//! wait will do, `retry_after_ms`.
//!
//! 503 is not 429. A denial says something about the caller's budget; an error says that no decision
//! could be made. What an error means for admission is the `Limiter`'s failure mode.
//!
//! *Never* is apart from *denied*: no wait will do. By default it is 429 without `Retry-After`. Some
//! clients retry that all the same (undici's `RetryAgent` and `got` do, `urllib3` does not); where
//! that hurts, 413 (a body that is too large) or 403 tells them not to.
//!
//! # Whose budget
//!
//! The identity is taken by an [`Identify`]: [`header`], [`extension`], [`path`], or [`forwarded_for`]
//! behind a stated number of trusted proxies; any closure over a [`Head`] is one too. Nothing is
//! guessed: a forwarded header means nothing unless somebody whom you trust wrote it.
//!
//! # Backpressure, permits and cancellation
//!
//! `poll_ready` is the inner service's. The service that became ready is the one that is called; where
//! a request is denied it is dropped instead, so that what it reserved is free again. What it reserved
//! is held while the store decides: a [`DeadlineStore`](limiter_core::DeadlineStore) bounds that. A permit of an
//! in-flight budget is held until the response's body ends or is dropped, and given back by the
//! [`Releaser`](limiter_core::Releaser) of [`permits`](RateLimitLayerBuilder::permits). A request that is
//! cancelled after it was admitted leaves no permit behind; what it was charged by other rules stays
//! charged. One that is cancelled while a store decides may have been admitted there, and nobody was
//! told: such a permit ends with its lease.
//!
//! # Conformance
//!
//! | rule | level | test |
//! |---|---|---|
//! | [RFC 6585] §4: the response explains the condition | SHOULD | `a_denial_explains_the_condition` |
//! | [RFC 6585] §4: it may have `Retry-After` | MAY | `a_denial_says_when_to_come_again` |
//! | [RFC 6585] §4: it is not stored by a cache | MUST NOT | `a_refusal_is_not_to_be_stored` |
//! | [RFC 9110] §10.2.3: whole seconds, not negative | MUST | `a_denial_says_when_to_come_again` |
//! | this project: `Retry-After` is never 0 | – | `a_wait_below_a_second_is_told_as_one` |
//! | [RFC 9110] §12.5.1: `Accept` may be honoured | MAY | `plain_text_is_sent_to_those_who_prefer_it` |
//! | [RFC 9457] §3: the media type is `application/problem+json` | MUST | `a_denial_explains_the_condition` |
//! | [RFC 9457] §3.1.1: `type` is a URI | MUST | `every_problem_type_is_a_uri_of_its_own` |
//! | [RFC 9457] §3.1.2: `status` is that of the response | MUST | `the_body_has_the_status_of_the_response` |
//! | [RFC 9457] §3.1.3: `title` is the same each time | SHOULD | `a_problem_type_has_one_title` |
//! | [RFC 9457] §3.2: names of extensions are three or more letters, digits or `_` | SHOULD | `extensions_have_names_that_any_format_can_hold` |
//! | [RFC 9457] §4: a type is documented with its URI, title and status | MUST | `every_problem_type_is_documented_with_its_title_and_status` |
//! | [RFC 9457] §5: nothing about the inside is given away | SHOULD | `neither_identity_nor_the_stores_own_words_are_told` |
//!
//! # Limitations
//!
//! - Costs are known before the work. What it really cost is settled by receipts, in the service.
//! - The refund by a rule on the response is made before the response goes on, within the store's
//!   own deadline; one that fails is credit lost.
//!
//! [RFC 6585]: https://www.rfc-editor.org/rfc/rfc6585#section-4
//! [RFC 9110]: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
//! [RFC 9457]: https://www.rfc-editor.org/rfc/rfc9457

mod answer;
mod body;
mod builder;
mod fields;
mod head;
mod identity;
mod layer;
mod service;

pub use body::LimitBody;
pub use builder::{RateLimitLayerBuilder, UnusableLayer};
pub use fields::Fields;
pub use head::Head;
pub use identity::{
    Forwarded, ForwardedHeader, Identify, UnusableHeader, WithoutIdentity, address, extension,
    forwarded_for, header, path,
};
pub use layer::RateLimitLayer;
pub use service::RateLimited;
