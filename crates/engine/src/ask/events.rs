//! Events of a response, and when each came.

use plimsoll_system as system;

use crate::events::{Part, Splitter, is_type};

/// An event of a response that is a `text/event-stream`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSentEvent {
    /// Its data.
    pub data: Vec<u8>,
    /// When its end came, in nanoseconds since the request was sent.
    pub at_ns: u64,
}

/// When the pieces of a body came.
#[derive(Debug)]
pub(super) struct Arrivals {
    begun_ns: u64,
    /// Length of the body in bytes at instants since it was asked for.
    lengths: Vec<(usize, u64)>,
}

impl Arrivals {
    /// The request is sent now.
    pub fn begin() -> Self {
        Self { begun_ns: system::now_ns(), lengths: Vec::new() }
    }

    /// The body has this length now.
    pub fn note(&mut self, length: usize) {
        self.lengths.push((length, system::now_ns() - self.begun_ns));
    }

    /// The events of a body; none where its header fields give it another type.
    pub fn events(&self, headers: &[(String, Vec<u8>)], body: &[u8]) -> Vec<ServerSentEvent> {
        let is_stream = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("content-type") && is_type(value)
        };
        let (mut splitter, mut data, mut events) = (Splitter::default(), Vec::new(), Vec::new());
        let mut start = 0;
        for &(end, at_ns) in self.lengths.iter().filter(|_| headers.iter().any(is_stream)) {
            splitter.read(&body[start..end], |part| match part {
                Part::Data(piece) => data.extend_from_slice(piece),
                Part::End(_) => {
                    events.push(ServerSentEvent { data: std::mem::take(&mut data), at_ns });
                }
            });
            start = end;
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_came_when_its_last_byte_did() {
        let arrivals = Arrivals { begun_ns: 0, lengths: vec![(8, 10), (9, 20), (27, 30)] };
        let body = b"data: a\n\ndata: b\n\ndata: c\n\n";
        let found = |name: &str, value: &[u8]| {
            let events = arrivals.events(&[(name.to_owned(), value.to_vec())], body);
            events.into_iter().map(|event| (event.data, event.at_ns)).collect::<Vec<_>>()
        };
        let expected = [(b"a".to_vec(), 20), (b"b".to_vec(), 30), (b"c".to_vec(), 30)];
        assert_eq!(found("Content-Type", b"text/event-stream"), expected);
        assert_eq!(found("content-type", b"text/plain"), []);
    }
}
