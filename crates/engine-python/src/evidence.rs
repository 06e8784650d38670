//! What checks ask of the engine's records, with the interpreter's lock released.

use std::io;
use std::path::PathBuf;

use plimsoll_figures::{LateEnds, LivesOf, Parts, Shares, Window};
use pyo3::prelude::*;

use crate::figures::{Times, outcome_name};

/// Requests that are alike: see `plimsoll_figures::Count`.
#[derive(IntoPyObject)]
struct Group {
    request: u16,
    status: u16,
    outcome: &'static str,
    errno: u8,
    requests: u64,
    held: u64,
    held_done: u64,
    sent: u64,
    held_sent: u64,
    responded: u64,
    received_bytes: u64,
    impossible: u64,
    no_first_byte: u64,
    expected: u64,
    compared: u64,
    held_expected: u64,
    held_compared: u64,
}

/// One second: its number; due, ended, complete, right and failed requests; bytes of responses.
type Second = (u64, u64, u64, u64, u64, u64, Option<u64>);

/// Every request of a load, counted.
#[derive(IntoPyObject)]
pub struct Counts {
    groups: Vec<Group>,
    /// Kind of request, status code, length of the body, responses.
    lengths: Vec<(u16, u16, u32, u64)>,
    seconds: Vec<Second>,
    last_response_ns: Option<u64>,
    last_refused_ns: Option<u64>,
}

/// Outcome, connections, those that ended in the holds, fewest and most responses of these.
type Ends = (&'static str, u64, u64, u64, Option<u32>, Option<u32>);

/// What became of the opened connections of a load.
#[derive(IntoPyObject)]
pub struct Lives {
    ends: Vec<Ends>,
    open_ns: i128,
    without_response: u64,
}

/// Every request, counted by what it has in common with others, and by second.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn load_counts(py: Python<'_>, folder: PathBuf, holds: Vec<Window>) -> io::Result<Counts> {
    let found = py.detach(|| plimsoll_figures::counts(&folder, &holds))?;
    let groups = found.groups.into_items().map(|(alike, count)| Group {
        request: alike.request,
        status: alike.status,
        outcome: outcome_name(alike.outcome),
        errno: alike.errno,
        requests: count.requests,
        held: count.held,
        held_done: count.held_done,
        sent: count.sent,
        held_sent: count.held_sent,
        responded: count.responded,
        received_bytes: count.received_bytes,
        impossible: count.impossible,
        no_first_byte: count.no_first_byte,
        expected: count.expected,
        compared: count.compared,
        held_expected: count.held_expected,
        held_compared: count.held_compared,
    });
    let lengths = found.lengths.into_items();
    let seconds = found.seconds.into_items().map(|(second, of)| {
        (second, of.due, of.ended, of.completed, of.ok, of.failed, of.received_bytes)
    });
    let mut seconds: Vec<_> = seconds.collect();
    seconds.sort_unstable();
    Ok(Counts {
        groups: groups.collect(),
        lengths: lengths.map(|(of, count)| (of.request, of.status, of.bytes, count)).collect(),
        seconds,
        last_response_ns: found.last_response_ns,
        last_refused_ns: found.last_refused_ns,
    })
}

/// How the opened connections ended, how long they were open, and how many got no response.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn connection_lives(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    opening_ns: u64,
    end_ns: u64,
    least_ns: u64,
    least_requests: u32,
) -> io::Result<Lives> {
    let of = LivesOf { holds: &holds, opening_ns, end_ns, least_ns, least_requests };
    let found = py.detach(|| plimsoll_figures::lives(&folder, of))?;
    let ends = found.ends.into_items().map(|(outcome, ends)| {
        let (fewest, most) = ends.responses.unzip();
        let plimsoll_figures::Ends { connections, without_response, held, .. } = ends;
        (outcome_name(outcome), connections, without_response, held, fewest, most)
    });
    Ok(Lives {
        ends: ends.collect(),
        open_ns: found.open_ns,
        without_response: found.without_response,
    })
}

/// Connections that were open for so long, those without a response, Jain's index.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn response_shares(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    least_ns: u64,
) -> io::Result<(u64, u64, Option<f64>)> {
    let found = py.detach(|| plimsoll_figures::shares(&folder, &holds, least_ns))?;
    let Shares { connections, starved, jain } = found;
    Ok((connections, starved, jain))
}

/// Complete responses in each of some equal parts of a window.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn response_pace(
    py: Python<'_>,
    folder: PathBuf,
    window: Window,
    parts: usize,
) -> io::Result<Vec<u64>> {
    py.detach(|| plimsoll_figures::pace(&folder, Parts { window, count: parts }))
}

/// The same and their median service time; without parts that have none.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn median_times(
    py: Python<'_>,
    folder: PathBuf,
    window: Window,
    parts: usize,
) -> io::Result<Vec<(usize, i64)>> {
    py.detach(|| plimsoll_figures::median_times(&folder, Parts { window, count: parts }))
}

/// Time in flight, time waiting to be sent, and requests that ended, in each of some windows.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn in_flight(
    py: Python<'_>,
    folder: PathBuf,
    windows: Vec<Window>,
) -> io::Result<Vec<(u128, u128, u64)>> {
    let found = py.detach(|| plimsoll_figures::in_flight(&folder, &windows))?;
    Ok(found.into_iter().map(|one| (one.in_flight_ns, one.waiting_ns, one.ended)).collect())
}

/// Requests that ended in the holds and took at least so long.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn slower_than(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    least_ns: u64,
) -> io::Result<u64> {
    py.detach(|| plimsoll_figures::slower_than(&folder, &holds, least_ns))
}

/// Requests that were in flight for so long when the load ended; the shortest and longest wait.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn still_waiting(
    py: Python<'_>,
    folder: PathBuf,
    end_ns: u64,
    least_ns: u64,
) -> io::Result<(u64, u64, u64)> {
    let found = py.detach(|| plimsoll_figures::still_waiting(&folder, end_ns, least_ns))?;
    Ok((found.requests, found.shortest_ns, found.longest_ns))
}

/// Response times of the holds, less what of them was in flight in stalls of the load generator.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn times_without(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    stalls: Vec<Window>,
) -> io::Result<Times> {
    Ok(Times(py.detach(|| plimsoll_figures::times_without(&folder, &holds, &stalls))?))
}

/// Responses of the holds; those that ended within a window after their first byte, and near it;
/// connections, and those whose first response ended so.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn late_ends(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    late: Window,
) -> io::Result<(u64, u64, u64, u64, u64)> {
    let found = py.detach(|| plimsoll_figures::late_ends(&folder, &holds, late))?;
    let LateEnds { ended, late, near, connections, late_first } = found;
    Ok((ended, late, near, connections, late_first))
}

/// Stretches of a window in which requests waited and no response came.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn stalls(
    py: Python<'_>,
    folder: PathBuf,
    window: Window,
    least_ns: u64,
) -> io::Result<Vec<Window>> {
    py.detach(|| plimsoll_figures::stalls(&folder, window, least_ns))
}

/// When each complete response of the holds that stalled was sent for and came, the longest first.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn connection_stalls(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
    least_ns: u64,
    times: f64,
    most: usize,
) -> io::Result<Vec<Window>> {
    py.detach(|| plimsoll_figures::connection_stalls(&folder, &holds, least_ns, times, most))
}
