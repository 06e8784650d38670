//! HTTP/2 as a client speaks it: several requests at a time, responses in any order.
//!
//! A request is one HEADERS frame whose block was encoded once, and its body as far as the windows
//! of the server allow. Everything to be sent goes through one buffer. The windows for responses are
//! so large that a server waits for them only if a client reads nothing.
//!
//! # Source
//!
//! RFC 9113.

pub mod request;
mod response;
mod session;

use plimsoll_http2::frame::{ErrorCode, Kind, Part, Reader};

use self::session::{Ended, Fault, Session};
use super::{Event, Id, Step};
use crate::outcome::Outcome;
use crate::request::Request;

pub use self::session::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};

/// One connection of HTTP/2.
#[derive(Clone, Debug)]
pub struct Http2<'a> {
    reader: Reader,
    session: Session<'a>,
    /// Bytes taken of the frame that is being read, and not yet told.
    untold: usize,
    /// Whether the server broke a rule, and is told so.
    is_broken: bool,
}

impl<'a> Http2<'a> {
    pub(super) fn new(streams: usize) -> Self {
        Self {
            reader: Reader::default(),
            session: Session::new(streams),
            untold: 0,
            is_broken: false,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.session.capacity()
    }

    pub(super) fn places(&self) -> usize {
        self.session.places()
    }

    pub(super) fn room(&self) -> usize {
        self.session.room()
    }

    pub(super) fn is_retiring(&self) -> bool {
        self.session.is_retiring()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.session.is_settled()
    }

    pub(super) fn allowed_streams(&self) -> Option<u32> {
        self.session.allowed_streams()
    }

    pub(super) fn has_grown(&mut self) -> bool {
        self.session.has_grown()
    }

    pub(super) fn reset(&mut self) {
        self.reader.reset();
        self.session.reset();
        self.untold = 0;
        self.is_broken = false;
    }

    pub(super) fn open(&mut self) {
        self.session.open();
    }

    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &'a Request) {
        self.session.begin(id, request);
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &[u8] {
        self.session.pending_output()
    }

    #[inline]
    pub(super) fn sent(&mut self, count: usize) -> usize {
        self.session.sent(count)
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        self.session.is_sending(id)
    }

    pub(super) fn cancel(&mut self, id: Id) -> bool {
        self.session.cancel(id)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.session.has_unprocessed()
    }

    #[inline]
    pub(super) fn must_close(&self) -> Option<Outcome> {
        self.session.must_close()
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: &[u8], mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        let mut consumed = 0;
        if let Some(ended) = self.session.take_unprocessed() {
            return step(ended, consumed);
        }
        loop {
            let read = match self.reader.next(&bytes[consumed..]) {
                Ok(read) => read,
                Err(code) => {
                    let fault = self.session.fault(code);
                    return self.failed(fault);
                }
            };
            consumed += read.consumed;
            self.untold += read.consumed;
            let ended = match read.part {
                Part::More => {
                    self.tell_begun(&mut emit);
                    return Step::More;
                }
                Part::Frame(head, payload) => {
                    self.session.frame(head, payload, self.untold, &mut emit)
                }
                Part::Data { head, piece, is_first, is_last } => {
                    let piece = session::Piece { bytes: piece, is_first, is_last };
                    self.session.data(head, piece, self.untold, &mut emit)
                }
            };
            self.untold = 0;
            match ended {
                Ok(None) => {}
                Ok(Some(ended)) => return step(ended, consumed),
                Err(fault) => return self.failed(fault),
            }
        }
    }

    /// The connection ends. A server that broke a rule of HTTP/2 is told which (RFC 9113, 5.4.1).
    fn failed(&mut self, Fault { id, outcome, code }: Fault) -> Step {
        self.is_broken = code != ErrorCode::NoError && outcome != Outcome::NotHttp2;
        if self.is_broken {
            self.session.end(code);
        }
        Step::Failed { id, outcome }
    }

    /// What is pending and the GOAWAY behind it, for a server that broke a rule.
    pub(super) fn farewell(&self) -> &[u8] {
        if self.is_broken { self.session.pending_output() } else { &[] }
    }

    /// Tells of the bytes of a head that is not complete: the first of them are its first byte.
    fn tell_begun(&mut self, emit: &mut impl FnMut(Id, Event<'_>)) {
        let Some((head, _)) = self.reader.pending() else { return };
        if matches!(head.kind, Kind::Headers | Kind::Continuation) {
            if let Some(id) = self.session.id_of(head.stream) {
                emit(id, Event::Bytes(std::mem::take(&mut self.untold)));
            }
        }
    }
}

fn step(ended: Ended, consumed: usize) -> Step {
    match ended {
        Ended::Complete(id) => Step::Complete { id, consumed },
        Ended::Early { id, outcome, code } => Step::Ended { id, outcome, code, consumed },
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_http2::frame::{self, Head, Setting};
    use plimsoll_http2::hpack;
    use proptest::prelude::*;

    use super::*;
    use crate::request::Requests;
    use crate::spec::{Expected, RequestSpec};

    fn requests(body_bytes: usize) -> Requests {
        let mut bytes = b"POST / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
        bytes.resize(bytes.len() + body_bytes, b'x');
        let spec = RequestSpec {
            name: String::new(),
            bytes,
            weight: 1.0,
            method: "POST".into(),
            expects_continue: false,
            expected: Expected::default(),
        };
        Requests::new(&[spec], 0.0).encoded("http")
    }

    fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Head { length: payload.len(), kind, flags, stream }.write(&mut out);
        out.extend_from_slice(payload);
        out
    }

    fn settings(of: &[(Setting, u32)]) -> Vec<u8> {
        let mut out = Vec::new();
        frame::write_settings(&mut out, of);
        out
    }

    /// A connection with so many requests under way.
    fn under_way(requests: &Requests, streams: u32) -> Http2<'_> {
        let mut http2 = Http2::new(streams as usize);
        http2.open();
        let greeting = settings(&[]);
        assert_eq!(http2.received(&greeting, |_, _| ()), Step::More);
        (0..streams).for_each(|number| http2.begin(Id(number), requests.kind(0)));
        let count = http2.pending_output().len();
        assert_eq!(http2.sent(count), streams as usize);
        http2
    }

    #[derive(Debug, Default, PartialEq)]
    struct Heard {
        statuses: Vec<(Id, u16)>,
        bodies: std::collections::BTreeMap<u32, Vec<u8>>,
        bytes: std::collections::BTreeMap<u32, usize>,
        /// Ends of exchanges in their order, and of the connection.
        ended: Vec<String>,
        output: Vec<u8>,
    }

    fn hear(requests: &Requests, bytes: &[u8], cuts: &[usize]) -> Heard {
        let mut http2 = under_way(requests, 4);
        let mut heard = Heard::default();
        let mut start = 0;
        'all: for &cut in cuts.iter().chain([&bytes.len()]) {
            let mut rest = &bytes[start..cut];
            start = cut;
            while !rest.is_empty() || http2.has_ended() {
                let step = http2.received(rest, |id, event| match event {
                    Event::Head(status) => heard.statuses.push((id, status)),
                    Event::Coded(_) | Event::EventStream => {}
                    Event::Body(piece) => {
                        heard.bodies.entry(id.0).or_default().extend_from_slice(piece);
                    }
                    Event::Bytes(count) => *heard.bytes.entry(id.0).or_default() += count,
                });
                rest = match step {
                    Step::More => break,
                    Step::Complete { id, consumed } => {
                        heard.ended.push(format!("{id:?}"));
                        &rest[consumed..]
                    }
                    Step::Ended { id, outcome, code, consumed } => {
                        heard.ended.push(format!("{id:?} {outcome:?} {code}"));
                        &rest[consumed..]
                    }
                    Step::Failed { id, outcome } => {
                        heard.ended.push(format!("{id:?} {outcome:?}"));
                        break 'all;
                    }
                };
            }
        }
        heard.output = http2.pending_output().to_vec();
        // How much came of a response before it failed depends on how it came.
        let complete = |id: &u32| heard.ended.contains(&format!("{:?}", Id(*id)));
        heard.bytes.retain(|id, _| complete(id));
        heard
    }

    #[test]
    fn the_client_speaks_first_and_begins_one_request_until_the_settings_come() {
        let requests = requests(0);
        let mut http2 = Http2::new(4);
        http2.open();
        let preface = http2.pending_output().to_vec();
        assert!(preface.starts_with(frame::PREFACE));
        assert_eq!((http2.room(), http2.places(), http2.is_ready()), (1, 4, false));
        http2.begin(Id(0), requests.kind(0));
        assert_eq!(http2.room(), 0);
        let limited = settings(&[(Setting::MaxConcurrentStreams, 3)]);
        assert_eq!(http2.received(&limited, |_, _| ()), Step::More);
        assert_eq!((http2.room(), http2.places(), http2.is_ready()), (2, 3, true));
        http2.reset();
        assert_eq!((http2.room(), http2.places(), http2.is_ready()), (1, 4, false));
    }

    #[test]
    fn requests_of_which_nothing_was_taken_are_taken_back() {
        let requests = requests(10);
        let mut http2 = Http2::new(8);
        http2.open();
        http2.received(&settings(&[]), |_, _| ());
        let before = http2.pending_output().len();
        (0..3).for_each(|number| http2.begin(Id(number), requests.kind(0)));
        let each = (http2.pending_output().len() - before) / 3;
        assert_eq!(http2.sent(before + each + 1), 2);
        assert_eq!(http2.pending_output().len(), each - 1);
        assert!(http2.is_sending(Id(1)) && !http2.is_sending(Id(0)));
        http2.begin(Id(2), requests.kind(0));
        let third = &http2.pending_output()[each - 1..];
        assert_eq!(Head::read(*third.first_chunk().unwrap()).stream, 5);
        assert_eq!(http2.sent(2 * each - 1), 1);
    }

    #[test]
    fn a_body_is_sent_as_far_as_the_windows_reach() {
        let requests = requests(100_000);
        let mut http2 = Http2::new(1);
        http2.open();
        http2.received(&settings(&[(Setting::InitialWindowSize, 40_000)]), |_, _| ());
        http2.begin(Id(0), requests.kind(0));
        let data = |http2: &mut Http2<'_>| {
            let (mut reader, mut count) = (Reader::default(), 0);
            let output = http2.pending_output().to_vec();
            let skipped = if output.starts_with(frame::PREFACE) { frame::PREFACE.len() } else { 0 };
            let mut rest = &output[skipped..];
            loop {
                let read = reader.next(rest).unwrap();
                match read.part {
                    Part::More => break,
                    Part::Data { piece, .. } => count += piece.len(),
                    Part::Frame(..) => {}
                }
                rest = &rest[read.consumed..];
            }
            http2.sent(output.len());
            count
        };
        assert_eq!((data(&mut http2), data(&mut http2)), (40_000, 0));
        assert!(http2.is_sending(Id(0)));
        let mut more = Vec::new();
        frame::write_window_update(&mut more, 1, 60_000);
        http2.received(&more, |_, _| ());
        assert_eq!(data(&mut http2), 65_535 - 40_000);
        let mut more = Vec::new();
        frame::write_window_update(&mut more, 0, 60_000);
        http2.received(&more, |_, _| ());
        assert_eq!(data(&mut http2), 100_000 - 65_535);
        assert!(!http2.is_sending(Id(0)));
    }

    #[test]
    fn a_request_is_given_up_alone_unless_the_connection_stands_still() {
        let requests = requests(0);
        let mut http2 = under_way(&requests, 3);
        // Neither the reply to a ping nor the reset of another is in the way before it is handed over.
        http2.received(&frame(Kind::Ping, 0, 0, b"12345678"), |_, _| ());
        assert!(http2.cancel(Id(1)) && http2.cancel(Id(2)));
        let mut output = Vec::new();
        frame::write_ping_ack(&mut output, b"12345678");
        frame::write_reset(&mut output, 3, ErrorCode::Cancel);
        frame::write_reset(&mut output, 5, ErrorCode::Cancel);
        assert_eq!(http2.pending_output(), output);
        assert_eq!(http2.room(), 2);
        http2.sent(output.len() - 1);
        assert!(!http2.cancel(Id(0)));
        http2.sent(1);
        assert!(http2.cancel(Id(0)));
    }

    #[test]
    fn a_server_that_breaks_a_rule_is_told_which() {
        let requests = requests(0);
        let mut http2 = under_way(&requests, 1);
        assert!(http2.farewell().is_empty());
        http2.received(&frame(Kind::Ping, 0, 0, b"short"), |_, _| ());
        let mut told = Vec::new();
        frame::write_go_away(&mut told, 0, ErrorCode::FrameSizeError);
        assert_eq!(http2.farewell(), told);
        http2.reset();
        assert!(http2.farewell().is_empty());
    }

    /// Frames of a server, right and wrong ones.
    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let head = |fields: &[(&str, &str)]| {
            let mut block = Vec::new();
            for (name, value) in fields {
                hpack::write_field(&mut block, name.as_bytes(), value.as_bytes());
            }
            block
        };
        let payloads = vec![
            head(&[(":status", "200")]),
            head(&[(":status", "200"), ("content-length", "5")]),
            head(&[(":status", "103")]),
            head(&[("trailer", "x")]),
            b"HELLO".to_vec(),
            b"".to_vec(),
            vec![0; 8],
            vec![0, 0, 0, 7],
            vec![0, 0, 0, 3, 0, 0, 0, 0],
            vec![0, 4, 0, 1, 0, 0],
            vec![2, b'a', b'b', 0, 0],
        ];
        let kinds = prop_oneof![4 => Just(0u8), 4 => Just(1), 1 => 2u8..11];
        let flags = prop_oneof![Just(0u8), Just(1), Just(4), Just(5), Just(8), any::<u8>()];
        let streams = prop_oneof![Just(0u32), Just(1), Just(3), Just(5), Just(7), 0u32..12];
        let one = (kinds, flags, streams, prop::sample::select(payloads)).prop_map(
            |(kind, flags, stream, payload)| frame(Kind::of(kind), flags, stream, &payload),
        );
        prop::collection::vec(one, 0..16).prop_map(|frames| frames.concat())
    }

    proptest! {
        #[test]
        fn any_split_of_anything_means_the_same_as_none(
            bytes in prop_oneof![
                9 => frames(), 1 => prop::collection::vec(any::<u8>(), 0..200)
            ],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            body_bytes in prop_oneof![Just(0usize), Just(200_000)],
        ) {
            let requests = requests(body_bytes);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let whole = hear(&requests, &bytes, &[]);
            prop_assert_eq!(&hear(&requests, &bytes, &cuts), &whole);
            let each: Vec<_> = (0..=bytes.len()).collect();
            prop_assert_eq!(&hear(&requests, &bytes, &each), &whole);
        }
    }
}
