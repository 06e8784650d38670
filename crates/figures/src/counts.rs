//! What checks need to know of every request, counted in one pass.

use std::io;
use std::sync::LazyLock;

use plimsoll_engine::outcome::{Group, Outcome};
use plimsoll_engine::sample::{Comparison, NEVER, NO_BYTES, RequestSample};

use crate::Window;
use crate::grouped::Grouped;
use crate::requests::ended_ns;
use crate::rows::OfOutcomes;

const SECOND_NS: u64 = 1_000_000_000;

/// What requests of one group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alike {
    /// Index of the kind of request.
    pub request: u16,
    /// Status code; 0 when no head was read.
    pub status: u16,
    /// Code of the outcome.
    pub outcome: u8,
    /// Error number of the system; 0 when there was none.
    pub errno: u8,
}

/// Responses of the holds with bodies of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BodyLength {
    /// Index of the kind of request.
    pub request: u16,
    /// Status code; 0 when no head was read.
    pub status: u16,
    /// Length of the body.
    pub bytes: u32,
}

/// Requests that are alike, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// All.
    pub requests: u64,
    /// Those that ended, or were due, within the holds.
    pub held: u64,
    /// Those that were done within the holds.
    pub held_done: u64,
    /// Those that were sent.
    pub sent: u64,
    /// Those that were sent within the holds.
    pub held_sent: u64,
    /// Those sent of which a byte of a response came.
    pub responded: u64,
    /// Bytes of the responses of those sent.
    pub received_bytes: u64,
    /// Those whose instants run backwards, or that are complete without an instant.
    pub impossible: u64,
    /// Those that are complete without a first byte, and not counted above.
    pub no_first_byte: u64,
    /// Bodies that could be compared.
    pub expected: u64,
    /// Those of them that were.
    pub compared: u64,
    /// Bodies of the holds that could be compared.
    pub held_expected: u64,
    /// Those of them that were.
    pub held_compared: u64,
}

/// What happened in one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Second {
    /// Requests that were due.
    pub due: u64,
    /// Requests that ended; those that the end of the load cut short are left out here and below.
    pub ended: u64,
    /// Complete responses.
    pub completed: u64,
    /// Those as expected.
    pub ok: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Bytes of responses; None where no request says them.
    pub received_bytes: Option<u64>,
}

/// Every request of a load, counted.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// By what they have in common.
    pub groups: Grouped<Alike, Count>,
    /// Complete responses of the holds by the length of their bodies.
    pub lengths: Grouped<BodyLength, u64>,
    /// By second.
    pub seconds: Grouped<u64, Second>,
    /// When the last complete response came.
    pub last_response_ns: Option<u64>,
    /// When the last attempt to connect was refused.
    pub last_refused_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Meaning {
    is_complete: bool,
    is_right: bool,
    is_unended: bool,
}

static MEANINGS: LazyLock<OfOutcomes<Meaning>> = LazyLock::new(|| OfOutcomes::new(meaning));

fn meaning(outcome: Outcome) -> Meaning {
    Meaning {
        is_complete: matches!(outcome.group(), Group::Successful | Group::Wrong),
        is_right: outcome.group() == Group::Successful,
        is_unended: matches!(outcome, Outcome::Unfinished | Outcome::Cancelled),
    }
}

/// Whether a response with an outcome is complete.
#[inline]
pub(crate) fn is_complete(outcome: u8) -> io::Result<bool> {
    MEANINGS.of(outcome).map(|meaning| meaning.is_complete)
}

/// Whether an instant lies within the holds.
#[inline]
pub(crate) fn in_hold(at_ns: u64, holds: &[Window]) -> bool {
    at_ns != NEVER && holds.iter().any(|&(start, end)| (start..end).contains(&at_ns))
}

impl Counts {
    #[inline]
    pub(crate) fn take(
        &mut self,
        record: &[u8; RequestSample::SIZE],
        holds: &[Window],
    ) -> io::Result<()> {
        let sample = RequestSample::from_bytes(record);
        let meaning = MEANINGS.of(sample.outcome)?;
        let RequestSample { request, status, outcome, errno, .. } = sample;
        let ended_ns = ended_ns(&sample);
        let held_done = in_hold(sample.done_ns, holds);
        self.groups.of(Alike { request, status, outcome, errno }).take(&sample, meaning, holds);
        if meaning.is_complete && held_done && sample.body_bytes != NO_BYTES {
            *self.lengths.of(BodyLength { request, status, bytes: sample.body_bytes }) += 1;
        }
        if sample.due_ns != NEVER {
            self.seconds.of(sample.due_ns / SECOND_NS).due += 1;
        }
        if !meaning.is_unended && ended_ns != NEVER {
            self.seconds.of(ended_ns / SECOND_NS).take(&sample, meaning);
        }
        if meaning.is_complete && sample.done_ns != NEVER {
            self.last_response_ns = self.last_response_ns.max(Some(sample.done_ns));
        }
        if outcome == Outcome::ConnectRefused as u8 {
            let at_ns = [sample.done_ns, sample.sent_ns, sample.due_ns];
            let known = at_ns.into_iter().find(|&at_ns| at_ns != NEVER);
            self.last_refused_ns = self.last_refused_ns.max(known);
        }
        Ok(())
    }

    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            groups: self.groups.joined(other.groups, Count::add),
            lengths: self.lengths.joined(other.lengths, |count, more| *count += more),
            seconds: self.seconds.joined(other.seconds, Second::add),
            last_response_ns: self.last_response_ns.max(other.last_response_ns),
            last_refused_ns: self.last_refused_ns.max(other.last_refused_ns),
        }
    }
}

impl Count {
    #[inline]
    fn take(&mut self, sample: &RequestSample, meaning: Meaning, holds: &[Window]) {
        let is_sent = sample.sent_ns != NEVER;
        let held_done = in_hold(sample.done_ns, holds);
        self.requests += 1;
        self.held += u64::from(in_hold(ended_ns(sample), holds));
        self.held_done += u64::from(held_done);
        self.sent += u64::from(is_sent);
        self.held_sent += u64::from(in_hold(sample.sent_ns, holds));
        self.responded += u64::from(is_sent && sample.first_byte_ns != NEVER);
        if is_sent && sample.received_bytes != NO_BYTES {
            self.received_bytes += u64::from(sample.received_bytes);
        }
        if runs_backwards(sample)
            || (meaning.is_complete && (!is_sent || sample.done_ns == NEVER))
            || (meaning.is_complete && sample.first_byte_ns == NEVER && sample.due_ns != NEVER)
        {
            self.impossible += 1;
        } else if meaning.is_complete && sample.first_byte_ns == NEVER {
            self.no_first_byte += 1;
        }
        if meaning.is_complete && sample.compared != Comparison::NotExpected as u32 {
            let is_compared = sample.compared != Comparison::Skipped as u32;
            self.expected += 1;
            self.compared += u64::from(is_compared);
            self.held_expected += u64::from(held_done);
            self.held_compared += u64::from(held_done && is_compared);
        }
    }

    fn add(&mut self, more: Self) {
        self.requests += more.requests;
        self.held += more.held;
        self.held_done += more.held_done;
        self.sent += more.sent;
        self.held_sent += more.held_sent;
        self.responded += more.responded;
        self.received_bytes += more.received_bytes;
        self.impossible += more.impossible;
        self.no_first_byte += more.no_first_byte;
        self.expected += more.expected;
        self.compared += more.compared;
        self.held_expected += more.held_expected;
        self.held_compared += more.held_compared;
    }
}

/// Whether an instant of a request lies before one that it follows; one that never came does not.
#[inline]
fn runs_backwards(sample: &RequestSample) -> bool {
    let is_before = |one, other| one != NEVER && other != NEVER && one < other;
    is_before(sample.sent_ns, sample.due_ns)
        || is_before(sample.first_byte_ns, sample.sent_ns)
        || is_before(sample.done_ns, sample.first_byte_ns)
        || is_before(sample.done_ns, sample.sent_ns)
        || is_before(sample.done_ns, sample.due_ns)
}

impl Second {
    #[inline]
    fn take(&mut self, sample: &RequestSample, meaning: Meaning) {
        self.ended += 1;
        self.completed += u64::from(meaning.is_complete);
        self.ok += u64::from(meaning.is_right);
        self.failed += u64::from(!meaning.is_right);
        if sample.received_bytes != NO_BYTES {
            *self.received_bytes.get_or_insert(0) += u64::from(sample.received_bytes);
        }
    }

    fn add(&mut self, more: Self) {
        self.due += more.due;
        self.ended += more.ended;
        self.completed += more.completed;
        self.ok += more.ok;
        self.failed += more.failed;
        if let Some(bytes) = more.received_bytes {
            *self.received_bytes.get_or_insert(0) += bytes;
        }
    }
}
