//! One request at a time on one connection, read as under load: what a check of a contract asks with.

mod events;
mod http2;
mod websocket;

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::time::Duration;

use httparse::Header;
use plimsoll_system::{self as system, Address, Ready};
use plimsoll_tls::Failure;
use plimsoll_websocket::frame::{Mask, NORMAL, Opcode, write, write_close};
use thiserror::Error;

pub use self::events::ServerSentEvent;
pub use self::websocket::{Kind, Message};

use self::events::Arrivals;
use self::http2::Http2;
use self::websocket::Messages;
use crate::outcome::Outcome;
use crate::protocol::http1::response::{
    LONGEST_HEAD_BYTES, MOST_HEADERS, Malformed, Part, Reader, parser,
};
use crate::protocol::http2::request::encode;
use crate::protocol::websocket::upgrade::{Answer, Upgrade};
use crate::transport::security::Security;
use crate::transport::{Handshake, Read, Transport};

/// The largest body that is kept, in bytes.
const LARGEST_BODY_BYTES: usize = 16 * 1024 * 1024;

const SCRATCH_BYTES: usize = 64 * 1024;

/// A complete response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Name, as it was spelled, and value of each field of the head, in order.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, freed of its transfer coding.
    pub body: Vec<u8>,
    /// Bytes of the head with its empty line, without interim responses before it.
    pub head_bytes: usize,
    /// Whether the connection carries no further request.
    pub closes: bool,
    /// Whether it began before the whole request was sent.
    pub early: bool,
    /// The events of a body that is a stream of them.
    pub events: Vec<ServerSentEvent>,
}

/// Why there is no complete response.
#[derive(Debug, Error)]
pub enum NoResponse {
    /// It was not complete in time.
    #[error("not complete in time")]
    TimedOut,
    /// The connection was closed before the first byte.
    #[error("the connection was closed")]
    Closed,
    /// The connection was closed within the head.
    #[error("the connection was closed within the head")]
    ClosedInHead,
    /// The connection was closed within the body.
    #[error("the connection was closed within the body")]
    ClosedInBody,
    /// What came is not HTTP/1.
    #[error("{}", not_http(*.0))]
    NotHttp(Malformed),
    /// The body is larger than what is kept.
    #[error("the body has more than {LARGEST_BODY_BYTES} bytes")]
    TooLarge,
    /// More bytes came than belong to the response.
    #[error("{0} bytes more than its length")]
    Surplus(usize),
    /// What should be sent is no request of HTTP/1 with its length.
    #[error("what was to be sent is no request")]
    NoRequest,
    /// What came is not HTTP/2.
    #[error("what came is not HTTP/2")]
    NotHttp2,
    /// The connection is not one of WebSocket, though the server has accepted the upgrade.
    #[error("{0}")]
    NotWebSocket(&'static str),
    /// The exchange ended without a complete response.
    #[error("{}", .0.meaning())]
    Ended(Outcome),
    /// The socket failed.
    #[error("{0}")]
    Broken(io::Error),
}

fn not_http(malformed: Malformed) -> &'static str {
    match malformed {
        Malformed::Head => "the head is not one of HTTP/1",
        Malformed::Chunk => "the chunks of the body are broken",
        Malformed::HeadTooLarge => "the head is too large, or has too many fields",
    }
}

impl From<io::Error> for NoResponse {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => Self::TimedOut,
            _ => Self::Broken(error),
        }
    }
}

/// A connection that carries one request at a time. After [`NoResponse`] it is of no more use.
#[derive(Debug)]
pub struct Connection {
    transport: Transport,
    reader: Reader,
    scratch: Vec<u8>,
    /// Bytes in `scratch` that came before the whole request was sent.
    ahead: usize,
    /// What has been said by HTTP/2; nothing before the first request by it.
    http2: Option<Http2>,
    /// What has come since the connection was upgraded to WebSocket.
    messages: Messages,
}

impl Connection {
    /// Connects as under load: with Nagle's algorithm off, and by TLS where there is `security`.
    ///
    /// # Errors
    ///
    /// The error of `connect(2)`; [`ErrorKind::TimedOut`] when it took too long. One of TLS is a
    /// [`Failure`].
    pub fn open(
        address: &Address,
        security: Option<&Security>,
        timeout: Duration,
    ) -> io::Result<Self> {
        let deadline_ns = deadline_ns(timeout);
        let transport = Transport::connect(address, None, security)?;
        let scratch = vec![0; SCRATCH_BYTES];
        let (reader, messages) = (Reader::default(), Messages::default());
        let mut connection = Self { transport, reader, scratch, ahead: 0, http2: None, messages };
        let mut for_room = true;
        loop {
            let ready = connection.wait(for_room, deadline_ns)?;
            match connection.transport.advance(ready)? {
                Handshake::Complete => return Ok(connection),
                Handshake::Securing => for_room = connection.transport.has_unsent(),
                Handshake::UnderWay => {}
            }
        }
    }

    /// Sends the pieces of a request, `pause` apart, and reads the response.
    ///
    /// # Errors
    ///
    /// [`NoResponse`]. Bytes that are there beyond the end of the response are one.
    pub fn ask(
        &mut self,
        pieces: &[&[u8]],
        pause: Duration,
        is_head: bool,
        timeout: Duration,
    ) -> Result<Response, NoResponse> {
        let deadline_ns = deadline_ns(timeout);
        self.reader.start(is_head);
        let mut early = false;
        let mut arrivals = Arrivals::begin();
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                early = early || self.answers_within(pause)?;
            }
            match self.send(piece, deadline_ns) {
                // A server that closes early may have sent the reason before.
                Err(error) if is_closed(&error) => break,
                sent => sent?,
            }
        }
        let mut response = self.read(deadline_ns, &mut arrivals)?;
        self.refuse_surplus()?;
        response.early = early;
        response.events = arrivals.events(&response.headers, &response.body);
        Ok(response)
    }

    /// Waits until the socket has room, or something to read.
    fn wait(&self, for_room: bool, deadline_ns: u64) -> io::Result<Ready> {
        loop {
            let left_ns = deadline_ns.saturating_sub(system::now_ns());
            if left_ns == 0 {
                return Err(ErrorKind::TimedOut.into());
            }
            if let Some(ready) = system::wait_for(&self.transport, for_room, left_ns)? {
                return Ok(ready);
            }
        }
    }

    fn send(&mut self, mut bytes: &[u8], deadline_ns: u64) -> io::Result<()> {
        while !bytes.is_empty() || self.transport.has_unsent() {
            let taken = match bytes {
                [] => self.transport.flush().map(|()| 0),
                bytes => self.transport.send(bytes),
            };
            match taken {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(true, deadline_ns)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads what there is, or waits for it; 0 is the end, whether TLS has announced it or not.
    fn receive(&mut self, deadline_ns: u64) -> io::Result<usize> {
        loop {
            match self.transport.receive(&mut self.scratch) {
                Ok(Read { count, .. }) => return Ok(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.wait(false, deadline_ns)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether a byte comes, or the end, before the pause is over; interim responses do not count.
    fn answers_within(&mut self, pause: Duration) -> io::Result<bool> {
        let deadline_ns = deadline_ns(pause);
        loop {
            match self.receive(deadline_ns) {
                Ok(count) if count > 0 && interim_bytes(&self.scratch[..count]) == count => {}
                Ok(count) => {
                    self.ahead = count;
                    return Ok(true);
                }
                Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(false),
                Err(error) if is_truncated(&error) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
    }

    fn read(&mut self, deadline_ns: u64, arrivals: &mut Arrivals) -> Result<Response, NoResponse> {
        let mut head = Vec::new();
        let mut body = Vec::new();
        loop {
            let received = match std::mem::take(&mut self.ahead) {
                0 => self.receive(deadline_ns),
                ahead => Ok(ahead),
            };
            let count = match received {
                Err(error) if is_truncated(&error) => return Err(self.cut_short(&head)),
                Err(error) if error.kind() == ErrorKind::ConnectionReset && head.is_empty() => 0,
                count => count?,
            };
            if count == 0 && self.reader.end() {
                return Ok(self.response(&head, body));
            }
            if count == 0 {
                return Err(self.cut_short(&head));
            }
            let received = &self.scratch[..count];
            let kept = LONGEST_HEAD_BYTES.saturating_sub(head.len()).min(count);
            head.extend_from_slice(&received[..kept]);
            let mut fits = true;
            let progress = self.reader.read(received, |part| {
                let Part::Body(piece) = part else { return };
                fits = fits && body.len() + piece.len() <= LARGEST_BODY_BYTES;
                if fits {
                    body.extend_from_slice(piece);
                }
            });
            let progress = progress.map_err(NoResponse::NotHttp)?;
            if !fits {
                return Err(NoResponse::TooLarge);
            }
            arrivals.note(body.len());
            if progress.complete {
                if progress.consumed < count {
                    return Err(NoResponse::Surplus(count - progress.consumed));
                }
                return Ok(self.response(&head, body));
            }
        }
    }

    /// The server has closed its side before the response was complete.
    fn cut_short(&self, head: &[u8]) -> NoResponse {
        match (head.is_empty(), self.reader.status()) {
            (true, _) => NoResponse::Closed,
            (false, 0) => NoResponse::ClosedInHead,
            (false, _) => NoResponse::ClosedInBody,
        }
    }

    /// Sends a request by HTTP/2, given as HTTP/1, on a connection that has carried nothing else;
    /// reads the response. The names of its header fields are in lower case, and its `head_bytes` are
    /// those of the compressed block.
    ///
    /// # Errors
    ///
    /// [`NoResponse`].
    pub fn ask_by_http2(
        &mut self,
        request: &[u8],
        timeout: Duration,
    ) -> Result<Response, NoResponse> {
        let deadline_ns = deadline_ns(timeout);
        let scheme = if matches!(self.transport, Transport::Tls(_)) { "https" } else { "http" };
        let Some(request) = encode(request, scheme) else { return Err(NoResponse::NoRequest) };
        let mut output = Vec::new();
        let mut http2 = self.http2.take().unwrap_or_else(|| Http2::new(&mut output));
        http2.begin(&request, &mut output);
        let response = self.read_by_http2(&mut http2, output, deadline_ns);
        self.http2 = Some(http2);
        response
    }

    fn read_by_http2(
        &mut self,
        http2: &mut Http2,
        mut output: Vec<u8>,
        deadline_ns: u64,
    ) -> Result<Response, NoResponse> {
        let mut arrivals = Arrivals::begin();
        loop {
            self.send(&output, deadline_ns)?;
            output.clear();
            let count = self.receive_some(deadline_ns)?;
            let received = http2.received(&self.scratch[..count], &mut output)?;
            let Some(mut response) = received else {
                arrivals.note(http2.body_bytes());
                continue;
            };
            arrivals.note(response.body.len());
            response.events = arrivals.events(&response.headers, &response.body);
            self.send(&output, deadline_ns)?;
            return Ok(response);
        }
    }

    /// Whether some of the response to the last request by HTTP/2 has come, which was not complete in
    /// time, or comes now: settings of the connection are none of it.
    ///
    /// # Errors
    ///
    /// [`NoResponse`] when the connection ends, but not where nothing comes in time.
    pub fn has_begun_by_http2(&mut self, timeout: Duration) -> Result<bool, NoResponse> {
        let deadline_ns = deadline_ns(timeout);
        let Some(mut http2) = self.http2.take() else { return Ok(false) };
        let mut output = Vec::new();
        while !http2.has_begun() {
            let count = match self.receive_some(deadline_ns) {
                Err(NoResponse::TimedOut) => return Ok(false),
                count => count?,
            };
            if http2.received(&self.scratch[..count], &mut output)?.is_some() {
                break;
            }
            self.send(&output, deadline_ns)?;
            output.clear();
        }
        Ok(true)
    }

    /// Reads what there is, or waits for it.
    fn receive_some(&mut self, deadline_ns: u64) -> Result<usize, NoResponse> {
        match self.receive(deadline_ns) {
            Ok(0) => Err(NoResponse::Closed),
            Err(error) if is_truncated(&error) => Err(NoResponse::Closed),
            count => Ok(count?),
        }
    }

    /// Asks for WebSocket with a complete head of HTTP/1.1, on a connection that has carried nothing
    /// yet; returns the status of the response, which is 101 only where the connection is upgraded.
    ///
    /// # Errors
    ///
    /// [`NoResponse`].
    pub fn upgrade(&mut self, request: &[u8], timeout: Duration) -> Result<u16, NoResponse> {
        let deadline_ns = deadline_ns(timeout);
        let mut upgrade = Upgrade::new(&request.into());
        let mut output = Vec::new();
        upgrade.ask(fastrand::u128(..).to_ne_bytes(), &mut output);
        self.send(&output, deadline_ns)?;
        loop {
            let count = self.receive_some(deadline_ns)?;
            match upgrade.answered(&self.scratch[..count]) {
                Answer::Partial => {}
                Answer::Upgraded { consumed } => {
                    self.messages.keep(&self.scratch[consumed..count]);
                    return Ok(101);
                }
                Answer::Refused { status } => return Ok(status),
                Answer::Invalid { problem } => return Err(NoResponse::NotWebSocket(problem)),
            }
        }
    }

    /// The same, and closes the connection if it is upgraded.
    ///
    /// # Errors
    ///
    /// [`NoResponse`].
    pub fn status_of_upgrade(
        &mut self,
        request: &[u8],
        timeout: Duration,
    ) -> Result<u16, NoResponse> {
        let status = self.upgrade(request, timeout)?;
        if status == 101 {
            let mut output = Vec::new();
            write_close(&mut output, NORMAL, Some(Mask::default()));
            // Who is gone needs no farewell.
            let _ = self.send(&output, deadline_ns(timeout));
        }
        Ok(status)
    }

    /// Sends a frame on a connection that is upgraded to WebSocket.
    ///
    /// # Errors
    ///
    /// [`NoResponse::TimedOut`] or [`NoResponse::Broken`].
    pub fn send_frame(
        &mut self,
        opcode: Opcode,
        is_final: bool,
        payload: &[u8],
        timeout: Duration,
    ) -> Result<(), NoResponse> {
        let mut output = Vec::new();
        let mask = fastrand::u32(..).to_ne_bytes();
        write(&mut output, opcode, is_final, Some(mask), payload);
        Ok(self.send(&output, deadline_ns(timeout))?)
    }

    /// The next message, whole, or control frame on a connection that is upgraded to WebSocket.
    ///
    /// # Errors
    ///
    /// [`NoResponse`].
    pub fn next_message(&mut self, timeout: Duration) -> Result<Message, NoResponse> {
        let deadline_ns = deadline_ns(timeout);
        loop {
            if let Some(message) = self.messages.next()? {
                return Ok(message);
            }
            let count = self.receive_some(deadline_ns)?;
            self.messages.keep(&self.scratch[..count]);
        }
    }

    /// The response whose head begins `bytes`, maybe behind interim ones.
    fn response(&self, bytes: &[u8], body: Vec<u8>) -> Response {
        let (headers, head_bytes) = last_head(bytes);
        let closes = !self.reader.keep_alive();
        let status = self.reader.status();
        Response { status, headers, body, head_bytes, closes, ..Response::default() }
    }

    /// Looks for bytes beyond the end of the response that are there already.
    ///
    /// A connection that breaks here has delivered its response; the next request will tell.
    fn refuse_surplus(&mut self) -> Result<(), NoResponse> {
        match self.transport.receive(&mut self.scratch) {
            Ok(Read { count, .. }) if count > 0 => Err(NoResponse::Surplus(count)),
            _ => Ok(()),
        }
    }
}

impl AsRawFd for Connection {
    fn as_raw_fd(&self) -> RawFd {
        self.transport.as_fd().as_raw_fd()
    }
}

/// Fields of the first head that is not interim, and its bytes.
fn last_head(bytes: &[u8]) -> (Vec<(String, Vec<u8>)>, usize) {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Response::new(&mut headers);
    match parser().parse_response(&mut head, &bytes[interim_bytes(bytes)..]) {
        Ok(httparse::Status::Complete(length)) => {
            (head.headers.iter().map(owned).collect(), length)
        }
        _ => (Vec::new(), 0),
    }
}

/// Length of the interim responses that `bytes` begin with (RFC 9110, section 15.2).
fn interim_bytes(bytes: &[u8]) -> usize {
    let mut length = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        match parser().parse_response(&mut head, &bytes[length..]) {
            Ok(httparse::Status::Complete(taken)) if matches!(head.code, Some(100 | 102..=199)) => {
                length += taken;
            }
            _ => return length,
        }
    }
}

/// Name and value of a field; a value of several lines is one with spaces between them.
fn owned(header: &Header<'_>) -> (String, Vec<u8>) {
    let spaced = header.value.iter().map(|byte| if b"\r\n".contains(byte) { b' ' } else { *byte });
    (header.name.to_owned(), spaced.collect::<Vec<_>>().trim_ascii().to_vec())
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset)
}

/// Whether the connection was closed without the end that TLS demands.
fn is_truncated(error: &io::Error) -> bool {
    matches!(Failure::within(error), Some(Failure::Truncated))
}

fn deadline_ns(from_now: Duration) -> u64 {
    let length_ns = u64::try_from(from_now.as_nanos()).unwrap_or(u64::MAX / 2);
    system::now_ns().saturating_add(length_ns)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nServer: x\r\nContent-Length: 5\r\n\r\nhello";
    const PATIENCE: Duration = Duration::from_secs(10);
    const PAUSE: Duration = Duration::from_millis(20);

    /// Asks a server that responds with `said` once it has `after` bytes, and then closes.
    fn asked(
        pieces: &[&[u8]],
        after: usize,
        said: &'static [u8],
    ) -> (Result<Response, NoResponse>, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connection =
            Connection::open(&listener.local_addr().unwrap().into(), None, PATIENCE).unwrap();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut received = vec![0; after];
            stream.read_exact(&mut received).unwrap();
            stream.write_all(said).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            stream.read_to_end(&mut received).unwrap();
            received
        });
        let response = connection.ask(pieces, PAUSE, false, PATIENCE);
        drop(connection);
        (response, server.join().unwrap())
    }

    fn said(said: &'static [u8]) -> Result<Response, NoResponse> {
        asked(&[b"GET"], 3, said).0
    }

    #[test]
    fn a_response_has_its_head_and_body() {
        let response = said(HELLO).unwrap();
        assert_eq!((response.status, &*response.body), (200, &b"hello"[..]));
        assert_eq!(response.headers[0], ("Server".to_owned(), b"x".to_vec()));
        assert_eq!(response.head_bytes, HELLO.len() - 5);
        assert!(!response.closes && !response.early);
    }

    #[test]
    fn interim_responses_are_passed_over_and_chunks_taken_off() {
        let response = said(
            b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
              2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        );
        let response = response.unwrap();
        assert_eq!((response.status, &*response.body), (200, &b"hello"[..]));
        assert_eq!(response.head_bytes, 47);
        assert_eq!(response.headers.len(), 1);
    }

    #[test]
    fn a_field_of_several_lines_is_one_with_spaces() {
        let said = said(b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length:\r\n 0\r\n\r\n").unwrap();
        let fields = [("X", "a   b"), ("Content-Length", "0")];
        assert_eq!(said.headers, fields.map(|(name, value)| (name.to_owned(), value.into())));
    }

    #[test]
    fn pieces_arrive_as_the_whole_and_an_early_answer_is_seen() {
        let pieces: [&[u8]; 3] = [b"GE", b"T /", b" x"];
        let (response, received) = asked(&pieces, 7, HELLO);
        assert!(!response.unwrap().early);
        assert_eq!(received, b"GET / x");
        let (response, received) = asked(&pieces, 2, HELLO);
        assert!(response.unwrap().early);
        assert_eq!(received, b"GET / x");
    }

    #[test]
    fn an_interim_response_is_no_early_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; 2]).unwrap();
            stream.write_all(b"HTTP/1.1 102 Processing\r\n\r\n").unwrap();
            stream.read_exact(&mut [0; 5]).unwrap();
            stream.write_all(HELLO).unwrap();
        });
        let mut connection = Connection::open(&address.into(), None, PATIENCE).unwrap();
        let pieces: [&[u8]; 3] = [b"GE", b"T /", b" x"];
        let response = connection.ask(&pieces, PAUSE, false, PATIENCE).unwrap();
        serving.join().unwrap();
        assert_eq!((response.status, response.early), (200, false));
    }

    #[test]
    fn what_is_no_response_is_told_apart() {
        let message = |bytes| said(bytes).unwrap_err().to_string();
        assert!(matches!(said(b""), Err(NoResponse::Closed)));
        assert!(matches!(said(b"HTTP/1.1 200"), Err(NoResponse::ClosedInHead)));
        assert!(matches!(said(&HELLO[..HELLO.len() - 1]), Err(NoResponse::ClosedInBody)));
        assert!(matches!(said(b"hello\r\n\r\n"), Err(NoResponse::NotHttp(Malformed::Head))));
        let longer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nhello";
        assert_eq!(message(longer), "2 bytes more than its length");
    }

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for_without_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut connection =
            Connection::open(&listener.local_addr().unwrap().into(), None, PATIENCE).unwrap();
        let silent = connection.ask(&[b"GET"], PAUSE, false, Duration::from_millis(30));
        assert!(matches!(silent, Err(NoResponse::TimedOut)));
    }
}
