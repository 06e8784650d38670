//! Events of a `text/event-stream`: where each ends, in any split of its bytes and in memory that
//! does not grow with them; and whether they are those expected. Pure.
//!
//! # Source
//!
//! WHATWG, HTML Living Standard, section 9.2: server-sent events.

use crate::outcome::Outcome;
use crate::spec;

/// The media type of a stream of events.
const MEDIA_TYPE: &[u8] = b"text/event-stream";

/// What may precede a stream: the byte order mark of UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// The field that has the data of an event.
const FIELD: &[u8] = b"data";

/// An event may come so long before it is due: timers of servers count in milliseconds.
const EARLY_NS: u64 = 2_000_000;

/// Events that all come within this part of the time that they should take were held back, if the
/// last one is late by no more than that part: who is late with it got no processor, or the driver.
const AT_ONCE_PART: u64 = 10;

/// Whether a value of the field `Content-Type` is that of a stream of events.
#[must_use]
pub fn is_type(value: &[u8]) -> bool {
    let name = value.split(|&byte| byte == b';').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(MEDIA_TYPE)
}

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// The next piece of the data of an event; its lines are joined by line feeds.
    Data(&'b [u8]),
    /// The end of an event, and how many bytes came since the end of the one before it.
    End(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So much of the byte order mark has come.
    Mark(usize),
    /// A line begins.
    Line,
    /// So much of [`FIELD`] has come.
    Name(usize),
    /// The colon behind it has come.
    Colon,
    /// Within a line of data.
    Data,
    /// Within a line that does not matter: a comment, or another field.
    Other,
}

/// Splits a stream into its events. Lines without data are none.
#[derive(Clone, Debug)]
pub struct Splitter {
    state: State,
    /// Whether the last byte was a carriage return: a line feed after it ends no further line.
    has_returned: bool,
    /// Whether an event has begun: a line of its data has.
    has_data: bool,
    /// Whether a byte of a field of the next event has come: of a line that is neither empty nor a
    /// comment.
    has_field: bool,
    /// Bytes since the end of the last event.
    bytes: u64,
}

impl Default for Splitter {
    fn default() -> Self {
        Self {
            state: State::Mark(0),
            has_returned: false,
            has_data: false,
            has_field: false,
            bytes: 0,
        }
    }
}

impl Splitter {
    /// Whether an event has begun whose end has not come.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.has_data
    }

    /// Whether a byte has come that is of the next event. Those that surround it are not: the rest of
    /// the line end before it, empty lines and comments.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.has_field
    }

    /// Bytes since the end of the last event.
    #[must_use]
    pub fn pending_bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads on.
    pub fn read(&mut self, mut bytes: &[u8], mut take: impl FnMut(Part<'_>)) {
        while let Some(&byte) = bytes.first() {
            let count = match self.state {
                State::Data | State::Other => bytes_of_line(bytes),
                _ => 0,
            };
            if count > 0 {
                if self.state == State::Data {
                    take(Part::Data(&bytes[..count]));
                }
                self.bytes += count as u64;
                bytes = &bytes[count..];
                continue;
            }
            self.bytes += 1;
            bytes = &bytes[1..];
            let follows_return = std::mem::replace(&mut self.has_returned, byte == b'\r');
            match byte {
                b'\n' if follows_return => {}
                b'\r' | b'\n' => self.end_line(&mut take),
                _ => self.state = self.after(byte, &mut take),
            }
        }
    }

    /// The state after a byte that ends no line.
    fn after(&mut self, byte: u8, take: &mut impl FnMut(Part<'_>)) -> State {
        self.has_field |= self.state == State::Line && byte != b':';
        match self.state {
            State::Mark(at) if byte == MARK[at] => {
                if at + 1 == MARK.len() {
                    State::Line
                } else {
                    State::Mark(at + 1)
                }
            }
            State::Mark(0) | State::Line if byte == FIELD[0] => State::Name(1),
            State::Name(at) if FIELD.get(at) == Some(&byte) => State::Name(at + 1),
            State::Name(at) if at == FIELD.len() && byte == b':' => {
                self.begin_data(take);
                State::Colon
            }
            State::Colon => {
                if byte != b' ' {
                    take(Part::Data(&[byte]));
                }
                State::Data
            }
            _ => State::Other,
        }
    }

    fn begin_data(&mut self, take: &mut impl FnMut(Part<'_>)) {
        if std::mem::replace(&mut self.has_data, true) {
            take(Part::Data(b"\n"));
        }
    }

    fn end_line(&mut self, take: &mut impl FnMut(Part<'_>)) {
        match self.state {
            State::Line | State::Mark(0) => {
                self.has_field = false;
                if std::mem::take(&mut self.has_data) {
                    take(Part::End(std::mem::take(&mut self.bytes)));
                }
            }
            // A field without a colon has no value.
            State::Name(at) if at == FIELD.len() => self.begin_data(take),
            _ => {}
        }
        self.state = State::Line;
    }
}

/// Bytes of the line that `bytes` go on with, without its end.
fn bytes_of_line(bytes: &[u8]) -> usize {
    memchr::memchr2(b'\r', b'\n', bytes).unwrap_or(bytes.len())
}

/// The events of one response, compared with those expected.
#[derive(Debug)]
pub struct Stream {
    splitter: Splitter,
    /// When the request was sent.
    sent_ns: u64,
    /// Events that have ended.
    count: u64,
    first_ns: u64,
    last_ns: u64,
    /// Bytes of the data of the event under way that are as expected.
    matched: usize,
    is_wrong: bool,
    /// Length of each event that ended since [`Stream::ended`] was last called, in bytes.
    ended: Vec<u64>,
}

impl Stream {
    /// No event has come yet of the response to a request that was sent at `sent_ns`.
    #[must_use]
    pub fn new(sent_ns: u64) -> Self {
        Self {
            splitter: Splitter::default(),
            sent_ns,
            count: 0,
            first_ns: 0,
            last_ns: 0,
            matched: 0,
            is_wrong: false,
            ended: Vec::new(),
        }
    }

    /// Events that have ended.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a byte has come of the event after the last one that ended.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.splitter.has_begun()
    }

    /// Bytes that came after the end of the last event.
    #[must_use]
    pub fn pending_bytes(&self) -> u64 {
        self.splitter.pending_bytes()
    }

    /// Whether [`Stream::ended`] has something.
    #[inline]
    #[must_use]
    pub fn has_ended(&self) -> bool {
        !self.ended.is_empty()
    }

    /// How many lengths [`Stream::ended`] has.
    #[must_use]
    pub fn ended_count(&self) -> u64 {
        self.ended.len() as u64
    }

    /// Their sum.
    #[must_use]
    pub fn ended_bytes(&self) -> u64 {
        self.ended.iter().sum()
    }

    /// Lengths of the events that ended since this was last called, in bytes; only where each is a
    /// row.
    pub fn ended(&mut self) -> std::vec::Drain<'_, u64> {
        self.ended.drain(..)
    }

    /// Bytes of the stream have come.
    pub fn read(&mut self, bytes: &[u8], expected: &spec::Events, now_ns: u64) {
        let Self { splitter, sent_ns, count, first_ns, last_ns, matched, is_wrong, ended } = self;
        splitter.read(bytes, |part| match part {
            Part::Data(piece) => {
                let data = expected.data_of(*count).unwrap_or(piece);
                let end = matched.saturating_add(piece.len());
                *is_wrong |= expected.data.is_some() && data.get(*matched..end) != Some(piece);
                *matched = end;
            }
            Part::End(length) => {
                if let Some(data) = expected.data_of(*count) {
                    *is_wrong |= data.len() != *matched;
                }
                let due_ns = sent_ns.saturating_add(expected.due_ns(*count));
                *is_wrong |= now_ns.saturating_add(EARLY_NS) < due_ns;
                *first_ns = if *count == 0 { now_ns } else { *first_ns };
                *last_ns = now_ns;
                *count += 1;
                *matched = 0;
                if expected.rows {
                    ended.push(length);
                }
            }
        });
    }

    /// How the response ends, which is complete, if its events are not those expected.
    #[must_use]
    pub fn problem(&self, expected: &spec::Events) -> Option<Outcome> {
        let is_wrong = self.is_wrong
            || self.count == 0
            || self.splitter.is_within()
            || expected.count().is_some_and(|count| count != self.count)
            || self.is_at_once(expected);
        is_wrong.then_some(Outcome::WrongEvents)
    }

    /// Whether events that should take a time came together when the last one was due.
    fn is_at_once(&self, expected: &spec::Events) -> bool {
        let stated_ns = expected.due_ns(self.count - 1);
        let short_ns = stated_ns / AT_ONCE_PART;
        let late_ns = self.last_ns.saturating_sub(self.sent_ns.saturating_add(stated_ns));
        stated_ns > 0 && late_ns <= short_ns && self.last_ns - self.first_ns < short_ns
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// The data of each event and its length, of a stream that comes in pieces.
    fn events(pieces: &[&[u8]]) -> Vec<(String, u64)> {
        let (mut splitter, mut found, mut data) = (Splitter::default(), Vec::new(), Vec::new());
        for piece in pieces {
            splitter.read(piece, |part| match part {
                Part::Data(piece) => data.extend_from_slice(piece),
                Part::End(bytes) => {
                    found.push((String::from_utf8(std::mem::take(&mut data)).unwrap(), bytes));
                }
            });
        }
        found
    }

    fn data(stream: &str) -> Vec<String> {
        events(&[stream.as_bytes()]).into_iter().map(|(data, _)| data).collect()
    }

    #[test]
    fn the_media_type_may_have_parameters_and_any_case() {
        for right in
            ["text/event-stream", "Text/Event-Stream; charset=utf-8", " text/event-stream "]
        {
            assert!(is_type(right.as_bytes()), "{right}");
        }
        for wrong in ["text/plain", "text/event-streams", "", "application/json;text/event-stream"]
        {
            assert!(!is_type(wrong.as_bytes()), "{wrong}");
        }
    }

    #[test]
    fn the_examples_of_the_standard_are_read_as_it_says() {
        assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
        let stream = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n\
            data:  third event\n\n";
        assert_eq!(data(stream), ["first event", "second event", " third event"]);
        // The last block is cut off, so it is no event.
        assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["", "\n"]);
        assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
    }

    #[test]
    fn lines_end_in_three_ways_and_a_mark_may_come_first() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = format!("\u{feff}data: a{end}{end}:x{end}data: b{end}{end}");
            assert_eq!(data(&stream), ["a", "b"], "{end:?}");
        }
        // Only one mark is taken off, and only at the beginning.
        assert_eq!(data("\u{feff}\u{feff}data: a\n\ndata: b\n\n"), ["b"]);
    }

    #[test]
    fn what_has_no_data_is_no_event() {
        for none in [
            "\n\n",
            ": comment\n\n",
            "event: x\n\n",
            "retry: 5\n\n",
            "dat: x\n\n",
            "datas: x\n\n",
            "Data: x\n\n",
            " data: x\n\n",
            "data: x\n",
            "\u{feff}",
            "",
        ] {
            assert_eq!(data(none), [""; 0], "{none:?}");
        }
    }

    #[test]
    fn the_length_of_an_event_is_all_since_the_one_before_it() {
        let found = events(&[b":c\n\ndata: a\n\n", b"data", b":b\r\n\r\n"]);
        // The line feed of the last empty line comes after the end that the carriage return makes.
        assert_eq!(found, [("a".to_owned(), 13), ("b".to_owned(), 9)]);
    }

    #[test]
    fn an_event_begins_with_the_first_byte_of_a_field() {
        let mut splitter = Splitter::default();
        let mut has_begun = |piece: &[u8]| {
            splitter.read(piece, |_| ());
            splitter.has_begun()
        };
        for (piece, begins) in [
            (&b"data: a\r\n\r"[..], false),
            (b"\n", false),
            (b"\n\r\n", false),
            (b": comment", false),
            (b"\n", false),
            (b"d", true),
            (b"ata: b\n", true),
            (b"\n", false),
            (b"id: 5\n", true),
            // Without data it is no event.
            (b"\n", false),
            (b"x", true),
        ] {
            assert_eq!(has_begun(piece), begins, "{}", String::from_utf8_lossy(piece));
        }
    }

    fn expected(count: usize, every_ns: u64) -> spec::Events {
        let data = (0..count).map(|number| number.to_string()).collect();
        spec::Events { data: Some(data), every_ns, rows: false }
    }

    /// How a stream of numbered events ends that come at instants after the request.
    fn judged(expected: &spec::Events, instants_ms: &[u64]) -> Option<Outcome> {
        let mut stream = Stream::new(7 * MS);
        for (number, at_ms) in instants_ms.iter().enumerate() {
            let event = format!("data: {number}\n\n");
            stream.read(event.as_bytes(), expected, (7 + at_ms) * MS);
        }
        stream.problem(expected)
    }

    #[test]
    fn events_come_when_they_are_due_or_later() {
        let wrong = Some(Outcome::WrongEvents);
        let five = expected(5, 10 * MS);
        for (instants_ms, problem) in [
            (&[0, 10, 20, 30, 40][..], None),
            (&[0, 8, 18, 28, 38], None),
            (&[0, 7, 20, 30, 40], wrong),
            (&[30, 30, 30, 30, 40], None),
            (&[40, 40, 40, 40, 40], wrong),
            (&[41, 41, 44, 44, 44], wrong),
            // Server or driver is late with everything.
            (&[45, 45, 45, 45, 45], None),
            (&[90, 90, 90, 90, 90], None),
            (&[0, 10, 20, 30], wrong),
            (&[0, 10, 20, 30, 40, 50], wrong),
        ] {
            assert_eq!(judged(&five, instants_ms), problem, "{instants_ms:?}");
        }
        assert_eq!(judged(&expected(2, 0), &[0, 0]), None);
        assert_eq!(judged(&expected(1, 10 * MS), &[0]), None);
    }

    #[test]
    fn events_have_the_data_that_is_expected() {
        let two = expected(2, 0);
        for (stream, is_right) in [
            ("data: 0\n\ndata: 1\n\n", true),
            (": x\nid: 5\ndata:0\r\n\r\nevent: y\ndata: 1\n\n", true),
            ("data: 0\n\ndata: 2\n\n", false),
            ("data: 0\n\ndata: 11\n\n", false),
            ("data: 0\n\ndata:\n\n", false),
            ("data: 0\ndata: 1\n\n", false),
            ("data: 0\n\ndata: 1\n\ndata: ", false),
            ("", false),
        ] {
            let mut stream_of = Stream::new(0);
            stream_of.read(stream.as_bytes(), &two, 0);
            assert_eq!(stream_of.problem(&two).is_none(), is_right, "{stream:?}");
        }
        let any = spec::Events::default();
        let mut stream = Stream::new(0);
        stream.read(b"data: x\n\n", &any, 0);
        assert_eq!((stream.problem(&any), stream.has_ended()), (None, false));
    }

    #[test]
    fn a_huge_event_takes_no_memory() {
        let any = spec::Events { rows: true, ..spec::Events::default() };
        let mut stream = Stream::new(0);
        stream.read(b"data: ", &any, 0);
        for _ in 0..1_000 {
            stream.read(&[b'x'; 10_000], &any, 0);
        }
        assert_eq!((stream.pending_bytes(), stream.has_ended()), (10_000_006, false));
        stream.read(b"\n\n", &any, 0);
        assert_eq!(stream.ended().collect::<Vec<_>>(), [10_000_008]);
    }

    proptest! {
        #[test]
        fn a_stream_is_the_same_in_any_split(
            parts in prop::collection::vec(prop::sample::select(&[
                "data", ":", " ", "x", "\r", "\n", "\r\n", "\n\n", "data: y\n\n", ": c\n", "id: 3", "\u{feff}",
            ][..]), 0..40),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let whole = parts.concat().into_bytes();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
            cuts.push(whole.len());
            cuts.sort_unstable();
            let mut start = 0;
            let pieces: Vec<_> =
                cuts.iter().map(|&cut| &whole[std::mem::replace(&mut start, cut)..cut]).collect();
            prop_assert_eq!(events(&pieces), events(&[&whole]));
        }
    }
}
