//! One connection as a state machine: events in, what they mean out. Pure.

use std::collections::VecDeque;

use crate::outcome::{Group, Outcome, Phase};
use crate::request::{Request, Requests};
use crate::response::{Malformed, Reader};
use crate::sample::{ConnectionSample, NEVER, NO_CONNECTION, RequestSample};

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not there.
    Closed,
    /// The handshake is under way.
    Connecting,
    /// Open, with or without requests on it.
    Open,
}

/// A request that a connection carries, or is to carry once it is open.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    request: u16,
    compared: bool,
    differs: bool,
    is_head: bool,
    due_ns: u64,
    sent_ns: u64,
    first_byte_ns: u64,
    received_bytes: u64,
}

/// What some received bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// The answer goes on.
    More,
    /// The answer to the first request is complete.
    Complete {
        /// How the request ended.
        outcome: Outcome,
        /// Bytes that belong to the answer; what follows belongs to the next one.
        consumed: usize,
    },
    /// The bytes are not HTTP/1, or were not asked for.
    Failed(Outcome),
}

/// One connection and the requests on it, which are answered in the order they were sent in.
#[derive(Clone, Debug)]
pub struct Connection {
    state: State,
    exchanges: VecDeque<Exchange>,
    /// How many of the exchanges, from the first on, have begun to be sent.
    begun: usize,
    /// Bytes of the last begun request that the kernel has not taken.
    unsent_bytes: usize,
    reader: Reader,
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
            exchanges: VecDeque::new(),
            begun: 0,
            unsent_bytes: 0,
            reader: Reader::default(),
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

    /// Requests assigned to it that have not ended.
    #[inline]
    #[must_use]
    pub fn assigned(&self) -> usize {
        self.exchanges.len()
    }

    /// Requests on it: begun to be sent and not ended.
    #[inline]
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.begun
    }

    /// Where its first request is; nothing when none has begun to be sent.
    #[must_use]
    pub fn phase(&self) -> Option<Phase> {
        let exchange = self.exchanges.front().filter(|_| self.begun > 0)?;
        Some(if exchange.first_byte_ns != NEVER {
            Phase::Receiving
        } else if self.begun == 1 && self.unsent_bytes > 0 {
            Phase::Sending
        } else {
            Phase::Waiting
        })
    }

    /// The instant since which the timeout runs: of the attempt to connect, or of sending.
    #[must_use]
    pub fn waiting_since_ns(&self) -> Option<u64> {
        match self.state {
            State::Closed => None,
            State::Connecting => Some(self.due_ns),
            State::Open if self.begun == 0 => None,
            State::Open => self.exchanges.front().map(|exchange| exchange.sent_ns),
        }
    }

    /// Whether some of a request is still to be handed to the kernel.
    #[inline]
    #[must_use]
    pub fn is_sending(&self) -> bool {
        self.unsent_bytes > 0
    }

    /// What is to be handed to the kernel next, in order: kinds of request, and how many bytes of
    /// the first of them are left if it has begun. `most` is how many requests it may carry.
    #[inline]
    pub fn to_send(&self, most: Option<u32>) -> impl Iterator<Item = (u16, Option<usize>)> {
        let (begun, left) = (self.begun, self.unsent_bytes);
        let partly = usize::from(left > 0);
        let more = most.map_or(usize::MAX, |most| most.saturating_sub(self.requests) as usize);
        let next = self
            .exchanges
            .iter()
            .enumerate()
            .skip(begun - partly)
            .take(more.saturating_add(partly));
        next.map(move |(place, exchange)| (exchange.request, (place < begun).then_some(left)))
    }

    /// Whether the connection can carry no request after the first, whose answer is complete: its
    /// close was announced, or the answer came before the whole request was sent, whose rest would
    /// be taken for the next one.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        !self.reader.keep_alive() || (self.begun == 1 && self.unsent_bytes > 0)
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
        self.state = State::Open;
        self.connected_ns = now_ns;
    }

    /// Assigns a request; it is sent when the connection is open.
    #[inline]
    pub fn assign(&mut self, request: u16, due_ns: u64, compared: bool) {
        self.exchanges.push_back(Exchange {
            request,
            compared,
            differs: false,
            is_head: false,
            due_ns,
            sent_ns: NEVER,
            first_byte_ns: NEVER,
            received_bytes: 0,
        });
    }

    /// The next request, of so many bytes, begins to be sent.
    #[inline]
    pub fn begin_sending(&mut self, bytes: usize, is_head: bool, now_ns: u64) {
        let Some(exchange) = self.exchanges.get_mut(self.begun) else {
            return;
        };
        exchange.sent_ns = now_ns;
        exchange.is_head = is_head;
        if self.begun == 0 {
            self.reader.start(is_head);
        }
        self.begun += 1;
        self.unsent_bytes = bytes;
        self.requests += 1;
    }

    /// The kernel took up to `count` more bytes; returns how many of them belong to later requests.
    #[inline]
    pub fn sent(&mut self, count: usize) -> usize {
        let taken = count.min(self.unsent_bytes);
        self.unsent_bytes -= taken;
        count - taken
    }

    /// Bytes have come.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn received(&mut self, bytes: &[u8], requests: &Requests, now_ns: u64) -> Received {
        let Some(exchange) = self.exchanges.front_mut().filter(|_| self.begun > 0) else {
            return Received::Failed(Outcome::Unsolicited);
        };
        let request = requests.kind(exchange.request);
        if exchange.first_byte_ns == NEVER {
            exchange.first_byte_ns = now_ns;
            self.responses += 1;
        }
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
                Received::Complete { outcome: self.judge(request), consumed: progress.consumed }
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

    /// The server has closed its side: how the first request ended, if one was on the connection.
    pub fn ended(&mut self, requests: &Requests) -> Option<Outcome> {
        let phase = self.phase()?;
        let exchange = self.exchanges.front()?;
        if phase == Phase::Receiving && self.reader.end() {
            return Some(self.judge(requests.kind(exchange.request)));
        }
        Some(Outcome::of_close(phase))
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
        let Some(exchange) = self.exchanges.front().filter(|exchange| exchange.compared) else {
            return false;
        };
        let expected = request.expected.body.as_deref().filter(|_| !request.is_head);
        expected.is_some_and(|body| exchange.differs || body.len() as u64 != length)
    }

    /// Whether the body of the answer to its first request is compared in full.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.exchanges.front().is_some_and(|exchange| exchange.compared)
    }

    /// How the requests behind the first end when that one ends with `outcome` and takes the
    /// connection with it.
    #[must_use]
    pub fn outcome_behind(&self, outcome: Outcome) -> Outcome {
        match outcome {
            Outcome::ResetSending | Outcome::ResetWaiting | Outcome::ResetReceiving => {
                if self.begun == 1 && self.unsent_bytes > 0 {
                    Outcome::ResetSending
                } else {
                    Outcome::ResetWaiting
                }
            }
            Outcome::ClosedWaiting | Outcome::ClosedEarly => Outcome::ClosedWaiting,
            outcome if outcome.group() == Group::Connect => outcome,
            _ => Outcome::LostBehind,
        }
    }

    /// The first request has ended; its record. Nothing when there is none.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn end_request(
        &mut self,
        outcome: Outcome,
        errno: u8,
        done_ns: u64,
        worker: u16,
    ) -> Option<RequestSample> {
        let exchange = self.exchanges.pop_front()?;
        let answered = exchange.first_byte_ns != NEVER;
        let status = if answered { self.reader.status() } else { 0 };
        self.begun = self.begun.saturating_sub(1);
        if self.begun == 0 {
            self.unsent_bytes = 0;
        } else {
            self.reader.start(self.exchanges.front().is_some_and(|next| next.is_head));
        }
        Some(RequestSample {
            due_ns: exchange.due_ns,
            sent_ns: exchange.sent_ns,
            first_byte_ns: exchange.first_byte_ns,
            done_ns,
            received_bytes: exchange.received_bytes.min(u64::from(u32::MAX)) as u32,
            connection: self.attempt,
            request: exchange.request,
            status,
            worker,
            outcome: outcome as u8,
            errno,
        })
    }

    /// The connection, or the attempt, has ended; its record. No request is in flight on it.
    pub fn close(
        &mut self,
        outcome: Outcome,
        errno: u8,
        closed_ns: u64,
        worker: u16,
    ) -> ConnectionSample {
        self.state = State::Closed;
        self.unsent_bytes = 0;
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
    use crate::spec::{Expected, RequestSpec};

    fn requests(expected: Expected) -> Requests {
        Requests::new(&[RequestSpec {
            name: String::new(),
            bytes: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
            weight: 1.0,
            method: "GET".into(),
            expected,
        }])
    }

    fn expecting(body: &[u8]) -> Requests {
        requests(Expected {
            status: (200, 200),
            length_bytes: Some(body.len() as u64),
            body: Some(body.to_vec()),
        })
    }

    fn open() -> Connection {
        let mut connection = Connection::default();
        connection.connecting(7, 10);
        connection.connected(20);
        connection
    }

    fn waiting(compared: bool) -> Connection {
        let mut connection = Connection::default();
        connection.assign(0, 5, compared);
        connection.connecting(7, 10);
        connection.connected(20);
        assert_eq!(connection.to_send(None).collect::<Vec<_>>(), [(0, None)]);
        connection.begin_sending(18, false, 30);
        assert_eq!(connection.sent(10), 0);
        assert_eq!(connection.phase(), Some(Phase::Sending));
        assert_eq!(connection.to_send(None).collect::<Vec<_>>(), [(0, Some(8))]);
        assert_eq!(connection.sent(8), 0);
        assert_eq!(connection.to_send(None).count(), 0);
        assert_eq!(connection.phase(), Some(Phase::Waiting));
        connection
    }

    /// An open connection with so many requests sent, at the instants 100, 101, ….
    fn pipelined(count: u16) -> Connection {
        let mut connection = open();
        for number in 0..count {
            connection.assign(0, u64::from(number), false);
            connection.begin_sending(18, false, 100 + u64::from(number));
            connection.sent(18);
        }
        connection
    }

    fn outcome_of(answer: &[u8], requests: &Requests, compared: bool) -> Received {
        waiting(compared).received(answer, requests, 40)
    }

    fn complete(outcome: Outcome) -> Received {
        Received::Complete { outcome, consumed: HELLO.len() }
    }

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO";

    #[test]
    fn an_answer_is_compared_with_what_is_expected() {
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLO"), true), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), true), complete(Outcome::WrongBody));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), false), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELL"), true), complete(Outcome::WrongLength));
        let other = requests(Expected { status: (201, 204), length_bytes: None, body: None });
        assert_eq!(outcome_of(HELLO, &other, true), complete(Outcome::WrongStatus));
    }

    #[test]
    fn a_body_in_pieces_is_compared_piece_by_piece() {
        let requests = expecting(b"HELLO");
        let mut connection = waiting(true);
        assert_eq!(connection.received(&HELLO[..41], &requests, 40), Received::More);
        assert_eq!(connection.phase(), Some(Phase::Receiving));
        let last = connection.received(&HELLO[41..], &requests, 50);
        assert_eq!(last, Received::Complete { outcome: Outcome::Ok, consumed: HELLO.len() - 41 });
        let sample = connection.end_request(Outcome::Ok, 0, 50, 3).unwrap();
        assert_eq!((sample.due_ns, sample.sent_ns), (5, 30));
        assert_eq!((sample.first_byte_ns, sample.done_ns), (40, 50));
        assert_eq!(usize::try_from(sample.received_bytes).unwrap(), HELLO.len());
        assert_eq!((sample.connection, sample.status, sample.worker), (7, 200, 3));
        assert_eq!((connection.phase(), connection.in_flight()), (None, 0));
    }

    #[test]
    fn what_follows_the_answer_to_the_only_request_is_unsolicited() {
        let requests = expecting(b"HELLO");
        let mut connection = waiting(true);
        let twice = [HELLO, HELLO].concat();
        assert_eq!(connection.received(&twice, &requests, 40), complete(Outcome::Ok));
        connection.end_request(Outcome::Ok, 0, 40, 0);
        let rest = connection.received(&twice[HELLO.len()..], &requests, 40);
        assert_eq!(rest, Received::Failed(Outcome::Unsolicited));
    }

    #[test]
    fn an_answer_before_the_whole_request_leaves_a_connection_of_no_more_use() {
        let requests = expecting(b"HELLO");
        let mut connection = open();
        connection.assign(0, 5, false);
        connection.begin_sending(18, false, 30);
        connection.sent(10);
        assert_eq!(connection.received(HELLO, &requests, 40), complete(Outcome::Ok));
        assert!(connection.is_spent());
        connection.end_request(Outcome::Ok, 0, 40, 0);
        assert_eq!(connection.to_send(None).count(), 0);
    }

    #[test]
    fn bytes_without_a_request_are_unsolicited() {
        let received = open().received(HELLO, &expecting(b"HELLO"), 2);
        assert_eq!(received, Received::Failed(Outcome::Unsolicited));
    }

    #[test]
    fn a_request_that_is_assigned_and_not_begun_is_not_what_an_answer_answers() {
        let mut connection = open();
        connection.assign(0, 5, false);
        let received = connection.received(HELLO, &expecting(b"HELLO"), 2);
        assert_eq!(received, Received::Failed(Outcome::Unsolicited));
        assert_eq!((connection.assigned(), connection.in_flight()), (1, 0));
    }

    #[test]
    fn the_end_of_the_stream_means_what_the_phase_says() {
        let requests = requests(Expected::default());
        assert_eq!(open().ended(&requests), None);
        assert_eq!(waiting(false).ended(&requests), Some(Outcome::ClosedWaiting));
        let mut cut = waiting(false);
        cut.received(&HELLO[..43], &requests, 40);
        assert_eq!(cut.ended(&requests), Some(Outcome::ClosedEarly));
        let mut until_close = waiting(false);
        until_close.received(b"HTTP/1.1 200 OK\r\n\r\nbody", &requests, 40);
        assert_eq!(until_close.ended(&requests), Some(Outcome::Ok));
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

    #[test]
    fn pipelined_answers_belong_to_their_requests_in_order() {
        let requests = expecting(b"HELLO");
        let mut connection = pipelined(3);
        let answers = [HELLO, HELLO, HELLO].concat();
        let mut rest = &answers[..];
        for (number, now_ns) in (0..3_u64).zip([200, 210, 220]) {
            let Received::Complete { outcome, consumed } =
                connection.received(rest, &requests, now_ns)
            else {
                panic!("answer {number} is not complete")
            };
            rest = &rest[consumed..];
            let sample = connection.end_request(outcome, 0, now_ns, 0).unwrap();
            assert_eq!((sample.due_ns, sample.sent_ns), (number, 100 + number));
            assert_eq!((sample.first_byte_ns, sample.done_ns), (now_ns, now_ns));
        }
        assert!(rest.is_empty());
        assert_eq!((connection.requests(), connection.in_flight()), (3, 0));
    }

    #[test]
    fn bytes_that_the_kernel_took_are_divided_among_the_requests() {
        let mut connection = open();
        (0..3).for_each(|due_ns| connection.assign(0, due_ns, false));
        connection.begin_sending(18, false, 30);
        assert_eq!(connection.sent(25), 7);
        connection.begin_sending(18, false, 30);
        assert_eq!(connection.sent(7), 0);
        assert_eq!(connection.to_send(None).collect::<Vec<_>>(), [(0, Some(11)), (0, None)]);
        assert_eq!(connection.phase(), Some(Phase::Waiting));
        assert_eq!((connection.assigned(), connection.in_flight()), (3, 2));
    }

    #[test]
    fn no_more_requests_are_sent_than_the_connection_may_carry() {
        let mut connection = open();
        (0..5).for_each(|due_ns| connection.assign(0, due_ns, false));
        assert_eq!(connection.to_send(Some(2)).count(), 2);
        connection.begin_sending(18, false, 30);
        assert_eq!(connection.to_send(Some(2)).collect::<Vec<_>>(), [(0, Some(18)), (0, None)]);
    }

    #[test]
    fn requests_behind_one_that_failed_end_as_the_connection_did() {
        let connection = pipelined(2);
        for (outcome, behind) in [
            (Outcome::ResetReceiving, Outcome::ResetWaiting),
            (Outcome::ClosedEarly, Outcome::ClosedWaiting),
            (Outcome::TimedOutWaiting, Outcome::LostBehind),
            (Outcome::MalformedHead, Outcome::LostBehind),
            (Outcome::ConnectRefused, Outcome::ConnectRefused),
        ] {
            assert_eq!(connection.outcome_behind(outcome), behind);
        }
    }
}
