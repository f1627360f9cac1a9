//! Addresses as identities.

use std::net::{IpAddr, Ipv6Addr};

use limiter_core::Identity;

/// The identity of an address: all of an IPv4 address; of an IPv6 address its first `prefix` bits (at
/// most 128), because whoever has one has a network of them, usually of 64 bits.
///
/// An IPv4 address inside of an IPv6 one (`::ffff:192.0.2.1`) is that IPv4 address.
///
/// ```
/// use limiter_tower::address;
/// let of = |text: &str| address(text.parse().unwrap(), 64);
/// assert_eq!(of("2001:db8::1"), of("2001:db8::2"));
/// assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
/// ```
pub fn address(address: IpAddr, prefix: u32) -> Identity {
    match address.to_canonical() {
        IpAddr::V4(address) => Identity::from(address.to_string()),
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - prefix.min(128)).unwrap_or(0);
            let network = Ipv6Addr::from_bits(address.to_bits() & mask);
            Identity::from(format!("{network}/{}", prefix.min(128)))
        }
    }
}
