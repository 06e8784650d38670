//! The opening handshake of one connection.
//!
//! # Source
//!
//! RFC 6455, section 4.1.

use std::sync::Arc;

use plimsoll_websocket::handshake::{self, ACCEPT_BYTES, VERSION, accept, key, read_response};

pub use plimsoll_websocket::handshake::Response as Answer;

/// What ends the head of a request.
const END: &[u8] = b"\r\n";

/// The upgrade of one connection, and of those after it.
#[derive(Clone, Debug)]
pub struct Upgrade {
    /// The request, without what differs from one connection to the next.
    request: Arc<[u8]>,
    accept: [u8; ACCEPT_BYTES],
    /// What has come of the response.
    head: Vec<u8>,
}

impl Upgrade {
    /// Upgrades that ask with `request`: a complete head of HTTP/1.1 without the fields of the
    /// handshake.
    #[must_use]
    pub fn new(request: &Arc<[u8]>) -> Self {
        Self { request: Arc::clone(request), accept: [0; ACCEPT_BYTES], head: Vec::new() }
    }

    /// Writes the request; the key is made of a nonce.
    pub fn ask(&mut self, nonce: [u8; 16], out: &mut Vec<u8>) {
        let key = key(nonce);
        self.accept = accept(&key);
        self.head.clear();
        out.extend_from_slice(self.request.strip_suffix(END).unwrap_or(&self.request));
        let fields: [&[u8]; 6] = [
            b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: ",
            VERSION.as_bytes(),
            b"\r\nSec-WebSocket-Key: ",
            &key,
            END,
            END,
        ];
        for field in fields {
            out.extend_from_slice(field);
        }
    }

    /// Bytes of the response have come; of an upgraded connection, how many of these were read.
    pub fn answered(&mut self, bytes: &[u8]) -> Answer {
        let before = self.head.len();
        let room = handshake::LONGEST_HEAD_BYTES.saturating_sub(before);
        self.head.extend_from_slice(&bytes[..room.min(bytes.len())]);
        match read_response(&self.head, &self.accept) {
            Answer::Upgraded { consumed } => Answer::Upgraded { consumed: consumed - before },
            other => other,
        }
    }
}
