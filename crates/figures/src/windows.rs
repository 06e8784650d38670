//! What of the requests falls into stretches of time.

use std::io;

use plimsoll_engine::sample::{NEVER, RequestSample};

use crate::counts::{in_hold, is_complete};
use crate::{Kept, Times, Window};

/// Stretches of a window that are equally long.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// What is cut.
    pub window: Window,
    /// Into how many.
    pub count: usize,
}

impl Parts {
    /// The part in which a complete response came; None outside of the window.
    #[inline]
    fn of(&self, sample: &RequestSample) -> io::Result<Option<usize>> {
        let (start, end) = self.window;
        if sample.done_ns == NEVER
            || !(start..end).contains(&sample.done_ns)
            || !is_complete(sample.outcome)?
        {
            return Ok(None);
        }
        Ok(Some(self.part(sample.done_ns - start, end - start).min(self.count - 1)))
    }

    /// In which part an instant lies; wide numbers are used only where narrow ones overflow.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    fn part(&self, passed_ns: u64, length_ns: u64) -> usize {
        match passed_ns.checked_mul(self.count as u64) {
            Some(parts) => (parts / length_ns) as usize,
            None => (u128::from(passed_ns) * self.count as u128 / u128::from(length_ns)) as usize,
        }
    }

    #[inline]
    pub(crate) fn count(&self, counts: &mut [u64], sample: &RequestSample) -> io::Result<()> {
        if let Some(part) = self.of(sample)? {
            counts[part] += 1;
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn note(&self, times: &mut [Times], sample: &RequestSample) -> io::Result<()> {
        if let Some(part) = self.of(sample)? {
            times[part].note(sample.sent_ns, sample.done_ns);
        }
        Ok(())
    }
}

/// Requests in flight in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InFlight {
    /// Time that requests were in flight, summed.
    pub in_flight_ns: u128,
    /// Time that requests waited to be sent, summed.
    pub waiting_ns: u128,
    /// Requests that were sent, and ended in it.
    pub ended: u64,
}

impl InFlight {
    #[inline]
    pub(crate) fn take(&mut self, sample: &RequestSample, (start, end): Window) {
        let &RequestSample { due_ns, sent_ns, done_ns, .. } = sample;
        let begins = if due_ns == NEVER { sent_ns } else { due_ns };
        if begins >= end || done_ns <= start {
            return; // what never began is no earlier than any end
        }
        if sent_ns != NEVER {
            let spent = done_ns.min(end).saturating_sub(sent_ns.max(start));
            self.in_flight_ns += u128::from(spent);
            self.ended += u64::from((start..end).contains(&done_ns));
        }
        if due_ns != NEVER {
            let waits = if sent_ns == NEVER { done_ns } else { sent_ns };
            let waited = waits.min(end).saturating_sub(due_ns.max(start));
            self.waiting_ns += u128::from(waited);
        }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.in_flight_ns += more.in_flight_ns;
        self.waiting_ns += more.waiting_ns;
        self.ended += more.ended;
    }
}

/// The time from due, or sent, to done of a complete response of the holds, less what of it was in
/// flight in stalls that ended before it came; None of any other request.
#[inline]
#[allow(clippy::cast_possible_wrap)]
pub(crate) fn time_without(
    sample: &RequestSample,
    holds: &[Window],
    stalls: &[Window],
) -> io::Result<Option<i64>> {
    let &RequestSample { due_ns, sent_ns, done_ns, .. } = sample;
    let since_ns = if due_ns == NEVER { sent_ns } else { due_ns };
    if since_ns == NEVER || !is_complete(sample.outcome)? || !in_hold(done_ns, holds) {
        return Ok(None);
    }
    let ended = stalls.iter().filter(|&&(_, end)| since_ns < end && done_ns >= end);
    let late_ns: u64 = ended.map(|&(start, end)| end - since_ns.max(start)).sum();
    Ok(Some(done_ns.wrapping_sub(since_ns).wrapping_sub(late_ns) as i64))
}

/// Whether a request ended in the holds and took at least so long, however it ended.
#[inline]
pub(crate) fn is_slower(sample: &RequestSample, holds: &[Window], least_ns: u64) -> bool {
    let began_ns = if sample.sent_ns == NEVER { sample.due_ns } else { sample.sent_ns };
    in_hold(sample.done_ns, holds) && sample.done_ns.saturating_sub(began_ns) >= least_ns
}
