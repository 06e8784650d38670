//! The response to a request: every endpoint of the contract.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use num_bigint::BigUint;
use plimsoll_system as system;

use crate::coding;
use crate::events::Events;
use crate::files::Selection;
use crate::given;
use crate::json_sum;
use crate::multipart;
use crate::request::{Method, Persistence, Refusal, Request};
use crate::websocket;

/// A whole response, head and body.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    bytes: Arc<Vec<u8>>,
    /// How many of the bytes are sent: without the body if only the head was requested.
    length: usize,
    /// Events that follow the head.
    pub events: Option<Events>,
}

impl From<Vec<u8>> for Answer {
    fn from(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), bytes: Arc::new(bytes), events: None }
    }
}

impl Answer {
    /// These bytes, which the events that are still to come follow.
    pub fn before(bytes: Vec<u8>, events: Option<Events>) -> Self {
        Self { events, ..bytes.into() }
    }
}

impl Deref for Answer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// Leave to send the body, for clients that ask first.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The largest N whose Fibonacci number is computed; larger ones would hold up other connections.
const FIBONACCI_LIMIT: u32 = 100_000;

/// Routes of `/r/K/x/ID`, counted from 0.
const ROUTES: u32 = 1_000;

const TEXT: &str = "Content-Type: text/plain\r\n";
const JSON: &str = "Content-Type: application/json\r\n";
const VARY: &str = "Vary: Accept-Encoding\r\n";

const EVENTS: &str = "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n";

/// RFC 6455, section 4.4.
const UPGRADE: &str = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n";

const ARGUMENT_BODY: &[u8] = &[b'A'; 2048];

thread_local! {
    static CURRENT: RefCell<Option<Arc<Answers>>> = const { RefCell::new(None) };
}

/// The response to a request.
pub(super) fn answer(request: &Request) -> Answer {
    Answers::of_this_second().answer(request)
}

/// The response to bytes that are no request.
pub(super) fn refuse(refusal: Refusal) -> Answer {
    Answers::of_this_second().refuse(refusal)
}

/// Bytes of the values of a query or form together, decoded.
fn form_bytes(encoded: &[u8]) -> usize {
    form_urlencoded::parse(encoded).map(|(_, value)| value.len()).sum()
}

/// CRC-32 of the decoded values of a query by rising name, each followed by a line feed.
fn checksum(query: &[u8]) -> u32 {
    let mut arguments: Vec<_> = form_urlencoded::parse(query).collect();
    arguments.sort_unstable();
    let mut hasher = crc32fast::Hasher::new();
    for (_, value) in &arguments {
        hasher.update(value.as_bytes());
        hasher.update(b"\n");
    }
    hasher.finalize()
}

/// N, when it is a number that is not too large.
fn position(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let position = digits.then(|| text.parse().ok()).flatten();
    position.filter(|&position| position <= FIBONACCI_LIMIT)
}

/// The number of a route, given its path without the parameter.
fn route(path: &str) -> Option<u32> {
    let digits = path.strip_prefix("/r/")?.strip_suffix("/x")?;
    let number = digits.parse().ok().filter(|&number: &u32| number < ROUTES)?;
    // Neither signs nor leading zeros.
    (number.to_string() == digits).then_some(number)
}

/// F(N) by N − 1 additions; F(0) = 0, F(1) = 1.
fn fibonacci(position: u32) -> BigUint {
    let mut before = BigUint::ZERO;
    if position == 0 {
        return before;
    }
    let mut last = BigUint::from(1_u32);
    for _ in 1..position {
        before += &last;
        std::mem::swap(&mut before, &mut last);
    }
    last
}

fn connection_header(persistence: Persistence) -> &'static str {
    match persistence {
        Persistence::Kept => "",
        Persistence::KeptAsAsked => "Connection: keep-alive\r\n",
        Persistence::Closed => "Connection: close\r\n",
    }
}

/// A head; `framing` is the field that says where the body ends.
fn head(
    status: &str,
    date: &str,
    headers: &str,
    persistence: Persistence,
    framing: fmt::Arguments<'_>,
) -> String {
    let connection = connection_header(persistence);
    format!("HTTP/1.1 {status}\r\nDate: {date}\r\n{headers}{connection}{framing}\r\n")
}

/// The head of a body of so many bytes, and room for it.
fn sized_head(
    status: &str,
    date: &str,
    headers: &str,
    persistence: Persistence,
    length: usize,
) -> Vec<u8> {
    let framing = format_args!("Content-Length: {length}\r\n");
    let head = head(status, date, headers, persistence, framing);
    let mut bytes = Vec::with_capacity(head.len() + length);
    bytes.extend_from_slice(head.as_bytes());
    bytes
}

/// A response that is the same for a second, rendered once for each way the connection can go on.
struct Constant {
    kept: Arc<Vec<u8>>,
    kept_as_asked: Arc<Vec<u8>>,
    closed: Arc<Vec<u8>>,
    body_bytes: usize,
}

impl Constant {
    fn new(status: &str, date: &str, headers: &str, body: &[u8]) -> Self {
        let render = |persistence| {
            let mut answer = sized_head(status, date, headers, persistence, body.len());
            answer.extend_from_slice(body);
            Arc::new(answer)
        };
        Self {
            kept: render(Persistence::Kept),
            kept_as_asked: render(Persistence::KeptAsAsked),
            closed: render(Persistence::Closed),
            body_bytes: body.len(),
        }
    }

    fn with(&self, persistence: Persistence) -> Answer {
        let bytes = match persistence {
            Persistence::Kept => &self.kept,
            Persistence::KeptAsAsked => &self.kept_as_asked,
            Persistence::Closed => &self.closed,
        };
        Answer { bytes: Arc::clone(bytes), length: bytes.len(), events: None }
    }

    fn to(&self, request: &Request) -> Answer {
        let mut answer = self.with(request.persistence);
        if request.method == Method::Head {
            answer.length -= self.body_bytes;
        }
        answer
    }
}

/// The responses of one second, the resolution of their `Date`.
///
/// Constant responses are rendered once a second; the others are made anew for each request.
struct Answers {
    second: u64,
    date: String,
    empty: Constant,
    letters_2048: Constant,
    letters_8192: Constant,
    letters_32768: Constant,
    plaintext: Constant,
    bad_request: Constant,
    unauthorised: Constant,
    not_found: Constant,
    only_get: Constant,
    only_post: Constant,
    upgrade_required: Constant,
    unknown_coding: Constant,
    body_too_large: Constant,
    head_too_large: Constant,
}

impl Answers {
    fn of_this_second() -> Arc<Self> {
        let second = Duration::from_nanos(system::wall_clock_ns()).as_secs();
        CURRENT.with_borrow_mut(|current| match current {
            Some(answers) if answers.second == second => Arc::clone(answers),
            _ => Arc::clone(current.insert(Arc::new(Self::new(second)))),
        })
    }

    fn new(second: u64) -> Self {
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(second));
        let text = |body: &[u8]| Constant::new("200 OK", &date, TEXT, body);
        let problem = |status, headers| Constant::new(status, &date, headers, b"");
        Self {
            second,
            empty: problem("200 OK", ""),
            letters_2048: text(&vec![b'A'; 2048]),
            letters_8192: text(&vec![b'A'; 8192]),
            letters_32768: text(&vec![b'A'; 32768]),
            plaintext: text(b"Hello, World!"),
            bad_request: problem("400 Bad Request", ""),
            unauthorised: problem("401 Unauthorized", "WWW-Authenticate: Bearer\r\n"),
            not_found: problem("404 Not Found", ""),
            only_get: problem("405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
            only_post: problem("405 Method Not Allowed", "Allow: POST\r\n"),
            upgrade_required: problem("426 Upgrade Required", UPGRADE),
            unknown_coding: problem("501 Not Implemented", ""),
            body_too_large: problem("413 Content Too Large", ""),
            head_too_large: problem("431 Request Header Fields Too Large", ""),
            date,
        }
    }

    fn answer(&self, request: &Request) -> Answer {
        match request.path {
            "/empty" => self.when_reading(request, || self.empty.to(request)),
            "/2048" => self.letters(request, 2048, &self.letters_2048),
            "/8192" => self.letters(request, 8192, &self.letters_8192),
            "/32768" => self.letters(request, 32768, &self.letters_32768),
            "/plaintext" => self.when_reading(request, || self.plaintext.to(request)),
            "/getArgs2048" => self.when_reading(request, || {
                self.decoded(request, Ok(form_bytes(request.query.as_bytes())))
            }),
            "/postArgs2048" => {
                self.when_posted(request, || self.decoded(request, Ok(form_bytes(&request.body))))
            }
            "/postArgsMulti2048" => self.when_posted(request, || {
                let bytes = multipart::value_bytes(request.content_type, &request.body);
                self.decoded(request, bytes)
            }),
            "/args" => self.when_reading(request, || {
                let body = checksum(request.query.as_bytes()).to_string();
                self.right(request, TEXT, body.as_bytes())
            }),
            "/json" => self.when_posted(request, || self.json(request)),
            "/upload" => self.when_posted(request, || {
                self.right(request, TEXT, crc32fast::hash(&request.body).to_string().as_bytes())
            }),
            "/json-in" => self.when_posted(request, || match json_sum::of(&request.body) {
                Ok(sum) => self.right(request, TEXT, sum.to_string().as_bytes()),
                Err(_) => self.bad_request.to(request),
            }),
            "/auth" => self.when_reading(request, || match given::subject(request.authorization) {
                Some(subject) => self.right(request, TEXT, subject.as_bytes()),
                None => self.unauthorised.to(request),
            }),
            // Who asks for WebSocket as it should does not come here.
            websocket::PATH => self.upgrade_required.to(request),
            path => self.with_parameter(request, path),
        }
    }

    /// The response at a path that ends with a parameter.
    fn with_parameter(&self, request: &Request, path: &str) -> Answer {
        if let Some(events) = Events::of(path, request.query) {
            return self.when_reading(request, || self.events(request, events));
        }
        let (before, last) = path.rsplit_once('/').unwrap_or_default();
        let found = match before {
            "/fibonacci" => position(last).map(|n| (TEXT, fibonacci(n).to_string().into_bytes())),
            "/items" => return self.list(request, last),
            "/static" => return self.file(request, last),
            "/value" => given::value(last).map(|body| (JSON, body)),
            _ => route(before)
                .filter(|_| !last.is_empty())
                .map(|number| (TEXT, format!("{number}:{last}").into_bytes())),
        };
        match found {
            Some((kind, body)) => self.when_reading(request, || self.right(request, kind, &body)),
            None => self.not_found.to(request),
        }
    }

    /// Records as JSON, compressed for clients that accept that.
    fn list(&self, request: &Request, count: &str) -> Answer {
        let Some(body) = given::list(count, request.query) else {
            return self.not_found.to(request);
        };
        let coded = request.accepted.and_then(|coding| Some((coding, coding.encoded(&body).ok()?)));
        self.when_reading(request, || match &coded {
            None => self.right(request, &format!("{JSON}{VARY}"), &body),
            Some((coding, coded)) => {
                let headers = format!("{JSON}Content-Encoding: {}\r\n{VARY}", coding.name());
                self.right(request, &headers, coded)
            }
        })
    }

    /// A file, or what of it the client lacks.
    fn file(&self, request: &Request, name: &str) -> Answer {
        let Some(file) = given::file(name) else {
            return self.not_found.to(request);
        };
        self.when_reading(request, || {
            // RFC 9110, section 14.2: ranges are of `GET` alone.
            let is_get = request.method == Method::Get;
            let range = request.selection.range.filter(|_| is_get);
            let selected = file.selected(&Selection { range, ..request.selection }, self.second);
            if let Some(body) = selected.body {
                return self.made(request, selected.status, &selected.headers, &body);
            }
            let persistence = request.persistence;
            let framing = format_args!("");
            let head = head(selected.status, &self.date, &selected.headers, persistence, framing);
            head.into_bytes().into()
        })
    }

    /// The head of a stream of events, and those that follow it.
    fn events(&self, request: &Request, events: Events) -> Answer {
        let framing = format_args!("Transfer-Encoding: chunked\r\n");
        let head = head("200 OK", &self.date, EVENTS, request.persistence, framing);
        let events = (request.method != Method::Head).then_some(events);
        Answer::before(head.into_bytes(), events)
    }

    /// A body of letters, compressed for clients that accept that.
    fn letters(&self, request: &Request, length: usize, plain: &Constant) -> Answer {
        let coding = request.accepted;
        let coded = coding.and_then(|coding| Some((coding, coding::letters(coding, length)?)));
        self.when_reading(request, || match coded {
            None => plain.to(request),
            Some((coding, body)) => {
                let name = coding.name();
                let headers = format!("{TEXT}Content-Encoding: {name}\r\n{VARY}");
                self.right(request, &headers, body)
            }
        })
    }

    fn refuse(&self, refusal: Refusal) -> Answer {
        let constant = match refusal {
            Refusal::Malformed => &self.bad_request,
            Refusal::UnknownCoding => &self.unknown_coding,
            Refusal::BodyTooLarge => &self.body_too_large,
            Refusal::HeadTooLarge => &self.head_too_large,
        };
        constant.with(Persistence::Closed)
    }

    fn when_reading(&self, request: &Request, answer: impl FnOnce() -> Answer) -> Answer {
        match request.method {
            Method::Get | Method::Head => answer(),
            Method::Post | Method::Other => self.only_get.to(request),
        }
    }

    fn when_posted(&self, request: &Request, answer: impl FnOnce() -> Answer) -> Answer {
        match request.method {
            Method::Post => answer(),
            Method::Get | Method::Head | Method::Other => self.only_post.to(request),
        }
    }

    fn decoded(&self, request: &Request, bytes: Result<usize, multipart::Broken>) -> Answer {
        match bytes {
            Ok(bytes) => {
                self.right(request, &format!("{TEXT}Decoded-Bytes: {bytes}\r\n"), ARGUMENT_BODY)
            }
            Err(multipart::Broken) => self.bad_request.to(request),
        }
    }

    fn json(&self, request: &Request) -> Answer {
        let decoded = serde_json::from_slice::<serde_json::Value>(&request.body);
        match decoded.and_then(|value| serde_json::to_vec(&value)) {
            Ok(body) => self.right(request, JSON, &body),
            Err(_) => self.bad_request.to(request),
        }
    }

    fn right(&self, request: &Request, headers: &str, body: &[u8]) -> Answer {
        self.made(request, "200 OK", headers, body)
    }

    /// A response made for one request; without the body if only the head was requested.
    fn made(&self, request: &Request, status: &str, headers: &str, body: &[u8]) -> Answer {
        let mut answer = sized_head(status, &self.date, headers, request.persistence, body.len());
        if request.method != Method::Head {
            answer.extend_from_slice(body);
        }
        answer.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coding::Coding;

    fn request<'a>(method: Method, path: &'a str, body: &'a [u8]) -> Request<'a> {
        Request {
            method,
            path,
            query: "",
            content_type: b"multipart/form-data; boundary=xyz",
            accepted: None,
            authorization: b"",
            selection: Selection::default(),
            body: body.into(),
            persistence: Persistence::Kept,
            websocket_key: None,
            length_bytes: 0,
        }
    }

    /// A response of one second, whenever the test runs.
    fn answer(request: &Request) -> Answer {
        Answers::new(0).answer(request)
    }

    fn parts(answer: &[u8]) -> (String, Vec<u8>) {
        let end = memchr::memmem::find(answer, b"\r\n\r\n").unwrap() + 4;
        (String::from_utf8(answer[..end].to_vec()).unwrap(), answer[end..].to_vec())
    }

    fn get(path: &str) -> (String, Vec<u8>) {
        parts(&answer(&request(Method::Get, path, b"")))
    }

    fn post(path: &str, body: &[u8]) -> (String, Vec<u8>) {
        parts(&answer(&request(Method::Post, path, body)))
    }

    #[test]
    fn constant_bodies_have_their_length() {
        for length in [2048, 8192, 32768] {
            let (head, body) = get(&format!("/{length}"));
            assert_eq!(body, vec![b'A'; length]);
            let end = format!("text/plain\r\nContent-Length: {length}\r\n\r\n");
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.ends_with(&end), "{head}");
        }
        let (head, body) = get("/empty");
        assert!(head.ends_with(" GMT\r\nContent-Length: 0\r\n\r\n") && body.is_empty(), "{head}");
        assert_eq!(get("/plaintext").1, b"Hello, World!");
    }

    #[test]
    fn letters_are_compressed_for_who_accepts_that_and_nothing_else_is() {
        let accepting = |path: &str| {
            let accepted = Some(Coding::Gzip);
            parts(&answer(&Request { accepted, ..request(Method::Get, path, b"") }))
        };
        for length in coding::LENGTHS {
            let (head, body) = accepting(&format!("/{length}"));
            assert!(head.contains("\r\nContent-Encoding: gzip\r\n"), "{head}");
            assert!(
                head.ends_with(&format!("\r\nContent-Length: {}\r\n\r\n", body.len())),
                "{head}"
            );
            assert_eq!(Some(&body[..]), coding::letters(Coding::Gzip, length));
        }
        assert_eq!(accepting("/plaintext").1, b"Hello, World!");
    }

    #[test]
    fn the_head_alone_is_the_same_head() {
        for path in ["/empty", "/2048", "/getArgs2048", "/fibonacci/10", "/none"] {
            let alone = answer(&request(Method::Head, path, b""));
            assert_eq!(parts(&alone), (get(path).0, vec![]), "{path}");
        }
    }

    #[test]
    fn the_answer_says_what_becomes_of_the_connection() {
        let cases = [
            (Persistence::Kept, None),
            (Persistence::KeptAsAsked, Some("\r\nConnection: keep-alive\r\n")),
            (Persistence::Closed, Some("\r\nConnection: close\r\n")),
        ];
        for (persistence, expected) in cases {
            for path in ["/2048", "/getArgs2048", "/none"] {
                let asked = Request { persistence, ..request(Method::Get, path, b"") };
                let (head, _) = parts(&answer(&asked));
                match expected {
                    Some(header) => assert!(head.contains(header), "{head}"),
                    None => assert!(!head.contains("Connection"), "{head}"),
                }
            }
        }
    }

    #[test]
    fn arguments_are_decoded_and_counted_in_bytes() {
        let query = "abca=a+b&abcb=%26%3D%25&abcc=%C3%A9&abcd=%F0%9D%84%9E&abce=";
        let asked = Request { query, ..request(Method::Get, "/getArgs2048", b"") };
        let (head, body) = parts(&answer(&asked));
        assert!(head.contains("\r\nDecoded-Bytes: 12\r\n"), "{head}");
        assert_eq!(body, [b'A'; 2048]);
        assert_eq!(post("/postArgs2048", query.as_bytes()), (head, body));
    }

    #[test]
    fn the_checksum_is_of_decoded_values_by_rising_name() {
        let alphabet = "abcdefghijklmnopqrstuvwxyz";
        let pairs = |value: &str| {
            alphabet.chars().map(|end| format!("abc{end}={value}")).collect::<Vec<_>>().join("&")
        };
        let args = |query: &str| {
            parts(&answer(&Request { query, ..request(Method::Get, "/args", b"") })).1
        };
        assert_eq!(args(&pairs(alphabet)), b"4197353680");
        assert_eq!(args(&pairs("")), b"3200026160");
        assert_eq!(args("b=%2B+&a=%C3%A9"), args("a=%c3%a9&b=%2b%20"));
        assert_ne!(args("b=1&a=2"), args("b=2&a=1"));
    }

    #[test]
    fn answers_are_dated_and_rendered_anew_each_second() {
        let [first, second] = [0, 784_111_777].map(Answers::new);
        assert_eq!(first.date, "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(second.date, "Sun, 06 Nov 1994 08:49:37 GMT");
        for path in ["/2048", "/getArgs2048", "/none"] {
            let (head, _) = parts(&second.answer(&request(Method::Get, path, b"")));
            assert!(head.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"), "{head}");
        }
    }

    #[test]
    fn parts_are_counted_and_broken_ones_refused() {
        let body =
            b"--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xc3\xa9\r\n--xyz--";
        let (head, letters) = post("/postArgsMulti2048", body);
        assert!(head.contains("\r\nDecoded-Bytes: 2\r\n"), "{head}");
        assert_eq!(letters, [b'A'; 2048]);
        assert!(post("/postArgsMulti2048", b"--xyz").0.starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn json_comes_back_equal() {
        let text = "{ \"lastName\" : \"\\u00e9\\ud834\\udd1e\",\n\"id\": 1, \"firstName\":\"\"}";
        let (head, body) = post("/json", text.as_bytes());
        assert!(head.contains("\r\nContent-Type: application/json\r\n"), "{head}");
        let before: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), before);
    }

    #[test]
    fn broken_json_is_refused() {
        for broken in ["", "{", "{\"id\":}", "nothing", "{} {}"] {
            assert!(post("/json", broken.as_bytes()).0.starts_with("HTTP/1.1 400 "), "{broken}");
        }
    }

    #[test]
    fn fibonacci_numbers_are_right_to_the_digit() {
        let first = ["0", "1", "1", "2", "3", "5", "8", "13", "21", "34", "55"];
        for (position, expected) in (0..).zip(first) {
            assert_eq!(fibonacci(position).to_string(), expected);
        }
        assert_eq!(get("/fibonacci/100").1, b"354224848179261915075");
        assert_eq!(get("/fibonacci/10000").1.len(), 2090);
        // Cassini's identity: F(n−1) × F(n+1) − F(n)² = (−1)ⁿ.
        let product = fibonacci(11_999) * fibonacci(12_001);
        assert_eq!(product, fibonacci(12_000).pow(2) + 1_u32);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        let paths = [
            "/",
            "/2049",
            "/2048/",
            "/fibonacci/",
            "/fibonacci/x",
            "/fibonacci/-1",
            "/fibonacci/+1",
        ];
        for path in paths {
            assert!(get(path).0.starts_with("HTTP/1.1 404 "), "{path}");
        }
        assert!(get("/fibonacci/100001").0.starts_with("HTTP/1.1 404 "));
    }

    #[test]
    fn a_method_that_an_endpoint_does_not_have_is_named() {
        for (head, allowed) in [(post("/2048", b"").0, "GET, HEAD"), (get("/json").0, "POST")] {
            assert!(head.starts_with("HTTP/1.1 405 Method Not Allowed\r\n"), "{head}");
            assert!(head.contains(&format!("\r\nAllow: {allowed}\r\n")), "{head}");
        }
    }

    #[test]
    fn a_refusal_closes_the_connection() {
        let cases = [
            (Refusal::Malformed, "400"),
            (Refusal::UnknownCoding, "501"),
            (Refusal::BodyTooLarge, "413"),
            (Refusal::HeadTooLarge, "431"),
        ];
        for (refusal, status) in cases {
            let (head, _) = parts(&refuse(refusal));
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
        }
    }
}
