//! Requests that were still in flight when the load ended, and for how long they had been.

use plimsoll_engine::sample::{NEVER, RequestSample};

/// Requests without an end of their own that were sent long before the load ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StillWaiting {
    /// How many.
    pub requests: u64,
    /// How long the last of them had been in flight; 0 of none.
    pub shortest_ns: u64,
    /// How long the first of them had been.
    pub longest_ns: u64,
}

impl StillWaiting {
    #[inline]
    pub(crate) fn take(&mut self, sample: &RequestSample, end_ns: u64, least_ns: u64) {
        if sample.done_ns != NEVER || sample.sent_ns == NEVER {
            return;
        }
        let waited_ns = end_ns.saturating_sub(sample.sent_ns);
        if waited_ns >= least_ns {
            self.add(Self { requests: 1, shortest_ns: waited_ns, longest_ns: waited_ns });
        }
    }

    pub(crate) fn joined(mut self, other: Self) -> Self {
        self.add(other);
        self
    }

    fn add(&mut self, more: Self) {
        self.shortest_ns = match (self.requests, more.requests) {
            (_, 0) => self.shortest_ns,
            (0, _) => more.shortest_ns,
            _ => self.shortest_ns.min(more.shortest_ns),
        };
        self.longest_ns = self.longest_ns.max(more.longest_ns);
        self.requests += more.requests;
    }
}
