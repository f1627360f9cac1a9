//! The layer as services and clients see it.

mod answers;
mod fields;
mod identities;
mod in_flight;
mod settings;
mod support;
