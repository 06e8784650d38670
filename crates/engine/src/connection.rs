//! One connection as a state machine: events in, what they mean out. Pure.

use crate::outcome::{Outcome, Phase};
use crate::request::Request;
use crate::response::{Malformed, Reader};
use crate::sample::{ConnectionSample, NEVER, NO_CONNECTION, RequestSample};

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not there.
    Closed,
    /// The handshake is under way.
    Connecting,
    /// Open, with no request on it.
    Idle,
    /// A request is under way, and nothing has come back.
    Sending,
    /// The request is sent, nothing has come back.
    Waiting,
    /// Some of the answer has come.
    Receiving,
}

/// The request that a connection carries, or is to carry once it is open.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request: u16,
    due_ns: u64,
    sent_ns: u64,
    first_byte_ns: u64,
    received_bytes: u64,
    compared: bool,
    differs: bool,
}

/// What some received bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The answer goes on.
    More,
    /// The answer is complete.
    Complete {
        /// How the request ended.
        outcome: Outcome,
        /// Bytes followed that no request asked for.
        unsolicited: bool,
    },
    /// The bytes are not HTTP/1, or were not asked for.
    Failed(Outcome),
}

/// One connection and the request on it.
#[derive(Clone, Debug)]
pub struct Connection {
    state: State,
    exchange: Option<Exchange>,
    reader: Reader,
    /// Bytes of the request handed to the kernel, and all there are.
    sent_bytes: usize,
    request_bytes: usize,
    attempt: u32,
    due_ns: u64,
    connected_ns: u64,
    requests: u32,
    responses: u32,
}

impl Default for Connection {
    fn default() -> Self {
        Self {
            state: State::Closed,
            exchange: None,
            reader: Reader::default(),
            sent_bytes: 0,
            request_bytes: 0,
            attempt: NO_CONNECTION,
            due_ns: 0,
            connected_ns: NEVER,
            requests: 0,
            responses: 0,
        }
    }
}

impl Connection {
    /// Where it is in its life.
    #[inline]
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// Number of the latest attempt to connect.
    #[inline]
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Requests sent on it.
    #[must_use]
    pub fn requests(&self) -> u32 {
        self.requests
    }

    /// Index of the kind of request assigned to it, if one is.
    #[inline]
    #[must_use]
    pub fn request(&self) -> Option<u16> {
        self.exchange.map(|exchange| exchange.request)
    }

    /// Where its request is; nothing when none has begun to be sent.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        match self.state {
            State::Sending => Some(Phase::Sending),
            State::Waiting => Some(Phase::Waiting),
            State::Receiving => Some(Phase::Receiving),
            State::Closed | State::Connecting | State::Idle => None,
        }
    }

    /// The instant since which the timeout runs: of the attempt to connect, or of sending.
    #[must_use]
    pub fn waiting_since_ns(&self) -> Option<u64> {
        match self.state {
            State::Closed | State::Idle => None,
            State::Connecting => Some(self.due_ns),
            State::Sending | State::Waiting | State::Receiving => {
                self.exchange.map(|exchange| exchange.sent_ns)
            }
        }
    }

    /// Where in the request sending goes on; nothing when all of it is sent.
    #[inline]
    #[must_use]
    pub fn unsent_from(&self) -> Option<usize> {
        let left = self.sent_bytes < self.request_bytes && self.phase().is_some();
        left.then_some(self.sent_bytes)
    }

    /// Whether the connection can carry no other request: its close was announced, or the answer
    /// came before the whole request was sent, whose rest would be taken for the next one.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        !self.reader.keep_alive() || self.sent_bytes < self.request_bytes
    }

    /// A new attempt to connect begins.
    pub fn connecting(&mut self, attempt: u32, now_ns: u64) {
        self.state = State::Connecting;
        self.attempt = attempt;
        self.due_ns = now_ns;
        self.connected_ns = NEVER;
        self.requests = 0;
        self.responses = 0;
    }

    /// The handshake is complete.
    pub fn connected(&mut self, now_ns: u64) {
        self.state = State::Idle;
        self.connected_ns = now_ns;
    }

    /// Assigns a request; it is sent when the connection is open.
    #[inline]
    pub fn assign(&mut self, request: u16, due_ns: u64, compared: bool) {
        self.exchange = Some(Exchange {
            request,
            due_ns,
            sent_ns: NEVER,
            first_byte_ns: NEVER,
            received_bytes: 0,
            compared,
            differs: false,
        });
    }

    /// The request, of so many bytes, begins to be sent.
    #[inline]
    pub fn begin_sending(&mut self, bytes: usize, is_head: bool, now_ns: u64) {
        if let Some(exchange) = &mut self.exchange {
            exchange.sent_ns = now_ns;
        }
        self.state = State::Sending;
        self.sent_bytes = 0;
        self.request_bytes = bytes;
        self.reader.start(is_head);
        self.requests += 1;
    }

    /// The kernel took `count` more of the request's bytes.
    #[inline]
    pub fn sent(&mut self, count: usize) {
        self.sent_bytes += count;
        if self.state == State::Sending && self.sent_bytes >= self.request_bytes {
            self.state = State::Waiting;
        }
    }

    /// Bytes have come.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn received(&mut self, bytes: &[u8], request: Option<&Request>, now_ns: u64) -> Received {
        let (Some(exchange), Some(request)) = (&mut self.exchange, request) else {
            return Received::Failed(Outcome::Unsolicited);
        };
        if exchange.first_byte_ns == NEVER {
            exchange.first_byte_ns = now_ns;
            self.responses += 1;
        }
        self.state = State::Receiving;
        let expected = request.expected.body.as_deref().filter(|_| exchange.compared);
        let differs = &mut exchange.differs;
        let result = self.reader.read(bytes, |offset, piece| {
            if let Some(body) = expected {
                let start = offset as usize;
                *differs |= body.get(start..start + piece.len()) != Some(piece);
            }
        });
        match result {
            Ok(progress) => {
                exchange.received_bytes += progress.consumed as u64;
                if !progress.complete {
                    return Received::More;
                }
                let unsolicited = progress.consumed < bytes.len();
                Received::Complete { outcome: self.judge(request), unsolicited }
            }
            Err(malformed) => {
                exchange.received_bytes += bytes.len() as u64;
                Received::Failed(match malformed {
                    Malformed::Head => Outcome::MalformedHead,
                    Malformed::Chunk => Outcome::MalformedChunk,
                    Malformed::HeadTooLarge => Outcome::HeadTooLarge,
                })
            }
        }
    }

    /// The server has closed its side while a request was on the connection.
    pub fn ended(&mut self, request: &Request) -> Outcome {
        if self.state == State::Receiving && self.reader.end() {
            return self.judge(request);
        }
        Outcome::of_close(self.phase().unwrap_or(Phase::Waiting))
    }

    /// How a complete answer compares with what is expected.
    #[inline]
    fn judge(&self, request: &Request) -> Outcome {
        let expected = &request.expected;
        let (first, last) = expected.status;
        let length = self.reader.body_bytes();
        if self.reader.status() < first || self.reader.status() > last {
            Outcome::WrongStatus
        } else if expected.length_bytes.is_some_and(|wanted| !request.is_head && wanted != length) {
            Outcome::WrongLength
        } else if self.body_differs(request, length) {
            Outcome::WrongBody
        } else {
            Outcome::Ok
        }
    }

    fn body_differs(&self, request: &Request, length: u64) -> bool {
        let compared = self.exchange.is_some_and(|exchange| exchange.compared) && !request.is_head;
        let expected = request.expected.body.as_deref().filter(|_| compared);
        let differs = self.exchange.is_some_and(|exchange| exchange.differs);
        expected.is_some_and(|body| differs || body.len() as u64 != length)
    }

    /// Whether the body of the request's answer is compared in full.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.exchange.is_some_and(|exchange| exchange.compared)
    }

    /// The request has ended; its record, and the connection is idle. Nothing when none was on it.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn end_request(
        &mut self,
        outcome: Outcome,
        errno: u8,
        done_ns: u64,
        worker: u16,
    ) -> Option<RequestSample> {
        let exchange = self.exchange.take()?;
        let begun = self.phase().is_some();
        if begun {
            self.state = State::Idle;
        }
        Some(RequestSample {
            due_ns: exchange.due_ns,
            sent_ns: exchange.sent_ns,
            first_byte_ns: exchange.first_byte_ns,
            done_ns,
            received_bytes: exchange.received_bytes.min(u64::from(u32::MAX)) as u32,
            connection: self.attempt,
            request: exchange.request,
            status: if begun { self.reader.status() } else { 0 },
            worker,
            outcome: outcome as u8,
            errno,
        })
    }

    /// The connection, or the attempt, has ended; its record.
    pub fn close(
        &mut self,
        outcome: Outcome,
        errno: u8,
        closed_ns: u64,
        worker: u16,
    ) -> ConnectionSample {
        self.state = State::Closed;
        ConnectionSample {
            due_ns: self.due_ns,
            connected_ns: self.connected_ns,
            closed_ns,
            requests: self.requests,
            responses: self.responses,
            connection: self.attempt,
            worker,
            outcome: outcome as u8,
            errno,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Expected;

    fn request(expected: Expected) -> Request {
        Request { bytes: b"GET / HTTP/1.1\r\n\r\n".to_vec(), expected, is_head: false }
    }

    fn expecting(body: &[u8]) -> Request {
        request(Expected {
            status: (200, 200),
            length_bytes: Some(body.len() as u64),
            body: Some(body.to_vec()),
        })
    }

    fn waiting(compared: bool) -> Connection {
        let mut connection = Connection::default();
        connection.assign(0, 5, compared);
        connection.connecting(7, 10);
        connection.connected(20);
        connection.begin_sending(18, false, 30);
        connection.sent(10);
        assert_eq!((connection.state(), connection.unsent_from()), (State::Sending, Some(10)));
        connection.sent(8);
        assert_eq!(connection.unsent_from(), None);
        assert_eq!(connection.state(), State::Waiting);
        connection
    }

    fn outcome_of(answer: &[u8], request: &Request, compared: bool) -> Received {
        waiting(compared).received(answer, Some(request), 40)
    }

    fn complete(outcome: Outcome) -> Received {
        Received::Complete { outcome, unsolicited: false }
    }

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO";

    #[test]
    fn an_answer_is_compared_with_what_is_expected() {
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLO"), true), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), true), complete(Outcome::WrongBody));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), false), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELL"), true), complete(Outcome::WrongLength));
        let other = request(Expected { status: (201, 204), length_bytes: None, body: None });
        assert_eq!(outcome_of(HELLO, &other, true), complete(Outcome::WrongStatus));
    }

    #[test]
    fn a_body_in_pieces_is_compared_piece_by_piece() {
        let request = expecting(b"HELLO");
        let mut connection = waiting(true);
        assert_eq!(connection.received(&HELLO[..41], Some(&request), 40), Received::More);
        let last = connection.received(&HELLO[41..], Some(&request), 50);
        assert_eq!(last, complete(Outcome::Ok));
        let sample = connection.end_request(Outcome::Ok, 0, 50, 3).unwrap();
        assert_eq!((sample.due_ns, sample.sent_ns), (5, 30));
        assert_eq!((sample.first_byte_ns, sample.done_ns), (40, 50));
        assert_eq!(usize::try_from(sample.received_bytes).unwrap(), HELLO.len());
        assert_eq!((sample.connection, sample.status, sample.worker), (7, 200, 3));
        assert_eq!(connection.state(), State::Idle);
    }

    #[test]
    fn two_answers_to_one_request_are_noticed() {
        let twice = [HELLO, HELLO].concat();
        let received = outcome_of(&twice, &expecting(b"HELLO"), true);
        assert_eq!(received, Received::Complete { outcome: Outcome::Ok, unsolicited: true });
    }

    #[test]
    fn an_answer_before_the_whole_request_leaves_a_connection_of_no_more_use() {
        let mut connection = Connection::default();
        connection.assign(0, 5, false);
        connection.connecting(7, 10);
        connection.connected(20);
        connection.begin_sending(18, false, 30);
        connection.sent(10);
        let request = expecting(b"HELLO");
        assert_eq!(connection.received(HELLO, Some(&request), 40), complete(Outcome::Ok));
        assert_eq!(connection.unsent_from(), Some(10));
        connection.end_request(Outcome::Ok, 0, 40, 0);
        assert!(connection.is_spent());
        assert_eq!(connection.unsent_from(), None);
    }

    #[test]
    fn bytes_without_a_request_are_unsolicited() {
        let mut connection = Connection::default();
        connection.connecting(0, 0);
        connection.connected(1);
        assert_eq!(connection.received(HELLO, None, 2), Received::Failed(Outcome::Unsolicited));
    }

    #[test]
    fn the_end_of_the_stream_means_what_the_phase_says() {
        let request = request(Expected::default());
        assert_eq!(waiting(false).ended(&request), Outcome::ClosedWaiting);
        let mut cut = waiting(false);
        cut.received(&HELLO[..43], Some(&request), 40);
        assert_eq!(cut.ended(&request), Outcome::ClosedEarly);
        let mut until_close = waiting(false);
        until_close.received(b"HTTP/1.1 200 OK\r\n\r\nbody", Some(&request), 40);
        assert_eq!(until_close.ended(&request), Outcome::Ok);
    }

    #[test]
    fn a_request_that_never_left_has_no_instants_and_no_status() {
        let mut connection = Connection::default();
        connection.assign(2, 5, false);
        connection.connecting(9, 6);
        let sample = connection.end_request(Outcome::ConnectRefused, 111, 8, 0).unwrap();
        assert_eq!((sample.sent_ns, sample.first_byte_ns, sample.status), (NEVER, NEVER, 0));
        assert_eq!(connection.end_request(Outcome::Ok, 0, 9, 0), None);
        let row = connection.close(Outcome::ConnectRefused, 111, 8, 0);
        assert_eq!((row.connected_ns, row.requests, row.responses), (NEVER, 0, 0));
    }
}
