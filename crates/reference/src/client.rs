//! One connection of the reference server: bytes in, responses out, one request after the other
//! unless it is HTTP/2 or WebSocket.

use std::io::ErrorKind;

use plimsoll_http2::frame::PREFACE;
use plimsoll_system::Ready;
use plimsoll_tls::Read;

use crate::Streams;
use crate::channel::Channel;
use crate::contract::{self, Answer};
use crate::events::Events;
use crate::http2;
use crate::request::{self, Method, Persistence, Reading, Request};
use crate::session::Session;
use crate::tally::{Held, Tally};
use crate::websocket;

/// What is still read of a client that was refused, so that the refusal reaches it.
const DRAIN_LIMIT_BYTES: usize = 16 * 1024 * 1024;

/// What a client is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The handshake is under way.
    Securing,
    /// A request is awaited, or has come in part.
    Reading,
    /// The response is there, and its service time not yet over, or its next event not due.
    Waiting,
    /// The response is being sent.
    Sending,
    /// No more responses; what still arrives is discarded.
    Draining { left_bytes: usize },
}

/// What the loop has to do for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing, until its socket is ready again.
    Rest,
    /// Call [`Client::answer_now`] for stream 0 when the service time is over.
    Wait,
    /// Call it at this instant: an event is due.
    WaitUntil(u64),
    /// Forget it.
    Close,
}

/// What becomes of the connection after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    /// It takes the next request.
    Stay,
    /// It is closed, as one side had announced.
    Close,
    /// It is closed, because what came was no request.
    CloseRefused,
}

/// How a step ended.
enum Step {
    /// On to the next one.
    Done,
    /// The socket has to become ready first.
    Blocked,
    /// The next event is due at this instant.
    Paused(u64),
    /// The connection is over: lost, closed by the client or to be closed.
    Over,
}

/// One connection.
pub(super) struct Client {
    channel: Channel,
    phase: Phase,
    /// Bytes received and not yet read as requests, from `read_bytes` on.
    input: Vec<u8>,
    read_bytes: usize,
    answer: Answer,
    sent_bytes: usize,
    held: Held,
    after: After,
    /// The state of a connection of HTTP/2 or WebSocket; nothing as long as it is HTTP/1.
    session: Option<Session>,
    /// How streams of HTTP/2 are served.
    streams: Streams,
    continued: bool,
    readable: bool,
    hung_up: bool,
}

impl Client {
    pub fn new(channel: Channel, streams: Streams) -> Self {
        Self {
            channel,
            phase: Phase::Securing,
            input: Vec::new(),
            read_bytes: 0,
            answer: Answer::default(),
            sent_bytes: 0,
            held: Held { received_ns: 0, answered_ns: 0 },
            after: After::Stay,
            continued: false,
            session: None,
            streams,
            readable: false,
            hung_up: false,
        }
    }

    pub fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Notes that the socket is ready.
    pub fn notice(&mut self, ready: Ready) {
        self.hung_up |= ready.hung_up;
        self.readable |= ready.readable || ready.hung_up;
    }

    /// A stream of HTTP/2 whose next event is due at an instant.
    pub fn next_paused(&mut self) -> Option<(u64, u32)> {
        self.session.as_mut()?.next_paused()
    }

    /// A stream of HTTP/2, or 0 for a message of WebSocket, whose service time begins now.
    pub fn next_complete(&mut self) -> Option<u32> {
        self.session.as_mut()?.next_complete()
    }

    /// The service time of a request is over; 0 is the one of a connection of HTTP/1.
    pub fn answer_now(&mut self, stream: u32, tally: &Tally) {
        if let Some(session) = &mut self.session {
            session.answer(stream, tally);
        } else if self.phase == Phase::Waiting {
            let events = self.answer.events.as_mut().filter(|events| events.has_begun());
            if let Some(chunk) = events.map(Events::next_chunk) {
                self.answer = Answer::before(chunk, self.answer.events);
            }
            self.phase = Phase::Sending;
        }
    }

    /// Does all that can be done without waiting.
    ///
    /// With `at_once` a response is sent as soon as it is ready. `scratch` is empty between calls.
    pub fn go_on(&mut self, at_once: bool, scratch: &mut [u8], tally: &Tally) -> Next {
        loop {
            if let Some(session) = self.session.take() {
                return self.go_on_in_session(session, at_once, scratch, tally);
            }
            let step = match self.phase {
                Phase::Securing => self.secure(),
                Phase::Waiting => Step::Blocked,
                Phase::Sending => self.send(tally),
                Phase::Draining { left_bytes } => self.drain(left_bytes, scratch, tally),
                Phase::Reading => match self.read(scratch, tally) {
                    _ if self.session.is_some() => Step::Done,
                    Step::Done if at_once || self.after == After::CloseRefused => {
                        self.phase = Phase::Sending;
                        Step::Done
                    }
                    Step::Done => {
                        self.phase = Phase::Waiting;
                        return Next::Wait;
                    }
                    step => step,
                },
            };
            match step {
                Step::Done => {}
                Step::Blocked => return Next::Rest,
                Step::Paused(due_ns) => return Next::WaitUntil(due_ns),
                Step::Over => return Next::Close,
            }
        }
    }

    /// Goes on with the handshake. What came with its end makes the socket ready no more.
    fn secure(&mut self) -> Step {
        match self.channel.shake_hands() {
            Ok(true) => {
                self.readable |= matches!(self.channel, Channel::Tls(_));
                self.phase = Phase::Reading;
                if self.channel.agreed_on_http2() {
                    self.begin_http2();
                }
                Step::Done
            }
            Ok(false) => Step::Blocked,
            Err(_) => Step::Over,
        }
    }

    fn begin_http2(&mut self) {
        let session = http2::Session::new(self.streams);
        self.session = Some(Session::Http2(Box::new(session)));
    }

    /// Reads all that has come, answers what is due, and sends.
    fn go_on_in_session(
        &mut self,
        mut session: Session,
        at_once: bool,
        scratch: &mut [u8],
        tally: &Tally,
    ) -> Next {
        let input = std::mem::take(&mut self.input);
        session.received(&input[std::mem::take(&mut self.read_bytes)..], tally);
        let mut is_lost = false;
        while !session.is_over() {
            match self.receive(scratch, tally) {
                Ok(count) => session.received(&scratch[..count], tally),
                Err(Step::Over) => {
                    is_lost = true;
                    break;
                }
                Err(_) => break,
            }
        }
        if at_once {
            while let Some(stream) = session.next_complete() {
                session.answer(stream, tally);
            }
        }
        let is_sent = match self.send_session(&mut session, tally) {
            Step::Done => true,
            Step::Blocked | Step::Paused(_) => false,
            Step::Over => return Next::Close,
        };
        if is_lost {
            return Next::Close;
        }
        if session.is_over() && is_sent {
            if self.channel.finish_sending().is_err() {
                return Next::Close;
            }
            self.phase = Phase::Draining { left_bytes: DRAIN_LIMIT_BYTES };
            return self.go_on(at_once, scratch, tally);
        }
        self.session = Some(session);
        Next::Rest
    }

    /// Sends what a connection of HTTP/2 or WebSocket has to say.
    fn send_session(&mut self, session: &mut Session, tally: &Tally) -> Step {
        while !session.output().is_empty() {
            match self.channel.send(session.output()) {
                Ok(count) => {
                    tally.sent_bytes.add(count);
                    session.sent(count, tally);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Blocked,
                Err(_) => return Step::Over,
            }
        }
        match self.channel.flush() {
            Ok(()) => Step::Done,
            Err(error) if error.kind() == ErrorKind::WouldBlock => Step::Blocked,
            Err(_) => Step::Over,
        }
    }

    /// Reads until there is a response, or the connection turns out to be HTTP/2 or WebSocket.
    fn read(&mut self, scratch: &mut [u8], tally: &Tally) -> Step {
        if !self.input.is_empty() && self.read_kept(tally) {
            return Step::Done;
        }
        loop {
            let received_bytes = match self.receive(scratch, tally) {
                Ok(count) => count,
                Err(step) => return step,
            };
            if self.read_received(&scratch[..received_bytes], tally) || self.session.is_some() {
                return Step::Done;
            }
        }
    }

    /// Takes what the kernel has; after a short read it is empty until the next event.
    fn receive(&mut self, scratch: &mut [u8], tally: &Tally) -> Result<usize, Step> {
        if !self.readable {
            return Err(Step::Blocked);
        }
        match self.channel.receive(scratch) {
            Ok(Read { count: 0, .. }) => Err(Step::Over),
            Ok(Read { count, drained }) => {
                self.readable = !drained || self.hung_up;
                tally.received_bytes.add(count);
                Ok(count)
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                Err(Step::Blocked)
            }
            Err(_) => Err(Step::Over),
        }
    }

    /// Reads a request from new bytes; what is left of them is kept.
    fn read_received(&mut self, received: &[u8], tally: &Tally) -> bool {
        if !self.input.is_empty() {
            self.input.extend_from_slice(received);
            return self.read_kept(tally);
        }
        let used = self.understand(received, tally);
        self.input.extend_from_slice(&received[used..]);
        used > 0
    }

    /// Reads a request from the bytes kept; frees them when all are read.
    fn read_kept(&mut self, tally: &Tally) -> bool {
        let mut kept = std::mem::take(&mut self.input);
        let used = self.understand(&kept[self.read_bytes..], tally);
        self.read_bytes += used;
        if self.read_bytes == kept.len() {
            kept = Vec::new();
            self.read_bytes = 0;
        } else if used == 0 {
            kept.drain(..self.read_bytes);
            self.read_bytes = 0;
        }
        self.input = kept;
        used > 0
    }

    /// Prepares the response to the first request in `bytes`; returns how many bytes that was.
    fn understand(&mut self, bytes: &[u8], tally: &Tally) -> usize {
        match request::read(bytes) {
            Reading::Incomplete { expects_continue } => {
                if expects_continue && !self.continued {
                    self.continued = true;
                    self.invite(tally);
                }
                0
            }
            Reading::Complete(Request {
                method: Method::Get,
                path: websocket::PATH,
                websocket_key: Some(key),
                length_bytes,
                ..
            }) => {
                self.session = Some(Session::WebSocket(Box::new(websocket::Session::new(key))));
                length_bytes
            }
            Reading::Complete(request) => {
                tally.requests_received.add(1);
                self.held.received_ns = tally.witness.now_ns();
                self.answer = contract::answer(&request);
                self.after = match request.persistence {
                    Persistence::Closed => After::Close,
                    Persistence::Kept | Persistence::KeptAsAsked => After::Stay,
                };
                self.continued = false;
                request.length_bytes
            }
            Reading::Refused(_) if is_preface(bytes) => {
                self.begin_http2();
                0
            }
            Reading::Refused(refusal) => {
                self.answer = contract::refuse(refusal);
                self.after = After::CloseRefused;
                bytes.len()
            }
        }
    }

    /// Asks for the body. A client that does not hear it sends the body all the same, later.
    fn invite(&mut self, tally: &Tally) {
        if let Ok(count) = self.channel.send(contract::CONTINUE) {
            tally.sent_bytes.add(count);
        }
    }

    fn send(&mut self, tally: &Tally) -> Step {
        let is_event = self.answer.events.is_some_and(|events| events.has_begun());
        if self.sent_bytes == 0 && !is_event {
            self.held.answered_ns = tally.witness.now_ns();
        }
        while self.sent_bytes < self.answer.len() {
            match self.channel.send(&self.answer[self.sent_bytes..]) {
                Ok(count) => {
                    self.sent_bytes += count;
                    tally.sent_bytes.add(count);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Blocked,
                Err(_) => return Step::Over,
            }
        }
        match self.channel.flush() {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Step::Blocked,
            Err(_) => return Step::Over,
        }
        self.sent_bytes = 0;
        if let Some(due_ns) = self.answer.events.as_mut().and_then(Events::next_due_ns) {
            self.phase = Phase::Waiting;
            return Step::Paused(due_ns);
        }
        self.answer = Answer::default();
        self.finish(tally)
    }

    /// The response is sent: the connection stays or ends.
    fn finish(&mut self, tally: &Tally) -> Step {
        match self.after {
            After::CloseRefused => tally.requests_refused.add(1),
            After::Stay | After::Close => {
                tally.responses_sent.add(1);
                tally.witness.add(self.held);
            }
        }
        self.phase = match self.after {
            After::Stay => Phase::Reading,
            After::Close if self.input.is_empty() && !self.readable => return Step::Over,
            // A close with bytes unread is a reset, and a reset may overtake the response.
            After::Close | After::CloseRefused => {
                self.input = Vec::new();
                if self.channel.finish_sending().is_err() {
                    return Step::Over;
                }
                Phase::Draining { left_bytes: DRAIN_LIMIT_BYTES }
            }
        };
        Step::Done
    }

    fn drain(&mut self, left_bytes: usize, scratch: &mut [u8], tally: &Tally) -> Step {
        match self.receive(scratch, tally) {
            Ok(count) if count < left_bytes => {
                self.phase = Phase::Draining { left_bytes: left_bytes - count };
                Step::Done
            }
            Ok(_) => Step::Over,
            Err(step) => step,
        }
    }
}

/// Whether bytes are the preface of HTTP/2, or its beginning.
fn is_preface(bytes: &[u8]) -> bool {
    bytes.iter().zip(PREFACE).all(|(found, awaited)| found == awaited)
}
