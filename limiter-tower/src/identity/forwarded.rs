//! The client's address as trusted proxies tell it.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use http::header::FORWARDED;
use limiter_core::Identity;

use super::{Identify, address};
use crate::Head;

/// Which field the proxies write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForwardedHeader {
    /// `X-Forwarded-For: client, proxy, …`: not standardised, and what most proxies write.
    XForwardedFor,
    /// `Forwarded: for=client, for=proxy, …` (RFC 7239).
    Forwarded,
}

/// The address that the outermost of a stated number of trusted proxies was called from.
///
/// Each proxy adds, at the end, the address of whoever called it. So with one trusted proxy the
/// client is the last entry, with two the last but one. Everything before that was written by the
/// client, and is ignored: a client can claim anything there. Where there are fewer entries than
/// proxies, or the entry is no address, there is no identity.
///
/// In `Forwarded`, a client can open a quoted string that swallows what a proxy adds to the same
/// field; there is no identity then. Where such requests share a budget, let the proxy replace the
/// field, or begin a new one.
#[derive(Clone, Copy, Debug)]
pub struct Forwarded {
    header: ForwardedHeader,
    proxies: usize,
    ipv6_prefix: u32,
}

/// The client's address, as the outermost of `proxies` trusted ones tells it in `header`. IPv6
/// clients are counted by network of 64 bits.
///
/// `proxies` is how many stand between the client and this process, and it has to be exact: with 0,
/// nothing that the field says can be believed, and no request has an identity.
pub fn forwarded_for(header: ForwardedHeader, proxies: usize) -> Forwarded {
    Forwarded {
        header,
        proxies,
        ipv6_prefix: 64,
    }
}

impl Forwarded {
    /// Counts IPv6 clients by networks of `bits` bits, at most 128; 64 unless it is said.
    #[must_use]
    pub fn ipv6_prefix(mut self, bits: u32) -> Self {
        self.ipv6_prefix = bits;
        self
    }

    fn client(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let name = match self.header {
            ForwardedHeader::XForwardedFor => "x-forwarded-for",
            ForwardedHeader::Forwarded => FORWARDED.as_str(),
        };
        // Fields of one name are one list, in their order (RFC 9110 §5.3). A client writes what it
        // likes before the proxies' entries, also what is no text: that spoils its own entries only.
        let values = headers.get_all(name).iter();
        let values: Vec<_> = values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        let entries: Vec<&str> = match self.header {
            ForwardedHeader::XForwardedFor => plain_list(&values),
            ForwardedHeader::Forwarded => values.iter().flat_map(|value| list(value)).collect(),
        };
        let at = entries.len().checked_sub(self.proxies)?;
        let entry = entries.get(at)?;
        match self.header {
            ForwardedHeader::XForwardedFor => node(entry),
            ForwardedHeader::Forwarded => node(parameter(entry, "for")?),
        }
    }
}

impl Identify for Forwarded {
    fn identity(&self, head: &Head<'_>) -> Option<Identity> {
        if self.proxies == 0 {
            return None;
        }
        let client = self.client(head.headers)?;
        Some(address(client, self.ipv6_prefix))
    }
}

/// The elements of lists that know no quotes.
fn plain_list<'a>(values: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    let elements = values.iter().flat_map(|value| value.split(','));
    elements.map(str::trim).collect()
}

/// The elements of a list; a comma inside of quotes ends none.
fn list(value: &str) -> impl Iterator<Item = &str> {
    split(value, ',').map(str::trim)
}

fn split(value: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    value.split(move |character: char| {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => return !quoted && character == separator,
        }
        false
    })
}

/// The value of a parameter of a forwarded element (RFC 7239 §4); names have no case.
fn parameter<'a>(element: &'a str, name: &str) -> Option<&'a str> {
    let pairs = split(element, ';').filter_map(|pair| pair.split_once('='));
    let mut values = pairs.filter(|(found, _)| found.trim().eq_ignore_ascii_case(name));
    let (_, value) = values.next()?;
    let value = value.trim();
    let inside = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    Some(inside.unwrap_or(value))
}

/// An address with or without port: `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80`, `2001:db8::1`.
/// Names that hide it (`_secret`, `unknown`) are none.
fn node(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    if let Ok(address) = bare.unwrap_or(text).parse() {
        return Some(address);
    }
    let with_port: SocketAddr = text.parse().ok()?;
    Some(with_port.ip())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn client(header: ForwardedHeader, proxies: usize, values: &[&str]) -> Option<String> {
        let name = match header {
            ForwardedHeader::XForwardedFor => "x-forwarded-for",
            ForwardedHeader::Forwarded => "forwarded",
        };
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value.as_bytes()).expect("a field value");
            headers.append(name, value);
        }
        let client = forwarded_for(header, proxies).client(&headers);
        client.map(|address| address.to_string())
    }

    fn x_forwarded_for(proxies: usize, values: &[&str]) -> Option<String> {
        client(ForwardedHeader::XForwardedFor, proxies, values)
    }

    fn forwarded(proxies: usize, values: &[&str]) -> Option<String> {
        client(ForwardedHeader::Forwarded, proxies, values)
    }

    #[test]
    fn the_client_is_whoever_the_outermost_trusted_proxy_saw() {
        let values = ["203.0.113.9, 198.51.100.7, 192.0.2.1"];
        assert_eq!(x_forwarded_for(1, &values).as_deref(), Some("192.0.2.1"));
        assert_eq!(x_forwarded_for(2, &values).as_deref(), Some("198.51.100.7"));
    }

    #[test]
    fn what_the_client_itself_claims_is_ignored() {
        for claimed in [
            "10.0.0.1, 192.0.2.1",
            "x, y, 192.0.2.1",
            "\", 192.0.2.1",
            "\u{e9}, 192.0.2.1",
        ] {
            let told = x_forwarded_for(1, &[claimed]);
            assert_eq!(told.as_deref(), Some("192.0.2.1"), "{claimed}");
        }
        for claimed in ["for=\"", "\u{e9}"] {
            let told = forwarded(1, &[claimed, "for=192.0.2.1"]);
            assert_eq!(told.as_deref(), Some("192.0.2.1"), "{claimed}");
        }
    }

    #[test]
    fn fields_of_one_name_are_one_list() {
        let values = ["203.0.113.9", "198.51.100.7"];
        assert_eq!(x_forwarded_for(2, &values).as_deref(), Some("203.0.113.9"));
    }

    #[test]
    fn fewer_entries_than_proxies_are_no_identity() {
        assert_eq!(x_forwarded_for(2, &["192.0.2.1"]), None);
        assert_eq!(x_forwarded_for(1, &[]), None);
        assert_eq!(forwarded(2, &["for=192.0.2.1"]), None);
    }

    #[test]
    fn garbage_is_no_identity() {
        for garbage in [
            "",
            " ",
            "unknown",
            "_hidden",
            "300.1.1.1",
            "192.0.2.1:x",
            "[::1",
            "a, b",
        ] {
            assert_eq!(x_forwarded_for(1, &[garbage]), None, "{garbage}");
            assert_eq!(
                forwarded(1, &[&format!("for={garbage}")]),
                None,
                "{garbage}"
            );
        }
        assert_eq!(forwarded(1, &["by=192.0.2.1"]), None);
        assert_eq!(x_forwarded_for(1, &["192.0.2.1, \u{e9}"]), None);
    }

    #[test]
    fn ports_and_brackets_are_no_part_of_the_address() {
        for (text, address) in [
            ("192.0.2.1:8080", "192.0.2.1"),
            ("[2001:db8::1]:8080", "2001:db8::1"),
            ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"),
        ] {
            assert_eq!(x_forwarded_for(1, &[text]).as_deref(), Some(address));
            let quoted = format!("proto=https;For=\"{text}\";by=203.0.113.1");
            assert_eq!(forwarded(1, &[&quoted]).as_deref(), Some(address));
        }
    }

    #[test]
    fn commas_and_semicolons_in_quotes_end_nothing() {
        let value = r#"for="_a,b;c\"d", for=192.0.2.1;host="a,b""#;
        assert_eq!(forwarded(1, &[value]).as_deref(), Some("192.0.2.1"));
    }

    #[test]
    fn without_a_trusted_proxy_nothing_is_believed() {
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", HeaderValue::from_static("192.0.2.1"));
        let mut request = http::Request::new(());
        *request.headers_mut() = headers;
        let nobody = forwarded_for(ForwardedHeader::XForwardedFor, 0);
        assert!(nobody.identity(&Head::of(&request)).is_none());
    }
}
