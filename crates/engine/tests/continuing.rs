//! Bodies that are sent when the server has invited them, and servers that do not.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;
use std::time::Duration;

use drive::{ASK, Ask, WAITED_MS, by_outcome, drive};
use hostile::{Hostile, Listen, Manner, POLITE, Script, right};

const INVITING: Manner = Manner { listen: Listen::WholeOnceInvited, ..POLITE };

/// Reads the head alone.
const CURT: Manner = Manner { listen: Listen::Head, ..POLITE };

const ASK_CONTINUE: Ask = Ask { request_body_bytes: 100_000, expects_continue: true, ..ASK };

const ASK_FEW: Ask = Ask { requests: Some(4), ..ASK_CONTINUE };

fn all(outcome: &'static str, count: u64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, count)])
}

#[test]
fn a_body_is_sent_when_the_server_has_invited_it() {
    let server = Hostile::start(INVITING, |_| Script::send(right()));
    let (seen, counts) = drive(server, &ASK_CONTINUE);
    assert_eq!(by_outcome(&seen.requests), all("ok", 40));
    assert_eq!((counts.requests, counts.accepted), (40, 4));
    // The invitation is the first of what comes.
    let invited = right().len() + b"HTTP/1.1 100 Continue\r\n\r\n".len();
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == invited as u64));
}

#[test]
fn a_body_that_is_not_invited_is_not_sent() {
    let server = Hostile::start(POLITE, |_| Script::send(right()));
    let (seen, counts) = drive(server, &Ask { timeout_ms: WAITED_MS, ..ASK_FEW });
    assert_eq!(by_outcome(&seen.requests), all("timed_out_waiting", 4));
    // Whole requests: there was none.
    assert_eq!(counts.requests, 0);
}

#[test]
fn a_response_instead_of_an_invitation_ends_the_connection() {
    for status in ["417 Expectation Failed", "413 Content Too Large", "200 OK"] {
        let answer = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        let asked = Ask { status: (200, 499), length_bytes: None, body: None, ..ASK_FEW };
        let server = Hostile::start(CURT, move |_| Script::send(&answer));
        let (seen, counts) = drive(server, &asked);
        assert_eq!(by_outcome(&seen.requests), all("ok", 4), "{status}");
        assert_eq!(by_outcome(&seen.connections), all("closed_by_driver", 4), "{status}");
        assert_eq!((counts.requests, counts.accepted), (4, 4), "{status}");
    }
}

#[test]
fn interim_responses_of_any_kind_come_before_the_response() {
    let interim =
        "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n";
    for listen in [Listen::Whole, Listen::WholeOnceInvited] {
        let expects_continue = listen == Listen::WholeOnceInvited;
        let answer = [interim.as_bytes(), &right()].concat();
        let script = Script::send(answer).in_pieces_of(13, Duration::ZERO);
        let server = Hostile::start(Manner { listen, ..POLITE }, move |_| script.clone());
        let (seen, _) = drive(server, &Ask { expects_continue, ..ASK_FEW });
        assert_eq!(by_outcome(&seen.requests), all("ok", 4), "{listen:?}");
        assert!(seen.requests.iter().all(|row| row["status"] == 200));
    }
}
