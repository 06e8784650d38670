//! One request and what has come of its response, compared with what is expected. Pure.

use crate::coding::{Coded, Decoded, Decoder};
use crate::events::Stream;
use crate::outcome::{Group, Outcome};
use crate::protocol::{Event, Id};
use crate::request::Request;
use crate::sample::{Comparison, NEVER, NO_BYTES, RequestSample};

/// The longest body that is written down, in bytes.
pub const LONGEST_KEPT_BYTES: usize = 64 * 1024;

/// A request that a connection carries, or is to carry once it is open.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// What it is found by.
    pub id: Id,
    /// Index of its kind of request.
    pub kind: u16,
    /// What is sent, and what is expected.
    pub request: &'a Request,
    /// The instant it was given to the transport; [`NEVER`] before that.
    pub sent_ns: u64,
    comparison: Comparison,
    due_ns: u64,
    first_byte_ns: u64,
    received_bytes: u64,
    body_bytes: u64,
    status: u16,
    differs: bool,
    rare: Option<Box<Rare>>,
}

/// What only few exchanges have; it lies apart, so that all others are small.
#[derive(Debug, Default)]
struct Rare {
    /// What frees the body of its content coding, if it has one that the request asked about.
    decoder: Option<Box<Decoder>>,
    /// The events of the body, if it consists of them and they are expected.
    events: Option<Box<Stream>>,
    /// What has come of a body that is to be written down.
    kept: Vec<u8>,
}

impl<'a> Exchange<'a> {
    /// A request that is due and not sent.
    #[inline]
    #[must_use]
    pub fn new(
        id: Id,
        kind: u16,
        request: &'a Request,
        due_ns: u64,
        comparison: Comparison,
    ) -> Self {
        Self {
            id,
            kind,
            request,
            sent_ns: NEVER,
            comparison,
            due_ns,
            first_byte_ns: NEVER,
            received_bytes: 0,
            body_bytes: 0,
            status: 0,
            differs: false,
            rare: None,
        }
    }

    /// The instant at which it was due.
    #[must_use]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Whether the first byte of the response has come; where events are rows, that of the next one.
    #[inline]
    #[must_use]
    pub fn has_first_byte(&self) -> bool {
        self.first_byte_ns != NEVER
    }

    /// Whether some of the response has come.
    #[must_use]
    pub fn has_response(&self) -> bool {
        self.has_first_byte() || self.events().is_some()
    }

    /// Something has come of the response; returns whether events have ended with it that are rows.
    #[inline]
    pub fn receive(&mut self, event: Event<'_>, now_ns: u64) -> bool {
        match event {
            Event::Head(status) => self.status = status,
            Event::Coded(coded) => self.decode(coded),
            Event::EventStream => self.begin_events(),
            Event::Body(piece) if self.rare.is_some() => self.receive_rare(piece, now_ns),
            Event::Body(piece) => self.receive_body(piece),
            Event::Bytes(count) => {
                self.received_bytes += count as u64;
                if !self.is_between_events() {
                    self.first_byte_ns = self.first_byte_ns.min(now_ns);
                }
                return self.events().is_some_and(Stream::has_ended);
            }
        }
        false
    }

    /// Whether an event has been a row and nothing has come of the next one: what comes then surrounds
    /// them, as the end of a chunk or the line feed behind a carriage return does.
    #[inline]
    fn is_between_events(&self) -> bool {
        let is_silent = |events: &Stream| !events.has_ended() && !events.has_begun();
        self.rare.is_some() && self.rows() > Some(0) && self.events().is_some_and(is_silent)
    }

    fn begin_events(&mut self) {
        if self.request.expected.events.is_some() {
            let events = Stream::new(self.sent_ns);
            self.rare().events = Some(Box::new(events));
        }
    }

    /// How many rows of events it has had; nothing where events are no rows.
    #[inline]
    #[must_use]
    pub fn rows(&self) -> Option<u64> {
        let are_rows = || self.request.expected.events.as_ref().is_some_and(|events| events.rows);
        self.events().filter(|_| are_rows()).map(Stream::count)
    }

    /// Hands on a row for each event that has ended with the last bytes, and whether it is the first
    /// of the response. What follows is due and awaited from now on.
    pub fn take_rows(
        &mut self,
        now_ns: u64,
        connection: u32,
        mut take: impl FnMut(RequestSample, bool),
    ) {
        let Some(mut events) = self.rare.as_mut().and_then(|rare| rare.events.take()) else {
            return;
        };
        let outcome = if self.has_right_status() { Outcome::Ok } else { Outcome::WrongStatus };
        let first = events.count() - events.ended_count();
        let pending = events.pending_bytes();
        // The first has what surrounds them as well: the head, and the framing of the body.
        let mut around = self.received_bytes.saturating_sub(pending + events.ended_bytes());
        for (number, length) in (first..).zip(events.ended()) {
            self.received_bytes = length + std::mem::take(&mut around);
            self.body_bytes = length;
            take(self.sample(outcome, 0, now_ns, connection, 0), number == 0);
            self.due_ns = now_ns;
            self.sent_ns = now_ns;
            self.first_byte_ns = now_ns;
        }
        self.received_bytes = pending;
        self.body_bytes = pending;
        if !events.has_begun() {
            self.first_byte_ns = NEVER;
        }
        self.rare().events = Some(events);
    }

    /// The body that comes is coded; a request that accepts no coding has it compared as it is.
    fn decode(&mut self, coded: Coded) {
        let accepted = &self.request.expected.codings;
        if accepted.is_empty() {
            return;
        }
        let decoder = match coded {
            Coded::Not => return,
            Coded::By(coding) if accepted.contains(&coding) => Decoder::new(coding),
            Coded::By(_) | Coded::Otherwise => Decoder::refusing(),
        };
        self.rare().decoder = Some(Box::new(decoder));
    }

    fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    fn receive_rare(&mut self, piece: &[u8], now_ns: u64) {
        let Some(mut decoder) = self.rare().decoder.take() else {
            return self.receive_decoded(piece, now_ns);
        };
        decoder.decode(piece, |decoded| self.receive_decoded(decoded, now_ns));
        self.rare().decoder = Some(decoder);
    }

    fn receive_decoded(&mut self, piece: &[u8], now_ns: u64) {
        self.receive_body(piece);
        if self.comparison == Comparison::NotExpected {
            self.receive_events(piece, now_ns);
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    fn receive_body(&mut self, piece: &[u8]) {
        let start = self.body_bytes as usize;
        self.body_bytes += piece.len() as u64;
        match self.comparison {
            Comparison::Compared => {
                let expected = self.request.expected.body.as_deref().unwrap_or_default();
                self.differs |= expected.get(start..start + piece.len()) != Some(piece);
            }
            Comparison::Kept => {
                let kept = &mut self.rare().kept;
                if kept.len() + piece.len() <= LONGEST_KEPT_BYTES {
                    kept.extend_from_slice(piece);
                }
            }
            Comparison::Skipped | Comparison::NotExpected => {}
        }
    }

    #[inline]
    fn receive_events(&mut self, piece: &[u8], now_ns: u64) {
        let expected = self.request.expected.events.as_ref();
        let events = self.rare.as_mut().and_then(|rare| rare.events.as_mut());
        if let Some((events, expected)) = events.zip(expected) {
            events.read(piece, expected, now_ns);
        }
    }

    #[inline]
    fn has_right_status(&self) -> bool {
        let (first, last) = self.request.expected.status;
        (first..=last).contains(&self.status)
    }

    /// How the response, which is complete, compares with what is expected.
    #[inline]
    #[must_use]
    pub fn judge(&self) -> Outcome {
        let Request { expected, is_head, .. } = self.request;
        if !self.has_right_status() {
            Outcome::WrongStatus
        } else if let Some(problem) = self.decoder().and_then(Decoder::problem) {
            problem
        } else if expected.length_bytes.is_some_and(|wanted| !is_head && wanted != self.body_bytes)
        {
            Outcome::WrongLength
        } else if self.body_differs() {
            Outcome::WrongBody
        } else if let Some(wanted) = &expected.events {
            match self.events() {
                None => Outcome::NotEvents,
                Some(events) => events.problem(wanted).unwrap_or(Outcome::Ok),
            }
        } else {
            Outcome::Ok
        }
    }

    /// What was decoded of its response, if it was coded.
    #[inline]
    #[must_use]
    pub fn decoded(&self) -> Option<Decoded> {
        self.decoder().and_then(Decoder::decoded)
    }

    #[inline]
    fn decoder(&self) -> Option<&Decoder> {
        self.rare.as_ref()?.decoder.as_deref()
    }

    #[inline]
    fn events(&self) -> Option<&Stream> {
        self.rare.as_ref()?.events.as_deref()
    }

    fn body_differs(&self) -> bool {
        let expected = self.request.expected.body.as_deref();
        let expected = expected.filter(|_| self.comparison == Comparison::Compared);
        expected.is_some_and(|body| self.differs || body.len() as u64 != self.body_bytes)
    }

    /// The body of the response, which is complete, if it is to be written down. Nothing when it was
    /// longer than [`LONGEST_KEPT_BYTES`].
    #[inline]
    pub fn take_kept(&mut self) -> Option<Vec<u8>> {
        if self.comparison != Comparison::Kept {
            return None;
        }
        let body = self.rare.as_mut().map_or_else(Vec::new, |rare| std::mem::take(&mut rare.kept));
        (body.len() as u64 == self.body_bytes).then_some(body)
    }

    /// Its record, as it has ended.
    #[inline]
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn sample(
        &self,
        outcome: Outcome,
        errno: u8,
        done_ns: u64,
        connection: u32,
        worker: u16,
    ) -> RequestSample {
        let (complete, came_to_body) = match outcome.group() {
            Group::Successful => (true, true),
            Group::Wrong => (true, outcome == Outcome::WrongBody),
            _ => (false, false),
        };
        let body_bytes = self.body_bytes.min(u64::from(NO_BYTES - 1)) as u32;
        let comparison = match self.comparison {
            comparison @ (Comparison::Skipped | Comparison::Compared) if came_to_body => comparison,
            _ => Comparison::NotExpected,
        };
        // What surrounds events, and comes before the first byte of one, is of no response.
        let received_bytes = if self.has_first_byte() { self.received_bytes } else { 0 };
        RequestSample {
            due_ns: self.due_ns,
            sent_ns: self.sent_ns,
            first_byte_ns: self.first_byte_ns,
            done_ns,
            received_bytes: received_bytes.min(u64::from(u32::MAX)) as u32,
            body_bytes: if complete { body_bytes } else { NO_BYTES },
            compared: comparison as u32,
            connection,
            request: self.kind,
            status: self.status,
            worker,
            outcome: outcome as u8,
            errno,
        }
    }
}
