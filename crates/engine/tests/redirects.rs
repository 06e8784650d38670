//! Redirects that are followed, and each way in which one cannot be.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;

use drive::{ASK, Ask, Seen, by_outcome, drive_alone};
use hostile::{Counts, Hostile, POLITE, Script, Then, right};

/// One request after the other, so that the server's answers have an order.
const FOLLOW: Ask = Ask { requests: Some(8), connections: 1, follow: Some(3), ..ASK };

fn to(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 4\r\n\r\nover").into()
}

/// What a load sees of a server that answers its n-th request so, and what the server has seen.
fn follow(ask: &Ask, answer: impl Fn(usize) -> Script + Send + Sync + 'static) -> (Seen, Counts) {
    let server = Hostile::start(POLITE, answer);
    let seen = drive_alone(server.address(), ask);
    (seen, server.stop())
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 8)])
}

#[test]
fn a_redirect_is_followed_on_the_same_connection_within_its_request() {
    for location in ["/other", "other?x=y", "//server/other", "http://SERVER:80/other#part"] {
        let redirect = to(location);
        let whole = redirect.len() + right().len();
        let answer =
            move |n| if n % 2 == 0 { Script::send(&redirect) } else { Script::send(right()) };
        let (seen, counts) = follow(&FOLLOW, answer);
        assert_eq!(by_outcome(&seen.requests), all("ok"), "{location}");
        assert_eq!((counts.requests, counts.accepted, seen.finish.redirects), (16, 1, 8));
        assert!(seen.requests.iter().all(|row| row["received_bytes"] == whole as u64));
        assert!(seen.requests.iter().all(|row| row["status"] == 200));
    }
}

#[test]
fn a_redirect_in_pieces_is_the_same() {
    let answer = |n| {
        let bytes = if n % 2 == 0 { to("/other") } else { right() };
        Script::send(bytes).in_pieces_of(9, std::time::Duration::ZERO)
    };
    let (seen, counts) = follow(&FOLLOW, answer);
    assert_eq!(by_outcome(&seen.requests), all("ok"));
    assert_eq!((counts.requests, seen.finish.redirects), (16, 8));
}

#[test]
fn a_loop_ends_after_as_many_redirects_as_are_followed() {
    let (seen, counts) = follow(&FOLLOW, |_| Script::send(to("/2048")));
    assert_eq!(by_outcome(&seen.requests), all("too_many_redirects"));
    assert_eq!((counts.requests, counts.accepted, seen.finish.redirects), (32, 1, 24));
    assert!(seen.requests.iter().all(|row| row["status"] == 302));
}

#[test]
fn a_redirect_to_another_origin_is_not_followed_and_the_connection_goes_on() {
    for location in ["http://other/", "https://server/", "http://server:81/", "//other/x", "ftp:x"]
    {
        let redirect = to(location);
        let (seen, counts) = follow(&FOLLOW, move |_| Script::send(&redirect));
        assert_eq!(by_outcome(&seen.requests), all("redirected_elsewhere"), "{location}");
        assert_eq!((counts.requests, counts.accepted, seen.finish.redirects), (8, 1, 0));
    }
}

#[test]
fn a_redirect_that_names_no_place_is_not_followed() {
    let without = b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n".to_vec();
    for redirect in [without, to("/a b"), to("http://[")] {
        let (seen, counts) = follow(&FOLLOW, move |_| Script::send(&redirect));
        assert_eq!(by_outcome(&seen.requests), all("redirect_not_followed"));
        assert_eq!((counts.requests, counts.accepted), (8, 1));
    }
}

#[test]
fn a_redirect_with_which_the_connection_is_closed_is_not_followed() {
    let closing =
        b"HTTP/1.1 302 Found\r\nLocation: /\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let (seen, counts) = follow(&FOLLOW, move |_| Script::send(closing).then(Then::Close));
    assert_eq!(by_outcome(&seen.requests), all("redirect_not_followed"));
    assert_eq!((counts.requests, counts.accepted), (8, 8));
}

#[test]
fn a_server_that_goes_away_after_a_redirect_loses_the_request() {
    let answer = |n| match n % 2 {
        0 => Script::send(to("/other")),
        _ => Script::silence().then(Then::Reset),
    };
    let (seen, _) = follow(&FOLLOW, answer);
    let outcomes = by_outcome(&seen.requests);
    assert_eq!(outcomes.values().sum::<u64>(), 8);
    let lost = outcomes.keys().all(|name| name.starts_with("reset_"));
    assert!(lost, "{outcomes:?}");
}

#[test]
fn a_redirect_is_a_response_where_none_is_followed() {
    let ask = Ask { status: (200, 399), length_bytes: Some(4), body: None, follow: None, ..FOLLOW };
    let (seen, counts) = follow(&ask, |_| Script::send(to("/other")));
    assert_eq!(by_outcome(&seen.requests), all("ok"));
    assert_eq!((counts.requests, seen.finish.redirects), (8, 0));
}
