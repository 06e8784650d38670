//! Stretches of time without a response, and requests that took much longer than others.

use std::cmp::Reverse;
use std::io;
use std::mem;

use plimsoll_engine::sample::{NEVER, RequestSample};

use crate::counts::{in_hold, is_complete};
use crate::grouped::Grouped;
use crate::{Kept, Times, Window};

/// What ended in one bucket of time.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_field_names)] // the unit is part of a name
pub(crate) struct Bucket {
    first_ns: Option<u64>,
    last_ns: Option<u64>,
    due_ns: Option<u64>,
}

impl Bucket {
    fn add(&mut self, more: Self) {
        self.first_ns = least(self.first_ns, more.first_ns);
        self.last_ns = self.last_ns.max(more.last_ns);
        self.due_ns = least(self.due_ns, more.due_ns);
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

/// Requests by buckets of the instant of their end.
///
/// Take two responses further apart than a bucket is long. The first is the last of its bucket and
/// the second the first of its own: no stall is lost, and memory depends on the length of the load
/// alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buckets(Grouped<u64, Bucket>);

impl Buckets {
    #[inline]
    pub fn take(&mut self, sample: &RequestSample, end_ns: u64, least_ns: u64) -> io::Result<()> {
        let due_ns = if sample.due_ns == NEVER { sample.sent_ns } else { sample.due_ns };
        if due_ns >= end_ns {
            return Ok(());
        }
        let is_done = sample.done_ns != NEVER;
        let at_ns = if is_done { sample.done_ns } else { end_ns };
        let answered = (is_done && is_complete(sample.outcome)?).then_some(at_ns);
        let more = Bucket { first_ns: answered, last_ns: answered, due_ns: Some(due_ns) };
        self.0.of(at_ns / least_ns).add(more);
        Ok(())
    }

    pub fn joined(self, other: Self) -> Self {
        Self(self.0.joined(other.0, Bucket::add))
    }

    /// Stretches of a window longer than a bucket in which requests waited and no response came.
    pub fn stalls(self, (start_ns, end_ns): Window, least_ns: u64) -> Vec<Window> {
        let mut buckets: Vec<_> = self.0.into_items().collect();
        buckets.sort_unstable_by_key(|&(bucket, _)| bucket);
        let (mut since, mut next_ns) = (None, end_ns);
        let mut gaps = Vec::new();
        for (_, bucket) in buckets.into_iter().rev() {
            if let (Some(first_ns), Some(last_ns)) = (bucket.first_ns, bucket.last_ns) {
                gaps.extend(since.map(|since_ns| (last_ns.max(since_ns), next_ns)));
                next_ns = first_ns;
            }
            since = least(since, bucket.due_ns);
        }
        gaps.extend(since.map(|since_ns| (since_ns, next_ns)));
        gaps.reverse();
        let held = gaps.into_iter().map(|(from, until)| (from.max(start_ns), until.min(end_ns)));
        let mut found: Vec<_> =
            held.filter(|&(from, until)| until > from && until - from > least_ns).collect();
        found.sort_unstable();
        found
    }
}

/// Service times of the complete responses of the holds by the kind of request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ByKind(Grouped<u16, Times>);

impl ByKind {
    #[inline]
    pub fn take(&mut self, sample: &RequestSample, holds: &[Window]) -> io::Result<()> {
        if let Some(time_ns) = answered_in_ns(sample, holds)? {
            self.0.of(sample.request).push(time_ns);
        }
        Ok(())
    }

    pub fn joined(self, other: Self) -> Self {
        Self(self.0.joined(other.0, |times, more| *times = mem::take(times).joined(more)))
    }

    /// From which time on a response of a kind has stalled; without kinds of which none has.
    #[allow(clippy::cast_precision_loss)]
    pub fn limits(self, least_ns: u64, times: f64) -> Vec<(u16, f64)> {
        let stalled = self.0.into_items().filter_map(|(kind, known)| {
            let (lower, upper) = known.middle()?;
            let median = lower as f64 + (upper as f64 - lower as f64) / 2.0;
            let limit_ns = (times * median).max(least_ns as f64);
            (known.longest()? as f64 >= limit_ns).then_some((kind, limit_ns))
        });
        stalled.collect()
    }
}

/// How long a complete response of the holds took from its sending.
#[inline]
#[allow(clippy::cast_possible_wrap)]
pub(crate) fn answered_in_ns(sample: &RequestSample, holds: &[Window]) -> io::Result<Option<i64>> {
    let counts = sample.sent_ns != NEVER && in_hold(sample.done_ns, holds);
    Ok((counts && is_complete(sample.outcome)?)
        .then(|| sample.done_ns.wrapping_sub(sample.sent_ns) as i64))
}

/// When a response that stalled was sent for and came, behind how long it took.
#[inline]
#[allow(clippy::cast_precision_loss)]
pub(crate) fn stalled(
    sample: &RequestSample,
    holds: &[Window],
    limits: &[(u16, f64)],
) -> io::Result<Option<(Reverse<i64>, Window)>> {
    let Some(time_ns) = answered_in_ns(sample, holds)? else { return Ok(None) };
    let limit = limits.iter().find(|&&(kind, _)| kind == sample.request);
    let has_stalled = limit.is_some_and(|&(_, limit_ns)| time_ns as f64 >= limit_ns);
    Ok(has_stalled.then_some((Reverse(time_ns), (sample.sent_ns, sample.done_ns))))
}
