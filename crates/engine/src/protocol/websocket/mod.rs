//! WebSocket as a client speaks it: messages one after the other, and each of them echoed.
//!
//! A request is the payload of one message, which is sent in one masked frame; the next message of
//! the server is its response, however many frames it has. Whether it is text or binary is left to
//! the server. Everything to be sent goes through one buffer.
//!
//! # Source
//!
//! RFC 6455.

pub mod upgrade;

use std::collections::VecDeque;

use plimsoll_websocket::frame::{self, NORMAL, Opcode, PROTOCOL_ERROR, Part, Reader, Sender};
use plimsoll_websocket::utf8::Utf8;

use self::upgrade::{Answer, Upgrade};
use super::{Event, Id, Step};
use crate::outcome::Outcome;
use crate::request::Request;
use crate::spec::{self, Message};

/// The most bytes that wait to be sent; pings beyond that are not responded to.
const MOST_REPLY_BYTES: usize = 1 << 20;

/// The code of a close frame for text that is not UTF-8; RFC 6455, section 7.4.1.
const NOT_TEXT: u16 = 1007;

/// A message whose echo is awaited, or that has been handed out to be sent.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    id: Id,
    /// Where it begins and ends, in bytes of the connection.
    start: u64,
    end: u64,
}

/// One connection of WebSocket.
#[derive(Clone, Debug)]
pub struct WebSocket {
    capacity: usize,
    opcode: Opcode,
    upgrade: Upgrade,
    is_upgraded: bool,
    /// Draws keys and masks.
    rng: fastrand::Rng,
    reader: Reader,
    utf8: Utf8,
    /// In the order of their echoes.
    awaited: VecDeque<Awaited>,
    /// How many of them, from the first on, are under way.
    begun: usize,
    output: Vec<u8>,
    /// Bytes of `output` that the transport has taken.
    taken: usize,
    /// Bytes that were taken before those.
    taken_before: u64,
    /// The code that the driver closes the connection with.
    code: u16,
}

impl WebSocket {
    pub(super) fn new(capacity: usize, spec: &spec::WebSocket, rng: fastrand::Rng) -> Self {
        Self {
            capacity,
            opcode: match spec.message {
                Message::Text => Opcode::Text,
                Message::Binary => Opcode::Binary,
            },
            upgrade: Upgrade::new(&spec.upgrade),
            is_upgraded: false,
            rng,
            reader: Reader::new(Sender::Server),
            utf8: Utf8::default(),
            awaited: VecDeque::with_capacity(capacity),
            begun: 0,
            output: Vec::new(),
            taken: 0,
            taken_before: 0,
            code: NORMAL,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn reset(&mut self) {
        self.is_upgraded = false;
        self.reader = Reader::new(Sender::Server);
        self.utf8 = Utf8::default();
        self.awaited.clear();
        self.begun = 0;
        self.output.clear();
        self.taken = 0;
        self.code = NORMAL;
    }

    /// Asks the server to speak WebSocket.
    pub(super) fn ask(&mut self) {
        let nonce = self.rng.u128(..).to_ne_bytes();
        self.upgrade.ask(nonce, &mut self.output);
    }

    /// Bytes have come before the connection was upgraded.
    pub(super) fn answered(&mut self, bytes: &[u8]) -> Answer {
        let answer = self.upgrade.answered(bytes);
        self.is_upgraded = matches!(answer, Answer::Upgraded { .. });
        answer
    }

    /// What is pending, and the close frame that ends the connection.
    pub(super) fn farewell(&mut self) -> &[u8] {
        if !self.is_upgraded {
            return &[];
        }
        frame::write_close(&mut self.output, self.code, Some(mask(&mut self.rng)));
        self.pending_output()
    }

    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &Request) {
        let start = self.taken_before + self.output.len() as u64;
        let mask = mask(&mut self.rng);
        frame::write(&mut self.output, self.opcode, true, Some(mask), &request.bytes);
        let end = self.taken_before + self.output.len() as u64;
        self.awaited.push_back(Awaited { id, start, end });
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &[u8] {
        &self.output[self.taken..]
    }

    /// A message is under way when some of its bytes were taken, or when none was in its way.
    #[inline]
    pub(super) fn sent(&mut self, count: usize) -> usize {
        self.taken += count;
        let before = self.begun;
        let taken = self.taken_before + self.taken as u64;
        while let Some(next) = self.awaited.get(self.begun) {
            if next.start > taken {
                self.output.truncate(self.output.len() - self.bytes_from(next.start));
                break;
            }
            self.begun += 1;
        }
        self.awaited.truncate(self.begun);
        if self.taken == self.output.len() {
            self.taken_before = taken;
            self.taken = 0;
            self.output.clear();
        }
        self.begun - before
    }

    /// Bytes of the output that lie behind a place in the connection.
    fn bytes_from(&self, place: u64) -> usize {
        let end = self.taken_before + self.output.len() as u64;
        usize::try_from(end - place).unwrap_or(usize::MAX)
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        let taken = self.taken_before + self.taken as u64;
        self.awaited.iter().any(|one| one.id == id && one.end > taken)
    }

    /// The message whose echo comes next.
    #[inline]
    fn oldest(&self) -> Option<Id> {
        if self.begun == 0 { None } else { self.awaited.front().map(|oldest| oldest.id) }
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: &[u8], mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        let mut consumed = 0;
        loop {
            let oldest = self.oldest();
            let Ok(read) = self.reader.next(&bytes[consumed..]) else {
                return self.broken(PROTOCOL_ERROR);
            };
            let count = read.consumed;
            consumed += count;
            match (read.part, oldest) {
                (Part::Data { .. }, None) => {
                    return Step::Failed { id: None, outcome: Outcome::Unsolicited };
                }
                (Part::Data { is_text, piece, is_last, .. }, Some(id)) => {
                    let is_right =
                        !is_text || self.utf8.take(piece) && (!is_last || self.utf8.end());
                    emit(id, Event::Body(piece));
                    emit(id, Event::Bytes(count));
                    if !is_right {
                        return self.broken(NOT_TEXT);
                    }
                    if is_last {
                        self.awaited.pop_front();
                        self.begun -= 1;
                        return Step::Complete { id, consumed };
                    }
                }
                (Part::Ping(payload), _) => {
                    if self.output.len() < MOST_REPLY_BYTES {
                        let mask = mask(&mut self.rng);
                        frame::write(&mut self.output, Opcode::Pong, true, Some(mask), payload);
                    }
                }
                (Part::Close { code }, _) => return self.closed(code, emit),
                (Part::Pong(_), _) => {}
                (Part::More, _) => {
                    if let Some(id) = oldest.filter(|_| self.reader.is_in_data()) {
                        if count > 0 {
                            emit(id, Event::Bytes(count));
                        }
                    }
                    if consumed == bytes.len() {
                        return Step::More;
                    }
                }
            }
        }
    }

    /// The server has broken a rule; the connection is closed with a code that tells it so.
    fn broken(&mut self, code: u16) -> Step {
        self.code = code;
        Step::Failed { id: self.oldest(), outcome: Outcome::WebSocketError }
    }

    /// The server has sent a close frame: its code is the status of all that was in flight.
    fn closed(&mut self, code: u16, mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        self.code = code;
        for one in self.awaited.iter().take(self.begun) {
            emit(one.id, Event::Head(code));
        }
        Step::Failed { id: self.oldest(), outcome: Outcome::CloseReceived }
    }
}

/// A mask for a frame.
#[inline]
fn mask(rng: &mut fastrand::Rng) -> frame::Mask {
    rng.u32(..).to_ne_bytes()
}
