//! Responses that are streams of events, each sent when it is due.
//!
//! # Source
//!
//! WHATWG, HTML Living Standard, section 9.2: server-sent events.

use plimsoll_system as system;

/// The most events of a response.
const MOST_EVENTS: u32 = 1_000_000;

/// Pause between two events of `/stream/N`, as the contract has it.
const CONTRACT_EVERY_MS: u64 = 10;

/// The most events of `/stream/N`.
const MOST_EVENTS_OF_CONTRACT: u32 = 100;

/// The longest pause between two events, in milliseconds.
const LONGEST_EVERY_MS: u64 = 60_000;

const MS: u64 = 1_000_000;

/// Events of one response: the i-th is due i pauses after the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Events {
    count: u32,
    every_ns: u64,
    /// When the head was sent; nothing before that.
    head_ns: Option<u64>,
    /// How many are sent.
    sent: u32,
}

impl Events {
    /// Those of a target: N of `/events/N?every=MS`, at once unless that is given; or of `/stream/N`.
    pub fn of(path: &str, query: &str) -> Option<Self> {
        if let Some(count) = path.strip_prefix("/stream/") {
            return Self::new(count, CONTRACT_EVERY_MS, MOST_EVENTS_OF_CONTRACT);
        }
        let count = path.strip_prefix("/events/")?;
        let every_ms = match query.strip_prefix("every=") {
            Some(text) => text.parse().ok()?,
            None => 0,
        };
        Self::new(count, every_ms, MOST_EVENTS)
    }

    fn new(count: &str, every_ms: u64, most: u32) -> Option<Self> {
        let is_number = count.bytes().all(|byte| byte.is_ascii_digit());
        let count = count.parse().ok().filter(|count| (1..=most).contains(count))?;
        let is_right = is_number && every_ms <= LONGEST_EVERY_MS;
        is_right.then_some(Self { count, every_ns: every_ms * MS, head_ns: None, sent: 0 })
    }

    /// Whether the head has been sent.
    pub fn has_begun(&self) -> bool {
        self.head_ns.is_some()
    }

    /// When the next one is due, on the monotonic clock; nothing when all are sent. The head is sent
    /// when this is first called.
    pub fn next_due_ns(&mut self) -> Option<u64> {
        let head_ns = *self.head_ns.get_or_insert_with(system::now_ns);
        (!self.is_over()).then(|| head_ns + self.every_ns * u64::from(self.sent))
    }

    /// Whether all are sent.
    pub fn is_over(&self) -> bool {
        self.sent == self.count
    }

    /// The next one.
    pub fn next_event(&mut self) -> Vec<u8> {
        let event = format!("data: {}\n\n", self.sent).into_bytes();
        self.sent += 1;
        event
    }

    /// The next one as a chunk of HTTP/1.1; the last chunk follows the last event.
    pub fn next_chunk(&mut self) -> Vec<u8> {
        let event = self.next_event();
        let last: &[u8] = if self.is_over() { b"0\r\n\r\n" } else { b"" };
        [format!("{:x}\r\n", event.len()).as_bytes(), &event, b"\r\n", last].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_says_how_many_there_are_and_how_far_apart() {
        let of = |path, query| Events::of(path, query).map(|one| (one.count, one.every_ns));
        assert_eq!(of("/events/3", ""), Some((3, 0)));
        assert_eq!(of("/events/3", "every=20"), Some((3, 20 * MS)));
        assert_eq!(of("/stream/100", ""), Some((100, 10 * MS)));
        for (path, query) in [
            ("/events/", ""),
            ("/events/0", ""),
            ("/events/+1", ""),
            ("/events/1000001", ""),
            ("/events/1", "every=x"),
            ("/events/1", "every=60001"),
            ("/stream/101", ""),
            ("/event/1", ""),
        ] {
            assert_eq!(of(path, query), None, "{path}?{query}");
        }
    }

    #[test]
    fn events_are_due_at_equal_distances_from_the_head_and_the_last_ends_the_body() {
        let mut events = Events::of("/events/2", "every=5").unwrap();
        assert!(!events.has_begun());
        let head_ns = events.next_due_ns().unwrap();
        assert!(events.has_begun());
        assert_eq!(events.next_chunk(), b"9\r\ndata: 0\n\n\r\n");
        assert_eq!(events.next_due_ns(), Some(head_ns + 5 * MS));
        assert_eq!(events.next_chunk(), b"9\r\ndata: 1\n\n\r\n0\r\n\r\n");
        assert_eq!(events.next_due_ns(), None);
    }
}
