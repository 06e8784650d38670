//! What the requests of a load amount to.

use std::collections::BTreeMap;
use std::io;
use std::sync::LazyLock;

use plimsoll_engine::outcome::{Group, Outcome};
use plimsoll_engine::sample::{NEVER, NO_BYTES, RequestSample};

use crate::Window;
use crate::counts::in_hold;
use crate::rows::OfOutcomes;
use crate::times::{Kept, Times};

/// Complete responses with one status code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Of the whole load.
    pub responses: u64,
    /// Those of them within the measurement window.
    pub held: u64,
    /// Those of these whose code was not expected.
    pub held_wrong: u64,
}

/// How requests failed: outcome, error number, and the status code where that says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Failed {
    /// Code of the outcome.
    pub outcome: u8,
    /// Error number of the system; 0 when there was none.
    pub errno: u8,
    /// Status code where it was not the expected one, or the code of the close frame; else 0.
    pub status: u16,
}

/// Requests that failed in one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Their number.
    pub count: u64,
    /// How many of them are of the measurement window.
    pub held: u64,
    /// When the first of them ended, in nanoseconds since the trial's zero.
    pub first_ns: u64,
    /// When the last of them ended.
    pub last_ns: u64,
}

/// What the requests of a load amount to. Counts are of the measurement window unless stated
/// otherwise; `T` is what times become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requests<T = Times> {
    /// Complete responses.
    pub completed: u64,
    /// Those as expected.
    pub ok: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that the end of the load cut short, whenever they were due.
    pub unfinished: u64,
    /// Bytes of responses, complete or not.
    pub received_bytes: u64,
    /// Failures of the whole load.
    pub failures: BTreeMap<Failed, Failure>,
    /// From due to done of each response.
    pub response_time: T,
    /// From sent to done of each response.
    pub service_time: T,
    /// From sent to the first byte of each response.
    pub first_byte: T,
    /// From due to sent of each response.
    pub lag: T,
    /// By status code.
    statuses: Vec<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Right,
    WrongStatus,
    OtherwiseWrong,
    Unended,
    Failed,
}

impl Ending {
    #[inline]
    fn is_complete(self) -> bool {
        matches!(self, Self::Right | Self::WrongStatus | Self::OtherwiseWrong)
    }
}

static ENDINGS: LazyLock<OfOutcomes<Ending>> = LazyLock::new(|| OfOutcomes::new(ending));

/// Codes of the outcomes whose status code, or code of a close frame, says why a request failed.
const TELLING: [u8; 3] =
    [Outcome::WrongStatus as u8, Outcome::UpgradeRefused as u8, Outcome::CloseReceived as u8];

fn ending(outcome: Outcome) -> Ending {
    match (outcome, outcome.group()) {
        (Outcome::WrongStatus, _) => Ending::WrongStatus,
        (Outcome::Unfinished | Outcome::Cancelled, _) => Ending::Unended,
        (_, Group::Successful) => Ending::Right,
        (_, Group::Wrong) => Ending::OtherwiseWrong,
        _ => Ending::Failed,
    }
}

impl<T: Kept> Requests<T> {
    pub(crate) fn with_room(rows: usize) -> Self {
        Self {
            response_time: T::with_room(rows),
            service_time: T::with_room(rows),
            first_byte: T::with_room(rows),
            lag: T::with_room(rows),
            ..Self::default()
        }
    }

    /// Complete responses by status code; 0 where none was recorded.
    pub fn statuses(&self) -> impl Iterator<Item = (u16, Status)> {
        let known = (0..).zip(self.statuses.iter().copied());
        known.filter(|(_, status)| status.responses > 0)
    }

    #[inline]
    pub(crate) fn take(
        &mut self,
        record: &[u8; RequestSample::SIZE],
        holds: &[Window],
    ) -> io::Result<()> {
        let sample = RequestSample::from_bytes(record);
        let ending = ENDINGS.of(sample.outcome)?;
        let ended_ns = ended_ns(&sample);
        let held = in_hold(ended_ns, holds);
        let is_complete = ending.is_complete();
        let has_failed = !matches!(ending, Ending::Right | Ending::Unended);
        if is_complete {
            self.take_status(sample.status, held, ending == Ending::WrongStatus);
        }
        if has_failed {
            self.take_failure(&sample, ended_ns, held);
        }
        if ending == Ending::Unended {
            self.unfinished += 1;
        } else if held {
            self.completed += u64::from(is_complete);
            self.ok += u64::from(ending == Ending::Right);
            self.failed += u64::from(has_failed);
            if sample.received_bytes != NO_BYTES {
                self.received_bytes += u64::from(sample.received_bytes);
            }
        }
        if held && is_complete {
            self.response_time.note(sample.due_ns, sample.done_ns);
            self.service_time.note(sample.sent_ns, sample.done_ns);
            self.first_byte.note(sample.sent_ns, sample.first_byte_ns);
            self.lag.note(sample.due_ns, sample.sent_ns);
        }
        Ok(())
    }

    #[inline]
    fn take_status(&mut self, code: u16, held: bool, is_wrong: bool) {
        let place = usize::from(code);
        if place >= self.statuses.len() {
            self.statuses.resize(place + 1, Status::default());
        }
        let status = &mut self.statuses[place];
        status.responses += 1;
        status.held += u64::from(held);
        status.held_wrong += u64::from(held && is_wrong);
    }

    fn take_failure(&mut self, sample: &RequestSample, ended_ns: u64, held: bool) {
        let kind = Failed {
            outcome: sample.outcome,
            errno: sample.errno,
            status: if TELLING.contains(&sample.outcome) { sample.status } else { 0 },
        };
        let held = u64::from(held);
        self.add_failure(kind, Failure { count: 1, held, first_ns: ended_ns, last_ns: ended_ns });
    }

    fn add_failure(&mut self, kind: Failed, more: Failure) {
        let known = self.failures.entry(kind).or_insert(Failure { count: 0, held: 0, ..more });
        known.count += more.count;
        known.held += more.held;
        known.first_ns = known.first_ns.min(more.first_ns);
        known.last_ns = known.last_ns.max(more.last_ns);
    }

    pub(crate) fn joined(mut self, other: Self) -> Self {
        self.completed += other.completed;
        self.ok += other.ok;
        self.failed += other.failed;
        self.unfinished += other.unfinished;
        self.received_bytes += other.received_bytes;
        for (kind, failure) in other.failures {
            self.add_failure(kind, failure);
        }
        let most = self.statuses.len().max(other.statuses.len());
        self.statuses.resize(most, Status::default());
        for (status, more) in self.statuses.iter_mut().zip(other.statuses) {
            status.responses += more.responses;
            status.held += more.held;
            status.held_wrong += more.held_wrong;
        }
        Self {
            response_time: self.response_time.joined(other.response_time),
            service_time: self.service_time.joined(other.service_time),
            first_byte: self.first_byte.joined(other.first_byte),
            lag: self.lag.joined(other.lag),
            ..self
        }
    }
}

/// When a request ended; one without an end of its own where it was due, or sent.
#[inline]
pub(crate) fn ended_ns(sample: &RequestSample) -> u64 {
    let instants = [sample.done_ns, sample.due_ns, sample.sent_ns];
    instants.into_iter().find(|&instant| instant != NEVER).unwrap_or(NEVER)
}
