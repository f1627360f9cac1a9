//! Cryptography for `rediss://`.

use rustls::crypto::{CryptoProvider, ring};

/// rustls panics without a provider, or with several to choose from, unless the process has named
/// one. An application that has is left alone.
pub(crate) fn provide_cryptography() {
    if CryptoProvider::get_default().is_none() {
        // Somebody else may name one in between, and then that one is used.
        let _ = ring::default_provider().install_default();
    }
}
