//! Cores, timers and limits of this process, and ports of this host.

use std::io;
use std::num::NonZeroU64;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The most memory this process has held, in bytes; 0 when it can't be read.
///
/// # Source
///
/// `proc_pid_status(5)`, `VmHWM`.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The cores this process may run on.
///
/// # Errors
///
/// The error of `sched_getaffinity(2)`.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Confines the calling thread to one core.
///
/// # Errors
///
/// The error of `sched_setaffinity(2)`: the core is not there, or not allowed.
pub fn pin_thread(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the waits of the calling thread end on time, not up to 50 µs later.
///
/// # Errors
///
/// The error of `prctl(2)`.
///
/// # Source
///
/// `prctl(2)`, `PR_SET_TIMERSLACK`.
pub fn wake_precisely() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN))?)
}

/// Raises the soft limit of open files as far as the hard one allows; returns the limit.
#[must_use]
pub fn raise_open_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// First and last port that the system gives to outgoing connections.
///
/// # Source
///
/// `ip(7)`, `ip_local_port_range`.
#[must_use]
pub fn local_port_range() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<u16>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}
