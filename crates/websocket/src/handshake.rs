//! The opening handshake: what a client asks with, and what a server has to respond.
//!
//! # Source
//!
//! RFC 6455, sections 1.3, 4.1 and 4.2; RFC 9110, section 7.8.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use httparse::{Header, ParserConfig, Status};
use sha1_smol::Sha1;

/// The version of the protocol, and the only one.
pub const VERSION: &str = "13";

/// Length of a `Sec-WebSocket-Key`.
pub const KEY_BYTES: usize = 24;

/// Length of a `Sec-WebSocket-Accept`.
pub const ACCEPT_BYTES: usize = 28;

/// The longest head of a response that is read.
pub const LONGEST_HEAD_BYTES: usize = 64 * 1024;

/// What a server appends to a key to show that it knows the protocol.
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const MOST_HEADERS: usize = 128;
const SWITCHING_PROTOCOLS: u16 = 101;

/// The `Sec-WebSocket-Key` made of a nonce.
#[must_use]
pub fn key(nonce: [u8; 16]) -> [u8; KEY_BYTES] {
    encoded(&nonce)
}

/// The `Sec-WebSocket-Accept` that belongs to a key.
#[must_use]
pub fn accept(key: &[u8]) -> [u8; ACCEPT_BYTES] {
    let mut digest = Sha1::from(key);
    digest.update(MAGIC);
    encoded(&digest.digest().bytes())
}

/// Base64 in an array of just its length.
fn encoded<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut text = [0; N];
    let written = BASE64.encode_slice(bytes, &mut text);
    debug_assert_eq!(written, Ok(N));
    text
}

/// What has come of a server's response to a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Its head is not complete.
    Partial,
    /// The connection speaks WebSocket after so many bytes.
    Upgraded {
        /// Length of the head, with interim ones before it.
        consumed: usize,
    },
    /// The server responds with another status than 101.
    Refused {
        /// The status.
        status: u16,
    },
    /// A 101 that is not for this handshake, or no HTTP.
    Invalid {
        /// What is wrong.
        problem: &'static str,
    },
}

/// Reads the response to a handshake whose key has this `accept`. Interim responses are passed over.
#[must_use]
pub fn read_response(bytes: &[u8], accept: &[u8; ACCEPT_BYTES]) -> Response {
    let mut start = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        // Fields may go on in further lines; RFC 9112, section 5.2.
        let mut parser = ParserConfig::default();
        parser.allow_obsolete_multiline_headers_in_responses(true);
        match parser.parse_response(&mut head, &bytes[start..]) {
            Ok(Status::Partial) if bytes.len() < LONGEST_HEAD_BYTES => return Response::Partial,
            Ok(Status::Complete(length)) => match head.code {
                Some(SWITCHING_PROTOCOLS) => {
                    return match problem(head.headers, accept) {
                        None => Response::Upgraded { consumed: start + length },
                        Some(problem) => Response::Invalid { problem },
                    };
                }
                Some(100..=199) => start += length,
                code => return Response::Refused { status: code.unwrap_or_default() },
            },
            _ => return Response::Invalid { problem: "the response is not HTTP/1" },
        }
    }
}

/// What is wrong with a 101; RFC 6455, section 4.1. No extension was offered, so none is accepted.
fn problem(headers: &[Header<'_>], accept: &[u8; ACCEPT_BYTES]) -> Option<&'static str> {
    let right = values(headers, "Sec-WebSocket-Accept").any(|value| value == accept);
    let rules = [
        (has_token(headers, "Upgrade", "websocket"), "the response lacks `Upgrade: websocket`"),
        (has_token(headers, "Connection", "upgrade"), "the response lacks `Connection: Upgrade`"),
        (right, "`Sec-WebSocket-Accept` is missing or wrong"),
        (
            values(headers, "Sec-WebSocket-Extensions").next().is_none(),
            "the server chose an extension that was not offered",
        ),
    ];
    rules.into_iter().find_map(|(is_kept, problem)| (!is_kept).then_some(problem))
}

/// The key of a client's handshake; nothing where the request is none.
#[must_use]
pub fn key_of<'b>(headers: &[Header<'b>]) -> Option<&'b [u8]> {
    let is_handshake = has_token(headers, "Upgrade", "websocket")
        && has_token(headers, "Connection", "upgrade")
        && values(headers, "Sec-WebSocket-Version").any(|value| value == VERSION.as_bytes());
    let key = values(headers, "Sec-WebSocket-Key").next()?;
    let is_nonce = BASE64.decode(key).is_ok_and(|nonce| nonce.len() == 16);
    (is_handshake && is_nonce).then_some(key)
}

/// Whether a list in a header has a token, in any case.
fn has_token(headers: &[Header<'_>], name: &str, token: &str) -> bool {
    values(headers, name)
        .flat_map(|value| value.split(|&byte| byte == b','))
        .any(|one| one.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

fn values<'b>(headers: &[Header<'b>], name: &str) -> impl Iterator<Item = &'b [u8]> {
    let named = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
    named.map(|header| header.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 6455, section 1.3.
    const KEY: &[u8] = b"dGhlIHNhbXBsZSBub25jZQ==";
    const ACCEPT: &[u8; ACCEPT_BYTES] = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

    fn response(head: &str) -> Response {
        read_response(head.as_bytes(), ACCEPT)
    }

    const GOOD: &str = "HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

    #[test]
    fn the_example_of_the_standard_is_met() {
        assert_eq!(key(*b"the sample nonce"), KEY);
        assert_eq!(&accept(KEY), ACCEPT);
    }

    #[test]
    fn a_connection_is_upgraded_by_a_101_that_is_for_its_key() {
        assert_eq!(response(GOOD), Response::Upgraded { consumed: GOOD.len() });
        let with_frame = format!("HTTP/1.1 103 Early Hints\r\n\r\n{GOOD}\u{1}");
        assert_eq!(response(&with_frame), Response::Upgraded { consumed: with_frame.len() - 1 });
        for end in 0..GOOD.len() {
            assert_eq!(response(&GOOD[..end]), Response::Partial, "{end}");
        }
    }

    #[test]
    fn every_rule_of_a_101_is_checked() {
        for (line, wrong) in [
            ("upgrade: WebSocket", "upgrade: h2c"),
            ("Connection: keep-alive, Upgrade", "Connection: keep-alive"),
            ("xOo=", "xOO="),
            ("upgrade: WebSocket", "upgrade: websocket\r\nSec-WebSocket-Extensions: x"),
        ] {
            let answer = response(&GOOD.replace(line, wrong));
            assert!(matches!(answer, Response::Invalid { .. }), "{wrong}: {answer:?}");
        }
        assert_eq!(response("HTTP/1.1 404 Not Found\r\n\r\n"), Response::Refused { status: 404 });
        assert!(matches!(response("\x15\x03\x01"), Response::Invalid { .. }));
        let endless = "HTTP/1.1 101 x\r\na: ".to_owned() + &"b".repeat(LONGEST_HEAD_BYTES);
        assert!(matches!(response(&endless), Response::Invalid { .. }));
    }

    #[test]
    fn a_request_is_a_handshake_with_all_that_belongs_to_one() {
        let names = ["Upgrade", "Connection", "Sec-WebSocket-Version", "Sec-WebSocket-Key"];
        let good: [&[u8]; 4] = [b"websocket", b"Upgrade", b"13", KEY];
        let of = |values: [&'static [u8]; 4]| {
            let headers: Vec<_> = names.iter().zip(values).collect();
            let headers: Vec<_> =
                headers.iter().map(|&(name, value)| Header { name, value }).collect();
            key_of(&headers).map(<[u8]>::to_vec)
        };
        assert_eq!(of(good).as_deref(), Some(KEY));
        let bad: [&[u8]; 4] = [b"h2c", b"close", b"8", b"c2hvcnQ="];
        for (place, value) in bad.into_iter().enumerate() {
            let mut wrong = good;
            wrong[place] = value;
            assert_eq!(of(wrong), None, "{}", names[place]);
        }
    }
}
