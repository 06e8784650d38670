//! HTTP/2 on one connection of the reference server: every stream is a request of its own.
//!
//! # Source
//!
//! RFC 9113; numbers in comments are its sections.

use std::collections::VecDeque;
use std::ops::Range;

use plimsoll_http2::frame::{
    self, ACK, DEFAULT_FRAME_BYTES, DEFAULT_WINDOW_BYTES, END_HEADERS, END_STREAM, ErrorCode, Head,
    Kind, LARGEST_WINDOW_BYTES, PREFACE, Part, Reader, Setting,
};
use plimsoll_http2::hpack::{self, Decoder};

use crate::Streams;
use crate::contract::{self, Answer};
use crate::events::Events;
use crate::http2_request::{Asked, Fields};
use crate::request::{BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, Refusal};
use crate::tally::{Held, Tally};

/// Streams that a client may have open at one time.
const MOST_STREAMS: u32 = 1024;

/// The window of a stream for its request: the first byte too many is still taken, and refused.
const STREAM_WINDOW_BYTES: u32 = (20 << 20) + 1;
const _: () = assert!(STREAM_WINDOW_BYTES as usize == BODY_LIMIT_BYTES + 1);

/// Bodies go into the output as long as it is no longer than this.
const OUTPUT_BYTES: usize = 256 * 1024;

/// A client that has the server reply without end, and reads nothing, is given up.
const MOST_OUTPUT_BYTES: usize = 4 << 20;

/// So many pieces of a header block may be empty: they are allowed, but not without end.
const MOST_EMPTY_PIECES: u16 = 256;

/// Streams that were reset of which late frames are expected.
const MOST_RESET: usize = 1024;

/// Gaps between the numbers of streams that are remembered.
const MOST_GAPS: usize = 64;

/// What a stream is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Its request has come in part.
    Receiving,
    /// The response is there, and its service time not yet over, or its next event not due.
    Waiting,
    /// The response is being sent.
    Sending,
}

struct Stream {
    number: u32,
    phase: Phase,
    asked: Asked,
    answer: Answer,
    /// Bytes of the answer that are in the output.
    sent_bytes: usize,
    /// Bytes of bodies that the client takes.
    window: i64,
    held: Held,
}

/// A header block that goes on in another frame.
#[derive(Clone, Copy)]
struct OpenBlock {
    stream: u32,
    ends_stream: bool,
    /// Pieces without a byte that have come of it.
    empty_pieces: u16,
}

/// Why a frame is not taken.
enum Violation {
    /// The connection ends.
    Connection(ErrorCode),
    /// A stream ends.
    Stream(u32, ErrorCode),
}

impl From<ErrorCode> for Violation {
    fn from(code: ErrorCode) -> Self {
        Self::Connection(code)
    }
}

type Taken = Result<(), Violation>;

/// The state of one connection.
pub(super) struct Session {
    /// Bytes of the client's preface that have come.
    preface_bytes: usize,
    has_settings: bool,
    reader: Reader,
    decoder: Decoder,
    block: Vec<u8>,
    open_block: Option<OpenBlock>,
    /// In the order of their numbers.
    streams: VecDeque<Stream>,
    last_stream: u32,
    /// Numbers that the client has passed over: no stream may have them any more.
    gaps: VecDeque<Range<u32>>,
    reset: Vec<u32>,
    /// Streams whose requests are complete, and not yet known to the worker.
    complete: VecDeque<u32>,
    /// How streams are served.
    order: Streams,
    /// The stream that the worker was last told of.
    served: Option<u32>,
    /// Streams whose next event is due at an instant, and not yet known to the worker.
    paused: VecDeque<(u64, u32)>,
    output: Vec<u8>,
    window: i64,
    stream_window: i64,
    unreturned: u32,
    /// Responses whose last byte is in the output.
    finished: Vec<Held>,
    is_over: bool,
}

impl Session {
    pub fn new(order: Streams) -> Self {
        let mut output = Vec::new();
        let settings = [
            (Setting::MaxConcurrentStreams, MOST_STREAMS),
            (Setting::InitialWindowSize, STREAM_WINDOW_BYTES),
        ];
        frame::write_settings(&mut output, &settings);
        let more = LARGEST_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;
        frame::write_window_update(&mut output, 0, more);
        Self {
            preface_bytes: 0,
            has_settings: false,
            reader: Reader::default(),
            decoder: Decoder::default(),
            block: Vec::new(),
            open_block: None,
            streams: VecDeque::new(),
            last_stream: 0,
            gaps: VecDeque::new(),
            reset: Vec::new(),
            complete: VecDeque::new(),
            order,
            served: None,
            paused: VecDeque::new(),
            output,
            window: i64::from(DEFAULT_WINDOW_BYTES),
            stream_window: i64::from(DEFAULT_WINDOW_BYTES),
            unreturned: 0,
            finished: Vec::new(),
            is_over: false,
        }
    }

    /// Bytes to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// The kernel took so many bytes of the output.
    pub fn sent(&mut self, count: usize, tally: &Tally) {
        self.output.drain(..count);
        if self.output.is_empty() {
            tally.responses_sent.add(self.finished.len());
            for held in self.finished.drain(..) {
                tally.witness.add(held);
            }
            self.send_bodies();
        }
    }

    /// Whether nothing more is read: the connection ends when the output is sent.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// A stream whose request is complete and whose service time begins.
    pub fn next_complete(&mut self) -> Option<u32> {
        let in_turn = self.order == Streams::InTurn;
        if in_turn && self.served.is_some_and(|number| self.place(number).is_some()) {
            return None;
        }
        self.served = self.complete.pop_front();
        self.served
    }

    /// A stream whose next event is due at an instant.
    pub fn next_paused(&mut self) -> Option<(u64, u32)> {
        self.paused.pop_front()
    }

    /// The service time of a stream is over, or its next event is due.
    pub fn answer(&mut self, number: u32, tally: &Tally) {
        let Some(place) = self.place(number) else { return };
        let stream = &mut self.streams[place];
        if stream.phase != Phase::Waiting {
            return;
        }
        stream.phase = Phase::Sending;
        let events = stream.answer.events.as_mut().filter(|events| events.has_begun());
        if let Some(event) = events.map(Events::next_event) {
            stream.answer = Answer::before(event, stream.answer.events);
            stream.sent_bytes = 0;
        } else {
            stream.held.answered_ns = tally.witness.now_ns();
            stream.sent_bytes = write_head(&mut self.output, number, &stream.answer);
        }
        self.send_body(place);
    }

    /// Takes bytes that have come.
    pub fn received(&mut self, bytes: &[u8], tally: &Tally) {
        let taken = self.take_preface(bytes);
        let mut rest = &bytes[taken..];
        while !self.is_over {
            let mut reader = std::mem::take(&mut self.reader);
            let read = reader.next(rest).map(|read| (read.consumed, self.part(read.part, tally)));
            self.reader = reader;
            match read {
                Ok((consumed, is_more)) if is_more => rest = &rest[consumed..],
                Ok(_) => return,
                Err(code) => self.fail(code),
            }
        }
    }

    /// Takes what is left of the preface; returns how many bytes that was.
    fn take_preface(&mut self, bytes: &[u8]) -> usize {
        let awaited = &PREFACE[self.preface_bytes..];
        let count = awaited.len().min(bytes.len());
        if awaited[..count] != bytes[..count] {
            self.fail(ErrorCode::ProtocolError);
        }
        self.preface_bytes += count;
        count
    }

    /// Takes a part of a frame; false when there is none yet.
    fn part(&mut self, part: Part<'_>, tally: &Tally) -> bool {
        let taken = match part {
            Part::More => return false,
            Part::Frame(head, payload) => self.frame(head, payload, tally),
            Part::Data { head, piece, is_first, is_last } => {
                self.data(head, piece, is_first, is_last, tally)
            }
        };
        match taken {
            Ok(()) => {}
            Err(Violation::Connection(code)) => self.fail(code),
            Err(Violation::Stream(number, code)) => self.reset_stream(number, code),
        }
        if self.output.len() > MOST_OUTPUT_BYTES {
            self.fail(ErrorCode::EnhanceYourCalm);
        }
        true
    }

    fn fail(&mut self, code: ErrorCode) {
        if !std::mem::replace(&mut self.is_over, true) {
            frame::write_go_away(&mut self.output, self.last_stream, code);
            self.streams.clear();
        }
    }

    fn reset_stream(&mut self, number: u32, code: ErrorCode) {
        frame::write_reset(&mut self.output, number, code);
        if let Some(place) = self.place(number) {
            self.streams.remove(place);
        }
        if self.reset.len() >= MOST_RESET {
            self.reset.remove(0);
        }
        self.reset.push(number);
    }

    fn place(&self, number: u32) -> Option<usize> {
        self.streams.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    fn frame(&mut self, head: Head, payload: &[u8], tally: &Tally) -> Taken {
        if !self.has_settings && (head.kind != Kind::Settings || head.has(ACK)) {
            return Err(ErrorCode::ProtocolError.into());
        }
        if self.open_block.is_some() != (head.kind == Kind::Continuation) {
            return Err(ErrorCode::ProtocolError.into());
        }
        match head.kind {
            Kind::Headers => self.begin_headers(head, payload, tally),
            Kind::Continuation => self.continue_headers(head, payload, tally),
            Kind::Settings => Ok(self.settings(head, payload)?),
            Kind::Ping => Ok(self.ping(head, payload)?),
            Kind::Priority => priority(head, payload),
            Kind::RstStream => Ok(self.stream_was_reset(head, payload)?),
            Kind::WindowUpdate => self.window_update(head, payload),
            Kind::GoAway if head.stream == 0 => {
                frame::go_away(payload)?;
                Ok(())
            }
            Kind::GoAway | Kind::PushPromise | Kind::Data => Err(ErrorCode::ProtocolError.into()),
            Kind::Unknown(_) => Ok(()),
        }
    }

    fn begin_headers(&mut self, head: Head, payload: &[u8], tally: &Tally) -> Taken {
        if head.stream % 2 == 0 {
            return Err(ErrorCode::ProtocolError.into());
        }
        let piece = frame::header_fragment(head, payload)?;
        let (stream, ends_stream) = (head.stream, head.has(END_STREAM));
        let open = OpenBlock { stream, ends_stream, empty_pieces: 0 };
        if head.has(END_HEADERS) {
            return self.headers(open, piece, tally);
        }
        self.block.clear();
        self.block.extend_from_slice(piece);
        self.open_block = Some(open);
        Ok(())
    }

    fn continue_headers(&mut self, head: Head, payload: &[u8], tally: &Tally) -> Taken {
        let open = self.open_block.take().filter(|open| open.stream == head.stream);
        let mut open = open.ok_or(ErrorCode::ProtocolError)?;
        self.block.extend_from_slice(payload);
        open.empty_pieces += u16::from(payload.is_empty());
        if self.block.len() > HEAD_LIMIT_BYTES || open.empty_pieces > MOST_EMPTY_PIECES {
            return Err(ErrorCode::EnhanceYourCalm.into());
        }
        if !head.has(END_HEADERS) {
            self.open_block = Some(open);
            return Ok(());
        }
        let block = std::mem::take(&mut self.block);
        let taken = self.headers(open, &block, tally);
        self.block = block;
        taken
    }

    /// Takes a whole header block: of a new request, or the trailers of one.
    fn headers(&mut self, block_of: OpenBlock, block: &[u8], tally: &Tally) -> Taken {
        let OpenBlock { stream: number, ends_stream, .. } = block_of;
        let mut fields = Fields::default();
        let decoded = self.decoder.decode(block, |name, value| fields.take(name, value));
        decoded.map_err(|_| ErrorCode::CompressionError)?;
        if number <= self.last_stream {
            return self.trailers(number, ends_stream, &fields, tally);
        }
        self.open(number);
        if self.streams.len() >= MOST_STREAMS as usize {
            return Err(Violation::Stream(number, ErrorCode::RefusedStream));
        }
        let asked = fields.into_request();
        let asked = asked.ok_or(Violation::Stream(number, ErrorCode::ProtocolError))?;
        if asked.is_too_large() {
            self.refuse_body(number, tally);
            return Err(Violation::Stream(number, ErrorCode::NoError));
        }
        self.streams.push_back(Stream {
            number,
            phase: Phase::Receiving,
            asked,
            answer: Answer::default(),
            sent_bytes: 0,
            window: self.stream_window,
            held: Held { received_ns: 0, answered_ns: 0 },
        });
        if ends_stream { self.complete(self.streams.len() - 1, tally) } else { Ok(()) }
    }

    /// Takes the number of a new stream, which is greater than all before.
    fn open(&mut self, number: u32) {
        if number > self.last_stream + 2 {
            if self.gaps.len() >= MOST_GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back(self.last_stream + 1..number);
        }
        self.last_stream = number;
    }

    fn trailers(
        &mut self,
        number: u32,
        ends_stream: bool,
        fields: &Fields,
        tally: &Tally,
    ) -> Taken {
        let Some(place) = self.place(number) else {
            // 5.1.1
            if self.gaps.iter().any(|gap| gap.contains(&number)) {
                return Err(ErrorCode::ProtocolError.into());
            }
            return self.late(number);
        };
        if self.streams[place].phase != Phase::Receiving {
            return Err(Violation::Stream(number, ErrorCode::StreamClosed));
        }
        if !ends_stream || !fields.are_trailers() {
            return Err(Violation::Stream(number, ErrorCode::ProtocolError));
        }
        self.complete(place, tally)
    }

    /// A frame of a stream that is over: expected of one that was reset, until the client knows.
    fn late(&self, number: u32) -> Taken {
        let is_expected = self.reset.contains(&number);
        if is_expected { Ok(()) } else { Err(ErrorCode::StreamClosed.into()) }
    }

    fn data(
        &mut self,
        head: Head,
        piece: &[u8],
        is_first: bool,
        is_last: bool,
        tally: &Tally,
    ) -> Taken {
        let number = head.stream;
        if !self.has_settings || self.open_block.is_some() || self.is_idle(number) {
            return Err(ErrorCode::ProtocolError.into());
        }
        if is_first {
            self.unreturned += u32::try_from(head.length).unwrap_or(u32::MAX);
            if self.unreturned > LARGEST_WINDOW_BYTES / 2 {
                let more = std::mem::take(&mut self.unreturned);
                frame::write_window_update(&mut self.output, 0, more);
            }
        }
        let Some(place) = self.place(number) else { return self.late(number) };
        let stream = &mut self.streams[place];
        if stream.phase != Phase::Receiving {
            return Err(Violation::Stream(number, ErrorCode::StreamClosed));
        }
        stream.asked.body.extend_from_slice(piece);
        if stream.asked.body.len() > BODY_LIMIT_BYTES {
            self.refuse_body(number, tally);
            return Err(Violation::Stream(number, ErrorCode::NoError));
        }
        if is_last && head.has(END_STREAM) { self.complete(place, tally) } else { Ok(()) }
    }

    fn refuse_body(&mut self, number: u32, tally: &Tally) {
        write_head(&mut self.output, number, &contract::refuse(Refusal::BodyTooLarge));
        tally.requests_refused.add(1);
    }

    fn is_idle(&self, number: u32) -> bool {
        number % 2 == 0 || number > self.last_stream
    }

    /// A request is complete.
    fn complete(&mut self, place: usize, tally: &Tally) -> Taken {
        let stream = &mut self.streams[place];
        if !stream.asked.is_as_long_as_said() {
            return Err(Violation::Stream(stream.number, ErrorCode::ProtocolError));
        }
        tally.requests_received.add(1);
        stream.held.received_ns = tally.witness.now_ns();
        stream.answer = contract::answer(&stream.asked.request());
        stream.phase = Phase::Waiting;
        self.complete.push_back(stream.number);
        Ok(())
    }

    fn settings(&mut self, head: Head, payload: &[u8]) -> Result<(), ErrorCode> {
        let settings = frame::settings(head, payload)?;
        if head.has(ACK) {
            return Ok(());
        }
        for setting in settings {
            if let (Setting::InitialWindowSize, window) = setting? {
                let change = i64::from(window) - self.stream_window;
                self.stream_window = i64::from(window);
                for stream in &mut self.streams {
                    enlarge(&mut stream.window, change)?;
                }
            }
        }
        self.has_settings = true;
        frame::write_settings_ack(&mut self.output);
        self.send_bodies();
        Ok(())
    }

    fn ping(&mut self, head: Head, payload: &[u8]) -> Result<(), ErrorCode> {
        if head.stream != 0 {
            return Err(ErrorCode::ProtocolError);
        }
        if payload.len() != 8 {
            return Err(ErrorCode::FrameSizeError);
        }
        if !head.has(ACK) {
            frame::write_ping_ack(&mut self.output, payload);
        }
        Ok(())
    }

    fn stream_was_reset(&mut self, head: Head, payload: &[u8]) -> Result<(), ErrorCode> {
        frame::number(payload)?;
        if self.is_idle(head.stream) {
            return Err(ErrorCode::ProtocolError);
        }
        if let Some(place) = self.place(head.stream) {
            self.streams.remove(place);
        }
        Ok(())
    }

    fn window_update(&mut self, head: Head, payload: &[u8]) -> Taken {
        let number = head.stream;
        if number == 0 {
            enlarge(&mut self.window, i64::from(frame::increment(payload)?))?;
        } else {
            if self.is_idle(number) {
                return Err(ErrorCode::ProtocolError.into());
            }
            let more = match frame::increment(payload) {
                Err(code @ ErrorCode::ProtocolError) => {
                    return Err(Violation::Stream(number, code));
                }
                more => i64::from(more?),
            };
            // It may come after the response whose stream is over.
            let Some(place) = self.place(number) else { return Ok(()) };
            let enlarged = enlarge(&mut self.streams[place].window, more);
            enlarged.map_err(|code| Violation::Stream(number, code))?;
        }
        self.send_bodies();
        Ok(())
    }

    /// Goes on with responses that had to wait for a window, or for room in the output.
    fn send_bodies(&mut self) {
        let mut place = 0;
        while place < self.streams.len() && self.output.len() < OUTPUT_BYTES {
            let before = self.streams.len();
            if self.streams[place].phase == Phase::Sending {
                self.send_body(place);
            }
            place += usize::from(self.streams.len() == before);
        }
    }

    /// Puts as much of a body into the output as the windows take; the last of it ends the stream.
    fn send_body(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        while stream.sent_bytes < stream.answer.len() {
            let window = usize::try_from(stream.window.min(self.window)).unwrap_or(0);
            let left = stream.answer.len() - stream.sent_bytes;
            let length = left.min(window).min(DEFAULT_FRAME_BYTES);
            if length == 0 || self.output.len() >= OUTPUT_BYTES {
                return;
            }
            let is_last = stream.answer.events.is_none_or(|events| events.is_over());
            let flags = if length == left && is_last { END_STREAM } else { 0 };
            Head { length, kind: Kind::Data, flags, stream: stream.number }.write(&mut self.output);
            let piece = &stream.answer[stream.sent_bytes..stream.sent_bytes + length];
            self.output.extend_from_slice(piece);
            stream.sent_bytes += length;
            let taken = i64::try_from(length).unwrap_or(i64::MAX);
            stream.window -= taken;
            self.window -= taken;
        }
        if let Some(due_ns) = stream.answer.events.as_mut().and_then(Events::next_due_ns) {
            stream.phase = Phase::Waiting;
            self.paused.push_back((due_ns, stream.number));
            return;
        }
        self.finished.push(stream.held);
        self.streams.remove(place);
    }
}

fn priority(head: Head, payload: &[u8]) -> Taken {
    if head.stream == 0 {
        return Err(ErrorCode::ProtocolError.into());
    }
    let Some(&depends_on) = payload.first_chunk().filter(|_| payload.len() == 5) else {
        return Err(Violation::Stream(head.stream, ErrorCode::FrameSizeError));
    };
    if u32::from_be_bytes(depends_on) & LARGEST_WINDOW_BYTES == head.stream {
        return Err(Violation::Stream(head.stream, ErrorCode::ProtocolError));
    }
    Ok(())
}

fn enlarge(window: &mut i64, more: i64) -> Result<(), ErrorCode> {
    *window += more;
    let fits = *window <= i64::from(LARGEST_WINDOW_BYTES);
    fits.then_some(()).ok_or(ErrorCode::FlowControlError)
}

/// Writes the head of an answer that is given as HTTP/1; returns where its body begins.
fn write_head(output: &mut Vec<u8>, stream: u32, answer: &Answer) -> usize {
    let mut headers = [httparse::EMPTY_HEADER; 16];
    let mut head = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(body_at)) = head.parse(answer) else { return answer.len() };
    let mut block = Vec::with_capacity(128);
    hpack::write_field(&mut block, b":status", head.code.unwrap_or(500).to_string().as_bytes());
    for header in &*head.headers {
        let name = header.name.to_ascii_lowercase();
        if !matches!(&*name, "connection" | "transfer-encoding" | "upgrade") {
            hpack::write_field(&mut block, name.as_bytes(), header.value);
        }
    }
    let is_whole = body_at == answer.len() && answer.events.is_none();
    let end_stream = if is_whole { END_STREAM } else { 0 };
    let flags = END_HEADERS | end_stream;
    Head { length: block.len(), kind: Kind::Headers, flags, stream }.write(output);
    output.extend_from_slice(&block);
    body_at
}
