//! What a load amounts to, counted in the engine's own records before these become tables.
//!
//! Every record is looked at once for each question, by all cores; of a response of the measurement
//! window only its times are held. Nothing is estimated: quantiles are values that were measured.

#![forbid(unsafe_code)]

mod by_connection;
mod connections;
mod counts;
mod grouped;
mod histogram;
mod late_ends;
mod requests;
mod rows;
mod shares;
mod stalls;
mod still_waiting;
mod times;
mod windows;

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use plimsoll_engine::sample::RequestSample;

pub use connections::{Connections, Ends, Lives, LivesOf};
pub use counts::{Alike, BodyLength, Count, Counts, Second};
pub use histogram::{CountedTimes, Histogram};
pub use late_ends::LateEnds;
pub use requests::{Failed, Failure, Requests, Status};
pub use shares::Shares;
pub use still_waiting::StillWaiting;
pub use times::{Kept, Times};
pub use windows::{InFlight, Parts};

/// From which instant until before which other one, in nanoseconds since the trial's zero.
pub type Window = (u64, u64);

const REQUESTS: &str = "requests.bin";
const CONNECTIONS: &str = "connections.bin";

/// What the requests of a load amount to; nothing where there is no file of them.
///
/// # Arguments
///
/// * `folder`: where the engine's records lie.
/// * `holds`: the stretches of time that are summarised, by the clock of these records.
///
/// # Errors
///
/// [`io::Error`] when the records cannot be read, or hold an unknown outcome; so everywhere below.
pub fn of_requests<T: Kept + Send>(folder: &Path, holds: &[Window]) -> io::Result<Requests<T>> {
    let take = |tally: &mut Requests<T>, record: &_| tally.take(record, holds);
    let parts = rows::tallied(&folder.join(REQUESTS), Requests::with_room, take)?;
    Ok(parts.into_iter().reduce(Requests::joined).unwrap_or_default())
}

/// What became of the attempts to connect; nothing where there is no file of them.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn of_connections(folder: &Path) -> io::Result<Connections> {
    let path = folder.join(CONNECTIONS);
    let parts = rows::tallied(&path, Connections::with_room, Connections::take)?;
    Ok(parts.into_iter().reduce(Connections::joined).unwrap_or_default())
}

/// Every request, counted by what it has in common with others, and by second.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn counts(folder: &Path, holds: &[Window]) -> io::Result<Counts> {
    let take = |tally: &mut Counts, record: &_| tally.take(record, holds);
    let parts = rows::tallied(&folder.join(REQUESTS), |_| Counts::default(), take)?;
    Ok(parts.into_iter().reduce(Counts::joined).unwrap_or_default())
}

/// How the opened connections ended, and how long they were open.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn lives(folder: &Path, of: LivesOf<'_>) -> io::Result<Lives> {
    let take = |tally: &mut Lives, record: &_| tally.take(record, of);
    let parts = rows::tallied(&folder.join(CONNECTIONS), |_| Lives::default(), take)?;
    Ok(parts.into_iter().reduce(Lives::joined).unwrap_or_default())
}

/// How the responses of the holds fell on the connections that were open for so long within them.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn shares(folder: &Path, holds: &[Window], least_ns: u64) -> io::Result<Shares> {
    let take = |tally: &mut shares::OpenTimes, record: &_| {
        tally.take(record, holds);
        Ok(())
    };
    let parts = rows::tallied(&folder.join(CONNECTIONS), |_| shares::OpenTimes::default(), take)?;
    let open = parts.into_iter().reduce(shares::OpenTimes::joined).unwrap_or_default();
    let take = |tally: &mut shares::Answers, record: &_| tally.take(record, holds);
    let parts = rows::tallied(&folder.join(REQUESTS), |_| shares::Answers::default(), take)?;
    let answers = parts.into_iter().reduce(shares::Answers::joined).unwrap_or_default();
    Ok(answers.shares(&open, least_ns))
}

/// Complete responses in each of some equal parts of a window.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn pace(folder: &Path, parts: Parts) -> io::Result<Vec<u64>> {
    let none = || vec![0; parts.count];
    let counted = samples(folder, |_| none(), |counts, sample| parts.count(counts, sample))?;
    Ok(counted.into_iter().reduce(|one, other| summed(one, &other)).unwrap_or_else(none))
}

fn summed(mut one: Vec<u64>, other: &[u64]) -> Vec<u64> {
    for (count, more) in one.iter_mut().zip(other) {
        *count += more;
    }
    one
}

/// Complete responses in each of some equal parts of a window, and their median service time; parts
/// without one are left out. Of an even number the median is the lower of the two in the middle.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn median_times(folder: &Path, parts: Parts) -> io::Result<Vec<(usize, i64)>> {
    let none = || vec![Times::default(); parts.count];
    let noted = samples(folder, |_| none(), |times, sample| parts.note(times, sample))?;
    let joined = |one: Vec<Times>, other: Vec<Times>| {
        one.into_iter().zip(other).map(|(times, more)| times.joined(more)).collect()
    };
    let times = noted.into_iter().reduce(joined).unwrap_or_default();
    Ok(times.iter().filter_map(|times| Some((times.len(), times.middle()?.0))).collect())
}

/// Requests in flight in each of some stretches of time.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn in_flight(folder: &Path, windows: &[Window]) -> io::Result<Vec<InFlight>> {
    let none = || vec![InFlight::default(); windows.len()];
    let take = |found: &mut Vec<InFlight>, sample: &RequestSample| {
        for (one, &window) in found.iter_mut().zip(windows) {
            one.take(sample, window);
        }
        Ok(())
    };
    let joined = |mut one: Vec<InFlight>, other: Vec<InFlight>| {
        for (found, more) in one.iter_mut().zip(other) {
            found.add(more);
        }
        one
    };
    let parts = samples(folder, |_| none(), take)?;
    Ok(parts.into_iter().reduce(joined).unwrap_or_else(none))
}

/// Requests that ended in the holds and took at least so long, however they ended.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn slower_than(folder: &Path, holds: &[Window], least_ns: u64) -> io::Result<u64> {
    let take = |count: &mut u64, sample: &RequestSample| {
        *count += u64::from(windows::is_slower(sample, holds, least_ns));
        Ok(())
    };
    Ok(samples(folder, |_| 0, take)?.into_iter().sum())
}

/// Requests that were in flight for so long when the load ended, at `end_ns`.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn still_waiting(folder: &Path, end_ns: u64, least_ns: u64) -> io::Result<StillWaiting> {
    let take = |found: &mut StillWaiting, sample: &RequestSample| {
        found.take(sample, end_ns, least_ns);
        Ok(())
    };
    let parts = samples(folder, |_| StillWaiting::default(), take)?;
    Ok(parts.into_iter().reduce(StillWaiting::joined).unwrap_or_default())
}

/// Response times of the holds, less what of them was in flight in stalls of the load generator.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn times_without(folder: &Path, holds: &[Window], stalls: &[Window]) -> io::Result<Times> {
    let take = |times: &mut Times, sample: &RequestSample| {
        if let Some(time_ns) = windows::time_without(sample, holds, stalls)? {
            times.push(time_ns);
        }
        Ok(())
    };
    let parts = samples(folder, Times::with_room, take)?;
    Ok(parts.into_iter().reduce(Times::joined).unwrap_or_default())
}

/// Complete responses that took a time within a window from their first byte to their end.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn late_ends(folder: &Path, holds: &[Window], late: Window) -> io::Result<LateEnds> {
    let take =
        |tally: &mut late_ends::Tally, sample: &RequestSample| tally.take(sample, holds, late);
    let parts = samples(folder, |_| late_ends::Tally::default(), take)?;
    let tally = parts.into_iter().reduce(late_ends::Tally::joined).unwrap_or_default();
    Ok(tally.counted(late))
}

/// Stretches of a window, longer than a limit, in which requests waited and no response came.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn stalls(folder: &Path, window: Window, least_ns: u64) -> io::Result<Vec<Window>> {
    let take = |tally: &mut stalls::Buckets, sample: &RequestSample| {
        tally.take(sample, window.1, least_ns)
    };
    let parts = samples(folder, |_| stalls::Buckets::default(), take)?;
    let buckets = parts.into_iter().reduce(stalls::Buckets::joined).unwrap_or_default();
    Ok(buckets.stalls(window, least_ns))
}

/// When complete responses of the holds were sent for and came that took at least so long, and so
/// many times the median of their kind of request: the longest first, no more than `most` of them.
///
/// # Errors
///
/// As of [`of_requests`].
pub fn connection_stalls(
    folder: &Path,
    holds: &[Window],
    least_ns: u64,
    times: f64,
    most: usize,
) -> io::Result<Vec<Window>> {
    let take = |tally: &mut stalls::ByKind, sample: &RequestSample| tally.take(sample, holds);
    let parts = samples(folder, |_| stalls::ByKind::default(), take)?;
    let known = parts.into_iter().reduce(stalls::ByKind::joined).unwrap_or_default();
    let limits = known.limits(least_ns, times);
    if limits.is_empty() {
        return Ok(Vec::new());
    }
    let take = |found: &mut Vec<(Reverse<i64>, Window)>, sample: &RequestSample| {
        found.extend(stalls::stalled(sample, holds, &limits)?);
        Ok(())
    };
    let mut found = samples(folder, |_| Vec::new(), take)?.concat();
    found.sort_unstable();
    found.truncate(most);
    Ok(found.into_iter().map(|(_, window)| window).collect())
}

/// Takes in every request; the tally of each thread.
fn samples<T: Send>(
    folder: &Path,
    new: impl Fn(usize) -> T + Sync,
    take: impl Fn(&mut T, &RequestSample) -> io::Result<()> + Sync,
) -> io::Result<Vec<T>> {
    let path = folder.join(REQUESTS);
    rows::tallied(&path, new, |tally, record| take(tally, &RequestSample::from_bytes(record)))
}
