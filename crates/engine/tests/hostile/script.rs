//! What the server does with one request.

use std::time::Duration;

/// The right body: each stretch of it differs from the others.
pub const BODY: &[u8] = b"When the load is known, and the water calm, the line at the ship's side \
says how deep it lies; painted on the hull it can be read by anybody who cares to look at it from \
the quay, 1876.";

/// Some bytes, written at once.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Time before they are written.
    pub pause: Duration,
    pub bytes: Vec<u8>,
    /// How often they are written.
    pub times: usize,
}

/// What follows the last piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The next request is awaited.
    GoOn,
    /// Nothing, until the client closes.
    Hang,
    /// The connection is closed in order.
    Close,
    /// The server's side is closed, and it goes on reading.
    HalfClose,
    /// The connection is reset.
    Reset,
}

/// Bytes in pieces, and what follows them.
#[derive(Clone, Debug)]
pub struct Script {
    pub pieces: Vec<Piece>,
    pub then: Then,
}

impl Script {
    /// Nothing is sent.
    pub fn silence() -> Self {
        Self { pieces: Vec::new(), then: Then::GoOn }
    }

    /// The bytes are sent at once.
    pub fn send(bytes: impl AsRef<[u8]>) -> Self {
        Self::silence().and(Duration::ZERO, bytes)
    }

    /// The same bytes are sent over and over.
    pub fn repeat(bytes: impl AsRef<[u8]>, times: usize) -> Self {
        let mut script = Self::send(bytes);
        script.pieces[0].times = times;
        script
    }

    /// More bytes after a pause.
    pub fn and(mut self, pause: Duration, bytes: impl AsRef<[u8]>) -> Self {
        self.pieces.push(Piece { pause, bytes: bytes.as_ref().to_vec(), times: 1 });
        self
    }

    /// What another script does after this one.
    pub fn followed_by(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self.then = other.then;
        self
    }

    /// What follows the last piece.
    pub fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }

    /// The same bytes, each `length` of them written on its own.
    pub fn in_pieces_of(self, length: usize, pause: Duration) -> Self {
        let bytes: Vec<u8> = self.pieces.iter().flat_map(|piece| piece.bytes.clone()).collect();
        let mut script = Self::silence().then(self.then);
        for chunk in bytes.chunks(length) {
            script = script.and(pause, chunk);
        }
        script
    }
}

/// A head of status 200 with further headers, each ended by a line end.
pub fn head(headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\n{headers}\r\n").into_bytes()
}

/// The right answer.
pub fn right() -> Vec<u8> {
    [head(&format!("Content-Length: {}\r\n", BODY.len())), BODY.to_vec()].concat()
}

/// The right answer in chunks of a length.
pub fn chunked(length: usize) -> Vec<u8> {
    let mut answer = head("Transfer-Encoding: chunked\r\n");
    for chunk in BODY.chunks(length) {
        answer.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        answer.extend_from_slice(chunk);
        answer.extend_from_slice(b"\r\n");
    }
    answer.extend_from_slice(b"0\r\n\r\n");
    answer
}
