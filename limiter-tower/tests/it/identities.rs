//! Whose budget a request is charged to.

use std::net::{IpAddr, SocketAddr};

use http::{Request, StatusCode};
use limiter_core::{Identity, Limiter};
use limiter_tower::{
    ForwardedHeader, Head, Identify, RateLimitLayer, WithoutIdentity, address, extension,
    forwarded_for, header, path,
};

use crate::support::{Body, layer, policy, send, store};

fn identity(identify: &impl Identify, request: &Request<()>) -> Option<Identity> {
    identify.identity(&Head::of(request))
}

#[test]
fn a_header_is_taken_byte_for_byte_and_only_once() {
    let by_key = header("X-Api-Key").unwrap();
    let of = |values: &[&str]| {
        let mut request = Request::new(());
        for value in values {
            request
                .headers_mut()
                .append("x-api-key", value.parse().unwrap());
        }
        identity(&by_key, &request)
    };
    assert_eq!(of(&["alice"]), Some(Identity::from("alice")));
    assert_eq!(of(&[]), None);
    assert_eq!(of(&["alice", "bob"]), None);
}

#[test]
fn a_name_that_no_header_can_have_is_refused() {
    let error = header("x api").err().unwrap().to_string();
    assert!(
        error.contains("\"x api\"") && error.contains("letters, digits"),
        "{error}"
    );
}

#[test]
fn an_extension_a_path_and_a_closure_are_identities() {
    let mut request = Request::builder().uri("/a/b?c").body(()).unwrap();
    let peer: SocketAddr = "192.0.2.1:4711".parse().unwrap();
    request.extensions_mut().insert(peer);
    let by_peer = extension(|peer: &SocketAddr| address(peer.ip(), 64));
    assert_eq!(
        identity(&by_peer, &request),
        Some(Identity::from("192.0.2.1"))
    );
    let by_account = extension(|account: &u64| *account);
    assert_eq!(identity(&by_account, &request), None);
    assert_eq!(identity(&path(), &request), Some(Identity::from("/a/b")));
    let by_method = |head: &Head<'_>| Some(Identity::from(head.method.as_str()));
    assert_eq!(identity(&by_method, &request), Some(Identity::from("GET")));
}

#[test]
fn addresses_of_one_ipv6_network_are_one_identity_and_no_other() {
    let of = |text: &str, prefix| address(text.parse::<IpAddr>().unwrap(), prefix);
    assert_eq!(of("2001:db8::1", 64), of("2001:db8::ffff", 64));
    assert_ne!(of("2001:db8::1", 64), of("2001:db8:0:1::1", 64));
    assert_ne!(of("2001:db8::1", 128), of("2001:db8::2", 128));
    assert_eq!(of("2001:db8::1", 0), of("::1", 0));
    assert_ne!(of("192.0.2.1", 64), of("192.0.2.2", 64));
}

#[tokio::test]
async fn behind_a_proxy_the_budget_is_the_clients() {
    let limiter = Limiter::new(store().0, [policy(1)]).unwrap();
    let layer = RateLimitLayer::builder(limiter, forwarded_for(ForwardedHeader::XForwardedFor, 1));
    let from = |field: &str| {
        let request = Request::builder().header("x-forwarded-for", field);
        request.body(Body::default()).unwrap()
    };
    assert_eq!(
        send(&layer, from("192.0.2.1")).await.status(),
        StatusCode::OK
    );
    // Claiming to be somebody else is of no use.
    let claimed = send(&layer, from("192.0.2.9, 192.0.2.1")).await;
    assert_eq!(claimed.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        send(&layer, from("192.0.2.2")).await.status(),
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_request_without_an_identity_is_rejected_or_shares_a_budget_by_choice() {
    let nobody = || Request::new(Body::default());
    let rejecting = layer(1);
    let answer = send(&rejecting, nobody()).await;
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert!(
        answer.json()["type"]
            .as_str()
            .unwrap()
            .ends_with("/no-identity")
    );
    let forbidden = layer(1).without_identity(WithoutIdentity::Reject(StatusCode::UNAUTHORIZED));
    assert_eq!(
        send(&forbidden, nobody()).await.status(),
        StatusCode::UNAUTHORIZED
    );
    let shared = layer(1).without_identity(WithoutIdentity::Share);
    assert_eq!(send(&shared, nobody()).await.status(), StatusCode::OK);
    assert_eq!(
        send(&shared, nobody()).await.status(),
        StatusCode::TOO_MANY_REQUESTS
    );
    let empty = Request::builder()
        .header("x-api-key", "")
        .body(Body::default());
    let answer = send(&shared, empty.unwrap()).await;
    assert_eq!(
        answer.status(),
        StatusCode::OK,
        "the empty identity is somebody"
    );
}
