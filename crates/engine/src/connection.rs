//! One connection: its life, its instants and records, and the exchanges on it. Pure.

use crate::coding::Decoded;
use crate::exchange::Exchange;
use crate::outcome::{Group, Outcome, Phase};
use crate::protocol::websocket::upgrade::Answer;
use crate::protocol::{Event, Id, Protocol, Step};
use crate::queue::Queue;
use crate::request::Request;
use crate::sample::{
    Comparison, ConnectionSample, NEVER, NO_ALERT, NO_CONNECTION, RequestSample, Resumed,
};

/// Requests that begin together go into one call of `send` up to this size.
const OUTBOX_BYTES: usize = 64 * 1024;

/// Where a connection is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not there.
    Closed,
    /// The handshake is under way.
    Connecting,
    /// The server is asked for the protocol.
    Upgrading,
    /// Open, with or without requests on it.
    Open,
}

/// What some received bytes meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// All of them are read, and no exchange has ended.
    More,
    /// An exchange has ended.
    Ended {
        /// Which one.
        id: Id,
        /// How.
        outcome: Outcome,
        /// The code that the server gives as its reason; 0 for none.
        code: u8,
        /// Bytes read; what follows has not been looked at.
        consumed: usize,
    },
    /// The connection is of no further use.
    Failed {
        /// The exchange at fault, if it is one.
        id: Option<Id>,
        /// How that exchange, and the connection, end.
        outcome: Outcome,
    },
}

/// An event that has come, where each is a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its record, without the number of the worker.
    pub sample: RequestSample,
    /// Whether it is the first of its response, and so the one that the request was sent for.
    pub is_first: bool,
}

/// One connection and the exchanges on it, which are found by their ids.
#[derive(Debug)]
pub struct Connection<'a> {
    state: State,
    protocol: Protocol<'a>,
    /// Those under way in the order they were sent in, and then those that are to be sent.
    exchanges: Queue<Exchange<'a>>,
    /// How many are under way.
    begun: usize,
    next_id: u32,
    attempt: u32,
    /// Requests that it may carry at one time, as they were counted last.
    counted: u32,
    due_ns: u64,
    tcp_connected_ns: u64,
    connected_ns: u64,
    /// The instant since which the server takes no request on it.
    shut_ns: u64,
    requests: u32,
    responses: u32,
    resumed: Resumed,
    alert: Option<u8>,
    decoded: Decoded,
}

impl<'a> Connection<'a> {
    /// A connection that is not there yet and will speak `protocol`.
    #[must_use]
    pub fn new(protocol: Protocol<'a>) -> Self {
        Self {
            state: State::Closed,
            exchanges: Queue::with_capacity(protocol.capacity()),
            protocol,
            begun: 0,
            next_id: 0,
            attempt: NO_CONNECTION,
            counted: 0,
            due_ns: 0,
            tcp_connected_ns: NEVER,
            connected_ns: NEVER,
            shut_ns: NEVER,
            requests: 0,
            responses: 0,
            resumed: Resumed::NoTls,
            alert: None,
            decoded: Decoded::default(),
        }
    }

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

    /// Any of the requests assigned to it that have not ended.
    #[must_use]
    pub fn any(&self) -> Option<Id> {
        self.exchanges.front().map(|exchange| exchange.id)
    }

    /// The request in flight that was sent before all others, and where it is. Not always the first:
    /// where events are rows, the next one counts as sent when the one before it has come.
    #[must_use]
    pub fn oldest(&self) -> Option<(Id, Phase)> {
        let oldest = self.under_way().min_by_key(|exchange| exchange.sent_ns)?;
        Some((oldest.id, self.phase(oldest)))
    }

    fn under_way(&self) -> impl Iterator<Item = &Exchange<'a>> {
        self.exchanges.iter().take(self.begun)
    }

    fn phase(&self, exchange: &Exchange<'_>) -> Phase {
        if exchange.has_response() {
            Phase::Receiving
        } else if self.protocol.is_sending(exchange.id) {
            Phase::Sending
        } else {
            Phase::Waiting
        }
    }

    /// The instant since which the timeout runs: of the attempt to connect, of sending, of a request
    /// that cannot be sent though no other is in its way, or of a connection that is shut and idle.
    #[must_use]
    pub fn waiting_since_ns(&self) -> Option<u64> {
        match self.state {
            State::Closed => None,
            State::Connecting | State::Upgrading => Some(self.due_ns),
            State::Open if self.begun == 0 && self.protocol.room() == 0 => {
                match self.exchanges.front() {
                    Some(next) => Some(next.due_ns().max(self.connected_ns)),
                    None => self.is_shut().then_some(self.shut_ns),
                }
            }
            State::Open => self.under_way().map(|exchange| exchange.sent_ns).min(),
        }
    }

    /// Whether bytes are pending that the transport has not taken.
    #[inline]
    #[must_use]
    pub fn is_sending(&self) -> bool {
        !self.protocol.pending_output().is_empty()
    }

    /// Whether no further request may be assigned to it now. One may always wait for it: where a
    /// server takes none for long, that one times out.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.exchanges.len() >= self.protocol.places().max(1)
    }

    /// Whether an arrival has to look for another connection: this one takes no request now, or no
    /// more than those that it has; `most` is how many it may carry in its life.
    #[inline]
    #[must_use]
    pub fn turns_away(&self, most: Option<u32>) -> bool {
        self.exchanges.len() >= self.protocol.places()
            || self.protocol.is_retiring()
            || most.is_some_and(|most| self.left(most) == 0)
    }

    /// How many more requests may be assigned to it of those that it may carry in its life. One that
    /// is not open has its life before it.
    fn left(&self, most: u32) -> usize {
        let carried = if self.state == State::Open { self.requests } else { 0 };
        let waiting = self.exchanges.len() - self.begun;
        (most.saturating_sub(carried) as usize).saturating_sub(waiting)
    }

    /// Whether more requests may be assigned to it than when this was last asked.
    #[inline]
    pub fn has_grown(&mut self) -> bool {
        self.protocol.has_grown()
    }

    /// Whether the server takes no request on it, as was known when places were counted last.
    #[must_use]
    pub fn is_shut(&self) -> bool {
        self.shut_ns != NEVER
    }

    /// Counts the requests that it may carry at one time from `now_ns` on, which are none unless it is
    /// open; returns what was counted before, and now.
    pub fn count_places(&mut self, now_ns: u64) -> [u32; 2] {
        let places = self.protocol.capacity().min(self.protocol.places());
        let is_shut = self.state == State::Open && places == 0;
        self.shut_ns = if is_shut { self.shut_ns.min(now_ns) } else { NEVER };
        let now = if self.state == State::Open { places } else { 0 };
        let now = u32::try_from(now).unwrap_or(u32::MAX);
        [std::mem::replace(&mut self.counted, now), now]
    }

    /// Streams that the server's settings allow at one time; nothing where they do not say.
    #[must_use]
    pub fn allowed_streams(&self) -> Option<u32> {
        self.protocol.allowed_streams()
    }

    /// Whether the server has shown that it speaks the protocol, where that comes before responses.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.protocol.is_ready()
    }

    /// Whether requests have ended that [`Connection::received`] has still to tell of.
    #[inline]
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.protocol.has_ended()
    }

    /// Gives up a request in flight and leaves the others alone; false when that cannot be.
    pub fn cancel(&mut self, id: Id) -> bool {
        self.protocol.cancel(id)
    }

    /// How the connection ends, if it can carry no request after the exchange that ended last.
    #[inline]
    #[must_use]
    pub fn must_close(&self) -> Option<Outcome> {
        self.protocol.must_close()
    }

    /// Redirects followed on it.
    #[must_use]
    pub fn redirects(&self) -> u64 {
        self.protocol.redirects()
    }

    /// Bodies on it that were freed of a content coding.
    #[must_use]
    pub fn decoded(&self) -> Decoded {
        self.decoded
    }

    /// A new attempt to connect begins.
    pub fn connecting(&mut self, attempt: u32, now_ns: u64) {
        self.state = State::Connecting;
        self.attempt = attempt;
        self.due_ns = now_ns;
        self.tcp_connected_ns = NEVER;
        self.connected_ns = NEVER;
        self.requests = 0;
        self.responses = 0;
        self.resumed = Resumed::NoTls;
        self.alert = None;
        self.decoded = Decoded::default();
    }

    /// It is connected by TCP, and the handshake of TLS is under way; returns whether that is new.
    pub fn securing(&mut self, now_ns: u64) -> bool {
        let is_new = self.tcp_connected_ns == NEVER;
        self.tcp_connected_ns = self.tcp_connected_ns.min(now_ns);
        is_new
    }

    /// Whether the handshake of TLS is under way.
    #[must_use]
    pub fn is_securing(&self) -> bool {
        self.state == State::Connecting && self.tcp_connected_ns != NEVER
    }

    /// The transport is there; returns whether the server has to be asked for the protocol first.
    pub fn upgrading(&mut self, now_ns: u64) -> bool {
        let is_asked = self.protocol.ask();
        if is_asked {
            self.state = State::Upgrading;
            self.tcp_connected_ns = self.tcp_connected_ns.min(now_ns);
        }
        is_asked
    }

    /// What is left to be sent of the request for the upgrade.
    #[must_use]
    pub fn asked(&self) -> &[u8] {
        self.protocol.pending_output()
    }

    /// Bytes have come of the response to the upgrade. The status of one that is refused is that of
    /// every request that waits for the connection.
    pub fn answered(&mut self, bytes: &[u8], now_ns: u64) -> Answer {
        let answer = self.protocol.answered(bytes);
        if let Answer::Refused { status } = answer {
            self.refused(status, now_ns);
        }
        answer
    }

    /// The server takes no request on the connection: the reason it gives is the status of all that
    /// wait for it.
    fn refused(&mut self, status: u16, now_ns: u64) {
        for exchange in self.exchanges.iter_mut() {
            exchange.receive(Event::Head(status), now_ns);
        }
    }

    /// What the server is sent last, when the driver closes the connection.
    pub fn farewell(&mut self) -> &[u8] {
        self.protocol.farewell()
    }

    /// Every handshake is complete.
    pub fn connected(&mut self, now_ns: u64, resumed: Resumed) {
        self.state = State::Open;
        self.tcp_connected_ns = self.tcp_connected_ns.min(now_ns);
        self.connected_ns = now_ns;
        self.resumed = resumed;
        self.protocol.open();
    }

    /// The server has sent an alert of TLS, if it has.
    pub fn alerted(&mut self, alert: Option<u8>) {
        self.alert = alert;
    }

    /// Assigns a request of a kind; it is sent when the connection is open.
    #[inline]
    pub fn assign(&mut self, kind: u16, request: &'a Request, due_ns: u64, comparison: Comparison) {
        let id = Id(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        self.exchanges.push_back(Exchange::new(id, kind, request, due_ns, comparison));
    }

    /// What is to be handed to the transport next; `most` is how many requests the connection may
    /// carry in its life. Requests that begin together are put into `outbox`; a single one is not
    /// copied. [`Connection::sent`] has to follow.
    #[inline]
    pub fn output<'b>(&'b mut self, most: Option<u32>, outbox: &'b mut Vec<u8>) -> &'b [u8] {
        let more = most.map_or(usize::MAX, |most| most.saturating_sub(self.requests) as usize);
        let waiting = self.exchanges.len() - self.begun;
        let count = waiting.min(more).min(self.protocol.room());
        let mut next = self.exchanges.iter().skip(self.begun).take(count);
        if self.protocol.is_buffered() {
            for exchange in next {
                self.protocol.begin(exchange.id, exchange.request);
                if self.protocol.pending_output().len() >= OUTBOX_BYTES {
                    break;
                }
            }
            return self.protocol.pending_output();
        }
        match count {
            0 => return self.protocol.pending_output(),
            1 if self.protocol.pending_output().is_empty() => {
                let Some(next) = next.next() else { return &[] };
                return self.protocol.begin(next.id, next.request);
            }
            _ => {}
        }
        outbox.clear();
        outbox.extend_from_slice(self.protocol.pending_output());
        for exchange in next {
            outbox.extend_from_slice(self.protocol.begin(exchange.id, exchange.request));
            if outbox.len() >= OUTBOX_BYTES {
                break;
            }
        }
        outbox
    }

    /// The transport was given the output at `now_ns` and took so many bytes of it; returns how many
    /// requests are under way with that.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn sent(&mut self, count: usize, now_ns: u64) -> usize {
        let begun = self.protocol.sent(count);
        for exchange in self.exchanges.iter_mut().skip(self.begun).take(begun) {
            exchange.sent_ns = now_ns;
        }
        self.begun += begun;
        self.requests += begun as u32;
        begun
    }

    /// Bytes have come. Where each event of a response is a row, `rows` gets them, without the number
    /// of the worker.
    #[inline]
    pub fn received(&mut self, bytes: &[u8], rows: &mut Vec<EventRow>, now_ns: u64) -> Received {
        let Self { protocol, exchanges, responses, requests, attempt, .. } = self;
        let step = protocol.received(bytes, |id, event| {
            if let Some(exchange) = exchanges.iter_mut().find(|exchange| exchange.id == id) {
                let had_first_byte = exchange.has_first_byte();
                let has_ended = exchange.receive(event, now_ns);
                *responses += u32::from(!had_first_byte && exchange.has_first_byte());
                if has_ended {
                    take_rows(exchange, *attempt, now_ns, rows, [requests, responses]);
                }
            }
        });
        match step {
            Step::More => Received::More,
            Step::Complete { id, consumed } => {
                Received::Ended { id, outcome: self.judge(id), code: 0, consumed }
            }
            Step::Ended { id, outcome, code, consumed } => {
                Received::Ended { id, outcome, code, consumed }
            }
            Step::Failed { id, outcome } => {
                if outcome == Outcome::CloseReceived && self.requests == 0 {
                    self.refused(self.protocol.close_code(), now_ns);
                }
                Received::Failed { id, outcome }
            }
        }
    }

    /// The server has closed its side: which request ends with that first, if one was on the
    /// connection, and how.
    pub fn server_closed(&mut self) -> Option<(Id, Outcome)> {
        let (oldest, phase) = self.oldest()?;
        Some(match self.protocol.server_closed() {
            Some(id) => (id, self.judge(id)),
            None => (oldest, Outcome::of_close(phase)),
        })
    }

    /// How a complete response compares with what is expected.
    #[inline]
    fn judge(&self, id: Id) -> Outcome {
        self.exchange(id).map_or(Outcome::Unsolicited, Exchange::judge)
    }

    #[inline]
    fn exchange(&self, id: Id) -> Option<&Exchange<'a>> {
        self.exchanges.iter().find(|exchange| exchange.id == id)
    }

    /// Whether a request in flight has begun to be sent.
    #[must_use]
    pub fn is_sent(&self, id: Id) -> bool {
        self.exchange(id).is_some_and(|exchange| exchange.sent_ns != NEVER)
    }

    /// The body of a complete response, if it is to be written down, and its kind of request.
    #[inline]
    pub fn take_kept(&mut self, id: Id) -> Option<(u16, Vec<u8>)> {
        let exchange = self.exchanges.iter_mut().find(|exchange| exchange.id == id)?;
        Some((exchange.kind, exchange.take_kept()?))
    }

    /// How a request in flight ends when another, or the connection itself, ends with `outcome` and
    /// takes the connection with it.
    #[must_use]
    pub fn outcome_beside(&self, id: Id, outcome: Outcome) -> Outcome {
        let phase = self.exchange(id).map_or(Phase::Waiting, |exchange| self.phase(exchange));
        match outcome {
            Outcome::ResetSending | Outcome::ResetWaiting | Outcome::ResetReceiving => {
                Outcome::of_reset(phase)
            }
            Outcome::ClosedWaiting | Outcome::ClosedEarly => Outcome::of_close(phase),
            Outcome::CloseReceived => outcome,
            outcome if outcome.group() == Group::Connect => outcome,
            _ => Outcome::LostBehind,
        }
    }

    /// A request has ended; its record. Nothing when it is not there.
    #[inline]
    pub fn end_request(
        &mut self,
        id: Id,
        outcome: Outcome,
        errno: u8,
        done_ns: u64,
        worker: u16,
    ) -> Option<RequestSample> {
        let place = self.exchanges.iter().position(|exchange| exchange.id == id)?;
        let ended = self.exchanges.remove(place)?;
        self.begun -= usize::from(place < self.begun);
        if let Some(decoded) = ended.decoded() {
            self.decoded.add(decoded);
        }
        if let Some(rows) = ended.rows() {
            self.end_events(&ended, rows, outcome);
        }
        Some(ended.sample(outcome, errno, done_ns, self.attempt, worker))
    }

    /// A response has ended whose events are rows, of which there were some. Where it ends as it
    /// should, what was awaited after the last of them has no row.
    fn end_events(&mut self, ended: &Exchange<'_>, rows: u64, outcome: Outcome) {
        if outcome == Outcome::Ok {
            self.responses -= u32::from(ended.has_first_byte());
        } else {
            self.requests += u32::from(rows > 0);
        }
    }

    /// Whether events of the response to a request in flight were rows.
    #[must_use]
    pub fn has_had_rows(&self, id: Id) -> bool {
        self.exchange(id).is_some_and(|exchange| exchange.rows() > Some(0))
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
        self.protocol.reset();
        ConnectionSample {
            due_ns: self.due_ns,
            tcp_connected_ns: self.tcp_connected_ns,
            connected_ns: self.connected_ns,
            closed_ns,
            requests: self.requests,
            responses: self.responses,
            resumed: self.resumed as u32,
            alert: self.alert.map_or(NO_ALERT, u32::from),
            connection: self.attempt,
            worker,
            outcome: outcome as u8,
            errno,
        }
    }
}

/// Takes the rows of events that have ended; counts them as requests and responses, as far as the
/// request and the first byte of the first of them were not.
fn take_rows(
    exchange: &mut Exchange<'_>,
    connection: u32,
    now_ns: u64,
    rows: &mut Vec<EventRow>,
    [requests, responses]: [&mut u32; 2],
) {
    exchange.take_rows(now_ns, connection, |sample, is_first| {
        *requests += u32::from(!is_first);
        *responses += 1;
        rows.push(EventRow { sample, is_first });
    });
    // The first byte of the first of them was counted when it came, that of what follows was not.
    *responses -= u32::from(!exchange.has_first_byte());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Requests;
    use crate::spec::{Events, Expected, Load, RequestSpec, Spec};

    fn load() -> Load {
        let json = r#"{"format": 1, "into": "x", "address": "127.0.0.1:80",
            "requests": [{"name": "a", "bytes": "R0VU"}],
            "load": {"model": "closed", "timeout_ns": 1, "pipeline": 8,
                     "stages": [{"kind": "hold", "duration_ns": 1, "start": 1, "end": 1}]}}"#;
        Spec::parse(json).unwrap().load
    }

    fn requests(expected: Expected) -> Requests {
        Requests::new(
            &[RequestSpec {
                name: String::new(),
                bytes: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
                weight: 1.0,
                method: "GET".into(),
                expects_continue: false,
                expected,
            }],
            1.0,
        )
    }

    fn expecting(body: &[u8]) -> Requests {
        requests(Expected {
            status: (200, 200),
            length_bytes: Some(body.len() as u64),
            body: Some(body.to_vec()),
            ..Expected::default()
        })
    }

    fn closed<'a>() -> Connection<'a> {
        Connection::new(Protocol::new(&load()))
    }

    fn open<'a>() -> Connection<'a> {
        let mut connection = closed();
        connection.connecting(7, 10);
        connection.connected(20, Resumed::NoTls);
        connection
    }

    fn assign<'a>(connection: &mut Connection<'a>, requests: &'a Requests, due_ns: u64) {
        connection.assign(0, requests.kind(0), due_ns, Comparison::NotExpected);
    }

    /// Offers what there is to send to a transport that takes so many bytes; returns how many bytes
    /// were offered, and how many requests are under way with that.
    fn send(connection: &mut Connection<'_>, takes: usize, now_ns: u64) -> (usize, usize) {
        let offered = connection.output(None, &mut Vec::new()).len();
        (offered, connection.sent(takes, now_ns))
    }

    fn waiting(requests: &Requests, compared: bool) -> Connection<'_> {
        let mut connection = closed();
        let comparison = if compared { Comparison::Compared } else { Comparison::Skipped };
        connection.assign(0, requests.kind(0), 5, comparison);
        connection.connecting(7, 10);
        connection.connected(20, Resumed::NoTls);
        assert_eq!(send(&mut connection, 10, 30), (18, 1));
        assert_eq!(phase(&connection), Some(Phase::Sending));
        assert_eq!(send(&mut connection, 8, 35), (8, 0));
        assert_eq!(send(&mut connection, 0, 36), (0, 0));
        assert_eq!(phase(&connection), Some(Phase::Waiting));
        connection
    }

    fn phase(connection: &Connection<'_>) -> Option<Phase> {
        connection.oldest().map(|(_, phase)| phase)
    }

    /// Ends the oldest request in flight.
    fn end(connection: &mut Connection<'_>, outcome: Outcome, now_ns: u64) -> RequestSample {
        let (id, _) = connection.oldest().unwrap();
        connection.end_request(id, outcome, 0, now_ns, 3).unwrap()
    }

    /// An open connection with so many requests sent, at the instants 100, 101, ….
    fn pipelined(requests: &Requests, count: u64) -> Connection<'_> {
        let mut connection = open();
        for number in 0..count {
            assign(&mut connection, requests, number);
            assert_eq!(send(&mut connection, 18, 100 + number), (18, 1));
        }
        connection
    }

    fn outcome_of(answer: &[u8], requests: &Requests, compared: bool) -> Received {
        waiting(requests, compared).received(answer, &mut Vec::new(), 40)
    }

    fn complete(outcome: Outcome) -> Received {
        Received::Ended { id: Id(0), outcome, code: 0, consumed: HELLO.len() }
    }

    const UNSOLICITED: Received = Received::Failed { id: None, outcome: Outcome::Unsolicited };

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO";

    #[test]
    fn an_answer_is_compared_with_what_is_expected() {
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLO"), true), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), true), complete(Outcome::WrongBody));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELLP"), false), complete(Outcome::Ok));
        assert_eq!(outcome_of(HELLO, &expecting(b"HELL"), true), complete(Outcome::WrongLength));
        let other = requests(Expected { status: (201, 204), ..Expected::default() });
        assert_eq!(outcome_of(HELLO, &other, true), complete(Outcome::WrongStatus));
    }

    #[test]
    fn a_body_in_pieces_is_compared_piece_by_piece() {
        let requests = expecting(b"HELLO");
        let mut connection = waiting(&requests, true);
        assert_eq!(connection.received(&HELLO[..41], &mut Vec::new(), 40), Received::More);
        assert_eq!(phase(&connection), Some(Phase::Receiving));
        let last = connection.received(&HELLO[41..], &mut Vec::new(), 50);
        let consumed = HELLO.len() - 41;
        assert_eq!(last, Received::Ended { id: Id(0), outcome: Outcome::Ok, code: 0, consumed });
        let sample = end(&mut connection, Outcome::Ok, 50);
        assert_eq!((sample.due_ns, sample.sent_ns), (5, 30));
        assert_eq!((sample.first_byte_ns, sample.done_ns), (40, 50));
        assert_eq!(usize::try_from(sample.received_bytes).unwrap(), HELLO.len());
        assert_eq!((sample.connection, sample.status, sample.worker), (7, 200, 3));
        assert_eq!((phase(&connection), connection.in_flight()), (None, 0));
    }

    #[test]
    fn what_follows_the_answer_to_the_only_request_is_unsolicited() {
        let requests = expecting(b"HELLO");
        let mut connection = waiting(&requests, true);
        let twice = [HELLO, HELLO].concat();
        assert_eq!(connection.received(&twice, &mut Vec::new(), 40), complete(Outcome::Ok));
        assert_eq!(connection.must_close(), Some(Outcome::Unsolicited));
        end(&mut connection, Outcome::Ok, 40);
        assert_eq!(connection.received(&twice[HELLO.len()..], &mut Vec::new(), 40), UNSOLICITED);
    }

    #[test]
    fn bytes_without_a_request_are_unsolicited() {
        assert_eq!(open().received(HELLO, &mut Vec::new(), 2), UNSOLICITED);
    }

    #[test]
    fn a_request_that_is_assigned_and_not_begun_is_not_what_an_answer_answers() {
        let requests = expecting(b"HELLO");
        let mut connection = open();
        assign(&mut connection, &requests, 5);
        assert_eq!(connection.received(HELLO, &mut Vec::new(), 2), UNSOLICITED);
        assert_eq!((connection.assigned(), connection.in_flight()), (1, 0));
    }

    #[test]
    fn the_end_of_the_stream_means_what_the_phase_says() {
        let requests = requests(Expected::default());
        let ended =
            |mut connection: Connection<'_>| connection.server_closed().map(|(_, outcome)| outcome);
        assert_eq!(ended(open()), None);
        assert_eq!(ended(waiting(&requests, false)), Some(Outcome::ClosedWaiting));
        let mut cut = waiting(&requests, false);
        cut.received(&HELLO[..43], &mut Vec::new(), 40);
        assert_eq!(ended(cut), Some(Outcome::ClosedEarly));
        let mut until_close = waiting(&requests, false);
        until_close.received(b"HTTP/1.1 200 OK\r\n\r\nbody", &mut Vec::new(), 40);
        assert_eq!(ended(until_close), Some(Outcome::Ok));
    }

    #[test]
    fn a_request_that_never_left_has_no_instants_and_no_status() {
        let requests = requests(Expected::default());
        let mut connection = closed();
        connection.assign(2, requests.kind(0), 5, Comparison::NotExpected);
        connection.connecting(9, 6);
        let id = connection.any().unwrap();
        let sample = connection.end_request(id, Outcome::ConnectRefused, 111, 8, 0).unwrap();
        assert_eq!((sample.sent_ns, sample.first_byte_ns, sample.status), (NEVER, NEVER, 0));
        assert_eq!(connection.end_request(id, Outcome::Ok, 0, 9, 0), None);
        let row = connection.close(Outcome::ConnectRefused, 111, 8, 0);
        assert_eq!((row.connected_ns, row.requests, row.responses), (NEVER, 0, 0));
    }

    #[test]
    fn pipelined_answers_belong_to_their_requests_in_order() {
        let requests = expecting(b"HELLO");
        let mut connection = pipelined(&requests, 3);
        let answers = [HELLO, HELLO, HELLO].concat();
        let mut rest = &answers[..];
        for (number, now_ns) in (0..3_u64).zip([200, 210, 220]) {
            let Received::Ended { id, outcome, consumed, .. } =
                connection.received(rest, &mut Vec::new(), now_ns)
            else {
                panic!("answer {number} is not complete")
            };
            rest = &rest[consumed..];
            let sample = connection.end_request(id, outcome, 0, now_ns, 0).unwrap();
            assert_eq!((sample.due_ns, sample.sent_ns), (number, 100 + number));
            assert_eq!((sample.first_byte_ns, sample.done_ns), (now_ns, now_ns));
        }
        assert!(rest.is_empty());
        assert_eq!((connection.requests(), connection.in_flight()), (3, 0));
    }

    #[test]
    fn an_exchange_is_found_by_its_id_whatever_ended_before_it() {
        let requests = expecting(b"HELLO");
        let mut connection = pipelined(&requests, 3);
        assign(&mut connection, &requests, 3);
        let due_ns = |id, connection: &mut Connection<'_>| {
            let sample = connection.end_request(Id(id), Outcome::Ok, 0, 200, 0);
            sample.map(|sample| sample.due_ns)
        };
        assert_eq!(due_ns(1, &mut connection), Some(1));
        assert_eq!((connection.assigned(), connection.in_flight()), (3, 2));
        assert_eq!(due_ns(1, &mut connection), None);
        assert_eq!(due_ns(3, &mut connection), Some(3));
        assert_eq!((connection.assigned(), connection.in_flight()), (2, 2));
        assert_eq!(due_ns(0, &mut connection), Some(0));
        assert_eq!(connection.oldest(), Some((Id(2), Phase::Waiting)));
        assert_eq!(connection.waiting_since_ns(), Some(102));
    }

    #[test]
    fn the_oldest_request_is_the_one_whose_timeout_runs_though_another_was_sent_first() {
        let requests = requests(Expected {
            events: Some(Events { rows: true, ..Events::default() }),
            ..Expected::default()
        });
        let mut connection = pipelined(&requests, 2);
        let event = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: x\n\n";
        assert_eq!(connection.oldest(), Some((Id(0), Phase::Waiting)));
        connection.received(event, &mut Vec::new(), 200);
        assert_eq!(connection.waiting_since_ns(), Some(101));
        assert_eq!(connection.oldest(), Some((Id(1), Phase::Waiting)));
    }

    #[test]
    fn requests_that_are_sent_together_are_under_way_as_far_as_bytes_were_taken() {
        let requests = expecting(b"HELLO");
        let mut connection = open();
        (0..3).for_each(|due_ns| assign(&mut connection, &requests, due_ns));
        assert_eq!(send(&mut connection, 25, 30), (54, 2));
        assert_eq!(phase(&connection), Some(Phase::Waiting));
        assert_eq!((connection.assigned(), connection.in_flight()), (3, 2));
        assert_eq!(send(&mut connection, 29, 40), (29, 1));
        assert!(!connection.is_sending());
        let sent: Vec<_> = (0..3).map(|_| end(&mut connection, Outcome::Ok, 50).sent_ns).collect();
        assert_eq!(sent, [30, 30, 40]);
    }

    #[test]
    fn no_more_requests_are_sent_than_the_connection_may_carry() {
        let requests = expecting(b"HELLO");
        let mut connection = open();
        (0..5).for_each(|due_ns| assign(&mut connection, &requests, due_ns));
        for offered in [36, 18, 0] {
            assert_eq!(connection.output(Some(2), &mut Vec::new()).len(), offered);
            connection.sent(offered.min(18), 30);
        }
        assert_eq!(connection.in_flight(), 2);
    }

    #[test]
    fn requests_beside_one_that_failed_end_as_the_connection_did() {
        let requests = requests(Expected::default());
        let mut connection = pipelined(&requests, 2);
        for (outcome, beside) in [
            (Outcome::ResetReceiving, Outcome::ResetWaiting),
            (Outcome::ClosedEarly, Outcome::ClosedWaiting),
            (Outcome::TimedOutWaiting, Outcome::LostBehind),
            (Outcome::MalformedHead, Outcome::LostBehind),
            (Outcome::ConnectRefused, Outcome::ConnectRefused),
        ] {
            assert_eq!(connection.outcome_beside(Id(1), outcome), beside);
        }
        assign(&mut connection, &requests, 3);
        send(&mut connection, 5, 200);
        let beside = connection.outcome_beside(Id(2), Outcome::ResetReceiving);
        assert_eq!(beside, Outcome::ResetSending);
    }
}
