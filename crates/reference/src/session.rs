//! What a connection speaks that has left HTTP/1.

use crate::tally::Tally;
use crate::{http2, websocket};

/// The state of one connection.
pub(super) enum Session {
    Http2(Box<http2::Session>),
    WebSocket(Box<websocket::Session>),
}

impl Session {
    /// Bytes to be sent.
    pub fn output(&self) -> &[u8] {
        match self {
            Self::Http2(http2) => http2.output(),
            Self::WebSocket(websocket) => websocket.output(),
        }
    }

    /// The kernel took so many bytes of the output.
    pub fn sent(&mut self, count: usize, tally: &Tally) {
        match self {
            Self::Http2(http2) => http2.sent(count, tally),
            Self::WebSocket(websocket) => websocket.sent(count, tally),
        }
    }

    /// Whether nothing more is read: the connection ends when the output is sent.
    pub fn is_over(&self) -> bool {
        match self {
            Self::Http2(http2) => http2.is_over(),
            Self::WebSocket(websocket) => websocket.is_over(),
        }
    }

    /// A stream whose service time begins; 0 for a message of WebSocket.
    pub fn next_complete(&mut self) -> Option<u32> {
        match self {
            Self::Http2(http2) => http2.next_complete(),
            Self::WebSocket(websocket) => websocket.begin().then_some(0),
        }
    }

    /// A stream whose next event is due at an instant.
    pub fn next_paused(&mut self) -> Option<(u64, u32)> {
        match self {
            Self::Http2(http2) => http2.next_paused(),
            Self::WebSocket(_) => None,
        }
    }

    /// The service time of a stream is over.
    pub fn answer(&mut self, stream: u32, tally: &Tally) {
        match self {
            Self::Http2(http2) => http2.answer(stream, tally),
            Self::WebSocket(websocket) => websocket.answer(tally),
        }
    }

    /// Takes bytes that have come.
    pub fn received(&mut self, bytes: &[u8], tally: &Tally) {
        match self {
            Self::Http2(http2) => http2.received(bytes, tally),
            Self::WebSocket(websocket) => websocket.received(bytes, tally),
        }
    }
}
