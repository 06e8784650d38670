//! A server that speaks WebSocket as a test tells it to, and counts what it does and sees.

use std::net::SocketAddr;

use plimsoll_websocket::frame::{self, Opcode, Part, Reader, Sender};
use plimsoll_websocket::handshake;

use crate::visits::{self, Caller};

/// What the server has seen of all clients.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    pub accepted: usize,
    /// Connections that asked for an upgrade.
    pub upgrades: usize,
    /// Messages that were complete.
    pub messages: usize,
    /// Payloads of pongs.
    pub pongs: Vec<Vec<u8>>,
    /// Codes of close frames.
    pub closes: Vec<u16>,
    /// Masks of messages.
    pub masks: Vec<frame::Mask>,
}

pub struct Server(visits::Server<Seen>);

impl Server {
    /// Starts; `behave` has a connection, and its number.
    pub fn start(behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static) -> Self {
        Self(visits::Server::start(move |caller, number| {
            let mut visit = Visit::new(caller);
            behave(&mut visit, number);
            while visit.next_message().is_some() {}
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
    message: Vec<u8>,
}

impl Visit {
    fn new(caller: Caller<Seen>) -> Self {
        caller.seen.lock().unwrap().accepted += 1;
        Self { caller, reader: Reader::new(Sender::Client), input: vec![], message: vec![] }
    }

    /// Sends bytes; whether the client is still there shows when something is read.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.caller.send(bytes.as_ref());
    }

    /// Closes the connection in order, without a close frame.
    pub fn close(&mut self) {
        self.caller.close();
    }

    /// The value of `Sec-WebSocket-Accept` for the client, once it has asked; nothing when it is
    /// gone.
    pub fn asked(&mut self) -> Option<String> {
        let end = loop {
            if let Some(end) = self.input.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            if !self.caller.read_more(&mut self.input) {
                return None;
            }
        };
        self.caller.seen.lock().unwrap().upgrades += 1;
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut headers);
        request.parse(&self.input[..end]).unwrap();
        assert_eq!((request.method, request.path), (Some("GET"), Some("/echo")));
        let accept = handshake::accept(handshake::key_of(request.headers).unwrap());
        self.input.drain(..end);
        Some(String::from_utf8(accept.to_vec()).unwrap())
    }

    /// Upgrades the connection; false when the client is gone.
    pub fn greet(&mut self) -> bool {
        let accept = self.asked();
        accept.map(|accept| self.send(switching(&accept))).is_some()
    }

    /// The next complete message; nothing when the client is gone or the test over.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(message) = self.read_frames() {
                return Some(message);
            }
            if !self.caller.read_more(&mut self.input) {
                return None;
            }
        }
    }

    /// Messages until there are so many.
    pub fn next_messages(&mut self, count: usize) -> Option<Vec<Vec<u8>>> {
        (0..count).map(|_| self.next_message()).collect()
    }

    /// Reads what has come, up to the end of a message.
    fn read_frames(&mut self) -> Option<Vec<u8>> {
        let input = std::mem::take(&mut self.input);
        let mut start = 0;
        loop {
            let read = self.reader.next(&input[start..]).unwrap();
            start += read.consumed;
            let mut seen = self.caller.seen.lock().unwrap();
            match read.part {
                Part::Data { piece, mask, is_last, .. } => {
                    let before = self.message.len();
                    self.message.extend_from_slice(piece);
                    frame::apply(mask, &mut self.message[before..]);
                    if is_last {
                        seen.messages += 1;
                        seen.masks.push(mask);
                        self.input = input[start..].to_vec();
                        return Some(std::mem::take(&mut self.message));
                    }
                }
                Part::Pong(payload) => seen.pongs.push(payload.to_vec()),
                Part::Close { code } => seen.closes.push(code),
                Part::More if start == input.len() => return None,
                Part::More | Part::Ping(_) => {}
            }
        }
    }
}

/// The response that upgrades a connection.
pub fn switching(accept: &str) -> String {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    )
}

/// A frame.
pub fn frame(opcode: Opcode, is_final: bool, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write(&mut out, opcode, is_final, None, payload);
    out
}

/// A whole message.
pub fn echo(payload: &[u8]) -> Vec<u8> {
    frame(Opcode::Binary, true, payload)
}

pub fn close(code: u16) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_close(&mut out, code, None);
    out
}
