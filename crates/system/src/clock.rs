//! Clocks, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// The monotonic clock, in nanoseconds.
///
/// # Source
///
/// `clock_gettime(2)`, `CLOCK_MONOTONIC`.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// The wall clock, in nanoseconds since 1970.
#[must_use]
pub fn wall_clock_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// User and system time of this process so far, in seconds.
///
/// # Source
///
/// `clock_gettime(2)`, `CLOCK_PROCESS_CPUTIME_ID`.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn process_cpu_s() -> f64 {
    nanoseconds(ClockId::ProcessCPUTime) as f64 / 1e9
}

#[inline]
#[allow(clippy::cast_sign_loss)]
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}
