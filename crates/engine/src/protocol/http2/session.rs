//! The state of one connection of HTTP/2, and what frames change in it.

use std::collections::VecDeque;

use plimsoll_http2::frame::{
    self, ACK, DEFAULT_FRAME_BYTES, DEFAULT_WINDOW_BYTES, END_HEADERS, END_STREAM, ErrorCode, Head,
    Kind, LARGEST_WINDOW_BYTES, LAST_STREAM, PREFACE, Setting,
};
use plimsoll_http2::hpack::Decoder;

use super::response::{Fields, LONGEST_LIST_BYTES};
use crate::coding::Coded;
use crate::outcome::Outcome;
use crate::protocol::{Event, Id};
use crate::request::Request;

/// The window of a stream for its response.
pub const STREAM_WINDOW_BYTES: u32 = 16 << 20;

/// The window of a connection for all responses on it.
pub const CONNECTION_WINDOW_BYTES: u32 = 1 << 30;

/// Streams that may be begun as long as the server has not said how many it takes.
const FIRST_STREAMS: usize = 1;

/// Requests and bodies that are put into the buffer before it is handed over.
const OUTPUT_BYTES: usize = 64 * 1024;

/// The most bytes that wait to be sent in response to what the server sends.
const MOST_REPLY_BYTES: usize = 1 << 20;

/// Streams given up of which late frames are expected.
const MOST_CANCELLED: usize = 1024;

/// A header block that is read in pieces may have no more bytes.
const LONGEST_BLOCK_BYTES: usize = LONGEST_LIST_BYTES;

/// So many of its pieces may be empty: they are allowed, and a block of them would have no end.
const MOST_EMPTY_PIECES: u16 = 256;

/// A size of the table of 0, in front of a header block.
const NO_TABLE: &[u8] = &[0x20];

/// How an exchange has ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ended {
    /// Its response is complete.
    Complete(Id),
    /// There will be no complete response.
    Early { id: Id, outcome: Outcome, code: u8 },
}

/// Why the connection is of no further use, and the exchange at fault.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) id: Option<Id>,
    pub(super) outcome: Outcome,
    /// What the server is told; [`ErrorCode::NoError`] if it did nothing wrong.
    pub(super) code: ErrorCode,
}

/// A piece of a DATA frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

/// What a frame has changed: maybe an exchange has ended.
type Change = Result<Option<Ended>, Fault>;

/// A request on the connection.
#[derive(Clone, Debug)]
struct Stream<'a> {
    number: u32,
    id: Id,
    request: &'a Request,
    /// The part of the body that is not in the buffer yet.
    body: &'a [u8],
    /// Bytes of the body that the server takes.
    window: i64,
    /// Where its last byte that is in the buffer ends, in bytes of the connection.
    end: u64,
    /// Whether the head of its response has come.
    has_head: bool,
    /// Length of the body, if the head has said it and the body has to have it.
    content_length: Option<u64>,
    body_bytes: u64,
    /// Bytes received that the server has not been given back.
    unreturned: u32,
}

/// A header block that goes on in another frame.
#[derive(Clone, Copy, Debug)]
struct OpenBlock {
    stream: u32,
    ends_stream: bool,
    /// Pieces without a byte that have come of it.
    empty_pieces: u16,
}

/// What the server has set.
#[derive(Clone, Copy, Debug)]
struct Settings {
    /// Whether its first settings have come.
    are_there: bool,
    streams: usize,
    stream_window: i64,
}

impl Default for Settings {
    fn default() -> Self {
        let stream_window = i64::from(DEFAULT_WINDOW_BYTES);
        Self { are_there: false, streams: usize::MAX, stream_window }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Session<'a> {
    /// Streams that the load has in flight on a connection.
    wanted: usize,
    /// In the order of their numbers.
    streams: VecDeque<Stream<'a>>,
    next_number: u32,
    /// How many of the last streams have begun since the transport took bytes, and where each
    /// begins in the buffer.
    fresh: Vec<usize>,
    /// Streams with a body that is not all in the buffer.
    with_body: usize,
    /// Streams that were given up: what still comes of them is passed over.
    cancelled: Vec<u32>,
    decoder: Decoder,
    block: Vec<u8>,
    open_block: Option<OpenBlock>,
    output: Vec<u8>,
    /// Bytes of `output` that the transport has taken.
    taken: usize,
    /// Bytes that were taken before those.
    taken_before: u64,
    /// Whether the transport has left some of what it was given.
    stands_still: bool,
    settings: Settings,
    /// Bytes of bodies that the server takes on this connection.
    window: i64,
    unreturned: u32,
    /// Whether the next header block has to say that it uses no table.
    tells_no_table: bool,
    has_grown: bool,
    /// How the connection ends after the streams on it, if it takes no more.
    retiring: Option<Outcome>,
    /// The last stream that the server processes.
    last_processed: u32,
}

/// A length as what it changes a window by.
#[inline]
fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

impl<'a> Session<'a> {
    pub(super) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            streams: VecDeque::with_capacity(wanted),
            next_number: 1,
            fresh: Vec::with_capacity(wanted),
            with_body: 0,
            cancelled: Vec::new(),
            decoder: Decoder::default(),
            block: Vec::new(),
            open_block: None,
            output: Vec::new(),
            taken: 0,
            taken_before: 0,
            stands_still: false,
            settings: Settings::default(),
            window: i64::from(DEFAULT_WINDOW_BYTES),
            unreturned: 0,
            tells_no_table: false,
            has_grown: false,
            retiring: None,
            last_processed: LAST_STREAM,
        }
    }

    pub(super) fn reset(&mut self) {
        self.streams.clear();
        self.next_number = 1;
        self.fresh.clear();
        self.with_body = 0;
        self.cancelled.clear();
        self.decoder.reset();
        self.open_block = None;
        self.output.clear();
        self.taken = 0;
        self.stands_still = false;
        self.settings = Settings::default();
        self.window = i64::from(DEFAULT_WINDOW_BYTES);
        self.unreturned = 0;
        self.tells_no_table = false;
        self.has_grown = false;
        self.retiring = None;
        self.last_processed = LAST_STREAM;
    }

    /// The connection is there: the client speaks first.
    pub(super) fn open(&mut self) {
        self.output.extend_from_slice(PREFACE);
        frame::write_settings(
            &mut self.output,
            &[
                (Setting::EnablePush, 0),
                (Setting::InitialWindowSize, STREAM_WINDOW_BYTES),
                (Setting::MaxHeaderListSize, u32::try_from(LONGEST_LIST_BYTES).unwrap_or(u32::MAX)),
            ],
        );
        let more = CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES;
        frame::write_window_update(&mut self.output, 0, more);
    }

    // ---- what the connection takes --------------------------------------------------------------

    pub(super) fn capacity(&self) -> usize {
        self.wanted
    }

    /// Requests that may be assigned to the connection.
    pub(super) fn places(&self) -> usize {
        self.wanted.min(self.settings.streams)
    }

    /// Requests that may begin now.
    pub(super) fn room(&self) -> usize {
        if self.retiring.is_some() {
            return 0;
        }
        let most = if self.settings.are_there { self.places() } else { FIRST_STREAMS };
        most.saturating_sub(self.streams.len())
    }

    pub(super) fn is_settled(&self) -> bool {
        self.settings.are_there
    }

    /// Streams that the server's settings allow at one time; nothing where they do not say.
    pub(super) fn allowed_streams(&self) -> Option<u32> {
        u32::try_from(self.settings.streams).ok()
    }

    /// Whether the server takes more streams than it did when this was last asked.
    pub(super) fn has_grown(&mut self) -> bool {
        std::mem::take(&mut self.has_grown)
    }

    pub(super) fn is_retiring(&self) -> bool {
        self.retiring.is_some()
    }

    #[inline]
    pub(super) fn must_close(&self) -> Option<Outcome> {
        self.retiring.filter(|_| self.streams.is_empty())
    }

    // ---- what is sent ---------------------------------------------------------------------------

    /// Puts a request into the buffer.
    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &'a Request) {
        let encoded = &request.http2;
        let number = self.next_number;
        self.next_number += 2;
        if self.next_number > LAST_STREAM {
            self.retiring = Some(Outcome::ClosedByDriver);
        }
        self.fresh.push(self.output.len());
        let tells_no_table = std::mem::take(&mut self.tells_no_table);
        let end_stream = if encoded.body.is_empty() { END_STREAM } else { 0 };
        let prefix = if tells_no_table { NO_TABLE } else { &[] };
        frame::write_headers(&mut self.output, number, end_stream, [prefix, &encoded.block]);
        self.with_body += usize::from(!encoded.body.is_empty());
        self.streams.push_back(Stream {
            number,
            id,
            request,
            body: &encoded.body,
            window: self.settings.stream_window,
            end: self.position(),
            has_head: false,
            content_length: None,
            body_bytes: 0,
            unreturned: 0,
        });
        if self.with_body > 0 {
            self.write_body(self.streams.len() - 1);
        }
    }

    /// Bytes put into the buffer since the connection was opened first.
    fn position(&self) -> u64 {
        self.taken_before + self.output.len() as u64
    }

    /// Puts as much of a body into the buffer as the windows and the buffer take.
    fn write_body(&mut self, place: usize) {
        let stream = &mut self.streams[place];
        if stream.body.is_empty() {
            return;
        }
        while self.output.len() < OUTPUT_BYTES {
            let window = stream.window.min(self.window).max(0);
            let length = usize::try_from(window).unwrap_or(usize::MAX);
            let length = length.min(DEFAULT_FRAME_BYTES).min(stream.body.len());
            if length == 0 {
                break;
            }
            let (piece, rest) = stream.body.split_at(length);
            let flags = if rest.is_empty() { END_STREAM } else { 0 };
            Head { length, kind: Kind::Data, flags, stream: stream.number }.write(&mut self.output);
            self.output.extend_from_slice(piece);
            stream.body = rest;
            stream.window -= signed(length);
            self.window -= signed(length);
            stream.end = self.taken_before + self.output.len() as u64;
            if rest.is_empty() {
                self.with_body -= 1;
                break;
            }
        }
    }

    /// Goes on with bodies that had to wait.
    fn write_bodies(&mut self) {
        for place in 0..self.streams.len() {
            if self.with_body == 0 || self.output.len() >= OUTPUT_BYTES {
                break;
            }
            self.write_body(place);
        }
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &[u8] {
        &self.output[self.taken..]
    }

    /// The transport took so many bytes. Requests of which it took none, behind another, are taken
    /// back.
    #[inline]
    pub(super) fn sent(&mut self, count: usize) -> usize {
        self.taken += count;
        let begun = self.fresh.iter().take_while(|&&start| start <= self.taken).count();
        if begun < self.fresh.len() {
            self.take_back(begun);
        }
        self.fresh.clear();
        self.stands_still = self.taken < self.output.len();
        // Some may always be pending: what was taken goes when moving the rest costs no more.
        if self.taken * 2 >= self.output.len() {
            self.taken_before += self.taken as u64;
            self.output.drain(..std::mem::take(&mut self.taken));
            if self.with_body > 0 {
                self.write_bodies();
            }
        }
        begun
    }

    /// Takes back the fresh streams but so many.
    fn take_back(&mut self, begun: usize) {
        self.output.truncate(self.fresh[begun]);
        for _ in begun..self.fresh.len() {
            let Some(stream) = self.streams.pop_back() else { break };
            let buffered = stream.request.http2.body.len() - stream.body.len();
            self.window += signed(buffered);
            self.with_body -= usize::from(!stream.body.is_empty());
            self.next_number -= 2;
        }
        if self.retiring == Some(Outcome::ClosedByDriver) {
            self.retiring = None;
        }
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        let stream = self.streams.iter().find(|stream| stream.id == id);
        let taken = self.taken_before + self.taken as u64;
        stream.is_some_and(|stream| !stream.body.is_empty() || stream.end > taken)
    }

    /// Gives up a request and leaves the others alone; false when that cannot be, as the connection
    /// itself stands still. It does not because of what was never given to the transport: the reset
    /// of another request, or the reply to a ping that came in this turn.
    pub(super) fn cancel(&mut self, id: Id) -> bool {
        if !self.settings.are_there || self.stands_still {
            return false;
        }
        let Some(place) = self.streams.iter().position(|stream| stream.id == id) else {
            return false;
        };
        self.give_up(place, ErrorCode::Cancel, true);
        true
    }

    /// Resets a stream; what still comes of it is passed over if the server `goes_on`.
    fn give_up(&mut self, place: usize, code: ErrorCode, goes_on: bool) -> Option<Id> {
        let number = self.streams.get(place)?.number;
        frame::write_reset(&mut self.output, number, code);
        if goes_on {
            if self.cancelled.len() >= MOST_CANCELLED {
                self.cancelled.remove(0);
            }
            self.cancelled.push(number);
        }
        self.remove(place)
    }

    #[inline]
    fn remove(&mut self, place: usize) -> Option<Id> {
        let stream = self.streams.remove(place)?;
        self.with_body -= usize::from(!stream.body.is_empty());
        Some(stream.id)
    }

    // ---- what is received -----------------------------------------------------------------------

    /// The exchange on a stream.
    pub(super) fn id_of(&self, number: u32) -> Option<Id> {
        self.place(number).map(|place| self.streams[place].id)
    }

    #[inline]
    fn place(&self, number: u32) -> Option<usize> {
        // The response to the oldest request comes first, mostly.
        if self.streams.front().is_some_and(|first| first.number == number) {
            return Some(0);
        }
        self.streams.binary_search_by_key(&number, |stream| stream.number).ok()
    }

    /// How the connection ends after a frame that breaks a rule, whichever: the oldest request is at
    /// fault.
    pub(super) fn fault(&self, code: ErrorCode) -> Fault {
        let is_http2 = self.settings.are_there;
        self.ended_by(if is_http2 { Outcome::Http2Error } else { Outcome::NotHttp2 }, code)
    }

    fn ended_by(&self, outcome: Outcome, code: ErrorCode) -> Fault {
        Fault { id: self.streams.front().map(|stream| stream.id), outcome, code }
    }

    /// Tells the server that the connection ends, and why.
    pub(super) fn end(&mut self, code: ErrorCode) {
        // The client has taken no stream of the server.
        frame::write_go_away(&mut self.output, 0, code);
    }

    /// Whether requests are in flight that the server will not process.
    pub(super) fn has_unprocessed(&self) -> bool {
        self.streams.back().is_some_and(|last| last.number > self.last_processed)
    }

    /// Takes off one of the requests that the server will not process.
    pub(super) fn take_unprocessed(&mut self) -> Option<Ended> {
        if !self.has_unprocessed() {
            return None;
        }
        let id = self.remove(self.streams.len() - 1)?;
        Some(Ended::Early { id, outcome: Outcome::GoneAway, code: 0 })
    }

    /// Takes a whole frame that is not DATA and came as so many bytes.
    #[inline]
    pub(super) fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        count: usize,
        emit: &mut impl FnMut(Id, Event<'_>),
    ) -> Change {
        let is_first = !self.settings.are_there;
        if is_first && (head.kind != Kind::Settings || head.has(ACK)) {
            return Err(self.ended_by(Outcome::NotHttp2, ErrorCode::ProtocolError));
        }
        if self.open_block.is_some() != (head.kind == Kind::Continuation) {
            return Err(self.fault(ErrorCode::ProtocolError));
        }
        match head.kind {
            Kind::Headers => {
                let block =
                    frame::header_fragment(head, payload).map_err(|code| self.fault(code))?;
                let open = OpenBlock {
                    stream: head.stream,
                    ends_stream: head.has(END_STREAM),
                    empty_pieces: 0,
                };
                if head.has(END_HEADERS) {
                    return self.headers(open, block, count, emit);
                }
                self.block.clear();
                self.continue_block(open, block, count, emit)
            }
            Kind::Continuation => self.continuation(head, payload, count, emit),
            Kind::Settings => self.settings(head, payload).map_err(|code| self.fault(code)),
            Kind::Ping => self.ping(head, payload),
            Kind::RstStream => self.stream_reset(head, payload),
            Kind::GoAway => self.go_away(head, payload),
            Kind::WindowUpdate => self.window_update(head, payload),
            Kind::PushPromise | Kind::Data => Err(self.fault(ErrorCode::ProtocolError)),
            Kind::Priority if head.stream == 0 => Err(self.fault(ErrorCode::ProtocolError)),
            Kind::Priority if payload.len() != 5 => Err(self.fault(ErrorCode::FrameSizeError)),
            Kind::Priority | Kind::Unknown(_) => Ok(None),
        }
    }

    fn continuation(
        &mut self,
        head: Head,
        payload: &[u8],
        count: usize,
        emit: &mut impl FnMut(Id, Event<'_>),
    ) -> Change {
        let open = self.open_block.take().filter(|open| open.stream == head.stream);
        let Some(open) = open else { return Err(self.fault(ErrorCode::ProtocolError)) };
        if !head.has(END_HEADERS) {
            return self.continue_block(open, payload, count, emit);
        }
        let mut block = std::mem::take(&mut self.block);
        block.extend_from_slice(payload);
        let change = self.headers(open, &block, count, emit);
        self.block = block;
        change
    }

    /// Keeps a piece of a header block that goes on. Pieces may be empty (RFC 9113, 6.10), but not
    /// without end.
    fn continue_block(
        &mut self,
        mut open: OpenBlock,
        piece: &[u8],
        count: usize,
        emit: &mut impl FnMut(Id, Event<'_>),
    ) -> Change {
        if let Some(id) = self.id_of(open.stream) {
            emit(id, Event::Bytes(count));
        }
        self.block.extend_from_slice(piece);
        open.empty_pieces += u16::from(piece.is_empty());
        if self.block.len() > LONGEST_BLOCK_BYTES || open.empty_pieces > MOST_EMPTY_PIECES {
            let id = self.id_of(open.stream).or(self.streams.front().map(|stream| stream.id));
            return Err(Fault {
                id,
                outcome: Outcome::HeadTooLarge,
                code: ErrorCode::EnhanceYourCalm,
            });
        }
        self.open_block = Some(open);
        Ok(None)
    }

    /// Takes a whole header block: a head, an interim head, or trailers.
    #[inline]
    fn headers(
        &mut self,
        block_of: OpenBlock,
        block: &[u8],
        count: usize,
        emit: &mut impl FnMut(Id, Event<'_>),
    ) -> Change {
        let mut fields = Fields::default();
        // A block that belongs to no stream any more changes the table all the same.
        if self.decoder.decode(block, |name, value| fields.take(name, value)).is_err() {
            return Err(self.fault(ErrorCode::CompressionError));
        }
        let OpenBlock { stream: number, ends_stream, .. } = block_of;
        let Some(place) = self.place(number) else {
            return self.pass_over(number, ends_stream);
        };
        let stream = &mut self.streams[place];
        let is_trailers = stream.has_head;
        let is_interim = !is_trailers && fields.status.is_some_and(|status| status < 200);
        let is_right = match (is_trailers, is_interim) {
            (true, _) => fields.status.is_none() && ends_stream,
            (_, true) => !ends_stream && fields.status != Some(101),
            _ => fields.status.is_some(),
        };
        if !is_trailers && !is_interim {
            stream.has_head = true;
            // A response to HEAD, and one of status 304, says how long it would be.
            let has_body = !stream.request.is_head && fields.status != Some(304);
            stream.content_length = fields.content_length.filter(|_| has_body);
            emit(stream.id, Event::Head(fields.status.unwrap_or(0)));
            if fields.coded != Coded::Not {
                emit(stream.id, Event::Coded(fields.coded));
            }
            if fields.is_event_stream {
                emit(stream.id, Event::EventStream);
            }
        }
        emit(stream.id, Event::Bytes(count));
        if fields.is_too_large() {
            return Ok(self.broken(place, Outcome::HeadTooLarge, !ends_stream));
        }
        if !is_right || fields.is_malformed {
            return Ok(self.broken(place, Outcome::Http2Error, !ends_stream));
        }
        Ok(if ends_stream { self.complete(place) } else { None })
    }

    /// Takes a piece of DATA that came as so many bytes.
    #[inline]
    pub(super) fn data(
        &mut self,
        head: Head,
        piece: Piece<'_>,
        count: usize,
        emit: &mut impl FnMut(Id, Event<'_>),
    ) -> Change {
        if !self.settings.are_there || self.open_block.is_some() {
            return Err(self.fault(ErrorCode::ProtocolError));
        }
        let ends_stream = piece.is_last && head.has(END_STREAM);
        #[allow(clippy::cast_possible_truncation)]
        let length = if piece.is_first { head.length as u32 } else { 0 };
        self.unreturned += length;
        if self.unreturned >= CONNECTION_WINDOW_BYTES / 2 {
            let more = std::mem::take(&mut self.unreturned);
            frame::write_window_update(&mut self.output, 0, more);
        }
        let Some(place) = self.place(head.stream) else {
            return self.pass_over(head.stream, ends_stream);
        };
        let stream = &mut self.streams[place];
        if !stream.has_head {
            emit(stream.id, Event::Bytes(count));
            return Ok(self.broken(place, Outcome::Http2Error, !ends_stream));
        }
        if !piece.bytes.is_empty() {
            stream.body_bytes += piece.bytes.len() as u64;
            emit(stream.id, Event::Body(piece.bytes));
        }
        emit(stream.id, Event::Bytes(count));
        if ends_stream {
            return Ok(self.complete(place));
        }
        stream.unreturned += length;
        if stream.unreturned > STREAM_WINDOW_BYTES {
            return Ok(self.broken(place, Outcome::Http2Error, true));
        }
        if piece.is_last && stream.unreturned >= STREAM_WINDOW_BYTES / 2 {
            let more = std::mem::take(&mut stream.unreturned);
            frame::write_window_update(&mut self.output, head.stream, more);
        }
        Ok(None)
    }

    /// Passes over what comes of a stream that was given up; nothing else may come of one that is
    /// not there.
    fn pass_over(&mut self, number: u32, ends_stream: bool) -> Change {
        let Some(place) = self.cancelled.iter().position(|&given_up| given_up == number) else {
            let is_over = number % 2 == 1 && number < self.next_number;
            return Err(if is_over {
                self.ended_by(Outcome::Unsolicited, ErrorCode::StreamClosed)
            } else {
                self.ended_by(Outcome::Http2Error, ErrorCode::ProtocolError)
            });
        };
        if ends_stream {
            self.cancelled.swap_remove(place);
        }
        Ok(None)
    }

    /// The response on a stream breaks a rule; the others are not concerned.
    fn broken(&mut self, place: usize, outcome: Outcome, goes_on: bool) -> Option<Ended> {
        let id = self.give_up(place, ErrorCode::ProtocolError, goes_on)?;
        Some(Ended::Early { id, outcome, code: 0 })
    }

    /// The server has ended a stream: its response is complete if it is as long as it says.
    #[inline]
    fn complete(&mut self, place: usize) -> Option<Ended> {
        let stream = &self.streams[place];
        if stream.content_length.is_some_and(|length| length != stream.body_bytes) {
            return self.broken(place, Outcome::Http2Error, false);
        }
        if !stream.body.is_empty() {
            return self.give_up(place, ErrorCode::NoError, false).map(Ended::Complete);
        }
        self.remove(place).map(Ended::Complete)
    }

    fn settings(&mut self, head: Head, payload: &[u8]) -> Result<Option<Ended>, ErrorCode> {
        let settings = frame::settings(head, payload)?;
        if head.has(ACK) {
            return Ok(None);
        }
        let before = self.places();
        for setting in settings {
            match setting? {
                (Setting::MaxConcurrentStreams, most) => {
                    self.settings.streams = usize::try_from(most).unwrap_or(usize::MAX);
                }
                (Setting::InitialWindowSize, window) => self.change_windows(i64::from(window))?,
                (Setting::HeaderTableSize, _) => self.tells_no_table = true,
                (Setting::EnablePush, 1) => return Err(ErrorCode::ProtocolError),
                _ => {}
            }
        }
        self.settings.are_there = true;
        self.has_grown |= self.places() > before;
        frame::write_settings_ack(&mut self.output);
        self.require_calm()?;
        if self.with_body > 0 {
            self.write_bodies();
        }
        Ok(None)
    }

    fn change_windows(&mut self, window: i64) -> Result<(), ErrorCode> {
        let change = window - self.settings.stream_window;
        self.settings.stream_window = window;
        for stream in &mut self.streams {
            stream.window += change;
            if stream.window > i64::from(LARGEST_WINDOW_BYTES) {
                return Err(ErrorCode::FlowControlError);
            }
        }
        Ok(())
    }

    /// A server that has the client reply without end, and reads nothing, is given up.
    fn require_calm(&self) -> Result<(), ErrorCode> {
        let calm = self.pending_output().len() <= MOST_REPLY_BYTES;
        calm.then_some(()).ok_or(ErrorCode::EnhanceYourCalm)
    }

    fn ping(&mut self, head: Head, payload: &[u8]) -> Change {
        if head.stream != 0 {
            return Err(self.fault(ErrorCode::ProtocolError));
        }
        if payload.len() != 8 {
            return Err(self.fault(ErrorCode::FrameSizeError));
        }
        if !head.has(ACK) {
            frame::write_ping_ack(&mut self.output, payload);
            self.require_calm().map_err(|code| self.fault(code))?;
        }
        Ok(None)
    }

    fn stream_reset(&mut self, head: Head, payload: &[u8]) -> Change {
        let code = frame::number(payload).map_err(|code| self.fault(code))?;
        self.require_begun(head.stream)?;
        let Some(place) = self.place(head.stream) else {
            self.cancelled.retain(|&given_up| given_up != head.stream);
            return Ok(None);
        };
        let outcome = if code == u32::from(ErrorCode::RefusedStream as u8) {
            Outcome::StreamRefused
        } else {
            Outcome::StreamReset
        };
        let code = u8::try_from(code).unwrap_or(u8::MAX);
        Ok(self.remove(place).map(|id| Ended::Early { id, outcome, code }))
    }

    /// Nothing may come of a stream that the client has not begun.
    fn require_begun(&self, number: u32) -> Result<(), Fault> {
        let is_begun = number % 2 == 1 && number < self.next_number;
        is_begun.then_some(()).ok_or_else(|| self.fault(ErrorCode::ProtocolError))
    }

    fn go_away(&mut self, head: Head, payload: &[u8]) -> Change {
        let (last, code) = frame::go_away(payload).map_err(|code| self.fault(code))?;
        if head.stream != 0 {
            return Err(self.fault(ErrorCode::ProtocolError));
        }
        let is_orderly = code == u32::from(ErrorCode::NoError as u8);
        let outcome = if is_orderly { Outcome::ClosedAsAnnounced } else { Outcome::GoneAway };
        self.retiring = Some(outcome);
        self.last_processed = self.last_processed.min(last);
        if self.streams.is_empty() {
            return Err(Fault { id: None, outcome, code: ErrorCode::NoError });
        }
        Ok(self.take_unprocessed())
    }

    fn window_update(&mut self, head: Head, payload: &[u8]) -> Change {
        let more = match frame::increment(payload) {
            Ok(more) => i64::from(more),
            Err(ErrorCode::ProtocolError) if head.stream > 0 => {
                let place = self.place(head.stream);
                return Ok(place.and_then(|place| self.broken(place, Outcome::Http2Error, true)));
            }
            Err(code) => return Err(self.fault(code)),
        };
        if head.stream == 0 {
            self.window += more;
            if self.window > i64::from(LARGEST_WINDOW_BYTES) {
                return Err(self.fault(ErrorCode::FlowControlError));
            }
        } else {
            self.require_begun(head.stream)?;
            let Some(place) = self.place(head.stream) else { return Ok(None) };
            let stream = &mut self.streams[place];
            stream.window += more;
            if stream.window > i64::from(LARGEST_WINDOW_BYTES) {
                let id = self.give_up(place, ErrorCode::FlowControlError, true);
                let outcome = Outcome::Http2Error;
                return Ok(id.map(|id| Ended::Early { id, outcome, code: 0 }));
            }
        }
        if self.with_body > 0 {
            self.write_bodies();
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Requests;
    use crate::spec::{Expected, RequestSpec};

    #[test]
    fn what_was_taken_is_not_kept_though_some_is_always_pending() {
        let spec = RequestSpec {
            name: String::new(),
            bytes: b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(),
            weight: 1.0,
            method: "GET".into(),
            expects_continue: false,
            expected: Expected::default(),
        };
        let requests = Requests::new(&[spec], 0.0).encoded("http");
        let mut session = Session::new(1000);
        session.open();
        for number in 0..500 {
            session.begin(Id(number), requests.kind(0));
            let count = session.pending_output().len() - 5;
            assert_eq!(session.sent(count), 1);
            assert!(session.is_sending(Id(number)));
            assert!(number == 0 || !session.is_sending(Id(number - 1)));
        }
        assert!(session.output.len() < 100, "{}", session.output.len());
    }
}
