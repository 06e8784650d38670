//! What is answered to a request: every endpoint of the contract.

use std::borrow::Cow;
use std::sync::LazyLock;

use num_bigint::BigUint;

use super::multipart;
use super::request::{Method, Persistence, Refusal, Request};

/// A whole answer, head and body.
pub(super) type Answer = Cow<'static, [u8]>;

/// Leave to send the body, for clients that ask first.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The largest N whose Fibonacci number is computed; larger ones would hold up other connections.
const FIBONACCI_LIMIT: u32 = 100_000;

const ARGUMENT_BODY: &[u8] = &[b'A'; 2048];

static CONSTANTS: LazyLock<Constants> = LazyLock::new(Constants::new);

/// The answer to a request.
///
/// Constant answers are rendered once; the others are made anew for each request.
pub(super) fn answer(request: &Request) -> Answer {
    let constants = &*CONSTANTS;
    match request.path {
        "/empty" => read_only(request, &constants.empty),
        "/2048" => read_only(request, &constants.letters_2048),
        "/8192" => read_only(request, &constants.letters_8192),
        "/32768" => read_only(request, &constants.letters_32768),
        "/plaintext" => read_only(request, &constants.plaintext),
        "/getArgs2048" => when_reading(request, |request| {
            decoded(request, Ok(form_bytes(request.query.as_bytes())))
        }),
        "/postArgs2048" => {
            when_posted(request, |request| decoded(request, Ok(form_bytes(request.body))))
        }
        "/postArgsMulti2048" => when_posted(request, |request| {
            decoded(request, multipart::value_bytes(request.content_type, request.body))
        }),
        "/json" => when_posted(request, json),
        path => match path.strip_prefix("/fibonacci/").and_then(position) {
            Some(position) => when_reading(request, |request| fibonacci_answer(request, position)),
            None => constants.not_found.to(request),
        },
    }
}

/// The answer to bytes that are no request.
pub(super) fn refuse(refusal: Refusal) -> Answer {
    let constants = &*CONSTANTS;
    let constant = match refusal {
        Refusal::Malformed => &constants.bad_request,
        Refusal::LengthRequired => &constants.length_required,
        Refusal::BodyTooLarge => &constants.body_too_large,
        Refusal::HeadTooLarge => &constants.head_too_large,
    };
    Cow::Borrowed(constant.whole(Persistence::Closed))
}

fn read_only(request: &Request, constant: &'static Constant) -> Answer {
    when_reading(request, |request| constant.to(request))
}

fn when_reading(request: &Request, answer: impl Fn(&Request) -> Answer) -> Answer {
    match request.method {
        Method::Get | Method::Head => answer(request),
        Method::Post | Method::Other => CONSTANTS.only_get.to(request),
    }
}

fn when_posted(request: &Request, answer: impl Fn(&Request) -> Answer) -> Answer {
    match request.method {
        Method::Post => answer(request),
        Method::Get | Method::Head | Method::Other => CONSTANTS.only_post.to(request),
    }
}

/// Bytes of the values of a query or form together, decoded.
fn form_bytes(encoded: &[u8]) -> usize {
    form_urlencoded::parse(encoded).map(|(_, value)| value.len()).sum()
}

fn decoded(request: &Request, bytes: Result<usize, multipart::Broken>) -> Answer {
    match bytes {
        Ok(bytes) => Cow::Owned(render(
            "200 OK",
            &format!("Content-Type: text/plain\r\nDecoded-Bytes: {bytes}\r\n"),
            request,
            ARGUMENT_BODY,
        )),
        Err(multipart::Broken) => CONSTANTS.bad_request.to(request),
    }
}

fn json(request: &Request) -> Answer {
    let decoded = serde_json::from_slice::<serde_json::Value>(request.body);
    let encoded = decoded.and_then(|value| serde_json::to_vec(&value));
    match encoded {
        Ok(body) => {
            Cow::Owned(render("200 OK", "Content-Type: application/json\r\n", request, &body))
        }
        Err(_) => CONSTANTS.bad_request.to(request),
    }
}

fn fibonacci_answer(request: &Request, position: u32) -> Answer {
    let body = fibonacci(position).to_string();
    Cow::Owned(render("200 OK", "Content-Type: text/plain\r\n", request, body.as_bytes()))
}

/// N, when it is a number that is not too large.
fn position(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let position = digits.then(|| text.parse().ok()).flatten();
    position.filter(|&position| position <= FIBONACCI_LIMIT)
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

/// A whole answer; without the body when the head alone was asked for.
fn render(status: &str, headers: &str, request: &Request, body: &[u8]) -> Vec<u8> {
    let mut answer = head(status, headers, request.persistence, body.len());
    if request.method != Method::Head {
        answer.extend_from_slice(body);
    }
    answer
}

fn head(status: &str, headers: &str, persistence: Persistence, length: usize) -> Vec<u8> {
    let connection = match persistence {
        Persistence::Kept => "",
        Persistence::KeptAsAsked => "Connection: keep-alive\r\n",
        Persistence::Closed => "Connection: close\r\n",
    };
    let head =
        format!("HTTP/1.1 {status}\r\n{headers}{connection}Content-Length: {length}\r\n\r\n");
    let mut bytes = Vec::with_capacity(head.len() + length);
    bytes.extend_from_slice(head.as_bytes());
    bytes
}

/// An answer that is always the same, rendered once for each way the connection can go on.
struct Constant {
    kept: Vec<u8>,
    kept_as_asked: Vec<u8>,
    closed: Vec<u8>,
    body_bytes: usize,
}

impl Constant {
    fn new(status: &str, headers: &str, body: &[u8]) -> Self {
        let render = |persistence| {
            let mut answer = head(status, headers, persistence, body.len());
            answer.extend_from_slice(body);
            answer
        };
        Self {
            kept: render(Persistence::Kept),
            kept_as_asked: render(Persistence::KeptAsAsked),
            closed: render(Persistence::Closed),
            body_bytes: body.len(),
        }
    }

    fn text(body: &[u8]) -> Self {
        Self::new("200 OK", "Content-Type: text/plain\r\n", body)
    }

    fn whole(&self, persistence: Persistence) -> &[u8] {
        match persistence {
            Persistence::Kept => &self.kept,
            Persistence::KeptAsAsked => &self.kept_as_asked,
            Persistence::Closed => &self.closed,
        }
    }

    fn to(&'static self, request: &Request) -> Answer {
        let whole = self.whole(request.persistence);
        let body_bytes = if request.method == Method::Head { self.body_bytes } else { 0 };
        Cow::Borrowed(&whole[..whole.len() - body_bytes])
    }
}

struct Constants {
    empty: Constant,
    letters_2048: Constant,
    letters_8192: Constant,
    letters_32768: Constant,
    plaintext: Constant,
    bad_request: Constant,
    not_found: Constant,
    only_get: Constant,
    only_post: Constant,
    length_required: Constant,
    body_too_large: Constant,
    head_too_large: Constant,
}

impl Constants {
    fn new() -> Self {
        let problem = |status| Constant::new(status, "", b"");
        Self {
            empty: Constant::new("200 OK", "", b""),
            letters_2048: Constant::text(&vec![b'A'; 2048]),
            letters_8192: Constant::text(&vec![b'A'; 8192]),
            letters_32768: Constant::text(&vec![b'A'; 32768]),
            plaintext: Constant::text(b"Hello, World!"),
            bad_request: problem("400 Bad Request"),
            not_found: problem("404 Not Found"),
            only_get: Constant::new("405 Method Not Allowed", "Allow: GET, HEAD\r\n", b""),
            only_post: Constant::new("405 Method Not Allowed", "Allow: POST\r\n", b""),
            length_required: problem("411 Length Required"),
            body_too_large: problem("413 Content Too Large"),
            head_too_large: problem("431 Request Header Fields Too Large"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(method: Method, path: &'a str, body: &'a [u8]) -> Request<'a> {
        Request {
            method,
            path,
            query: "",
            content_type: b"multipart/form-data; boundary=xyz",
            body,
            persistence: Persistence::Kept,
            length_bytes: 0,
        }
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
        assert_eq!(get("/empty"), ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".into(), vec![]));
        assert_eq!(get("/plaintext").1, b"Hello, World!");
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
        assert!(post("/2048", b"").0.contains("405 Method Not Allowed\r\nAllow: GET, HEAD\r\n"));
        assert!(get("/json").0.contains("405 Method Not Allowed\r\nAllow: POST\r\n"));
    }

    #[test]
    fn a_refusal_closes_the_connection() {
        let cases = [
            (Refusal::Malformed, "400"),
            (Refusal::LengthRequired, "411"),
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
