//! A server that speaks HTTP/2 as a test tells it to, and counts what it does and sees.

use std::net::SocketAddr;

use plimsoll_http2::frame::{
    self, ACK, END_HEADERS, END_STREAM, ErrorCode, Head, Kind, PREFACE, Part, Reader, Setting,
};
use plimsoll_http2::hpack;

use crate::hostile::BODY;
use crate::visits::{self, Caller};

/// What the server has seen of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub accepted: usize,
    /// Requests that were complete.
    pub requests: usize,
    /// Codes of the streams that clients have reset.
    pub resets: Vec<u32>,
    pub ping_acks: usize,
    pub settings_acks: usize,
    /// Bytes by which clients have enlarged windows.
    pub window_updates: usize,
    /// First bytes of header blocks.
    pub block_starts: Vec<u8>,
    /// CONTINUATION frames.
    pub continuations: usize,
}

pub struct Server(visits::Server<Seen>);

impl Server {
    /// Starts; `behave` has a connection, and its number.
    pub fn start(behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static) -> Self {
        Self(visits::Server::start(move |caller, number| {
            let mut visit = Visit::new(caller);
            behave(&mut visit, number);
            visit.wait();
        }))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address()
    }

    /// Ends every connection; returns what the server has seen.
    pub fn stop(self) -> Seen {
        self.0.stop()
    }
}

/// One connection.
pub struct Visit {
    caller: Caller<Seen>,
    reader: Reader,
    input: Vec<u8>,
    has_preface: bool,
    has_ack: bool,
    /// Whether the request ends with the header block that is not complete.
    ends_with_block: bool,
}

impl Visit {
    fn new(caller: Caller<Seen>) -> Self {
        caller.seen.lock().unwrap().accepted += 1;
        let (reader, input) = (Reader::default(), Vec::new());
        let (has_preface, has_ack, ends_with_block) = (false, false, false);
        Self { caller, reader, input, has_preface, has_ack, ends_with_block }
    }

    /// Sends bytes; whether the client is still there shows when something is read.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.caller.send(bytes.as_ref());
    }

    /// Settings of the server.
    pub fn greet(&mut self, settings: &[(Setting, u32)]) {
        let mut out = Vec::new();
        frame::write_settings(&mut out, settings);
        self.send(out);
    }

    /// Sends the right response.
    pub fn respond(&mut self, stream: u32) {
        self.send(right(stream));
    }

    /// Closes the connection in order.
    pub fn close(&mut self) {
        self.caller.close();
    }

    /// Stream of the next complete request; nothing when the client is gone or the test over.
    pub fn next_request(&mut self) -> Option<u32> {
        loop {
            if let Some(stream) = self.read_frames() {
                self.caller.seen.lock().unwrap().requests += 1;
                return Some(stream);
            }
            if !self.read_more() {
                return None;
            }
        }
    }

    /// Requests until there are so many.
    pub fn next_requests(&mut self, count: usize) -> Option<Vec<u32>> {
        (0..count).map(|_| self.next_request()).collect()
    }

    /// Requests that came up to and with the client's acknowledgement of the settings, or after it.
    pub fn acknowledged_requests(&mut self) -> Option<Vec<u32>> {
        let mut streams = Vec::new();
        loop {
            while let Some(stream) = self.read_frames() {
                self.caller.seen.lock().unwrap().requests += 1;
                streams.push(stream);
            }
            if self.has_ack && !streams.is_empty() {
                return Some(streams);
            }
            if !self.read_more() {
                return None;
            }
        }
    }

    /// Reads until what all clients have sent is as far as a test waits for; false when the client is
    /// gone or the test over.
    pub fn has_come(&mut self, is_there: impl Fn(&Seen) -> bool) -> bool {
        loop {
            while self.read_frames().is_some() {
                self.caller.seen.lock().unwrap().requests += 1;
            }
            if is_there(&self.caller.seen.lock().unwrap()) {
                return true;
            }
            if !self.read_more() {
                return false;
            }
        }
    }

    /// Reads until the client is gone or the test over.
    fn wait(&mut self) {
        while self.next_request().is_some() {}
    }

    fn read_more(&mut self) -> bool {
        self.caller.read_more(&mut self.input)
    }

    /// Reads what has come, up to the end of a request.
    fn read_frames(&mut self) -> Option<u32> {
        if !self.has_preface {
            if self.input.len() < PREFACE.len() {
                return None;
            }
            assert!(self.input.starts_with(PREFACE));
            self.input.drain(..PREFACE.len());
            self.has_preface = true;
        }
        let input = std::mem::take(&mut self.input);
        let mut start = 0;
        loop {
            let read = self.reader.next(&input[start..]).unwrap();
            start += read.consumed;
            let mut seen = self.caller.seen.lock().unwrap();
            let ended = match read.part {
                Part::More => return None,
                Part::Frame(head, payload) => match head.kind {
                    Kind::Headers => {
                        seen.block_starts.push(payload[0]);
                        self.ends_with_block = head.has(END_STREAM);
                        (head.has(END_HEADERS) && self.ends_with_block).then_some(head.stream)
                    }
                    Kind::Continuation => {
                        seen.continuations += 1;
                        (head.has(END_HEADERS) && self.ends_with_block).then_some(head.stream)
                    }
                    Kind::RstStream => {
                        seen.resets.push(frame::number(payload).unwrap());
                        None
                    }
                    Kind::Ping if head.has(ACK) => {
                        seen.ping_acks += 1;
                        None
                    }
                    Kind::Settings if head.has(ACK) => {
                        seen.settings_acks += 1;
                        self.has_ack = true;
                        None
                    }
                    Kind::WindowUpdate => {
                        seen.window_updates += frame::increment(payload).unwrap() as usize;
                        None
                    }
                    _ => None,
                },
                Part::Data { head, is_last, .. } => {
                    (is_last && head.has(END_STREAM)).then_some(head.stream)
                }
            };
            if ended.is_some() {
                self.input = input[start..].to_vec();
                return ended;
            }
        }
    }
}

/// A frame.
pub fn frame(kind: Kind, flags: u8, stream: u32, payload: impl AsRef<[u8]>) -> Vec<u8> {
    let payload = payload.as_ref();
    let mut out = Vec::new();
    Head { length: payload.len(), kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

/// A header block.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        hpack::write_field(&mut block, name.as_bytes(), value.as_bytes());
    }
    block
}

/// The head of a response with further fields, which a body follows.
pub fn head(stream: u32, fields: &[(&str, &str)]) -> Vec<u8> {
    let fields = [&[(":status", "200")], fields].concat();
    frame(Kind::Headers, END_HEADERS, stream, block(&fields))
}

/// A body, or the last piece of one.
pub fn body(stream: u32, bytes: &[u8]) -> Vec<u8> {
    frame(Kind::Data, END_STREAM, stream, bytes)
}

/// The right response.
pub fn right(stream: u32) -> Vec<u8> {
    let length = BODY.len().to_string();
    [head(stream, &[("content-length", &length)]), body(stream, BODY)].concat()
}

pub fn reset(stream: u32, code: ErrorCode) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_reset(&mut out, stream, code);
    out
}

pub fn go_away(last: u32, code: ErrorCode) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_go_away(&mut out, last, code);
    out
}

pub fn window_update(stream: u32, more: u32) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_window_update(&mut out, stream, more);
    out
}
