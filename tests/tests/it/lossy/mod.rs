//! A network that loses: after every byte of a request and of its reply. What the server really
//! charged is compared with what the caller was told.

mod cut;
mod late;
mod line;
mod same_store;
