//! What a worker counts by its own doing, apart from its rows.

use crate::coding::Decoded;
use crate::histogram::Histogram;

/// Room for a count of every outcome code.
pub const OUTCOME_CODES: usize = 96;

/// Room for a count of every status code: `100` is the first.
pub const STATUS_CODES: usize = 900;

/// The first status code.
const FIRST_STATUS: u16 = 100;

/// Complete responses by status code.
#[derive(Clone, Copy, Debug)]
pub struct Statuses([u64; STATUS_CODES]);

impl Statuses {
    /// Counts a response; a code that HTTP does not know is not counted.
    #[inline]
    pub fn count(&mut self, code: u16) {
        if let Some(count) = self.0.get_mut(usize::from(code.wrapping_sub(FIRST_STATUS))) {
            *count += 1;
        }
    }

    /// Codes of which there are any, and their number.
    pub fn known(&self) -> impl Iterator<Item = (u16, u64)> {
        (FIRST_STATUS..).zip(self.0).filter(|&(_, count)| count > 0)
    }
}

/// A worker's counts, all from zero on, by its own doing and not from the rows.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Instant of these counts.
    pub at_ns: u64,
    /// Requested connections now.
    pub connections_requested: usize,
    /// Connections open now.
    pub connections_open: usize,
    /// Requests that the open connections may carry at one time: a server may take fewer than requested.
    pub places_open: u64,
    /// Requests in flight now: begun to be sent and not ended.
    pub in_flight: usize,
    /// Requests in flight, integrated over time up to the end of the load, in request-nanoseconds.
    pub in_flight_ns: u128,
    /// Requests that began to be sent.
    pub sent: u64,
    /// Bytes that transports took.
    pub sent_bytes: u64,
    /// Those of them that the kernel had not sent when their connection ended; it may have sent them
    /// later.
    pub unsent_bytes: u64,
    /// The fewest streams that the settings of a server have allowed on a connection; `u32::MAX` where
    /// they never said.
    pub fewest_streams: u32,
    /// Requests that ended, by outcome code.
    pub outcomes: [u64; OUTCOME_CODES],
    /// Complete responses by status code.
    pub statuses: Statuses,
    /// Response times of complete responses.
    pub response_times: Histogram,
    /// Bytes of responses.
    pub received_bytes: u64,
    /// Handshakes that completed.
    pub opened: u64,
    /// Attempts to connect that failed.
    pub refused: u64,
    /// Redirects followed on connections that have ended.
    pub redirects: u64,
    /// Bodies freed of a content coding, on connections that have ended.
    pub decoded: Decoded,
    /// Responses whose body was compared in full.
    pub bodies_compared: u64,
    /// Rows that could not be kept.
    pub lost_rows: u64,
    /// Longest time the loop was away: late from its wait or for its begin, or busy with one turn.
    pub longest_pause_ns: u64,
    /// The same since these counts were last taken.
    pub recent_pause_ns: u64,
}

impl Counts {
    /// Puts newer counts in the place of these; a pause that has not been taken is kept.
    pub fn renew(&mut self, newer: Self) {
        let pause_ns = self.recent_pause_ns.max(newer.recent_pause_ns);
        *self = Self { recent_pause_ns: pause_ns, ..newer };
    }

    /// A connection that could carry so many requests at one time can carry so many now.
    pub fn change_places(&mut self, [before, now]: [u32; 2]) {
        self.places_open = self.places_open + u64::from(now) - u64::from(before);
    }

    /// Takes off the integral what was in flight for so long and turned out to be no request: a
    /// response of events has ended after its last one.
    pub fn give_back(&mut self, passed_ns: u64) {
        self.in_flight_ns = self.in_flight_ns.saturating_sub(u128::from(passed_ns));
    }

    /// These counts; the next ones tell of later pauses only.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let taken = *self;
        self.recent_pause_ns = 0;
        taken
    }
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            at_ns: 0,
            connections_requested: 0,
            connections_open: 0,
            places_open: 0,
            in_flight: 0,
            in_flight_ns: 0,
            sent: 0,
            sent_bytes: 0,
            unsent_bytes: 0,
            fewest_streams: u32::MAX,
            outcomes: [0; OUTCOME_CODES],
            statuses: Statuses([0; STATUS_CODES]),
            response_times: Histogram::default(),
            received_bytes: 0,
            opened: 0,
            refused: 0,
            redirects: 0,
            decoded: Decoded::default(),
            bodies_compared: 0,
            lost_rows: 0,
            longest_pause_ns: 0,
            recent_pause_ns: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paused(recent_pause_ns: u64) -> Counts {
        Counts { recent_pause_ns, ..Counts::default() }
    }

    #[test]
    fn a_pause_is_told_once_however_often_counts_are_renewed_before() {
        let mut published = Counts::default();
        published.renew(paused(70));
        published.renew(Counts { sent: 5, ..paused(30) });
        let taken = published.take();
        assert_eq!((taken.recent_pause_ns, taken.sent), (70, 5));
        published.renew(paused(20));
        assert_eq!(published.take().recent_pause_ns, 20);
        assert_eq!(published.take().recent_pause_ns, 0);
    }
}
