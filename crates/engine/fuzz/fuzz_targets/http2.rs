//! Any bytes in any split, as what a server of HTTP/2 sends: the protocol does not panic, takes no more
//! than it is given, and ends no exchange twice.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::protocol::{Id, Protocol, Step};
use plimsoll_engine::request::Requests;
use plimsoll_engine::spec::{Expected, RequestSpec};

const STREAMS: u32 = 4;

fn requests() -> Requests {
    let spec = RequestSpec {
        name: String::new(),
        bytes: b"POST / HTTP/1.1\r\nHost: x\r\n\r\nbody".to_vec(),
        weight: 1.0,
        method: "POST".into(),
        expects_continue: false,
        expected: Expected::default(),
    };
    Requests::new(&[spec], 0.0).encoded("http")
}

/// Begins as many requests as there is room for, and sends all that is pending.
fn send<'a>(
    http2: &mut Protocol<'a>,
    requests: &'a Requests,
    next: &mut u32,
    open: &mut BTreeSet<u32>,
) {
    while http2.room() > 0 && open.len() < STREAMS as usize {
        http2.begin(Id(*next), requests.kind(0));
        open.insert(*next);
        *next += 1;
    }
    let count = http2.pending_output().len();
    http2.sent(count);
}

fuzz_target!(|data: (bool, u8, &[u8])| {
    let (greets, length, bytes) = data;
    let requests = requests();
    let mut http2 = Protocol::http2(STREAMS as usize);
    let (mut next, mut open) = (0, BTreeSet::new());
    http2.open();
    send(&mut http2, &requests, &mut next, &mut open);
    if greets {
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        let step = http2.received(&settings, |_, _| ());
        assert_eq!(step, Step::More);
    }
    for piece in bytes.chunks(usize::from(length).max(1)) {
        let mut rest = piece;
        while !rest.is_empty() || http2.has_ended() {
            send(&mut http2, &requests, &mut next, &mut open);
            let step = http2.received(rest, |id, _| {
                assert!(open.contains(&id.0));
            });
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
