//! HTTP/1.1 as a client speaks it: requests as they are given, responses in their order.

pub mod following;
pub mod response;

use self::response::{Malformed, Part, Progress, Reader};
use super::{Event, Id, Step};
use crate::outcome::Outcome;
use crate::queue::Queue;
use crate::request::Request;

/// A request whose response is awaited, or that has been handed out to be sent.
#[derive(Clone, Copy, Debug)]
struct Awaited<'a> {
    id: Id,
    request: &'a Request,
}

/// One connection of HTTP/1.1; with a capacity above 1 its requests are pipelined.
#[derive(Clone, Debug)]
pub struct Http1<'a> {
    capacity: usize,
    /// In the order of their responses.
    awaited: Queue<Awaited<'a>>,
    /// How many of them, from the first on, are under way.
    begun: usize,
    /// Bytes of the last one under way that the transport has not taken.
    unsent: &'a [u8],
    reader: Reader,
    /// Whether the first response has begun to come.
    is_reading: bool,
    /// Whether the server has invited the body of the first request, if it has to.
    is_invited: bool,
    /// How the connection ends after the last complete response, if it does.
    must_close: Option<Outcome>,
}

impl<'a> Http1<'a> {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            awaited: Queue::with_capacity(capacity),
            begun: 0,
            unsent: &[],
            reader: Reader::default(),
            is_reading: false,
            is_invited: false,
            must_close: None,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn reset(&mut self) {
        self.awaited.clear();
        self.begun = 0;
        self.unsent = &[];
        self.is_reading = false;
        self.must_close = None;
    }

    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &'a Request) -> &'a [u8] {
        self.awaited.push_back(Awaited { id, request });
        request.first()
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &'a [u8] {
        self.unsent
    }

    /// A request is under way when some of its bytes were taken, or when none was in its way.
    #[inline]
    pub(super) fn sent(&mut self, mut count: usize) -> usize {
        let before = self.begun;
        loop {
            if self.unsent.is_empty() {
                let Some(next) = self.awaited.get(self.begun) else { break };
                self.unsent = next.request.first();
                self.begun += 1;
            }
            let taken = count.min(self.unsent.len());
            self.unsent = &self.unsent[taken..];
            count -= taken;
            if count == 0 {
                break;
            }
        }
        self.awaited.truncate(self.begun);
        self.begun - before
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        !self.unsent.is_empty() && self.awaited.back().is_some_and(|last| last.id == id)
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: &[u8], mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        let Some(&Awaited { id, request }) = self.awaited.front() else {
            let is_begun = std::mem::replace(&mut self.is_reading, true);
            self.is_invited = false;
            return unasked(&mut self.reader, is_begun, bytes);
        };
        if !self.is_reading {
            self.is_reading = true;
            self.is_invited = false;
            self.reader.start(request.is_head);
        }
        let progress = self.reader.read(bytes, |part| match part {
            Part::Head(status) => emit(id, Event::Head(status)),
            Part::Coded(coded) => emit(id, Event::Coded(coded)),
            Part::EventStream => emit(id, Event::EventStream),
            Part::Body(piece) => emit(id, Event::Body(piece)),
        });
        match progress {
            Ok(Progress { complete, consumed }) => {
                emit(id, Event::Bytes(consumed));
                if !complete {
                    self.go_on(request);
                    return Step::More;
                }
                self.complete(request, &bytes[consumed..]);
                Step::Complete { id, consumed }
            }
            Err(malformed) => {
                emit(id, Event::Bytes(bytes.len()));
                Step::Failed { id: Some(id), outcome: outcome_of(malformed) }
            }
        }
    }

    pub(super) fn server_closed(&mut self) -> Option<Id> {
        let Awaited { id: first, request } = *self.awaited.front()?;
        if !self.is_reading || !self.reader.end() {
            return None;
        }
        self.complete(request, &[]);
        Some(first)
    }

    #[inline]
    pub(super) fn must_close(&self) -> Option<Outcome> {
        self.must_close
    }

    /// Sends what the server has invited, if it just has.
    #[inline]
    fn go_on(&mut self, request: &'a Request) {
        let is_waiting = request.first_bytes < request.bytes.len() && !self.is_invited;
        if is_waiting && self.unsent.is_empty() && self.reader.invites() {
            self.is_invited = true;
            self.unsent = request.invited();
        }
    }

    /// The first response is complete, and followed by `more`.
    ///
    /// If a response comes before its request is sent, the rest of that request would be taken for
    /// the next one; and the next one for a body that was never invited.
    #[inline]
    fn complete(&mut self, request: &Request, more: &[u8]) {
        self.awaited.pop_front();
        self.begun -= 1;
        self.is_reading = false;
        let is_last = self.begun == 0;
        let is_whole = self.is_invited || request.first_bytes == request.bytes.len();
        self.must_close = if is_last && !may_follow(more) {
            Some(Outcome::Unsolicited)
        } else if !self.reader.keep_alive() {
            Some(Outcome::ClosedAsAnnounced)
        } else if is_last && (!self.unsent.is_empty() || !is_whole) {
            Some(Outcome::ClosedByDriver)
        } else {
            None
        };
    }
}

/// How a server responds that has waited too long for a request; RFC 9110, section 15.5.9. The
/// question mark is any byte.
const GIVEN_UP: &[u8] = b"HTTP/1.? 408";

/// Whether what comes at a place of a response may be of one with which a server gives up waiting.
fn is_given_up(at: usize, bytes: &[u8]) -> bool {
    let expected = GIVEN_UP.get(at..).unwrap_or_default();
    expected.iter().zip(bytes).all(|(expected, byte)| [*byte, b'?'].contains(expected))
}

/// Whether such bytes may follow the last response: none, or how the server gives up waiting.
fn may_follow(bytes: &[u8]) -> bool {
    bytes.is_empty() || bytes.len() >= GIVEN_UP.len() && is_given_up(0, bytes)
}

/// Bytes have come, or come on if some `is_begun`, and no request is on the connection. Many servers
/// close idle connections with a response of status 408: with its head, the close is announced.
/// Nothing else may come.
fn unasked(reader: &mut Reader, is_begun: bool, bytes: &[u8]) -> Step {
    if !is_begun {
        reader.start(false);
    }
    let is_expected = is_given_up(reader.held_bytes(), bytes);
    let outcome = match reader.read(bytes, |_| ()) {
        Ok(_) if is_expected && reader.status() == 0 => return Step::More,
        Ok(_) if is_expected => Outcome::ClosedAsAnnounced,
        _ => Outcome::Unsolicited,
    };
    Step::Failed { id: None, outcome }
}

fn outcome_of(malformed: Malformed) -> Outcome {
    match malformed {
        Malformed::Head => Outcome::MalformedHead,
        Malformed::Chunk => Outcome::MalformedChunk,
        Malformed::HeadTooLarge => Outcome::HeadTooLarge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Requests;
    use crate::spec::{Expected, RequestSpec};

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO";
    const LENGTH: usize = 18;

    fn requests() -> Requests {
        Requests::new(
            &[RequestSpec {
                name: String::new(),
                bytes: b"GET / HTTP/1.1\r\n\r\n".to_vec(),
                weight: 1.0,
                method: "GET".into(),
                expects_continue: false,
                expected: Expected::default(),
            }],
            0.0,
        )
    }

    /// A connection that has so many requests under way.
    fn under_way(requests: &Requests, count: u32) -> Http1<'_> {
        let mut http1 = Http1::new(8);
        for number in 0..count {
            assert_eq!(http1.begin(Id(number), requests.kind(0)).len(), LENGTH);
            assert_eq!(http1.sent(LENGTH), 1);
        }
        http1
    }

    fn read(http1: &mut Http1<'_>, bytes: &[u8]) -> Step {
        http1.received(bytes, |_, _| ())
    }

    fn complete(id: u32) -> Step {
        Step::Complete { id: Id(id), consumed: HELLO.len() }
    }

    #[test]
    fn a_request_is_sent_from_where_it_lies() {
        let requests = requests();
        let mut http1 = Http1::new(1);
        let bytes = http1.begin(Id(0), requests.kind(0));
        assert!(std::ptr::eq(bytes, &raw const *requests.kind(0).bytes));
        assert_eq!(http1.sent(10), 1);
        assert_eq!(http1.pending_output(), &requests.kind(0).bytes[10..]);
        assert!(http1.is_sending(Id(0)));
        assert_eq!(http1.sent(8), 0);
        assert!(http1.pending_output().is_empty() && !http1.is_sending(Id(0)));
    }

    #[test]
    fn requests_of_which_nothing_was_taken_have_not_begun() {
        let requests = requests();
        for (taken, begun, pending) in [(0, 1, 18), (18, 1, 0), (25, 2, 11), (54, 3, 0)] {
            let mut http1 = Http1::new(8);
            for number in 0..3 {
                http1.begin(Id(number), requests.kind(0));
            }
            assert_eq!(http1.sent(taken), begun, "{taken}");
            assert_eq!(http1.pending_output().len(), pending, "{taken}");
            let again = http1.begin(Id(9), requests.kind(0)).len();
            assert_eq!(http1.sent(pending + again), 1, "{taken}");
        }
    }

    #[test]
    fn responses_belong_to_their_requests_in_order() {
        let requests = requests();
        let mut http1 = under_way(&requests, 2);
        let both = [HELLO, HELLO].concat();
        let mut events = Vec::new();
        let step = http1.received(&both, |id, event| {
            events.push((id, format!("{event:?}")));
        });
        assert_eq!(step, complete(0));
        let body = format!("{:?}", Event::Body(b"HELLO"));
        let expected = ["Head(200)".to_owned(), body, format!("Bytes({})", HELLO.len())];
        assert_eq!(events, expected.map(|event| (Id(0), event)));
        assert_eq!(http1.must_close(), None);
        assert_eq!(read(&mut http1, &both[HELLO.len()..]), complete(1));
        assert_eq!(http1.must_close(), None);
    }

    #[test]
    fn what_follows_the_last_response_is_unsolicited() {
        let requests = requests();
        let mut http1 = under_way(&requests, 1);
        assert_eq!(read(&mut http1, &[HELLO, b"H"].concat()), complete(0));
        assert_eq!(http1.must_close(), Some(Outcome::Unsolicited));
        let unsolicited = Step::Failed { id: None, outcome: Outcome::Unsolicited };
        assert_eq!(read(&mut http1, b"ELLO"), unsolicited);
    }

    /// How Apache and others close a connection without a request.
    const GOODBYE: &[u8] =
        b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno";

    #[test]
    fn a_server_may_close_an_idle_connection_with_a_response() {
        let requests = requests();
        let announced = Step::Failed { id: None, outcome: Outcome::ClosedAsAnnounced };
        let old = [&b"HTTP/1.0"[..], &GOODBYE[8..]].concat();
        for goodbye in [GOODBYE, &old] {
            for length in [1, 7, 60, goodbye.len()] {
                let mut http1 = under_way(&requests, 0);
                let mut steps = goodbye.chunks(length).map(|piece| read(&mut http1, piece));
                assert_eq!(steps.find(|&step| step != Step::More), Some(announced), "{length}");
            }
        }
        let mut http1 = under_way(&requests, 1);
        assert_eq!(read(&mut http1, &[HELLO, GOODBYE].concat()), complete(0));
        assert_eq!(http1.must_close(), None);
        assert_eq!(read(&mut http1, GOODBYE), announced);
    }

    #[test]
    fn nothing_else_may_come_without_a_request() {
        let requests = requests();
        let unsolicited = Step::Failed { id: None, outcome: Outcome::Unsolicited };
        let broken = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: x\r\n\r\n";
        for wrong in
            [HELLO, b"\r\n", b"HTTP/1.1 400 Bad\r\n\r\n", b"HTTP/1.1 100 X\r\n\r\n", broken]
        {
            for length in [1, 7, wrong.len()] {
                let mut http1 = under_way(&requests, 0);
                let mut steps = wrong.chunks(length).map(|piece| read(&mut http1, piece));
                assert_eq!(steps.find(|&step| step != Step::More), Some(unsolicited));
            }
        }
    }

    #[test]
    fn a_request_sent_while_the_server_gives_up_waiting_has_that_as_its_response() {
        let requests = requests();
        let mut http1 = under_way(&requests, 0);
        assert_eq!(read(&mut http1, &GOODBYE[..20]), Step::More);
        http1.begin(Id(3), requests.kind(0));
        http1.sent(LENGTH);
        let mut statuses = Vec::new();
        let step = http1.received(&GOODBYE[20..], |id, event| {
            if let Event::Head(status) = event {
                statuses.push((id, status));
            }
        });
        assert_eq!(
            (step, statuses),
            (Step::Complete { id: Id(3), consumed: GOODBYE.len() - 20 }, vec![(Id(3), 408)],)
        );
        assert_eq!(http1.must_close(), Some(Outcome::ClosedAsAnnounced));
    }

    #[test]
    fn a_response_before_the_whole_request_ends_the_connection() {
        let requests = requests();
        let mut http1 = Http1::new(1);
        http1.begin(Id(0), requests.kind(0));
        http1.sent(10);
        assert_eq!(read(&mut http1, HELLO), complete(0));
        assert_eq!(http1.must_close(), Some(Outcome::ClosedByDriver));
    }

    #[test]
    fn a_close_that_was_announced_ends_the_connection() {
        let requests = requests();
        let mut http1 = under_way(&requests, 2);
        let closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        read(&mut http1, closing);
        assert_eq!(http1.must_close(), Some(Outcome::ClosedAsAnnounced));
    }

    #[test]
    fn the_end_of_the_stream_completes_a_body_of_no_length() {
        let requests = requests();
        let mut http1 = under_way(&requests, 1);
        assert_eq!(http1.server_closed(), None);
        assert_eq!(read(&mut http1, b"HTTP/1.1 200 OK\r\n\r\nbody"), Step::More);
        assert_eq!(http1.server_closed(), Some(Id(0)));
        assert_eq!(http1.must_close(), Some(Outcome::ClosedAsAnnounced));
    }

    #[test]
    fn the_next_connection_knows_nothing_of_the_last() {
        let requests = requests();
        let mut http1 = under_way(&requests, 1);
        read(&mut http1, &HELLO[..20]);
        http1.reset();
        assert_eq!(http1.server_closed(), None);
        http1.begin(Id(5), requests.kind(0));
        http1.sent(LENGTH);
        assert_eq!(read(&mut http1, HELLO), complete(5));
    }
}
