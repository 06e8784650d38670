//! HTTP/1.1 that follows redirects: a redirect within the origin is the next request on the same
//! connection, and its response is the one to the request. One request at a time.
//!
//! A redirect is kept back until it is clear whether it is followed. If it is, only its bytes are
//! told; if not, the request ends with an outcome that says why.
//!
//! # Source
//!
//! RFC 9110, sections 10.2.2 and 15.4; RFC 3986, section 5.

use httparse::Status;
use iri_string::types::{UriAbsoluteStr, UriReferenceStr, UriStr};

use super::response::{LONGEST_HEAD_BYTES, MOST_HEADERS, Part, Progress, Reader, parser};
use super::{may_follow, outcome_of, unasked};
use crate::outcome::Outcome;
use crate::protocol::{Event, Id, Step};
use crate::request::Request;
use crate::spec::Follow;

/// Fields of a request that its body has.
const FIELDS_OF_BODY: [&str; 3] = ["content-length", "content-type", "transfer-encoding"];

/// The request on a connection, and how far it is.
#[derive(Clone, Debug)]
struct Current<'a> {
    id: Id,
    request: &'a Request,
    /// Whether it was handed to the transport.
    is_begun: bool,
    /// What was sent last for it.
    sent: Vec<u8>,
    hops: u32,
}

/// One connection of HTTP/1.1.
#[derive(Clone, Debug)]
pub struct Following<'a> {
    follow: Follow,
    current: Option<Current<'a>>,
    /// Bytes of what is sent for it that the transport has taken.
    taken: usize,
    reader: Reader,
    is_reading: bool,
    /// What has come of the head of the response, with interim heads before it.
    head: Vec<u8>,
    /// The status of a response that is a redirect.
    redirect: Option<u16>,
    redirects: u64,
    must_close: Option<Outcome>,
}

impl<'a> Following<'a> {
    pub(in crate::protocol) fn new(follow: &Follow) -> Self {
        Self {
            follow: follow.clone(),
            current: None,
            taken: 0,
            reader: Reader::default(),
            is_reading: false,
            head: Vec::new(),
            redirect: None,
            redirects: 0,
            must_close: None,
        }
    }

    #[allow(clippy::unused_self)]
    pub(in crate::protocol) fn capacity(&self) -> usize {
        1
    }

    pub(in crate::protocol) fn reset(&mut self) {
        self.current = None;
        self.taken = 0;
        self.is_reading = false;
        self.redirects = 0;
        self.must_close = None;
    }

    pub(in crate::protocol) fn redirects(&self) -> u64 {
        self.redirects
    }

    pub(in crate::protocol) fn begin(&mut self, id: Id, request: &'a Request) {
        let sent = request.bytes.clone();
        self.taken = 0;
        self.current = Some(Current { id, request, is_begun: false, sent, hops: 0 });
    }

    pub(in crate::protocol) fn pending_output(&self) -> &[u8] {
        self.current.as_ref().map_or(&[], |current| &current.sent[self.taken..])
    }

    pub(in crate::protocol) fn sent(&mut self, count: usize) -> usize {
        self.taken += count;
        let Some(current) = &mut self.current else { return 0 };
        usize::from(!std::mem::replace(&mut current.is_begun, true))
    }

    pub(in crate::protocol) fn is_sending(&self, id: Id) -> bool {
        let is_own = self.current.as_ref().is_some_and(|current| current.id == id);
        is_own && !self.pending_output().is_empty()
    }

    pub(in crate::protocol) fn received(
        &mut self,
        bytes: &[u8],
        mut emit: impl FnMut(Id, Event<'_>),
    ) -> Step {
        let Some(current) = self.current.as_ref().filter(|current| current.is_begun) else {
            let is_begun = std::mem::replace(&mut self.is_reading, true);
            self.head.clear();
            self.redirect = None;
            return unasked(&mut self.reader, is_begun, bytes);
        };
        let id = current.id;
        if !self.is_reading {
            self.is_reading = true;
            self.reader.start(current.request.is_head);
            self.head.clear();
            self.redirect = None;
        }
        if self.reader.status() == 0 {
            let room = LONGEST_HEAD_BYTES.saturating_sub(self.head.len());
            self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        let redirect = &mut self.redirect;
        let progress = self.reader.read(bytes, |part| match part {
            Part::Head(status) if is_redirect(status) => *redirect = Some(status),
            Part::Head(status) => emit(id, Event::Head(status)),
            _ if redirect.is_some() => {}
            Part::Coded(coded) => emit(id, Event::Coded(coded)),
            Part::EventStream => emit(id, Event::EventStream),
            Part::Body(piece) => emit(id, Event::Body(piece)),
        });
        match progress {
            Ok(Progress { complete, consumed }) => {
                emit(id, Event::Bytes(consumed));
                if !complete {
                    return Step::More;
                }
                let more = &bytes[consumed..];
                let Some(status) = self.redirect else {
                    self.complete(more);
                    return Step::Complete { id, consumed };
                };
                match self.follow(status, !more.is_empty()) {
                    Ok(()) => Step::More,
                    Err(outcome) => {
                        emit(id, Event::Head(status));
                        self.complete(more);
                        Step::Ended { id, outcome, code: 0, consumed }
                    }
                }
            }
            Err(malformed) => {
                emit(id, Event::Bytes(bytes.len()));
                Step::Failed { id: Some(id), outcome: outcome_of(malformed) }
            }
        }
    }

    /// A redirect is complete: the next request is pending, or its outcome says why there is none.
    fn follow(&mut self, status: u16, has_more: bool) -> Result<(), Outcome> {
        let Some(current) = &mut self.current else { return Err(Outcome::RedirectNotFollowed) };
        if current.hops >= self.follow.most {
            return Err(Outcome::TooManyRedirects);
        }
        let is_sent = self.taken == current.sent.len();
        if has_more || !is_sent || !self.reader.keep_alive() {
            return Err(Outcome::RedirectNotFollowed);
        }
        let location = location(&self.head).ok_or(Outcome::RedirectNotFollowed)?;
        let target = target(&self.follow.origin, &current.sent, &location)?;
        current.sent = redirected(&current.sent, status, &target);
        current.hops += 1;
        self.redirects += 1;
        self.taken = 0;
        self.is_reading = false;
        Ok(())
    }

    pub(in crate::protocol) fn server_closed(&mut self) -> Option<Id> {
        let id = self.current.as_ref()?.id;
        if !self.is_reading || self.redirect.is_some() || !self.reader.end() {
            return None;
        }
        self.complete(&[]);
        Some(id)
    }

    pub(in crate::protocol) fn must_close(&self) -> Option<Outcome> {
        self.must_close
    }

    /// The request has ended, and its last response is followed by `more`.
    fn complete(&mut self, more: &[u8]) {
        self.must_close = if !may_follow(more) {
            Some(Outcome::Unsolicited)
        } else if !self.reader.keep_alive() {
            Some(Outcome::ClosedAsAnnounced)
        } else if !self.pending_output().is_empty() {
            Some(Outcome::ClosedByDriver)
        } else {
            None
        };
        self.current = None;
        self.taken = 0;
        self.is_reading = false;
    }
}

/// Statuses of redirects with one place to go on to.
fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// The value of the one `Location` of the response whose head begins `bytes`, behind interim ones.
fn location(bytes: &[u8]) -> Option<String> {
    let mut from = 0;
    loop {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut head = httparse::Response::new(&mut headers);
        let parsed = parser().parse_response(&mut head, &bytes[from..]);
        let Ok(Status::Complete(length)) = parsed else { return None };
        if head.code.is_some_and(|code| (100..200).contains(&code)) {
            from += length;
            continue;
        }
        let mut found = head.headers.iter().filter(|one| one.name.eq_ignore_ascii_case("location"));
        let value = found.next().filter(|_| found.next().is_none())?.value;
        return String::from_utf8(value.trim_ascii().to_vec()).ok();
    }
}

/// The request target that a redirect leads to from the last request, if it stays in the origin.
fn target(origin: &str, last: &[u8], location: &str) -> Result<String, Outcome> {
    let invalid = |_| Outcome::RedirectNotFollowed;
    let line = first_line(last).ok_or(Outcome::RedirectNotFollowed)?;
    let base = format!("{origin}{}", line.target);
    let base = UriAbsoluteStr::new(&base).map_err(invalid)?;
    let location = UriReferenceStr::new(location).map_err(invalid)?;
    let resolved = location.resolve_against(base).to_string();
    let resolved = UriStr::new(&resolved).map_err(|_| Outcome::RedirectNotFollowed)?;
    if place_of(resolved) != UriStr::new(origin).ok().and_then(place_of) {
        return Err(Outcome::RedirectedElsewhere);
    }
    let path = if resolved.path_str().is_empty() { "/" } else { resolved.path_str() };
    Ok(match resolved.query_str() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    })
}

/// Scheme, host and port of a URI of HTTP; nothing for another one.
fn place_of(uri: &UriStr) -> Option<(String, String, u16)> {
    let scheme = uri.scheme_str().to_ascii_lowercase();
    let default = match scheme.as_str() {
        "http" => 80,
        "https" => 443,
        _ => return None,
    };
    let authority = uri.authority_components()?;
    let port = match authority.port() {
        None | Some("") => default,
        Some(port) => port.parse().ok()?,
    };
    Some((scheme, authority.host().to_ascii_lowercase(), port))
}

/// Whether a text is the origin of a URI of HTTP.
pub(crate) fn is_origin(text: &str) -> bool {
    let uri = UriStr::new(text).ok();
    uri.is_some_and(|uri| place_of(uri).is_some() && uri.path_str().is_empty())
}

/// The first line of a request.
struct RequestLine<'b> {
    method: &'b str,
    target: &'b str,
    version: &'b str,
}

fn first_line(request: &[u8]) -> Option<RequestLine<'_>> {
    let end = memchr::memchr(b'\r', request)?;
    let mut words = std::str::from_utf8(&request[..end]).ok()?.split(' ');
    Some(RequestLine { method: words.next()?, target: words.next()?, version: words.next()? })
}

/// The request that a redirect makes of the last one: the same at another target. A POST becomes a
/// GET, as all clients do it, unless the status says otherwise.
fn redirected(last: &[u8], status: u16, target: &str) -> Vec<u8> {
    let Some(RequestLine { method, version, .. }) = first_line(last) else { return Vec::new() };
    let becomes_get = match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    };
    let end = memchr::memmem::find(last, b"\r\n\r\n").unwrap_or(last.len());
    let (head, body) = last.split_at(end);
    let method = if becomes_get { "GET" } else { method };
    let mut next = format!("{method} {target} {version}").into_bytes();
    for line in head.split(|&byte| byte == b'\n').skip(1) {
        let line = line.trim_ascii_end();
        let name = line.split(|&byte| byte == b':').next().unwrap_or_default();
        let is_of_body = FIELDS_OF_BODY.iter().any(|one| name.eq_ignore_ascii_case(one.as_bytes()));
        if !(becomes_get && is_of_body) {
            next.extend_from_slice(b"\r\n");
            next.extend_from_slice(line);
        }
    }
    next.extend_from_slice(if becomes_get { b"\r\n\r\n" } else { body });
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Requests;
    use crate::spec::{Expected, RequestSpec};

    const ORIGIN: &str = "http://Server:80";
    const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHELLO";

    fn requests() -> Requests {
        Requests::new(
            &[RequestSpec {
                name: String::new(),
                bytes: b"GET /a/b?c HTTP/1.1\r\nHost: server\r\n\r\n".to_vec(),
                weight: 1.0,
                method: "GET".into(),
                expects_continue: false,
                expected: Expected::default(),
            }],
            0.0,
        )
    }

    fn begun(requests: &Requests, most: u32) -> Following<'_> {
        let mut following = Following::new(&Follow { most, origin: ORIGIN.into() });
        following.begin(Id(7), requests.kind(0));
        send(&mut following);
        following
    }

    fn send(following: &mut Following<'_>) -> String {
        let output = following.pending_output().to_vec();
        following.sent(output.len());
        String::from_utf8(output).unwrap()
    }

    fn to(location: &str) -> Vec<u8> {
        let head = "HTTP/1.1 302 Found\r\nContent-Length: 4\r\nLocation: ";
        format!("{head}{location}\r\n\r\nbody").into_bytes()
    }

    /// What happens to a request, and what is told of it.
    fn hear(following: &mut Following<'_>, bytes: &[u8]) -> (Step, Vec<String>) {
        let mut told = Vec::new();
        let step = following.received(bytes, |id, event| {
            assert_eq!(id, Id(7));
            told.push(format!("{event:?}"));
        });
        (step, told)
    }

    #[test]
    fn a_redirect_is_the_next_request_and_only_its_bytes_are_told() {
        let requests = requests();
        let mut following = begun(&requests, 2);
        let redirect = to("../d?e#f");
        let (step, told) = hear(&mut following, &redirect);
        assert_eq!((step, told), (Step::More, vec![format!("Bytes({})", redirect.len())]));
        assert!(following.is_sending(Id(7)));
        assert_eq!(send(&mut following), "GET /d?e HTTP/1.1\r\nHost: server\r\n\r\n");
        let (step, told) = hear(&mut following, HELLO);
        assert_eq!(step, Step::Complete { id: Id(7), consumed: HELLO.len() });
        assert_eq!(told[0], "Head(200)");
        assert_eq!((following.redirects(), following.must_close()), (1, None));
    }

    #[test]
    fn a_redirect_is_the_same_in_any_split() {
        let requests = requests();
        let redirect = [b"HTTP/1.1 103 Early Hints\r\n\r\n", &to("/d")[..]].concat();
        for cut in 1..redirect.len() {
            let mut following = begun(&requests, 1);
            assert_eq!(hear(&mut following, &redirect[..cut]).0, Step::More);
            assert_eq!(hear(&mut following, &redirect[cut..]).0, Step::More, "{cut}");
            assert!(send(&mut following).starts_with("GET /d HTTP/1.1\r\n"), "{cut}");
        }
    }

    #[test]
    fn a_server_may_close_an_idle_connection_with_a_response() {
        let requests = requests();
        let goodbye = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";
        let mut following = begun(&requests, 1);
        following.reset();
        let (step, events) = hear(&mut following, &goodbye[..20]);
        assert_eq!((step, events.len()), (Step::More, 0));
        let (step, events) = hear(&mut following, &goodbye[20..]);
        let announced = Step::Failed { id: None, outcome: Outcome::ClosedAsAnnounced };
        assert_eq!((step, events.len()), (announced, 0));
    }

    #[test]
    fn a_location_is_resolved_and_compared_with_the_origin() {
        let last = b"GET /a/b?c HTTP/1.1\r\n\r\n";
        for (location, expected) in [
            ("/", Ok("/")),
            ("/x?y", Ok("/x?y")),
            ("x", Ok("/a/x")),
            ("./../x", Ok("/x")),
            ("?z", Ok("/a/b?z")),
            ("", Ok("/a/b?c")),
            ("//SERVER/x", Ok("/x")),
            ("http://server", Ok("/")),
            ("HTTP://server:80/x#y", Ok("/x")),
            ("http://server:/x", Ok("/x")),
            ("http://server:81/x", Err(Outcome::RedirectedElsewhere)),
            ("https://server/x", Err(Outcome::RedirectedElsewhere)),
            ("//other/x", Err(Outcome::RedirectedElsewhere)),
            ("ftp://server/x", Err(Outcome::RedirectedElsewhere)),
            ("mailto:me", Err(Outcome::RedirectedElsewhere)),
            ("/a b", Err(Outcome::RedirectNotFollowed)),
            ("http://[::1/", Err(Outcome::RedirectNotFollowed)),
            ("\u{e9}", Err(Outcome::RedirectNotFollowed)),
        ] {
            assert_eq!(target(ORIGIN, last, location), expected.map(str::to_owned), "{location}");
        }
    }

    #[test]
    fn the_method_is_kept_unless_the_status_says_otherwise() {
        let post = b"POST /a HTTP/1.1\r\nHost: s\r\nContent-Length: 2\r\n\r\nhi";
        let got = "GET /b HTTP/1.1\r\nHost: s\r\n\r\n";
        let posted = "POST /b HTTP/1.1\r\nHost: s\r\nContent-Length: 2\r\n\r\nhi";
        for (status, expected) in [(301, got), (302, got), (303, got), (307, posted), (308, posted)]
        {
            let next = redirected(post, status, "/b");
            assert_eq!(String::from_utf8(next).unwrap(), expected, "{status}");
        }
        let head = redirected(b"HEAD /a HTTP/1.1\r\nHost: s\r\n\r\n", 303, "/b");
        assert_eq!(head, b"HEAD /b HTTP/1.1\r\nHost: s\r\n\r\n");
    }

    #[test]
    fn what_is_not_followed_says_why() {
        let requests = requests();
        let without = b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\n\r\n";
        let twice =
            b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: /\r\nLocation: /\r\n\r\n";
        let closing =
            b"HTTP/1.1 301 Moved\r\nContent-Length: 0\r\nLocation: /\r\nConnection: close\r\n\r\n";
        for (response, expected) in [
            (&without[..], Outcome::RedirectNotFollowed),
            (twice, Outcome::RedirectNotFollowed),
            (closing, Outcome::RedirectNotFollowed),
            (&to("//other/"), Outcome::RedirectedElsewhere),
        ] {
            let mut following = begun(&requests, 1);
            let (step, told) = hear(&mut following, response);
            let consumed = response.len();
            assert_eq!(step, Step::Ended { id: Id(7), outcome: expected, code: 0, consumed });
            assert!(told.last().unwrap().starts_with("Head(30"), "{told:?}");
        }
    }

    #[test]
    fn a_loop_ends_after_as_many_as_are_followed() {
        let requests = requests();
        let mut following = begun(&requests, 3);
        let redirect = to("/a/b?c");
        for _ in 0..3 {
            assert_eq!(hear(&mut following, &redirect).0, Step::More);
            send(&mut following);
        }
        let Step::Ended { outcome, .. } = hear(&mut following, &redirect).0 else { panic!() };
        assert_eq!((outcome, following.redirects()), (Outcome::TooManyRedirects, 3));
        assert_eq!(following.must_close(), None);
    }

    #[test]
    fn only_redirects_with_one_place_to_go_on_to_are_followed() {
        let requests = requests();
        for status in [300, 304] {
            let mut following = begun(&requests, 1);
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\nLocation: /\r\n\r\n");
            let (step, told) = hear(&mut following, head.as_bytes());
            assert_eq!(step, Step::Complete { id: Id(7), consumed: head.len() });
            assert_eq!(told[0], format!("Head({status})"));
        }
    }

    #[test]
    fn an_origin_is_a_scheme_of_http_with_a_host_and_nothing_more() {
        assert!(is_origin("http://127.0.0.1:8080") && is_origin("https://[::1]"));
        assert!(!is_origin("http://a/b") && !is_origin("ftp://a") && !is_origin("a"));
    }
}
