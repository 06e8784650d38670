//! Frames: read in any split of their bytes, and written.
//!
//! # Source
//!
//! RFC 9113, sections 3.4, 4, 6 and 7.

/// What a client sends before its first frame.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of the head of a frame.
pub const HEAD_BYTES: usize = 9;

/// The longest payload that an endpoint takes unless its settings say otherwise.
pub const DEFAULT_FRAME_BYTES: usize = 16_384;

/// A window for flow control, of a stream or a connection, unless the settings say otherwise.
pub const DEFAULT_WINDOW_BYTES: u32 = 65_535;

/// The largest window.
pub const LARGEST_WINDOW_BYTES: u32 = (1 << 31) - 1;

/// The highest identifier of a stream.
pub const LAST_STREAM: u32 = (1 << 31) - 1;

/// The sender ends its side of the stream with this DATA or HEADERS; of SETTINGS and PING: an
/// acknowledgement.
pub const END_STREAM: u8 = 0x1;
/// A SETTINGS or PING that acknowledges another.
pub const ACK: u8 = 0x1;
/// The header block ends with this frame.
pub const END_HEADERS: u8 = 0x4;
/// The payload is padded.
pub const PADDED: u8 = 0x8;
/// HEADERS that carry a priority.
pub const PRIORITY: u8 = 0x20;

/// A type of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Data,
    Headers,
    Priority,
    RstStream,
    Settings,
    PushPromise,
    Ping,
    GoAway,
    WindowUpdate,
    Continuation,
    /// One that RFC 9113 does not have; it is ignored.
    Unknown(u8),
}

impl Kind {
    const KNOWN: [Self; 10] = [
        Self::Data,
        Self::Headers,
        Self::Priority,
        Self::RstStream,
        Self::Settings,
        Self::PushPromise,
        Self::Ping,
        Self::GoAway,
        Self::WindowUpdate,
        Self::Continuation,
    ];

    /// The type with a number.
    #[inline]
    #[must_use]
    pub fn of(number: u8) -> Self {
        Self::KNOWN.get(usize::from(number)).copied().unwrap_or(Self::Unknown(number))
    }

    /// Its number.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Data => 0,
            Self::Headers => 1,
            Self::Priority => 2,
            Self::RstStream => 3,
            Self::Settings => 4,
            Self::PushPromise => 5,
            Self::Ping => 6,
            Self::GoAway => 7,
            Self::WindowUpdate => 8,
            Self::Continuation => 9,
            Self::Unknown(number) => number,
        }
    }
}

/// Why a stream is reset or a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum ErrorCode {
    NoError = 0,
    ProtocolError = 1,
    InternalError = 2,
    FlowControlError = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
    Cancel = 8,
    CompressionError = 9,
    ConnectError = 10,
    EnhanceYourCalm = 11,
    InadequateSecurity = 12,
    Http11Required = 13,
}

/// A parameter of SETTINGS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[allow(missing_docs)]
pub enum Setting {
    HeaderTableSize = 1,
    EnablePush = 2,
    MaxConcurrentStreams = 3,
    InitialWindowSize = 4,
    MaxFrameSize = 5,
    MaxHeaderListSize = 6,
}

impl Setting {
    /// The parameter with a number; nothing when it is not known, and so ignored.
    #[must_use]
    pub fn of(number: u16) -> Option<Self> {
        Some(match number {
            1 => Self::HeaderTableSize,
            2 => Self::EnablePush,
            3 => Self::MaxConcurrentStreams,
            4 => Self::InitialWindowSize,
            5 => Self::MaxFrameSize,
            6 => Self::MaxHeaderListSize,
            _ => return None,
        })
    }
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the payload.
    pub length: usize,
    /// What it is.
    pub kind: Kind,
    /// Its flags.
    pub flags: u8,
    /// The stream it belongs to; 0 for the connection.
    pub stream: u32,
}

impl Head {
    /// Reads a head.
    #[inline]
    #[must_use]
    pub fn read(bytes: [u8; HEAD_BYTES]) -> Self {
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = bytes;
        Self {
            length: u32::from_be_bytes([0, l0, l1, l2]) as usize,
            kind: Kind::of(kind),
            flags,
            stream: u32::from_be_bytes([s0, s1, s2, s3]) & LAST_STREAM,
        }
    }

    /// Whether a flag is set.
    #[inline]
    #[must_use]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Writes it.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub fn write(&self, out: &mut Vec<u8>) {
        let [_, l0, l1, l2] = (self.length as u32).to_be_bytes();
        let [s0, s1, s2, s3] = self.stream.to_be_bytes();
        out.extend_from_slice(&[l0, l1, l2, self.kind.number(), self.flags, s0, s1, s2, s3]);
    }
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// None yet: every byte is taken, and more are needed.
    More,
    /// A whole frame that is not DATA, with its payload.
    Frame(Head, &'b [u8]),
    /// Payload of DATA without padding, as it comes.
    Data {
        /// The head of its frame.
        head: Head,
        /// The piece.
        piece: &'b [u8],
        /// Whether it is the first piece of its frame.
        is_first: bool,
        /// Whether its frame ends with it.
        is_last: bool,
    },
}

/// How far one call of [`Reader::next`] came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read<'b> {
    /// Bytes taken.
    pub consumed: usize,
    /// What they make.
    pub part: Part<'b>,
}

/// A DATA frame that is being read.
#[derive(Clone, Copy, Debug)]
struct Data {
    head: Head,
    /// Bytes left of the frame.
    left: usize,
    /// How many of them are padding; nothing before that is known.
    padding: Option<usize>,
    is_first: bool,
}

/// Reads frames in any split of their bytes; holds at most one frame.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Bytes of a frame that came in pieces; no payload of DATA.
    partial: Vec<u8>,
    /// Whether `partial` was handed out whole.
    is_spent: bool,
    data: Option<Data>,
}

impl Reader {
    /// Forgets what was begun.
    pub fn reset(&mut self) {
        self.partial.clear();
        self.is_spent = false;
        self.data = None;
    }

    /// Head of the frame that is not complete, and how many of its bytes are held.
    #[must_use]
    pub fn pending(&self) -> Option<(Head, usize)> {
        let head = self.partial.first_chunk().filter(|_| !self.is_spent)?;
        Some((Head::read(*head), self.partial.len()))
    }

    /// Reads the next part.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::FrameSizeError`] for a frame longer than [`DEFAULT_FRAME_BYTES`], and
    /// [`ErrorCode::ProtocolError`] for padding longer than its frame.
    #[inline]
    pub fn next<'s>(&'s mut self, bytes: &'s [u8]) -> Result<Read<'s>, ErrorCode> {
        if self.data.is_some() {
            return self.read_data(bytes, 0);
        }
        if std::mem::take(&mut self.is_spent) {
            self.partial.clear();
        }
        if !self.partial.is_empty() {
            return self.complete(bytes);
        }
        let Some(first) = bytes.first_chunk() else {
            return Ok(self.keep(bytes));
        };
        let head = checked(Head::read(*first))?;
        if head.kind == Kind::Data {
            self.begin_data(head);
            return self.read_data(bytes, HEAD_BYTES);
        }
        let end = HEAD_BYTES + head.length;
        match bytes.get(HEAD_BYTES..end) {
            Some(payload) => Ok(Read { consumed: end, part: Part::Frame(head, payload) }),
            None => Ok(self.keep(bytes)),
        }
    }

    fn keep(&mut self, bytes: &[u8]) -> Read<'static> {
        self.partial.extend_from_slice(bytes);
        Read { consumed: bytes.len(), part: Part::More }
    }

    /// Goes on with a frame of which something is held.
    fn complete<'s>(&'s mut self, bytes: &'s [u8]) -> Result<Read<'s>, ErrorCode> {
        let mut consumed = self.fill(HEAD_BYTES, bytes);
        let Some(first) = self.partial.first_chunk() else {
            return Ok(Read { consumed, part: Part::More });
        };
        let head = checked(Head::read(*first))?;
        if head.kind == Kind::Data {
            self.partial.clear();
            self.begin_data(head);
            return self.read_data(bytes, consumed);
        }
        let end = HEAD_BYTES + head.length;
        consumed += self.fill(end, &bytes[consumed..]);
        if self.partial.len() < end {
            return Ok(Read { consumed, part: Part::More });
        }
        self.is_spent = true;
        Ok(Read { consumed, part: Part::Frame(head, &self.partial[HEAD_BYTES..]) })
    }

    /// Takes bytes until so many are held; returns how many it took.
    fn fill(&mut self, length: usize, bytes: &[u8]) -> usize {
        let taken = length.saturating_sub(self.partial.len()).min(bytes.len());
        self.partial.extend_from_slice(&bytes[..taken]);
        taken
    }

    #[inline]
    fn begin_data(&mut self, head: Head) {
        let padding = (!head.has(PADDED)).then_some(0);
        self.data = Some(Data { head, left: head.length, padding, is_first: true });
    }

    /// Reads on in DATA, of which `consumed` bytes are taken already.
    #[inline]
    fn read_data<'s>(
        &mut self,
        bytes: &'s [u8],
        mut consumed: usize,
    ) -> Result<Read<'s>, ErrorCode> {
        let Some(mut data) = self.data.take() else {
            return Ok(Read { consumed, part: Part::More });
        };
        if data.padding.is_none() {
            if data.left == 0 {
                return Err(ErrorCode::FrameSizeError);
            }
            let Some(&length) = bytes.get(consumed) else {
                self.data = Some(data);
                return Ok(Read { consumed, part: Part::More });
            };
            consumed += 1;
            data.left -= 1;
            if usize::from(length) > data.left {
                return Err(ErrorCode::ProtocolError);
            }
            data.padding = Some(usize::from(length));
        }
        let taken = data.left.min(bytes.len() - consumed);
        let padding = data.padding.unwrap_or(0);
        let shown = taken.min(data.left.saturating_sub(padding));
        let piece = &bytes[consumed..consumed + shown];
        consumed += taken;
        data.left -= taken;
        if data.left > 0 && taken == 0 {
            self.data = Some(data);
            return Ok(Read { consumed, part: Part::More });
        }
        let (head, is_first, is_last) = (data.head, data.is_first, data.left == 0);
        if !is_last {
            data.is_first = false;
            data.padding = Some(padding);
            self.data = Some(data);
        }
        Ok(Read { consumed, part: Part::Data { head, piece, is_first, is_last } })
    }
}

#[inline]
fn checked(head: Head) -> Result<Head, ErrorCode> {
    if head.length > DEFAULT_FRAME_BYTES { Err(ErrorCode::FrameSizeError) } else { Ok(head) }
}

/// The piece of a header block that a HEADERS frame carries, without padding and priority.
///
/// # Errors
///
/// [`ErrorCode::ProtocolError`] when padding and priority do not fit, or the stream depends on
/// itself.
#[inline]
pub fn header_fragment(head: Head, mut payload: &[u8]) -> Result<&[u8], ErrorCode> {
    let mut padding = 0;
    if head.has(PADDED) {
        let (&length, rest) = payload.split_first().ok_or(ErrorCode::FrameSizeError)?;
        (padding, payload) = (usize::from(length), rest);
    }
    if head.has(PRIORITY) {
        let (priority, rest) = payload.split_first_chunk::<5>().ok_or(ErrorCode::FrameSizeError)?;
        let [s0, s1, s2, s3, _] = *priority;
        if u32::from_be_bytes([s0, s1, s2, s3]) & LAST_STREAM == head.stream {
            return Err(ErrorCode::ProtocolError);
        }
        payload = rest;
    }
    let end = payload.len().checked_sub(padding).ok_or(ErrorCode::ProtocolError)?;
    Ok(&payload[..end])
}

/// The parameters of a SETTINGS frame, in order.
///
/// # Errors
///
/// [`ErrorCode::FrameSizeError`] when its length is none of SETTINGS, and
/// [`ErrorCode::ProtocolError`] when it belongs to a stream. Values that no parameter may have end
/// the list with their error.
pub fn settings(
    head: Head,
    payload: &[u8],
) -> Result<impl Iterator<Item = Result<(Setting, u32), ErrorCode>>, ErrorCode> {
    if head.stream != 0 {
        return Err(ErrorCode::ProtocolError);
    }
    if payload.len() % 6 != 0 || head.has(ACK) && !payload.is_empty() {
        return Err(ErrorCode::FrameSizeError);
    }
    Ok(payload.chunks_exact(6).filter_map(|pair| {
        let setting = Setting::of(u16::from_be_bytes([pair[0], pair[1]]))?;
        let value = u32::from_be_bytes([pair[2], pair[3], pair[4], pair[5]]);
        Some(checked_setting(setting, value))
    }))
}

fn checked_setting(setting: Setting, value: u32) -> Result<(Setting, u32), ErrorCode> {
    match setting {
        Setting::EnablePush if value > 1 => Err(ErrorCode::ProtocolError),
        Setting::InitialWindowSize if value > LARGEST_WINDOW_BYTES => {
            Err(ErrorCode::FlowControlError)
        }
        Setting::MaxFrameSize if !(1 << 14..1 << 24).contains(&value) => {
            Err(ErrorCode::ProtocolError)
        }
        _ => Ok((setting, value)),
    }
}

/// The number that is the whole payload of `RST_STREAM` and `WINDOW_UPDATE`.
///
/// # Errors
///
/// [`ErrorCode::FrameSizeError`] when it is not four bytes.
pub fn number(payload: &[u8]) -> Result<u32, ErrorCode> {
    let bytes = payload.try_into().map_err(|_| ErrorCode::FrameSizeError)?;
    Ok(u32::from_be_bytes(bytes))
}

/// By how much a `WINDOW_UPDATE` enlarges a window.
///
/// # Errors
///
/// [`ErrorCode::FrameSizeError`] when it is not four bytes, [`ErrorCode::ProtocolError`] for 0.
pub fn increment(payload: &[u8]) -> Result<u32, ErrorCode> {
    match number(payload)? & LARGEST_WINDOW_BYTES {
        0 => Err(ErrorCode::ProtocolError),
        more => Ok(more),
    }
}

/// The last stream that was or will be processed, and the reason, of a GOAWAY.
///
/// # Errors
///
/// [`ErrorCode::FrameSizeError`] when it is too short.
pub fn go_away(payload: &[u8]) -> Result<(u32, u32), ErrorCode> {
    let (last, rest) = payload.split_first_chunk().ok_or(ErrorCode::FrameSizeError)?;
    let (code, _) = rest.split_first_chunk().ok_or(ErrorCode::FrameSizeError)?;
    Ok((u32::from_be_bytes(*last) & LAST_STREAM, u32::from_be_bytes(*code)))
}

/// Writes SETTINGS.
pub fn write_settings(out: &mut Vec<u8>, settings: &[(Setting, u32)]) {
    let length = settings.len() * 6;
    Head { length, kind: Kind::Settings, flags: 0, stream: 0 }.write(out);
    for &(setting, value) in settings {
        out.extend_from_slice(&(setting as u16).to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Writes a header block of two parts: HEADERS with further flags, and CONTINUATION for what is
/// beyond [`DEFAULT_FRAME_BYTES`]. The first part has to fit in a frame.
#[inline]
pub fn write_headers(out: &mut Vec<u8>, stream: u32, flags: u8, [prefix, block]: [&[u8]; 2]) {
    let room = DEFAULT_FRAME_BYTES.saturating_sub(prefix.len());
    let (first, rest) = block.split_at(block.len().min(room));
    let flags = if rest.is_empty() { flags | END_HEADERS } else { flags };
    Head { length: prefix.len() + first.len(), kind: Kind::Headers, flags, stream }.write(out);
    out.extend_from_slice(prefix);
    out.extend_from_slice(first);
    if !rest.is_empty() {
        write_continuations(out, stream, rest);
    }
}

#[cold]
fn write_continuations(out: &mut Vec<u8>, stream: u32, rest: &[u8]) {
    let mut pieces = rest.chunks(DEFAULT_FRAME_BYTES).peekable();
    while let Some(piece) = pieces.next() {
        let flags = if pieces.peek().is_none() { END_HEADERS } else { 0 };
        Head { length: piece.len(), kind: Kind::Continuation, flags, stream }.write(out);
        out.extend_from_slice(piece);
    }
}

/// Writes the acknowledgement of SETTINGS.
pub fn write_settings_ack(out: &mut Vec<u8>) {
    Head { length: 0, kind: Kind::Settings, flags: ACK, stream: 0 }.write(out);
}

/// Writes the acknowledgement of a PING.
pub fn write_ping_ack(out: &mut Vec<u8>, payload: &[u8]) {
    Head { length: payload.len(), kind: Kind::Ping, flags: ACK, stream: 0 }.write(out);
    out.extend_from_slice(payload);
}

/// Writes a `WINDOW_UPDATE`.
pub fn write_window_update(out: &mut Vec<u8>, stream: u32, more: u32) {
    Head { length: 4, kind: Kind::WindowUpdate, flags: 0, stream }.write(out);
    out.extend_from_slice(&more.to_be_bytes());
}

/// Writes a `RST_STREAM`.
pub fn write_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    Head { length: 4, kind: Kind::RstStream, flags: 0, stream }.write(out);
    out.extend_from_slice(&u32::from(code as u8).to_be_bytes());
}

/// Writes a GOAWAY.
pub fn write_go_away(out: &mut Vec<u8>, last_stream: u32, code: ErrorCode) {
    Head { length: 8, kind: Kind::GoAway, flags: 0, stream: 0 }.write(out);
    out.extend_from_slice(&last_stream.to_be_bytes());
    out.extend_from_slice(&u32::from(code as u8).to_be_bytes());
}

#[cfg(test)]
#[allow(clippy::similar_names, clippy::format_push_string, clippy::large_stack_arrays)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Head { length: payload.len(), kind, flags, stream }.write(&mut out);
        out.extend_from_slice(payload);
        out
    }

    /// What frames mean, in words; the pieces of DATA put together.
    fn hear(bytes: &[u8], cuts: &[usize]) -> (Vec<(Head, Vec<u8>)>, Option<ErrorCode>) {
        let mut reader = Reader::default();
        let mut heard: Vec<(Head, Vec<u8>)> = Vec::new();
        let mut start = 0;
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let mut rest = &bytes[start..cut];
            start = cut;
            loop {
                let read = match reader.next(rest) {
                    Ok(read) => read,
                    Err(code) => return (heard, Some(code)),
                };
                assert!(read.consumed <= rest.len());
                match read.part {
                    Part::More => {
                        assert_eq!(read.consumed, rest.len());
                        break;
                    }
                    Part::Frame(head, payload) => heard.push((head, payload.to_vec())),
                    Part::Data { head, piece, is_first: true, .. } => {
                        heard.push((head, piece.to_vec()));
                    }
                    Part::Data { piece, .. } => {
                        if let Some((_, body)) = heard.last_mut() {
                            body.extend_from_slice(piece);
                        }
                    }
                }
                rest = &rest[read.consumed..];
            }
            assert!(reader.partial.len() <= HEAD_BYTES + DEFAULT_FRAME_BYTES);
        }
        (heard, None)
    }

    #[test]
    fn a_head_is_the_same_after_writing_and_reading() {
        for number in 0..=255 {
            let head = Head { length: 16_384, kind: Kind::of(number), flags: 7, stream: 77 };
            let mut out = Vec::new();
            head.write(&mut out);
            assert_eq!(Head::read(out.try_into().unwrap()), head);
            assert_eq!(head.kind.number(), number);
        }
    }

    #[test]
    fn padding_of_data_is_taken_off() {
        let bytes = frame(Kind::Data, PADDED | END_STREAM, 1, b"\x03hello\0\0\0");
        assert_eq!(hear(&bytes, &[]).0[0].1, b"hello");
        let nothing = frame(Kind::Data, PADDED, 1, b"\x03\0\0\0");
        assert_eq!(hear(&nothing, &[]).0[0].1, b"");
        let wrong = frame(Kind::Data, PADDED, 1, b"\x04\0\0\0");
        assert_eq!(hear(&wrong, &[]).1, Some(ErrorCode::ProtocolError));
        let none = frame(Kind::Data, PADDED, 1, b"");
        assert_eq!(hear(&none, &[]).1, Some(ErrorCode::FrameSizeError));
    }

    #[test]
    fn padding_and_priority_of_headers_are_taken_off() {
        let read = |flags, payload: &[u8]| {
            let head = Head { length: payload.len(), kind: Kind::Headers, flags, stream: 3 };
            header_fragment(head, payload).map(<[u8]>::to_vec)
        };
        assert_eq!(read(0, b"abc"), Ok(b"abc".to_vec()));
        assert_eq!(read(PADDED, b"\x02abc\0\0"), Ok(b"abc".to_vec()));
        assert_eq!(read(PADDED | PRIORITY, b"\x01\0\0\0\0\x09abc\0"), Ok(b"abc".to_vec()));
        assert_eq!(read(PADDED, b"\x03ab"), Err(ErrorCode::ProtocolError));
        assert_eq!(read(PRIORITY, b"\0\0\0\x03\x09"), Err(ErrorCode::ProtocolError));
        assert_eq!(read(PRIORITY, b"\0\0"), Err(ErrorCode::FrameSizeError));
    }

    #[test]
    fn a_frame_that_is_too_long_is_refused() {
        let longest = frame(Kind::Headers, 0, 1, &[0; DEFAULT_FRAME_BYTES]);
        assert_eq!(hear(&longest, &[5]).1, None);
        let longer = frame(Kind::Headers, 0, 1, &[0; DEFAULT_FRAME_BYTES + 1]);
        assert_eq!(hear(&longer, &[5]), (vec![], Some(ErrorCode::FrameSizeError)));
    }

    #[test]
    fn a_header_block_is_written_in_frames_that_any_endpoint_takes() {
        let most = DEFAULT_FRAME_BYTES;
        for prefix in [&b""[..], b"\x20"] {
            for frames in
                [&[3][..], &[most - 1], &[most], &[most, 1], &[most, most], &[most, most, 1]]
            {
                let length = frames.iter().sum::<usize>() - prefix.len();
                let block: Vec<u8> = (0..=255).cycle().take(length).collect();
                let mut out = Vec::new();
                write_headers(&mut out, 7, END_STREAM, [prefix, &block]);
                let (heard, code) = hear(&out, &[]);
                assert_eq!(code, None, "{length}");
                let last = frames.len() - 1;
                let lengths: Vec<_> = heard.iter().map(|(head, _)| head.length).collect();
                assert_eq!(lengths, frames);
                for (place, (head, _)) in heard.iter().enumerate() {
                    let is_first = place == 0;
                    let kind = if is_first { Kind::Headers } else { Kind::Continuation };
                    assert_eq!((head.kind, head.stream), (kind, 7));
                    assert_eq!(head.has(END_STREAM), is_first);
                    assert_eq!(head.has(END_HEADERS), place == last);
                }
                let whole: Vec<u8> = heard.into_iter().flat_map(|(_, piece)| piece).collect();
                assert_eq!(whole, [prefix, &block].concat());
            }
        }
    }

    #[test]
    fn settings_are_read_and_impossible_ones_refused() {
        let mut out = Vec::new();
        write_settings(&mut out, &[(Setting::EnablePush, 0), (Setting::InitialWindowSize, 9)]);
        out.extend_from_slice(&[0, 99, 0, 0, 0, 1]);
        let head = Head { length: 18, kind: Kind::Settings, flags: 0, stream: 0 };
        let read = |payload: &[u8]| settings(head, payload).unwrap().collect::<Result<Vec<_>, _>>();
        let known = vec![(Setting::EnablePush, 0), (Setting::InitialWindowSize, 9)];
        assert_eq!(read(&out[HEAD_BYTES..]), Ok(known));
        for (wrong, code) in [
            ([0, 2, 0, 0, 0, 2], ErrorCode::ProtocolError),
            ([0, 4, 0x80, 0, 0, 0], ErrorCode::FlowControlError),
            ([0, 5, 0, 0, 0x3f, 0xff], ErrorCode::ProtocolError),
        ] {
            assert_eq!(read(&wrong), Err(code));
        }
        assert_eq!(settings(head, b"12345").err(), Some(ErrorCode::FrameSizeError));
        assert!(settings(Head { stream: 1, ..head }, b"").is_err());
    }

    #[test]
    fn numbers_have_four_bytes() {
        assert_eq!(number(&[0, 0, 1, 2]), Ok(258));
        assert_eq!(number(&[0, 0, 1]), Err(ErrorCode::FrameSizeError));
        assert_eq!(increment(&[0x80, 0, 0, 0]), Err(ErrorCode::ProtocolError));
        assert_eq!(go_away(&[0x80, 0, 0, 7, 0, 0, 0, 2, 9]), Ok((7, 2)));
        assert_eq!(go_away(&[0; 7]), Err(ErrorCode::FrameSizeError));
    }

    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let payload = prop::collection::vec(any::<u8>(), 0..40);
        let one =
            (0u8..12, any::<u8>(), 0u32..9, payload).prop_map(|(kind, flags, stream, payload)| {
                frame(Kind::of(kind), flags, stream, &payload)
            });
        prop::collection::vec(one, 0..8).prop_map(|frames| frames.concat())
    }

    proptest! {
        #[test]
        fn any_split_of_anything_means_the_same_as_none(
            bytes in prop_oneof![frames(), prop::collection::vec(any::<u8>(), 0..200)],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let whole = hear(&bytes, &[]);
            prop_assert_eq!(&hear(&bytes, &cuts), &whole);
            let each: Vec<_> = (0..=bytes.len()).collect();
            prop_assert_eq!(&hear(&bytes, &each), &whole);
        }
    }
}
