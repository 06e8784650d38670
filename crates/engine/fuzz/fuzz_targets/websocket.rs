//! Any bytes in any split, as what a server of WebSocket sends: the protocol does not panic, takes no
//! more than it is given, and ends no exchange twice.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::protocol::websocket::upgrade::Answer;
use plimsoll_engine::protocol::{Id, Protocol, Step};
use plimsoll_engine::request::Requests;
use plimsoll_engine::spec::Spec;

const SPEC: &str = r#"{"format": 1, "into": "x", "address": "127.0.0.1:80",
    "requests": [{"name": "a", "bytes": "aGVsbG8="}],
    "load": {"model": "closed", "timeout_ns": 1, "pipeline": 4,
             "protocol": {"websocket": {"upgrade": "R0VUIC8gSFRUUC8xLjENCg0K", "message": "text"}},
             "stages": [{"kind": "hold", "duration_ns": 1, "start": 1, "end": 1}]}}"#;

/// Begins as many messages as the connection carries, and sends all that is pending.
fn send<'a>(
    websocket: &mut Protocol<'a>,
    requests: &'a Requests,
    next: &mut u32,
    open: &mut BTreeSet<u32>,
) {
    while open.len() < websocket.capacity() {
        websocket.begin(Id(*next), requests.kind(0));
        open.insert(*next);
        *next += 1;
    }
    let count = websocket.pending_output().len();
    websocket.sent(count);
}

fuzz_target!(|data: (&[u8], u8, &[u8])| {
    let (answer, length, bytes) = data;
    let Ok(spec) = Spec::parse(SPEC) else { panic!("the specification is wrong") };
    let requests = Requests::new(&spec.requests, 0.0);
    let mut websocket = Protocol::new(&spec.load);
    assert!(websocket.ask());
    // Nobody guesses the key.
    assert!(!matches!(websocket.answered(answer), Answer::Upgraded { .. }));
    websocket.reset();
    let (mut next, mut open) = (0, BTreeSet::new());
    for piece in bytes.chunks(usize::from(length).max(1)) {
        let mut rest = piece;
        while !rest.is_empty() {
            send(&mut websocket, &requests, &mut next, &mut open);
            let step = websocket.received(rest, |id, _| assert!(open.contains(&id.0)));
            let (id, consumed) = match step {
                Step::More => break,
                Step::Complete { id, consumed } | Step::Ended { id, consumed, .. } => {
                    (id, consumed)
                }
                Step::Failed { .. } => return,
            };
            assert!(open.remove(&id.0));
            rest = &rest[consumed..];
        }
    }
});
