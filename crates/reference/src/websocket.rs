//! WebSocket on one connection of the reference server: every message is echoed one service time
//! after it, one after the other.
//!
//! # Source
//!
//! RFC 6455.

use std::collections::VecDeque;

use plimsoll_websocket::frame::{self, Opcode, PROTOCOL_ERROR, Part, Reader, Sender};
use plimsoll_websocket::handshake;
use plimsoll_websocket::utf8::Utf8;

use crate::tally::{Held, Tally};

/// Path that is upgraded.
pub(super) const PATH: &str = "/echo";

/// The longest message that is echoed.
const LONGEST_MESSAGE_BYTES: usize = 16 << 20;

/// A client whose messages and echoes wait in so many bytes is given up.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// Codes of close frames; RFC 6455, section 7.4.1.
const NOT_TEXT: u16 = 1007;
const AGAINST_POLICY: u16 = 1008;
const TOO_LARGE: u16 = 1009;

/// A message to be echoed.
struct Echo {
    opcode: Opcode,
    payload: Vec<u8>,
    held: Held,
}

/// The state of one connection.
pub(super) struct Session {
    reader: Reader,
    utf8: Utf8,
    /// What has come of a message.
    message: Vec<u8>,
    /// In their order.
    waiting: VecDeque<Echo>,
    waiting_bytes: usize,
    /// Whether the service time of the first of them has begun.
    is_serving: bool,
    output: Vec<u8>,
    /// Echoes whose last byte is in the output.
    finished: Vec<Held>,
    /// The code of the last frame, which waits for the echoes; nothing more is read.
    closing: Option<u16>,
    is_over: bool,
}

impl Session {
    /// A connection that a client has asked for with `key`.
    pub fn new(key: &[u8]) -> Self {
        let mut output = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
            Connection: Upgrade\r\nSec-WebSocket-Accept: "
            .to_vec();
        output.extend_from_slice(&handshake::accept(key));
        output.extend_from_slice(b"\r\n\r\n");
        Self {
            reader: Reader::new(Sender::Client),
            utf8: Utf8::default(),
            message: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            is_serving: false,
            output,
            finished: Vec::new(),
            closing: None,
            is_over: false,
        }
    }

    /// Bytes to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The kernel took so many bytes of the output.
    pub fn sent(&mut self, count: usize, tally: &Tally) {
        self.output.drain(..count);
        if self.output.is_empty() {
            tally.responses_sent.add(self.finished.len());
            self.finished.drain(..).for_each(|held| tally.witness.add(held));
        }
    }

    /// Whether nothing more is read: the connection ends when the output is sent.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the service time of a message begins.
    pub fn begin(&mut self) -> bool {
        let begins = !self.is_serving && !self.waiting.is_empty();
        self.is_serving |= begins;
        begins
    }

    /// The service time of a message is over.
    pub fn answer(&mut self, tally: &Tally) {
        self.is_serving = false;
        let Some(mut echo) = self.waiting.pop_front() else { return };
        self.waiting_bytes -= echo.payload.len();
        echo.held.answered_ns = tally.witness.now_ns();
        frame::write(&mut self.output, echo.opcode, true, None, &echo.payload);
        self.finished.push(echo.held);
        if let Some(code) = self.closing.take() {
            self.close(code);
        }
    }

    /// Takes bytes that have come.
    pub fn received(&mut self, bytes: &[u8], tally: &Tally) {
        let mut rest = bytes;
        while !self.is_over && self.closing.is_none() {
            let Ok(read) = self.reader.next(rest) else { return self.close(PROTOCOL_ERROR) };
            rest = &rest[read.consumed..];
            match read.part {
                Part::Data { is_text, piece, mask, is_last } => {
                    let start = self.message.len();
                    self.message.extend_from_slice(piece);
                    frame::apply(mask, &mut self.message[start..]);
                    let is_right = !is_text
                        || self.utf8.take(&self.message[start..]) && (!is_last || self.utf8.end());
                    if !is_right {
                        self.close(NOT_TEXT);
                    } else if self.message.len() > LONGEST_MESSAGE_BYTES {
                        self.close(TOO_LARGE);
                    } else if is_last {
                        self.complete(if is_text { Opcode::Text } else { Opcode::Binary }, tally);
                    }
                }
                Part::Ping(payload) => {
                    frame::write(&mut self.output, Opcode::Pong, true, None, payload);
                    self.limit();
                }
                Part::Close { code } => self.close(code),
                Part::More if rest.is_empty() => return,
                Part::More | Part::Pong(_) => {}
            }
        }
    }

    fn complete(&mut self, opcode: Opcode, tally: &Tally) {
        tally.requests_received.add(1);
        let payload = std::mem::take(&mut self.message);
        self.waiting_bytes += payload.len();
        let held = Held { received_ns: tally.witness.now_ns(), answered_ns: 0 };
        self.waiting.push_back(Echo { opcode, payload, held });
        self.limit();
    }

    fn limit(&mut self) {
        if self.waiting_bytes + self.output.len() > MOST_WAITING_BYTES {
            self.waiting.clear();
            self.close(AGAINST_POLICY);
        }
    }

    /// Sends the last frame, after the echoes of all messages before it.
    fn close(&mut self, code: u16) {
        if self.waiting.is_empty() {
            frame::write_close(&mut self.output, code, None);
            self.is_over = true;
        } else {
            self.closing = Some(code);
        }
    }
}
