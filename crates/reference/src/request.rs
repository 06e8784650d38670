//! One request out of the bytes of a connection, over `httparse`.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use httparse::{Header, Status};
use plimsoll_websocket::handshake::key_of;

use crate::coding::Coding;
use crate::files::Selection;

/// The largest head that is read, in bytes.
pub(super) const HEAD_LIMIT_BYTES: usize = 16 * 1024;

/// The largest body that is read, in bytes.
pub(super) const BODY_LIMIT_BYTES: usize = 20 * 1024 * 1024;

/// The most bytes that a body in chunks may take on the wire.
const CHUNKED_LIMIT_BYTES: usize = 2 * BODY_LIMIT_BYTES;

const HEADER_LIMIT: usize = 64;

/// Methods that the contract knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Post,
    Other,
}

/// What becomes of the connection after the response, and whether the response must announce it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// It stays, as HTTP/1.1 has it.
    Kept,
    /// It stays because an HTTP/1.0 client requested it; the response announces it.
    KeptAsAsked,
    /// It is closed, and the response announces it.
    Closed,
}

/// One complete request, borrowed from the bytes received but for a body that came in chunks.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub method: Method,
    pub path: &'a str,
    pub query: &'a str,
    pub content_type: &'a [u8],
    /// The content coding that the client prefers of those it accepts.
    pub accepted: Option<Coding>,
    pub authorization: &'a [u8],
    pub selection: Selection<&'a [u8]>,
    pub body: Cow<'a, [u8]>,
    pub persistence: Persistence,
    /// The key of a client that asks for WebSocket.
    pub websocket_key: Option<&'a [u8]>,
    /// Bytes of head and body together.
    pub length_bytes: usize,
}

/// Why a request is not read; the connection is closed after the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not HTTP/1.
    Malformed,
    /// Its body has a coding other than chunks, so its length is not known.
    UnknownCoding,
    /// Its body is larger than [`BODY_LIMIT_BYTES`].
    BodyTooLarge,
    /// Its head is larger than [`HEAD_LIMIT_BYTES`], or has too many headers.
    HeadTooLarge,
}

/// What the bytes received so far amount to.
#[derive(Debug)]
pub(super) enum Reading<'a> {
    /// More bytes are needed.
    Incomplete {
        /// The client waits for `100 Continue` before it sends the body.
        expects_continue: bool,
    },
    /// A request is complete; more may follow it.
    Complete(Request<'a>),
    /// No request will come of this.
    Refused(Refusal),
}

/// What a client wishes for its connection.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wish {
    #[default]
    None,
    KeepAlive,
    Close,
}

/// A body freed of its coding, and how many bytes it took on the wire.
type Body<'a> = (Cow<'a, [u8]>, usize);

/// What the headers say that matters here.
#[derive(Default)]
struct Headers<'a> {
    content_length: Option<usize>,
    content_type: &'a [u8],
    accepted: Option<Coding>,
    authorization: &'a [u8],
    selection: Selection<&'a [u8]>,
    has_host: bool,
    connection: Wish,
    is_chunked: bool,
    expects_continue: bool,
    upgrade: Option<&'a [u8]>,
}

/// Reads the first request in `bytes`.
pub(super) fn read(bytes: &[u8]) -> Reading<'_> {
    let mut headers = [const { MaybeUninit::<Header>::uninit() }; HEADER_LIMIT];
    let mut head = httparse::Request::new(&mut []);
    match head.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(Status::Complete(head_bytes)) if head_bytes <= HEAD_LIMIT_BYTES => {
            read_body(&head, head_bytes, bytes).unwrap_or_else(Reading::Refused)
        }
        Ok(Status::Partial) if bytes.len() <= HEAD_LIMIT_BYTES => {
            Reading::Incomplete { expects_continue: false }
        }
        Ok(_) | Err(httparse::Error::TooManyHeaders) => Reading::Refused(Refusal::HeadTooLarge),
        Err(_) => Reading::Refused(Refusal::Malformed),
    }
}

fn read_body<'a>(
    head: &httparse::Request<'_, 'a>,
    head_bytes: usize,
    bytes: &'a [u8],
) -> Result<Reading<'a>, Refusal> {
    let headers = read_headers(head.headers)?;
    let newest = head.version == Some(1);
    if newest && !headers.has_host {
        return Err(Refusal::Malformed);
    }
    let Some((body, body_bytes)) = headers.body(&bytes[head_bytes..])? else {
        return Ok(Reading::Incomplete { expects_continue: headers.expects_continue && newest });
    };
    let (path, query) = split_target(head.path.unwrap_or_default());
    Ok(Reading::Complete(Request {
        method: method(head.method.unwrap_or_default()),
        path,
        query,
        content_type: headers.content_type,
        accepted: headers.accepted,
        authorization: headers.authorization,
        selection: headers.selection,
        body,
        persistence: persistence(newest, headers.connection),
        websocket_key: headers.upgrade.and_then(|_| key_of(head.headers)),
        length_bytes: head_bytes + body_bytes,
    }))
}

fn read_headers<'a>(parsed: &[Header<'a>]) -> Result<Headers<'a>, Refusal> {
    let mut headers = Headers::default();
    for header in parsed {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        match header.name.len() {
            4 if is("Host") => headers.read_host(header.value)?,
            5 if is("Range") => headers.selection.range = Some(header.value),
            6 if is("Expect") => {
                headers.expects_continue = header.value.eq_ignore_ascii_case(b"100-continue");
            }
            7 if is("Upgrade") => headers.upgrade = Some(header.value),
            8 if is("If-Range") => headers.selection.if_range = Some(header.value),
            10 if is("Connection") => {
                headers.connection = headers.connection.max(wish(header.value));
            }
            12 if is("Content-Type") => headers.content_type = header.value,
            13 if is("Authorization") => headers.authorization = header.value,
            13 if is("If-None-Match") => headers.selection.if_none_match = Some(header.value),
            14 if is("Content-Length") => headers.read_length(header.value)?,
            15 if is("Accept-Encoding") => headers.accepted = Coding::accepted(header.value),
            17 if is("Transfer-Encoding") => {
                if !header.value.eq_ignore_ascii_case(b"chunked") {
                    return Err(Refusal::UnknownCoding);
                }
                headers.is_chunked = true;
            }
            17 if is("If-Modified-Since") => {
                headers.selection.if_modified_since = Some(header.value);
            }
            _ => {}
        }
    }
    Ok(headers)
}

impl Headers<'_> {
    /// The body that begins `bytes`, and how many of them it takes; nothing while it is incomplete.
    fn body<'a>(&self, bytes: &'a [u8]) -> Result<Option<Body<'a>>, Refusal> {
        if !self.is_chunked {
            let length = self.content_length.unwrap_or(0);
            return Ok(bytes.get(..length).map(|body| (Cow::Borrowed(body), length)));
        }
        if self.content_length.is_some() {
            return Err(Refusal::Malformed);
        }
        let read = read_chunks(bytes)?;
        if read.is_none() && bytes.len() > CHUNKED_LIMIT_BYTES {
            return Err(Refusal::BodyTooLarge);
        }
        Ok(read.map(|(body, length)| (Cow::Owned(body), length)))
    }

    /// One host at most, and one that may stand in a URL; RFC 9112, section 3.2.
    fn read_host(&mut self, value: &[u8]) -> Result<(), Refusal> {
        let is_repeated = std::mem::replace(&mut self.has_host, true);
        let is_valid = value
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(byte));
        if is_repeated || !is_valid { Err(Refusal::Malformed) } else { Ok(()) }
    }

    fn read_length(&mut self, value: &[u8]) -> Result<(), Refusal> {
        if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
            return Err(Refusal::Malformed);
        }
        let digits = std::str::from_utf8(value).unwrap_or_default();
        let length = digits.parse().ok().filter(|&length| length <= BODY_LIMIT_BYTES);
        let length = length.ok_or(Refusal::BodyTooLarge)?;
        if self.content_length.is_some_and(|before| before != length) {
            return Err(Refusal::Malformed);
        }
        self.content_length = Some(length);
        Ok(())
    }
}

/// A body freed of its chunks, and the bytes it took; nothing while it is incomplete.
fn read_chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Refusal> {
    let mut body = Vec::new();
    let mut at = 0;
    loop {
        let Status::Complete((start, size)) =
            httparse::parse_chunk_size(&bytes[at..]).map_err(|_| Refusal::Malformed)?
        else {
            return Ok(None);
        };
        at += start;
        if size == 0 {
            return Ok(trailers_bytes(&bytes[at..])?.map(|length| (body, at + length)));
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > BODY_LIMIT_BYTES - body.len() {
            return Err(Refusal::BodyTooLarge);
        }
        let Some(chunk) = bytes.get(at..at + size + 2) else {
            return Ok(None);
        };
        let Some(data) = chunk.strip_suffix(b"\r\n") else {
            return Err(Refusal::Malformed);
        };
        body.extend_from_slice(data);
        at += chunk.len();
    }
}

/// Bytes of what follows the last chunk, up to and with the empty line.
fn trailers_bytes(bytes: &[u8]) -> Result<Option<usize>, Refusal> {
    let mut trailers = [httparse::EMPTY_HEADER; HEADER_LIMIT];
    match httparse::parse_headers(bytes, &mut trailers) {
        Ok(Status::Complete((length, _))) => Ok(Some(length)),
        Ok(Status::Partial) => Ok(None),
        Err(_) => Err(Refusal::Malformed),
    }
}

/// The strongest wish in a list such as `keep-alive, upgrade`.
fn wish(list: &[u8]) -> Wish {
    let names = list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let wishes = names.map(|name| match name {
        name if name.eq_ignore_ascii_case(b"close") => Wish::Close,
        name if name.eq_ignore_ascii_case(b"keep-alive") => Wish::KeepAlive,
        _ => Wish::None,
    });
    wishes.max().unwrap_or_default()
}

fn persistence(newest: bool, wish: Wish) -> Persistence {
    match (newest, wish) {
        (true, Wish::None | Wish::KeepAlive) => Persistence::Kept,
        (false, Wish::KeepAlive) => Persistence::KeptAsAsked,
        (_, Wish::Close) | (false, Wish::None) => Persistence::Closed,
    }
}

pub(super) fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        "POST" => Method::Post,
        _ => Method::Other,
    }
}

/// Path and query of a target, with or without scheme and host.
pub(super) fn split_target(target: &str) -> (&str, &str) {
    let local = match target.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |start| &rest[start..]),
        None => target,
    };
    local.split_once('?').unwrap_or((local, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &[u8] = b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
        Content-Length: 2\r\n\r\n{}GET /";

    fn complete(bytes: &[u8]) -> Request<'_> {
        match read(bytes) {
            Reading::Complete(request) => request,
            other => panic!("{other:?}"),
        }
    }

    fn refusal(bytes: &[u8]) -> Refusal {
        match read(bytes) {
            Reading::Refused(refusal) => refusal,
            other => panic!("{other:?}"),
        }
    }

    fn get(headers: &str) -> Vec<u8> {
        format!("GET /2048 HTTP/1.1\r\nHost: x\r\n{headers}\r\n").into_bytes()
    }

    #[test]
    fn a_request_ends_where_its_body_ends() {
        let request = complete(POST);
        assert_eq!(request.method, Method::Post);
        assert_eq!(request.path, "/json");
        assert_eq!(request.content_type, b"application/json");
        assert_eq!(&*request.body, b"{}");
        assert_eq!(&POST[request.length_bytes..], b"GET /");
    }

    #[test]
    fn every_beginning_of_a_request_is_incomplete() {
        let whole = &POST[..POST.len() - b"GET /".len()];
        for end in 0..whole.len() {
            assert!(matches!(read(&whole[..end]), Reading::Incomplete { .. }), "{end}");
        }
        assert!(matches!(read(whole), Reading::Complete(_)));
    }

    #[test]
    fn the_query_is_what_follows_the_first_question_mark() {
        let request = complete(b"GET /getArgs2048?a=1?&b=2 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!((request.path, request.query), ("/getArgs2048", "a=1?&b=2"));
    }

    #[test]
    fn a_target_may_name_scheme_and_host() {
        let request = complete(b"GET http://x:80/2048?a=1 HTTP/1.1\r\nHost: x\r\n\r\n");
        assert_eq!((request.path, request.query), ("/2048", "a=1"));
        assert_eq!(split_target("http://x"), ("/", ""));
    }

    #[test]
    fn persistence_follows_version_and_header() {
        let cases: [(&[u8], Persistence); 6] = [
            (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", Persistence::Kept),
            (b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", Persistence::Closed),
            (b"GET / HTTP/1.1\r\nHost: x\r\nconnection: te, Close\r\n\r\n", Persistence::Closed),
            (b"GET / HTTP/1.0\r\n\r\n", Persistence::Closed),
            (b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", Persistence::KeptAsAsked),
            (b"GET / HTTP/1.0\r\nConnection: close\r\n\r\n", Persistence::Closed),
        ];
        for (bytes, expected) in cases {
            assert_eq!(complete(bytes).persistence, expected);
        }
    }

    #[test]
    fn what_is_not_http_is_malformed() {
        let malformed: [&[u8]; 9] = [
            b"\x16\x03\x01\x02\x00\x01",
            b"GET / HTTP/2.0\r\n\r\n",
            b"GET / HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: not a host\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x@y\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        ];
        for bytes in malformed {
            assert_eq!(refusal(bytes), Refusal::Malformed);
        }
    }

    fn chunked(body: &str) -> Vec<u8> {
        let head = "POST /json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
        [head, body].concat().into_bytes()
    }

    #[test]
    fn a_body_in_chunks_is_freed_of_them() {
        for (body, trailers) in
            [("1\r\n{\r\n1;x=1\r\n}\r\n0\r\n", "\r\n"), ("2\r\n{}\r\n0\r\n", "A: b\r\n\r\n")]
        {
            let whole = chunked(&[body, trailers].concat());
            let followed = [&whole[..], b"GET /"].concat();
            let request = complete(&followed);
            assert_eq!(&*request.body, b"{}");
            assert_eq!(request.length_bytes, whole.len());
            for end in 0..whole.len() {
                assert!(matches!(read(&whole[..end]), Reading::Incomplete { .. }), "{end}");
            }
        }
    }

    #[test]
    fn broken_chunks_and_other_codings_are_refused() {
        assert_eq!(refusal(&chunked("x\r\n")), Refusal::Malformed);
        assert_eq!(refusal(&chunked("2\r\n{}0\r\n")), Refusal::Malformed);
        assert_eq!(refusal(&chunked("1400001\r\n")), Refusal::BodyTooLarge);
        assert_eq!(refusal(&get("Transfer-Encoding: gzip\r\n")), Refusal::UnknownCoding);
        let both = "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n";
        assert_eq!(refusal(&get(both)), Refusal::Malformed);
    }

    #[test]
    fn size_is_bounded() {
        let large = get(&format!("Content-Length: {}\r\n", BODY_LIMIT_BYTES + 1));
        assert_eq!(refusal(&large), Refusal::BodyTooLarge);
        let larger = get("Content-Length: 99999999999999999999999999\r\n");
        assert_eq!(refusal(&larger), Refusal::BodyTooLarge);
        let endless = [b"GET /2048 HTTP/1.1\r\nHost: ".as_slice(), &[b'x'; HEAD_LIMIT_BYTES]];
        assert_eq!(refusal(&endless.concat()), Refusal::HeadTooLarge);
        assert_eq!(refusal(&get(&"A: b\r\n".repeat(HEADER_LIMIT))), Refusal::HeadTooLarge);
    }

    #[test]
    fn a_client_may_wait_for_leave_to_send_its_body() {
        let waiting = get("Expect: 100-continue\r\nContent-Length: 1\r\n");
        assert!(matches!(read(&waiting), Reading::Incomplete { expects_continue: true }));
    }
}
