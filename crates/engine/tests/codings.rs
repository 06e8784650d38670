//! Bodies with content codings: decoded before they are compared, and each way to get one wrong.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;
use std::io::Write;

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_engine::coding::Decoded;

use drive::{ASK, Ask, Seen, by_outcome, drive};
use hostile::{BODY, Hostile, POLITE, Script, head, right};

const ASK_CODED: Ask =
    Ask { requests: Some(8), connections: 1, codings: &["gzip", "br", "zstd"], ..ASK };

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn brotli(body: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let parameters = BrotliEncoderParams { quality: 1, ..Default::default() };
    brotli::BrotliCompress(&mut &*body, &mut coded, &parameters).unwrap();
    coded
}

fn answer(coding: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = head(&format!("Content-Encoding: {coding}\r\nContent-Length: {length}\r\n"));
    [head, body.to_vec()].concat()
}

/// What a load sees of a server that always answers so; its connection goes on whatever comes.
fn ask(ask: &Ask, answer: Vec<u8>) -> Seen {
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| Script::send(&answer)), ask);
    assert_eq!((counts.requests, counts.accepted), (8, 1));
    seen
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 8)])
}

#[test]
fn a_coded_body_is_compared_decoded_and_counted_in_both_lengths() {
    for (coding, body) in
        [("gzip", gzip(BODY)), ("br", brotli(BODY)), ("zstd", zstd::encode_all(BODY, 0).unwrap())]
    {
        let answer = answer(coding, &body);
        let (received, coded) = (answer.len() as u64, body.len() as u64);
        let seen = ask(&ASK_CODED, answer);
        assert_eq!(by_outcome(&seen.requests), all("ok"), "{coding}");
        let decoded = BODY.len() as u64;
        assert!(seen.requests.iter().all(|row| row["received_bytes"] == received));
        assert!(seen.requests.iter().all(|row| row["body_bytes"] == decoded));
        let expected = Decoded { bodies: 8, coded_bytes: 8 * coded, decoded_bytes: 8 * decoded };
        assert_eq!(seen.finish.decoded, expected, "{coding}");
    }
}

#[test]
fn a_body_without_a_coding_is_right_and_one_with_a_wrong_content_is_not() {
    let seen = ask(&ASK_CODED, right());
    assert_eq!(by_outcome(&seen.requests), all("ok"));
    assert_eq!(seen.finish.decoded, Decoded::default());
    let mut other = BODY.to_vec();
    other[3] ^= 1;
    let seen = ask(&ASK_CODED, answer("gzip", &gzip(&other)));
    assert_eq!(by_outcome(&seen.requests), all("wrong_body"));
    let seen = ask(&ASK_CODED, answer("gzip", &gzip(b"short")));
    assert_eq!(by_outcome(&seen.requests), all("wrong_length"));
}

#[test]
fn a_coding_that_is_not_accepted_is_wrong() {
    let only_br = Ask { codings: &["br"], ..ASK_CODED };
    for (asked, coding) in [(&only_br, "gzip"), (&ASK_CODED, "deflate"), (&ASK_CODED, "gzip, br")] {
        let seen = ask(asked, answer(coding, &gzip(BODY)));
        assert_eq!(by_outcome(&seen.requests), all("wrong_coding"), "{coding}");
    }
}

#[test]
fn a_coding_that_is_corrupt_or_cut_off_or_another_than_it_says_is_broken() {
    let coded = gzip(BODY);
    let mut changed = coded.clone();
    let middle = changed.len() / 2;
    changed[middle] ^= 0x55;
    let surplus = [&coded[..], b"more"].concat();
    for (coding, body) in [
        ("gzip", &coded[..coded.len() - 1]),
        ("gzip", &changed),
        ("gzip", &surplus),
        ("gzip", BODY),
        ("br", &coded),
        ("zstd", &coded),
    ] {
        let seen = ask(&ASK_CODED, answer(coding, body));
        assert_eq!(by_outcome(&seen.requests), all("broken_coding"), "{coding}");
        assert_eq!(seen.finish.decoded, Decoded::default());
    }
}

#[test]
fn a_bomb_is_given_up() {
    let part = vec![0; 1 << 20];
    let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
    for _ in 0..258 {
        encoder.write_all(&part).unwrap();
    }
    let bomb = answer("zstd", &encoder.finish().unwrap());
    let one = Ask { requests: Some(1), length_bytes: None, body: None, ..ASK_CODED };
    let (seen, _) = drive(Hostile::start(POLITE, move |_| Script::send(&bomb)), &one);
    assert_eq!(by_outcome(&seen.requests), [("decoded_too_large", 1)].into());
}

#[test]
fn a_response_without_a_body_has_none_to_decode() {
    let empty = Ask { length_bytes: Some(0), body: None, ..ASK_CODED };
    let seen = ask(&empty, answer("gzip", b""));
    assert_eq!(by_outcome(&seen.requests), all("ok"));
}

#[test]
fn a_load_that_accepts_no_coding_compares_what_comes() {
    let seen = ask(&Ask { codings: &[], ..ASK_CODED }, answer("gzip", BODY));
    assert_eq!(by_outcome(&seen.requests), all("ok"));
}
