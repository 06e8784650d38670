//! Any bytes in any split: the reader does not panic, takes no more than it is given, holds no more
//! than a head, and says of them what it says when they come at once.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::protocol::http1::response::{LONGEST_HEAD_BYTES, Malformed, Part, Reader};

/// All that a reader says of some bytes.
#[derive(Debug, PartialEq)]
struct Heard {
    /// Whether the answer is complete, and the bytes that belong to it.
    end: Result<(bool, usize), Malformed>,
    status: u16,
    keep_alive: bool,
    body: Vec<u8>,
    completed_by_close: bool,
}

fn hear<'a>(is_head: bool, pieces: impl Iterator<Item = &'a [u8]>) -> Heard {
    let mut reader = Reader::default();
    reader.start(is_head);
    let (mut body, mut end) = (Vec::new(), Ok((false, 0)));
    for piece in pieces {
        let progress = reader.read(piece, |part| {
            if let Part::Body(piece) = part {
                body.extend_from_slice(piece);
            }
        });
        assert!(reader.held_bytes() <= LONGEST_HEAD_BYTES);
        let before = end.map_or(0, |(_, consumed)| consumed);
        end = progress.map(|progress| (progress.complete, before + progress.consumed));
        let Ok(progress) = progress else { break };
        assert!(progress.consumed <= piece.len());
        if progress.complete {
            break;
        }
        assert_eq!(progress.consumed, piece.len());
    }
    let (status, keep_alive) = (reader.status(), reader.keep_alive());
    Heard { end, status, keep_alive, body, completed_by_close: reader.end() }
}

/// Pieces of the lengths that `lengths` says, over and over; of one length 0 it is one piece.
fn split<'a>(mut bytes: &'a [u8], lengths: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for &length in lengths.iter().cycle() {
        if bytes.is_empty() || lengths.iter().all(|&length| length == 0) {
            break;
        }
        let (piece, rest) = bytes.split_at(usize::from(length).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces.push(bytes);
    pieces
}

fuzz_target!(|data: (bool, [u8; 4], &[u8])| {
    let (is_head, lengths, bytes) = data;
    let whole = hear(is_head, [bytes].into_iter());
    assert_eq!(hear(is_head, split(bytes, &lengths).into_iter()), whole);
    assert_eq!(hear(is_head, bytes.chunks(1)), whole);
});
