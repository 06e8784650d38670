//! A request of HTTP/1 as HTTP/2 sends it: a header block that is encoded once, and the body.
//!
//! # Source
//!
//! RFC 9113, sections 8.2 and 8.3.

use plimsoll_http2::frame::{DEFAULT_FRAME_BYTES, HEAD_BYTES};
use plimsoll_http2::hpack;

/// The most header fields of a request.
const MOST_HEADERS: usize = 128;

/// Fields that belong to one connection of HTTP/1.
const OF_A_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "host"];

/// What HTTP/2 sends of a request.
#[derive(Clone, Debug, Default)]
pub struct Encoded {
    /// The header block. It adds nothing to the server's table, so it fits any connection.
    pub block: Vec<u8>,
    /// The body.
    pub body: Vec<u8>,
}

impl Encoded {
    /// Bytes that are sent, the heads of frames included; more if windows cut the body smaller.
    #[must_use]
    pub fn sent_bytes(&self) -> usize {
        let of_head = self.block.len().div_ceil(DEFAULT_FRAME_BYTES).max(1);
        let frames = of_head + self.body.len().div_ceil(DEFAULT_FRAME_BYTES);
        frames * HEAD_BYTES + self.block.len() + self.body.len()
    }
}

/// Encodes a request given as HTTP/1; nothing when it is none, or its body is in chunks.
#[must_use]
pub fn encode(bytes: &[u8], scheme: &str) -> Option<Encoded> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(body_at) = head.parse(bytes).ok()? else { return None };
    let host = head.headers.iter().find(|header| header.name.eq_ignore_ascii_case("host"));
    let mut block = Vec::new();
    hpack::write_field(&mut block, b":method", head.method?.as_bytes());
    hpack::write_field(&mut block, b":scheme", scheme.as_bytes());
    hpack::write_field(&mut block, b":path", head.path?.as_bytes());
    if let Some(host) = host {
        hpack::write_field(&mut block, b":authority", host.value);
    }
    for header in &*head.headers {
        let name = header.name.to_ascii_lowercase();
        if name == "transfer-encoding" {
            return None;
        }
        let is_te = name == "te" && !header.value.eq_ignore_ascii_case(b"trailers");
        if !is_te && !OF_A_CONNECTION.contains(&&*name) {
            hpack::write_field(&mut block, name.as_bytes(), header.value);
        }
    }
    Some(Encoded { block, body: bytes[body_at..].to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(encoded: &Encoded) -> Vec<String> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let keep = |name: &[u8], value: &[u8]| fields.push(text(name) + "=" + &text(value));
        hpack::Decoder::default().decode(&encoded.block, keep).unwrap();
        fields
    }

    #[test]
    fn a_head_becomes_fields_and_what_is_of_a_connection_goes() {
        let bytes = b"POST /json?a=1 HTTP/1.1\r\nHost: x:80\r\nConnection: close\r\nTE: gzip\r\n\
            Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}";
        let encoded = encode(bytes, "http").unwrap();
        let expected = [
            ":method=POST",
            ":scheme=http",
            ":path=/json?a=1",
            ":authority=x:80",
            "content-type=text/plain",
            "content-length=2",
        ];
        assert_eq!(fields(&encoded), expected);
        assert_eq!(encoded.body, b"{}");
    }

    #[test]
    fn the_bytes_sent_are_those_of_the_frames() {
        let length = |body: &str| {
            let bytes = format!("POST / HTTP/1.1\r\nHost: x\r\n\r\n{body}");
            encode(bytes.as_bytes(), "http").unwrap().sent_bytes()
        };
        let alone = length("");
        assert_eq!(alone, 9 + 3 + 3);
        assert_eq!(length("{}"), alone + 9 + 2);
        let long = "x".repeat(16_385);
        assert_eq!(length(&long), alone + 2 * 9 + 16_385);
        for (block_bytes, frames) in [(16_384, 1), (16_385, 2), (32_769, 3)] {
            let encoded = Encoded { block: vec![0; block_bytes], body: Vec::new() };
            assert_eq!(encoded.sent_bytes(), frames * 9 + block_bytes);
        }
    }

    #[test]
    fn what_is_no_request_or_comes_in_chunks_is_not_encoded() {
        assert!(encode(b"GET", "http").is_none());
        let chunked = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
        assert!(encode(chunked, "http").is_none());
    }
}
