//! One request at a time by HTTP/2.
//!
//! # Source
//!
//! RFC 9113.

use plimsoll_http2::frame::{
    ACK, DEFAULT_FRAME_BYTES, END_HEADERS, END_STREAM, Head, Kind, PREFACE, Part, Reader, Setting,
    go_away, header_fragment, write_headers, write_ping_ack, write_settings, write_settings_ack,
    write_window_update,
};
use plimsoll_http2::hpack::Decoder;

use super::{LARGEST_BODY_BYTES, NoResponse, Response};
use crate::outcome::Outcome;
use crate::protocol::http2::request::Encoded;
use crate::protocol::http2::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};

/// A connection that carries one stream at a time.
#[derive(Debug)]
pub(super) struct Http2 {
    reader: Reader,
    decoder: Decoder,
    /// The stream of the request under way, or of the next one.
    stream: u32,
    /// Whether the server has shown that it speaks HTTP/2.
    has_settings: bool,
    /// Whether a head, or a part of one, has come of the response under way.
    has_begun: bool,
    /// Whether the server takes no further stream.
    is_leaving: bool,
    /// A header block that has come in part, and the flags of its first frame.
    block: Vec<u8>,
    flags: u8,
    response: Response,
}

impl Http2 {
    /// A connection that is not yet greeted; `output` gets the greeting.
    pub fn new(output: &mut Vec<u8>) -> Self {
        output.extend_from_slice(PREFACE);
        write_settings(
            output,
            &[(Setting::EnablePush, 0), (Setting::InitialWindowSize, STREAM_WINDOW_BYTES)],
        );
        write_window_update(output, 0, CONNECTION_WINDOW_BYTES);
        Self {
            reader: Reader::default(),
            decoder: Decoder::default(),
            stream: 1,
            has_settings: false,
            has_begun: false,
            is_leaving: false,
            block: Vec::new(),
            flags: 0,
            response: Response::default(),
        }
    }

    /// Begins a request; its body is sent at once, so it must fit the window of 64 KiB.
    pub fn begin(&mut self, request: &Encoded, output: &mut Vec<u8>) {
        self.response = Response::default();
        self.has_begun = false;
        let last = if request.body.is_empty() { END_STREAM } else { 0 };
        write_headers(output, self.stream, last, [&[], &request.block]);
        let mut pieces = request.body.chunks(DEFAULT_FRAME_BYTES).peekable();
        while let Some(piece) = pieces.next() {
            let last = if pieces.peek().is_none() { END_STREAM } else { 0 };
            self.write(Kind::Data, last, piece, output);
        }
    }

    fn write(&self, kind: Kind, flags: u8, payload: &[u8], output: &mut Vec<u8>) {
        Head { length: payload.len(), kind, flags, stream: self.stream }.write(output);
        output.extend_from_slice(payload);
    }

    /// Whether a head, or a part of one, has come of the response under way, be it an interim one.
    pub fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Bytes that have come of the body of a response that is not complete.
    pub fn body_bytes(&self) -> usize {
        self.response.body.len()
    }

    /// Takes bytes that have come; `output` gets what has to be said to them.
    pub fn received(
        &mut self,
        mut bytes: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<Option<Response>, NoResponse> {
        // The reader is taken out, since what it reads may lie within it.
        let mut reader = std::mem::take(&mut self.reader);
        let mut complete = false;
        loop {
            let read = reader.next(bytes).map_err(|_| self.broken())?;
            bytes = &bytes[read.consumed..];
            let is_end = match read.part {
                Part::More => break,
                Part::Frame(head, payload) => self.frame(head, payload, output)?,
                Part::Data { head, piece, is_last, .. } => self.data(head, piece, is_last)?,
            };
            if is_end {
                complete = true;
                self.stream += 2;
            }
        }
        self.reader = reader;
        if !complete {
            return Ok(None);
        }
        let mut response = std::mem::take(&mut self.response);
        response.closes = self.is_leaving;
        Ok(Some(response))
    }

    /// A frame that is not DATA; returns whether the response is complete with it.
    fn frame(
        &mut self,
        head: Head,
        payload: &[u8],
        output: &mut Vec<u8>,
    ) -> Result<bool, NoResponse> {
        if !self.has_settings && head.kind != Kind::Settings {
            return Err(NoResponse::NotHttp2);
        }
        match head.kind {
            Kind::Settings if !head.has(ACK) => {
                self.has_settings = true;
                write_settings_ack(output);
            }
            Kind::Ping if !head.has(ACK) => write_ping_ack(output, payload),
            Kind::GoAway => {
                let (last, _) = go_away(payload).map_err(|_| self.broken())?;
                self.is_leaving = true;
                if last < self.stream {
                    return Err(NoResponse::Ended(Outcome::GoneAway));
                }
            }
            Kind::RstStream if head.stream == self.stream => {
                return Err(NoResponse::Ended(Outcome::StreamReset));
            }
            Kind::Headers | Kind::Continuation => return self.fields(head, payload),
            _ => {}
        }
        Ok(false)
    }

    fn fields(&mut self, head: Head, payload: &[u8]) -> Result<bool, NoResponse> {
        self.has_begun |= head.stream == self.stream;
        if head.kind == Kind::Headers {
            self.block.clear();
            self.flags = head.flags;
            self.block.extend(header_fragment(head, payload).map_err(|_| self.broken())?);
        } else {
            self.block.extend_from_slice(payload);
        }
        if !head.has(END_HEADERS) {
            return Ok(false);
        }
        let mut status = None;
        let mut headers = Vec::new();
        let decoded = self.decoder.decode(&self.block, |name, value| {
            if name == b":status" {
                status = std::str::from_utf8(value).ok().and_then(|code| code.parse().ok());
            } else {
                headers.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
            }
        });
        decoded.map_err(|_| self.broken())?;
        match status {
            Some(100..=199) => return Ok(false),
            Some(status) => {
                self.response.status = status;
                self.response.headers = headers;
                self.response.head_bytes = self.block.len();
            }
            // Trailers.
            None if self.response.status > 0 => {}
            None => return Err(self.broken()),
        }
        Ok(self.flags & END_STREAM != 0)
    }

    fn data(&mut self, head: Head, piece: &[u8], is_last: bool) -> Result<bool, NoResponse> {
        if head.stream != self.stream || self.response.status == 0 {
            return Err(self.broken());
        }
        self.response.body.extend_from_slice(piece);
        if self.response.body.len() > LARGEST_BODY_BYTES {
            return Err(NoResponse::TooLarge);
        }
        Ok(is_last && head.has(END_STREAM))
    }

    /// What came breaks a rule.
    fn broken(&self) -> NoResponse {
        if self.has_settings {
            NoResponse::Ended(Outcome::Http2Error)
        } else {
            NoResponse::NotHttp2
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_http2::frame::{ErrorCode, write_go_away, write_reset};
    use plimsoll_http2::hpack::write_field;

    use super::*;

    const REQUEST: Encoded = Encoded { block: Vec::new(), body: Vec::new() };

    fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Head { length: payload.len(), kind, flags, stream }.write(&mut out);
        out.extend_from_slice(payload);
        out
    }

    fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
        let mut block = Vec::new();
        for (name, value) in fields {
            write_field(&mut block, name.as_bytes(), value.as_bytes());
        }
        block
    }

    fn settings() -> Vec<u8> {
        let mut out = Vec::new();
        write_settings(&mut out, &[]);
        out
    }

    fn begun() -> Http2 {
        let mut output = Vec::new();
        let mut http2 = Http2::new(&mut output);
        http2.begin(&REQUEST, &mut output);
        assert!(output.starts_with(PREFACE));
        http2
    }

    fn response(stream: u32) -> Vec<u8> {
        let head = fields(&[(":status", "200"), ("decoded-bytes", "7")]);
        [
            frame(Kind::Headers, END_HEADERS, stream, &fields(&[(":status", "103")])),
            frame(Kind::Headers, 0, stream, &head[..3]),
            frame(Kind::Continuation, END_HEADERS, stream, &head[3..]),
            frame(Kind::Data, 0, stream, b"he"),
            frame(Kind::Data, 0, stream, b"llo"),
            frame(Kind::Headers, END_HEADERS | END_STREAM, stream, &fields(&[("grpc", "0")])),
        ]
        .concat()
    }

    #[test]
    fn a_response_has_its_fields_and_body_in_any_split_and_the_next_one_follows() {
        let bytes = [settings(), response(1)].concat();
        for split in 0..bytes.len() {
            let (mut http2, mut output) = (begun(), Vec::new());
            assert_eq!(http2.received(&bytes[..split], &mut output).unwrap(), None, "at {split}");
            let found = http2.received(&bytes[split..], &mut output).unwrap().unwrap();
            assert_eq!((found.status, &*found.body), (200, &b"hello"[..]));
            assert_eq!(found.headers, [("decoded-bytes".to_owned(), b"7".to_vec())]);
            assert!(!found.closes);
            http2.begin(&REQUEST, &mut output);
            assert!(http2.received(&response(3), &mut output).unwrap().is_some());
        }
    }

    #[test]
    fn a_response_begins_with_its_first_head_and_not_with_the_connection() {
        let (mut http2, mut output) = (begun(), Vec::new());
        let interim = frame(Kind::Headers, END_HEADERS, 1, &fields(&[(":status", "103")]));
        for (bytes, has_begun) in [(settings(), false), (interim, true)] {
            assert_eq!(http2.received(&bytes, &mut output).unwrap(), None);
            assert_eq!(http2.has_begun(), has_begun);
        }
        http2.begin(&REQUEST, &mut output);
        assert!(!http2.has_begun());
    }

    #[test]
    fn a_long_head_is_sent_in_frames_that_the_server_takes() {
        let request = Encoded { block: vec![0; 2 * DEFAULT_FRAME_BYTES + 1], body: b"x".to_vec() };
        let (mut output, mut kinds) = (Vec::new(), Vec::new());
        let mut http2 = begun();
        http2.begin(&request, &mut output);
        let (mut reader, mut rest) = (Reader::default(), &output[..]);
        loop {
            let read = reader.next(rest).unwrap();
            rest = &rest[read.consumed..];
            match read.part {
                Part::More => break,
                Part::Frame(Head { kind, .. }, _) | Part::Data { head: Head { kind, .. }, .. } => {
                    kinds.push(kind);
                }
            }
        }
        assert_eq!(kinds, [Kind::Headers, Kind::Continuation, Kind::Continuation, Kind::Data]);
    }

    #[test]
    fn what_is_no_response_is_told_apart() {
        let told = |parts: &[Vec<u8>]| begun().received(&parts.concat(), &mut Vec::new());
        let (mut reset, mut go_away) = (Vec::new(), Vec::new());
        write_reset(&mut reset, 1, ErrorCode::Cancel);
        write_go_away(&mut go_away, 0, ErrorCode::NoError);
        let http1 = b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec();
        assert!(matches!(told(&[http1]), Err(NoResponse::NotHttp2)));
        assert!(matches!(told(&[response(1)]), Err(NoResponse::NotHttp2)));
        let ended = |parts: &[Vec<u8>]| match told(parts) {
            Err(NoResponse::Ended(outcome)) => outcome,
            other => panic!("{other:?}"),
        };
        assert_eq!(ended(&[settings(), reset]), Outcome::StreamReset);
        assert_eq!(ended(&[settings(), go_away]), Outcome::GoneAway);
        let early = frame(Kind::Data, END_STREAM, 1, b"x");
        assert_eq!(ended(&[settings(), early]), Outcome::Http2Error);
    }
}
