//! Responses whose end came late after their first byte, and the first ones of each connection.

use std::io;

use plimsoll_engine::sample::{NEVER, NO_CONNECTION, RequestSample};

use crate::Window;
use crate::by_connection::ByConnection;
use crate::counts::{in_hold, is_complete};

/// Complete responses by the time from their first byte to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateEnds {
    /// Those of the holds whose first byte is known.
    pub ended: u64,
    /// Those of them that took a time within the window.
    pub late: u64,
    /// Those of them that took another time, from half its begin to before twice its end.
    pub near: u64,
    /// Connections that carried a complete response, in the whole load.
    pub connections: u64,
    /// Those of them whose first response took at least half of the window's begin.
    pub late_first: u64,
}

/// When a response ended, and the time that it took from its first byte.
type Ended = (u64, u64);

/// Responses counted so far, and the first one of each connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counted: LateEnds,
    first: ByConnection<Option<Ended>>,
}

impl Tally {
    #[inline]
    pub fn take(
        &mut self,
        sample: &RequestSample,
        holds: &[Window],
        late: Window,
    ) -> io::Result<()> {
        if !is_complete(sample.outcome)? || sample.first_byte_ns == NEVER || sample.done_ns == NEVER
        {
            return Ok(());
        }
        let took_ns = sample.done_ns.saturating_sub(sample.first_byte_ns);
        if sample.connection != NO_CONNECTION {
            let first = self.first.of(sample.worker, sample.connection);
            keep_first(first, Some((sample.done_ns, took_ns)));
        }
        if in_hold(sample.done_ns, holds) {
            let is_late = is_within(took_ns, late);
            let is_near = is_within(took_ns, (late.0 / 2, 2 * late.1)) && !is_late;
            self.counted.ended += 1;
            self.counted.late += u64::from(is_late);
            self.counted.near += u64::from(is_near);
        }
        Ok(())
    }

    pub fn joined(mut self, other: Self) -> Self {
        self.counted.ended += other.counted.ended;
        self.counted.late += other.counted.late;
        self.counted.near += other.counted.near;
        Self { first: self.first.joined(other.first, keep_first), ..self }
    }

    pub fn counted(self, late: Window) -> LateEnds {
        let mut counted = self.counted;
        for (_, took_ns) in self.first.of_workers().iter().flatten().flatten() {
            counted.connections += 1;
            counted.late_first += u64::from(late.0 / 2 <= *took_ns);
        }
        counted
    }
}

#[inline]
fn is_within(took_ns: u64, window: Window) -> bool {
    window.0 <= took_ns && took_ns < window.1
}

/// Keeps the earlier of two responses.
#[inline]
fn keep_first(known: &mut Option<Ended>, other: Option<Ended>) {
    *known = match (*known, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}
