//! A guide to limiting: what to decide, in which order, and what can go wrong. Every block of code is
//! compiled and run by the tests.
//!
//! | page | question |
//! |---|---|
//! | [`policies`] | What is counted, for whom, and when does credit come back? |
//! | [`stores`] | Where are the counts kept, and what is lost with them? |
//! | [`outages`] | What happens when nobody can decide? |
//! | [`retries`] | May an uncertain call be sent again? |
//! | [`http`] | How is a refusal explained? |
//! | [`your_own_store`] | Does a store of mine keep the contract? |
//! | [`counterexamples`] | How is a counterexample read? |
//! | [`cluster`] | What can be charged together in a cluster, and what moves? |
//! | [`operating`] | Memory, eviction, persistence, what to watch |
//! | [`limitations`] | What is not promised? |

#[doc = include_str!("../pages/policies.md")]
pub mod policies {}

#[doc = include_str!("../pages/stores.md")]
pub mod stores {}

#[doc = include_str!("../pages/outages.md")]
pub mod outages {}

#[doc = include_str!("../pages/retries.md")]
pub mod retries {}

#[doc = include_str!("../pages/http.md")]
pub mod http {}

#[doc = include_str!("../pages/your_own_store.md")]
pub mod your_own_store {}

#[doc = include_str!("../pages/counterexamples.md")]
pub mod counterexamples {}

#[doc = include_str!("../pages/cluster.md")]
pub mod cluster {}

#[doc = include_str!("../pages/operating.md")]
pub mod operating {}

#[doc = include_str!("../pages/limitations.md")]
pub mod limitations {}
