//! Incremental reader of HTTP/1 responses, in any split of their bytes and in bounded memory.
//!
//! # Source
//!
//! RFC 9112, sections 2 to 7 and 9.3.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Status};

use crate::coding::Coded;
use crate::events;

/// The longest head, and the longest chunk header or trailer, that is read, in bytes.
pub const LONGEST_HEAD_BYTES: usize = 64 * 1024;

/// Bytes of a status line by which one that is none has shown itself: `HTTP/1.1 200`.
const STATUS_LINE_BEGINS_BYTES: usize = 12;

/// The status that invites the body of a request; RFC 9110, section 15.2.1.
const CONTINUE: u16 = 100;

/// The most header fields that are read.
pub const MOST_HEADERS: usize = 128;

/// The most hexadecimal digits of a chunk's length: more do not fit in 64 bits.
const MOST_CHUNK_DIGITS: u8 = 16;

/// What makes a response unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The head is not HTTP/1.
    Head,
    /// The chunked coding is broken.
    Chunk,
    /// The head is longer than [`LONGEST_HEAD_BYTES`], or has too many fields.
    HeadTooLarge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Fixed { left: u64 },
    UntilClose,
    ChunkSize { size: u64, digits: u8 },
    ChunkExtension { size: u64, read: usize },
    ChunkData { left: u64 },
    ChunkEnd { returned: bool },
    Trailer { line: usize, read: usize },
    Complete,
}

/// What a head says.
#[derive(Clone, Copy, Debug)]
struct Head {
    length: usize,
    status: u16,
    keep_alive: bool,
    coded: Coded,
    is_event_stream: bool,
    /// What follows it, unless the request was a HEAD; another head follows an interim one.
    then: State,
}

/// The last head that was read. The heads of a server are alike, mostly, and one that begins with
/// the same bytes as the last is not parsed again.
#[derive(Clone, Debug)]
struct LastHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

thread_local! {
    /// The connections of a worker share it, and a worker has a thread of its own. One for each
    /// connection would be read from memory for each response, and parsed anew with every `Date`.
    static LAST_HEAD: RefCell<LastHead> =
        const { RefCell::new(LastHead { bytes: Vec::new(), head: None }) };
}

impl LastHead {
    /// The head that begins `bytes`; nothing when it is not complete.
    #[inline]
    fn read(&mut self, bytes: &[u8]) -> Result<Option<Head>, Malformed> {
        if self.head.is_some() && bytes.starts_with(&self.bytes) {
            return Ok(self.head);
        }
        let head = parse_head(bytes)?;
        if let Some(Head { length, .. }) = head {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..length]);
            self.head = head;
        }
        Ok(head)
    }
}

/// Reads one response after the other.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // what was asked, and independent facts of the head
pub struct Reader {
    state: State,
    /// Bytes of a head that came in pieces.
    partial: Vec<u8>,
    is_head: bool,
    /// Whether an interim head of status 100 has come.
    is_continued: bool,
    status: u16,
    keep_alive: bool,
    coded: Coded,
    is_event_stream: bool,
}

/// A part of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// The head, with its status code; interim heads are none.
    Head(u16),
    /// The content coding of the body that comes, if it has one.
    Coded(Coded),
    /// The body that comes is a stream of events.
    EventStream,
    /// The next piece of the body, freed of its transfer coding.
    Body(&'b [u8]),
}

/// How far one call of [`Reader::read`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that belong to the response; what follows belongs to the next.
    pub consumed: usize,
    /// Whether the response is complete.
    pub complete: bool,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            state: State::Complete,
            partial: Vec::new(),
            is_head: false,
            is_continued: false,
            status: 0,
            keep_alive: true,
            coded: Coded::Not,
            is_event_stream: false,
        }
    }
}

impl Reader {
    /// Prepares for the next response; `is_head` if its request is a HEAD.
    #[inline]
    pub fn start(&mut self, is_head: bool) {
        self.state = State::Head;
        self.partial.clear();
        self.is_head = is_head;
        self.is_continued = false;
        self.status = 0;
        self.keep_alive = true;
    }

    /// Status code of the response; 0 before its head is read.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Whether the server has invited the body of the request, and has not responded yet.
    #[must_use]
    pub fn invites(&self) -> bool {
        self.is_continued && self.status == 0
    }

    /// Whether the connection may carry another request.
    #[must_use]
    pub fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// Reads on; hands each part of the response to `emit`.
    ///
    /// # Errors
    ///
    /// [`Malformed`] when the bytes are not an HTTP/1 response; the reader is then unusable.
    #[inline]
    pub fn read(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(Part<'_>),
    ) -> Result<Progress, Malformed> {
        let mut consumed = 0;
        while consumed < bytes.len() && self.state != State::Complete {
            let rest = &bytes[consumed..];
            consumed += match self.state {
                State::Head => {
                    let taken = self.read_head(rest)?;
                    if self.state != State::Head {
                        emit(Part::Head(self.status));
                        if self.coded != Coded::Not {
                            emit(Part::Coded(self.coded));
                        }
                        if self.is_event_stream {
                            emit(Part::EventStream);
                        }
                    }
                    taken
                }
                State::Fixed { left } => {
                    let piece = read_piece(rest, left, &mut emit);
                    self.state = after_fixed(left - piece as u64);
                    piece
                }
                State::UntilClose => read_piece(rest, u64::MAX, &mut emit),
                State::ChunkData { left } => {
                    let piece = read_piece(rest, left, &mut emit);
                    let left = left - piece as u64;
                    self.state = if left == 0 {
                        State::ChunkEnd { returned: false }
                    } else {
                        State::ChunkData { left }
                    };
                    piece
                }
                _ => self.read_framing(rest[0])?,
            };
        }
        Ok(Progress { consumed, complete: self.state == State::Complete })
    }

    /// The stream has ended: whether that completes the response.
    #[must_use]
    pub fn end(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::Complete;
            self.keep_alive = false;
            return true;
        }
        false
    }

    /// Bytes of an incomplete head that are kept, at most [`LONGEST_HEAD_BYTES`].
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.partial.len()
    }

    /// Reads a head, or a part of one; returns the bytes taken.
    #[inline]
    fn read_head(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        if self.partial.is_empty() {
            // What is wrong with a head is left to `read_split_head`, which finds the same
            // however it was split.
            if let Ok(Some(head)) = LAST_HEAD.with_borrow_mut(|last| last.read(bytes)) {
                self.begin_body(head);
                return Ok(head.length);
            }
        }
        self.read_split_head(bytes)
    }

    /// Reads on in a head that has come in pieces, or is wrong.
    ///
    /// Parsed is what has come up to the last end of a line, and the first bytes on their own: so
    /// a head is judged alike in any split, and a line without end is not parsed at every byte.
    fn read_split_head(&mut self, bytes: &[u8]) -> Result<usize, Malformed> {
        let before = self.partial.len();
        let taken = bytes.len().min(LONGEST_HEAD_BYTES - before);
        self.partial.extend_from_slice(&bytes[..taken]);
        match parse_whole_lines(&self.partial, before)? {
            Some(head) => {
                self.partial.clear();
                self.begin_body(head);
                Ok(head.length - before)
            }
            None if self.partial.len() >= LONGEST_HEAD_BYTES => Err(Malformed::HeadTooLarge),
            None => Ok(taken),
        }
    }

    #[inline]
    fn begin_body(&mut self, head: Head) {
        if head.then == State::Head {
            self.is_continued |= head.status == CONTINUE;
        } else {
            self.status = head.status;
            self.keep_alive = head.keep_alive;
            self.coded = head.coded;
            self.is_event_stream = head.is_event_stream;
            self.state = if self.is_head { State::Complete } else { head.then };
        }
    }

    /// Takes one byte of what surrounds chunks.
    fn read_framing(&mut self, byte: u8) -> Result<usize, Malformed> {
        self.state = match (self.state, byte) {
            (State::ChunkSize { size, digits }, byte) if byte.is_ascii_hexdigit() => {
                chunk_digit(size, digits, byte)?
            }
            (State::ChunkSize { digits: 0, .. }, _) => return Err(Malformed::Chunk),
            (State::ChunkSize { size, .. }, b'\r' | b';' | b' ' | b'\t') => {
                State::ChunkExtension { size, read: 0 }
            }
            (State::ChunkSize { size, .. } | State::ChunkExtension { size, .. }, b'\n') => {
                if size == 0 {
                    State::Trailer { line: 0, read: 0 }
                } else {
                    State::ChunkData { left: size }
                }
            }
            (State::ChunkExtension { size, read }, _) if read < LONGEST_HEAD_BYTES => {
                State::ChunkExtension { size, read: read + 1 }
            }
            (State::ChunkEnd { returned: false }, b'\r') => State::ChunkEnd { returned: true },
            (State::ChunkEnd { .. }, b'\n') => State::ChunkSize { size: 0, digits: 0 },
            (State::Trailer { line: 0, .. }, b'\n') => State::Complete,
            (State::Trailer { read, .. }, _) if read >= LONGEST_HEAD_BYTES => {
                return Err(Malformed::Chunk);
            }
            (State::Trailer { read, .. }, b'\n') => State::Trailer { line: 0, read: read + 1 },
            (State::Trailer { line, read }, b'\r') => State::Trailer { line, read: read + 1 },
            (State::Trailer { line, read }, _) => State::Trailer { line: line + 1, read: read + 1 },
            _ => return Err(Malformed::Chunk),
        };
        Ok(1)
    }
}

/// Parses what a head holds that has grown from `before` bytes on.
fn parse_whole_lines(head: &[u8], before: usize) -> Result<Option<Head>, Malformed> {
    if let Some(last) = memchr::memrchr(b'\n', &head[before..]) {
        return parse_head(&head[..=before + last]);
    }
    let is_new = before < STATUS_LINE_BEGINS_BYTES && !head[..before].contains(&b'\n');
    if is_new {
        let begin = head.len().min(STATUS_LINE_BEGINS_BYTES);
        return parse_head(&head[..begin]);
    }
    Ok(None)
}

/// How heads of responses are parsed. Fields may go on in further lines.
///
/// # Source
///
/// RFC 9112, section 5.2: a client takes the end of such a line for spaces.
#[must_use]
pub fn parser() -> ParserConfig {
    let mut parser = ParserConfig::default();
    parser.allow_obsolete_multiline_headers_in_responses(true);
    parser
}

/// Parses a head that begins `bytes`; nothing when it is not complete.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>, Malformed> {
    let mut headers = [const { MaybeUninit::<Header>::uninit() }; MOST_HEADERS];
    let mut head = httparse::Response::new(&mut []);
    let parsed = parser().parse_response_with_uninit_headers(&mut head, bytes, &mut headers);
    let length = match parsed {
        Ok(Status::Complete(length)) if length <= LONGEST_HEAD_BYTES => length,
        Ok(Status::Partial) => return Ok(None),
        Ok(Status::Complete(_)) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Malformed::HeadTooLarge);
        }
        Err(_) => return Err(Malformed::Head),
    };
    let status = head.code.unwrap_or(0);
    if (100..200).contains(&status) && status != 101 {
        return Ok(Some(Head {
            length,
            status,
            keep_alive: true,
            coded: Coded::Not,
            is_event_stream: false,
            then: State::Head,
        }));
    }
    let framing = Framing::of(head.headers)?;
    let keep_alive = framing.keep_alive.unwrap_or(head.version == Some(1));
    let then = if status == 204 || status == 304 { State::Complete } else { framing.body() };
    let Framing { coded, is_event_stream, .. } = framing;
    Ok(Some(Head { length, status, keep_alive, coded, is_event_stream, then }))
}

/// Hands on the next piece of a body of which so many bytes are left; returns its length.
#[inline]
#[allow(clippy::cast_possible_truncation)]
fn read_piece(rest: &[u8], left: u64, emit: &mut impl FnMut(Part<'_>)) -> usize {
    let length = (rest.len() as u64).min(left) as usize;
    emit(Part::Body(&rest[..length]));
    length
}

fn after_fixed(left: u64) -> State {
    if left == 0 { State::Complete } else { State::Fixed { left } }
}

fn chunk_digit(size: u64, digits: u8, byte: u8) -> Result<State, Malformed> {
    let digit = char::from(byte).to_digit(16).ok_or(Malformed::Chunk)?;
    if digits == MOST_CHUNK_DIGITS {
        return Err(Malformed::Chunk);
    }
    Ok(State::ChunkSize { size: size << 4 | u64::from(digit), digits: digits + 1 })
}

/// What the header fields say about the body and the connection.
#[derive(Clone, Copy, Debug, Default)]
struct Framing {
    content_length: Option<u64>,
    chunked: bool,
    /// Another transfer coding than chunked: the body ends with the connection.
    other_coding: bool,
    keep_alive: Option<bool>,
    coded: Coded,
    is_event_stream: bool,
}

impl Framing {
    fn of(headers: &[Header<'_>]) -> Result<Self, Malformed> {
        let mut framing = Self::default();
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let length = content_length(header.value)?;
                if framing.content_length.is_some_and(|earlier| earlier != length) {
                    return Err(Malformed::Head);
                }
                framing.content_length = Some(length);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                framing.chunked = ends_with_token(header.value, b"chunked");
                framing.other_coding = !framing.chunked;
            } else if header.name.eq_ignore_ascii_case("content-encoding") {
                framing.coded = framing.coded.and(header.value);
            } else if header.name.eq_ignore_ascii_case("content-type") {
                framing.is_event_stream = events::is_type(header.value);
            } else if header.name.eq_ignore_ascii_case("connection") {
                framing.keep_alive = match (framing.keep_alive, connection_option(header.value)) {
                    (Some(false), _) => Some(false),
                    (earlier, said) => said.or(earlier),
                };
            }
        }
        Ok(framing)
    }

    fn body(&self) -> State {
        match self.content_length {
            _ if self.chunked => State::ChunkSize { size: 0, digits: 0 },
            Some(left) if !self.other_coding => after_fixed(left),
            _ => State::UntilClose,
        }
    }
}

fn content_length(value: &[u8]) -> Result<u64, Malformed> {
    let value = value.trim_ascii();
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(Malformed::Head);
    }
    let digits = value.iter().map(|digit| u64::from(digit - b'0'));
    digits
        .into_iter()
        .try_fold(0u64, |sum, digit| sum.checked_mul(10)?.checked_add(digit))
        .ok_or(Malformed::Head)
}

fn connection_option(value: &[u8]) -> Option<bool> {
    if has_token(value, b"close") {
        Some(false)
    } else if has_token(value, b"keep-alive") {
        Some(true)
    } else {
        None
    }
}

fn has_token(value: &[u8], token: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token))
}

fn ends_with_token(value: &[u8], token: &[u8]) -> bool {
    let last = value.rsplit(|&byte| byte == b',').next().unwrap_or_default();
    last.trim_ascii().eq_ignore_ascii_case(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Status, body, whether kept alive, bytes consumed.
    type Read = Result<(u16, Vec<u8>, bool, usize), Malformed>;

    fn keep(body: &mut Vec<u8>, part: Part<'_>) {
        if let Part::Body(piece) = part {
            body.extend_from_slice(piece);
        }
    }

    fn read_in_pieces(bytes: &[u8], cuts: &[usize]) -> Read {
        let mut reader = Reader::default();
        reader.start(false);
        let mut body = Vec::new();
        let mut consumed = 0;
        let mut start = 0;
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let piece = &bytes[start..cut.max(start)];
            start = cut.max(start);
            let progress = reader.read(piece, |part| keep(&mut body, part))?;
            consumed += progress.consumed;
            if progress.complete {
                break;
            }
        }
        let complete = reader.state == State::Complete || reader.end();
        assert!(complete, "not complete: {:?}", reader.state);
        Ok((reader.status(), body, reader.keep_alive(), consumed))
    }

    fn read(bytes: &[u8]) -> Read {
        read_in_pieces(bytes, &[])
    }

    const ANSWERS: &[(&[u8], u16, &[u8], bool)] = &[
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO", 200, b"HELLO", true),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", 200, b"", true),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno", 404, b"no", false),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", false),
        (b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok", 200, b"ok", true),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", 200, b"until the end", false),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 7\r\n\r\n", 204, b"", true),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", 304, b"", true),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, b"x", true),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\nA;name=v\r\n0123456789\r\n0\r\n\r\n", 200, b"HELLO0123456789", true),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nxyz", 200, b"xyz", false),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n1\r\nx", 200, b"1\r\nx", false),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\nTrailer: t\r\n\r\n", 200, b"x", true),
        (b"HTTP/1.1 200 OK\r\nX: a\r\n  b\r\n\tc\r\nContent-Length:\r\n 2\r\nConnection: x,\r\n close\r\n\r\nok", 200, b"ok", false),
    ];

    #[test]
    fn answers_are_read_as_they_are_meant() {
        for &(bytes, status, body, keep_alive) in ANSWERS {
            let expected = Ok((status, body.to_vec(), keep_alive, bytes.len()));
            assert_eq!(read(bytes), expected, "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn a_byte_at_a_time_is_the_same_answer() {
        for &(bytes, ..) in ANSWERS {
            let cuts: Vec<_> = (1..bytes.len()).collect();
            assert_eq!(read_in_pieces(bytes, &cuts), read(bytes));
        }
    }

    #[test]
    fn what_follows_an_answer_is_left_alone() {
        let two = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK";
        assert_eq!(read(two).unwrap().3, two.len() - b"HTTP/1.1 200 OK".len());
    }

    #[test]
    fn an_answer_to_head_has_no_body() {
        let mut reader = Reader::default();
        reader.start(true);
        let progress =
            reader.read(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", |_| ()).unwrap();
        assert!(progress.complete);
    }

    #[test]
    fn nonsense_is_named() {
        let cases: &[(&[u8], Malformed)] = &[
            (b"SSH-2.0-OpenSSH\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 2\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\n X: y\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", Malformed::Head),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz", Malformed::Chunk),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy", Malformed::Chunk),
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11112222333344445\r\n",
                Malformed::Chunk,
            ),
        ];
        for &(bytes, expected) in cases {
            assert_eq!(read(bytes), Err(expected), "{}", String::from_utf8_lossy(bytes));
        }
    }

    #[test]
    fn an_endless_head_is_refused_in_bounded_memory() {
        let mut reader = Reader::default();
        reader.start(false);
        let mut result = reader.read(b"HTTP/1.1 200 OK\r\nX: ", |_| ());
        let mut pieces = 0;
        while result.is_ok() {
            result = reader.read(&[b'a'; 1000], |_| ());
            pieces += 1;
            assert!(pieces < 100);
        }
        assert_eq!(result, Err(Malformed::HeadTooLarge));
        assert!(reader.partial.capacity() <= 2 * LONGEST_HEAD_BYTES);
    }

    /// All that a reader finds in some bytes.
    #[derive(Debug, PartialEq)]
    struct Heard {
        /// Whether the response is complete, and the bytes that belong to it.
        end: Result<(bool, usize), Malformed>,
        status: u16,
        keep_alive: bool,
        body: Vec<u8>,
        completed_by_close: bool,
    }

    fn hear(bytes: &[u8], cuts: &[usize], is_head: bool) -> Heard {
        hear_next(&mut Reader::default(), bytes, cuts, is_head)
    }

    fn hear_next(reader: &mut Reader, bytes: &[u8], cuts: &[usize], is_head: bool) -> Heard {
        reader.start(is_head);
        let (mut body, mut start, mut end) = (Vec::new(), 0, Ok((false, 0)));
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let piece = &bytes[start..cut];
            start = cut;
            let progress = reader.read(piece, |part| keep(&mut body, part));
            assert!(reader.held_bytes() <= LONGEST_HEAD_BYTES);
            let consumed = end.map_or(0, |(_, consumed)| consumed);
            end = progress.map(|progress| (progress.complete, consumed + progress.consumed));
            match progress {
                Ok(Progress { complete: false, consumed }) => assert_eq!(consumed, piece.len()),
                Ok(Progress { complete: true, consumed }) => {
                    assert!(consumed <= piece.len());
                    break;
                }
                Err(_) => break,
            }
        }
        let (status, keep_alive) = (reader.status(), reader.keep_alive());
        Heard { end, status, keep_alive, body, completed_by_close: reader.end() }
    }

    /// Bytes of which something is wrong, or missing.
    const WRONG: &[&[u8]] = &[
        b"HOLA",
        b"HOLA, this is something else",
        b"\r\n\r\nHOLA, this is something else",
        b"HTTP/1.1 200 OK\r\nno colon",
        b"HTTP/1.1 200 OK\r\nno colon\r\n",
        b"HTTP/1.1 2000 OK",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
        b"HTTP/1.1 100 Continue\r\n\r\nHOLA",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELL",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHELLO0",
    ];

    fn all_bytes() -> impl Iterator<Item = &'static [u8]> {
        ANSWERS.iter().map(|answer| answer.0).chain(WRONG.iter().copied())
    }

    #[test]
    fn every_split_in_two_says_the_same_as_none() {
        for bytes in all_bytes() {
            for is_head in [false, true] {
                let whole = hear(bytes, &[], is_head);
                let each: Vec<_> = (0..=bytes.len()).collect();
                assert_eq!(hear(bytes, &each, is_head), whole, "a byte at a time: {whole:?}");
                for cut in each {
                    let text = String::from_utf8_lossy(&bytes[..cut]);
                    assert_eq!(hear(bytes, &[cut], is_head), whole, "after {text:?}");
                }
            }
        }
    }

    #[test]
    fn a_head_of_the_greatest_length_is_read_and_a_longer_one_is_not() {
        let begin = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: ";
        for (length, expected) in [
            (LONGEST_HEAD_BYTES, Ok((true, LONGEST_HEAD_BYTES))),
            (LONGEST_HEAD_BYTES + 1, Err(Malformed::HeadTooLarge)),
        ] {
            let filling = vec![b'x'; length - begin.len() - 4];
            let bytes = [begin.as_slice(), &filling, b"\r\n\r\n"].concat();
            for cuts in [vec![], vec![1], vec![30, 40_000], vec![length - 1], vec![length - 2]] {
                assert_eq!(hear(&bytes, &cuts, false).end, expected, "{length} {cuts:?}");
            }
        }
    }

    /// Pieces of responses, valid and invalid ones.
    const PIECES: &[&[u8]] = &[
        b"HTTP/1.1 ",
        b"HTTP/1.0 ",
        b"200 OK",
        b"204",
        b"100 Continue",
        b"304 X",
        b"101 Y",
        b"\r\n",
        b"\n",
        b"\r",
        b" ",
        b":",
        b";",
        b",",
        b"0",
        b"1",
        b"5",
        b"f",
        b"ffffffff",
        b"Content-Length: ",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: gzip",
        b"Connection: close",
        b"X: y",
        b"\r\n ",
        b"x",
        b"0\r\n\r\n",
        b"1\r\nx\r\n",
        b"\r\n\r\n",
        b"\0",
        b"\xff",
    ];

    fn made_of_pieces() -> impl Strategy<Value = Vec<u8>> {
        let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..24);
        (any::<bool>(), pieces).prop_map(|(with_status_line, pieces)| {
            let begin: &[u8] = if with_status_line { b"HTTP/1.1 200 OK\r\n" } else { b"" };
            [begin, &pieces.concat()].concat()
        })
    }

    fn changed_answer() -> impl Strategy<Value = Vec<u8>> {
        let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
        (0..ANSWERS.len(), changes).prop_map(|(which, changes)| {
            let mut bytes = ANSWERS[which].0.to_vec();
            for (index, byte) in changes {
                let index = index.index(bytes.len());
                bytes[index] = byte;
            }
            bytes
        })
    }

    fn a_right_answer() -> impl Strategy<Value = Vec<u8>> {
        (0..ANSWERS.len()).prop_map(|which| ANSWERS[which].0.to_vec())
    }

    proptest! {
        #[test]
        fn any_split_of_anything_says_the_same_as_none(
            bytes in prop_oneof![made_of_pieces(), changed_answer()],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
            is_head: bool,
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            prop_assert_eq!(hear(&bytes, &cuts, is_head), hear(&bytes, &[], is_head));
        }

        #[test]
        fn whatever_head_was_the_last_anything_says_the_same(
            answers in prop::collection::vec(
                (prop_oneof![made_of_pieces(), changed_answer(), a_right_answer()], any::<bool>()),
                1..8,
            ),
        ) {
            let mut reader = Reader::default();
            for (bytes, is_head) in answers {
                let heard = hear_next(&mut reader, &bytes, &[], is_head);
                prop_assert_eq!(heard, hear(&bytes, &[], is_head));
            }
        }

        #[test]
        fn any_split_is_the_same_answer(
            which in 0..ANSWERS.len(), cuts in prop::collection::vec(0usize..200, 0..8),
        ) {
            let bytes = ANSWERS[which].0;
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut % bytes.len()).collect();
            cuts.sort_unstable();
            prop_assert_eq!(read_in_pieces(bytes, &cuts), read(bytes));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut reader = Reader::default();
            reader.start(false);
            if let Ok(progress) = reader.read(&bytes, |_| ()) {
                prop_assert!(progress.consumed <= bytes.len());
            }
        }
    }
}
