//! What the server has done so far, counted by itself.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

/// What a server has done since its start; a witness independent of any driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Connections taken off the listen queue.
    pub connections_accepted: u64,
    /// Of these, connections closed again, by either side.
    pub connections_closed: u64,
    /// Times a connection could not be accepted, such as for lack of file descriptors.
    pub accepts_failed: u64,
    /// Complete requests received.
    pub requests_received: u64,
    /// Answers to them of which the kernel has taken every byte.
    pub requests_answered: u64,
    /// Answers to bytes that are no request.
    pub requests_refused: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes that the kernel has taken.
    pub sent_bytes: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: &Self) {
        self.connections_accepted += other.connections_accepted;
        self.connections_closed += other.connections_closed;
        self.accepts_failed += other.accepts_failed;
        self.requests_received += other.requests_received;
        self.requests_answered += other.requests_answered;
        self.requests_refused += other.requests_refused;
        self.received_bytes += other.received_bytes;
        self.sent_bytes += other.sent_bytes;
    }
}

/// A count that one thread makes and others read.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    /// Adds; only ever called by the thread that owns the count.
    pub fn add(&self, more: usize) {
        self.0.store(self.0.load(Relaxed) + more as u64, Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The counts of one worker, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(super) struct Tally {
    pub connections_accepted: Count,
    pub connections_closed: Count,
    pub accepts_failed: Count,
    pub requests_received: Count,
    pub requests_answered: Count,
    pub requests_refused: Count,
    pub received_bytes: Count,
    pub sent_bytes: Count,
}

impl Tally {
    pub fn counts(&self) -> Counts {
        Counts {
            connections_accepted: self.connections_accepted.get(),
            connections_closed: self.connections_closed.get(),
            accepts_failed: self.accepts_failed.get(),
            requests_received: self.requests_received.get(),
            requests_answered: self.requests_answered.get(),
            requests_refused: self.requests_refused.get(),
            received_bytes: self.received_bytes.get(),
            sent_bytes: self.sent_bytes.get(),
        }
    }
}
