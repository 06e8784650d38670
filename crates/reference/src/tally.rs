//! What the server has done so far, counted by itself.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use plimsoll_system as system;

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
    /// Responses to them of which the kernel has taken every byte.
    pub responses_sent: u64,
    /// Responses to bytes that are no request.
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
        self.responses_sent += other.responses_sent;
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

/// How long the server had a request: from its last byte read to its response given to the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// When the request had been read whole, on the monotonic clock.
    pub received_ns: u64,
    /// When its response began to be sent, on the same clock.
    pub answered_ns: u64,
}

/// One worker's log of every request, if requested.
#[derive(Debug, Default)]
pub(super) struct Witness(Option<Mutex<Vec<Held>>>);

impl Witness {
    pub fn new(wanted: bool) -> Self {
        Self(wanted.then(Mutex::default))
    }

    /// The present; 0, without a look at the clock, if no log was requested.
    pub fn now_ns(&self) -> u64 {
        self.0.as_ref().map_or(0, |_| system::now_ns())
    }

    pub fn add(&self, held: Held) {
        if let Some(kept) = &self.0 {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(held);
        }
    }

    pub fn take(&self) -> Vec<Held> {
        let Some(kept) = &self.0 else { return Vec::new() };
        std::mem::take(&mut kept.lock().unwrap_or_else(PoisonError::into_inner))
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
    pub responses_sent: Count,
    pub requests_refused: Count,
    pub received_bytes: Count,
    pub sent_bytes: Count,
    pub witness: Witness,
}

impl Tally {
    pub fn new(witness: bool) -> Self {
        Self { witness: Witness::new(witness), ..Self::default() }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            connections_accepted: self.connections_accepted.get(),
            connections_closed: self.connections_closed.get(),
            accepts_failed: self.accepts_failed.get(),
            requests_received: self.requests_received.get(),
            responses_sent: self.responses_sent.get(),
            requests_refused: self.requests_refused.get(),
            received_bytes: self.received_bytes.get(),
            sent_bytes: self.sent_bytes.get(),
        }
    }
}
