//! What the engine reports as it runs and at its end: counts of all workers, added up.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_system as system;
use serde::Serialize;

use crate::coding::Decoded;
use crate::histogram::Histogram;
use crate::outcome::Outcome;
use crate::recorder::Recorded;
use crate::schedule::boundaries;
use crate::spec::{FORMAT, Load, Spec, StageKind};
use crate::transport::secured::Secured;
use crate::worker::{Counts, Done};

/// A stage and its boundaries, in nanoseconds since the trial's zero.
#[derive(Clone, Debug, Serialize)]
pub struct StageTimes {
    /// What it is for.
    pub kind: StageKind,
    /// Its first instant.
    pub start_ns: u64,
    /// Its end.
    pub end_ns: u64,
}

/// The stages of a load and their boundaries.
#[must_use]
pub fn stage_times(load: &Load) -> Vec<StageTimes> {
    let times = load.stages.iter().zip(boundaries(&load.stages));
    times
        .map(|(stage, (start_ns, end_ns))| StageTimes { kind: stage.kind, start_ns, end_ns })
        .collect()
}

/// What the engine reports as it runs.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A load that takes turns rests, and awaits the order for its first one.
    Ready,
    /// The load is about to begin.
    Started {
        /// The trial's zero on the monotonic clock.
        zero_monotonic_ns: u64,
        /// The trial's zero on the wall clock.
        zero_utc_ns: u64,
        /// The stages and their boundaries.
        stages: Vec<StageTimes>,
    },
    /// A second has passed, or the load has ended.
    Progress(Progress),
    /// A turn is over, and the load rests or has ended. Its end is that of `at_ns`.
    Turn {
        /// The time of the load at which it began.
        start_ns: u64,
        /// The same instant on the monotonic clock.
        start_monotonic_ns: u64,
        /// Counts at its end.
        #[serde(flatten)]
        progress: Progress,
    },
}

/// The counts of all workers at one instant; totals since zero unless stated otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// The instant.
    pub at_ns: u64,
    /// The stage it lies in.
    pub stage: &'static str,
    /// Requested connections now.
    pub connections_requested: usize,
    /// Connections open now.
    pub connections_open: usize,
    /// Requests that the open connections may carry at one time.
    pub places_open: u64,
    /// Requests in flight now.
    pub in_flight: usize,
    /// Mean requests in flight since the last progress, as if no worker's had changed since it last
    /// published its counts.
    pub in_flight_mean: f64,
    /// How long before this instant the first of the workers published its counts, in seconds.
    pub counts_apart_s: f64,
    /// Requests that began to be sent.
    pub requests_sent: u64,
    /// Requests that ended.
    pub requests_ended: u64,
    /// Requests that ended, by outcome.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Bytes of responses.
    pub received_bytes: u64,
    /// Handshakes that completed.
    pub opened: u64,
    /// Attempts to connect that failed.
    pub refused: u64,
    /// Rows that could not be kept.
    pub lost_rows: u64,
    /// Longest time any worker was away from its sockets since the last progress, in seconds.
    pub longest_pause_s: f64,
    /// Complete responses by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Response times since the last progress; None without a response.
    pub response_time: Option<Recent>,
    /// Cores that the engine's process kept busy since the last progress.
    pub busy_cores: f64,
    /// Threads that generate load, the most cores they can keep busy.
    pub threads: usize,
}

/// Quantiles of the response times of a short while, in nanoseconds, to within 1/16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Recent {
    /// The median.
    pub p50_ns: u64,
    /// 90 % took no longer.
    pub p90_ns: u64,
    /// 99 % took no longer.
    pub p99_ns: u64,
}

impl Recent {
    fn of(times: &Histogram) -> Option<Self> {
        Some(Self {
            p50_ns: times.quantile_ns(500)?,
            p90_ns: times.quantile_ns(900)?,
            p99_ns: times.quantile_ns(990)?,
        })
    }
}

/// What was summed up at the last progress, so that the next one can tell what came since.
#[derive(Clone, Debug)]
pub struct Tally {
    /// An instant, and the requests in flight up to it, integrated over time.
    in_flight: (u64, u128),
    response_times: Histogram,
    cpu_s: f64,
    read_ns: u64,
}

impl Tally {
    /// Nothing yet; processor time counts from here on.
    #[must_use]
    pub fn begun() -> Self {
        Self {
            in_flight: (0, 0),
            response_times: Histogram::default(),
            cpu_s: system::process_cpu_s(),
            read_ns: system::now_ns(),
        }
    }

    /// Adds up the counts of all workers.
    #[must_use]
    pub fn progress(&mut self, load: &Load, counts: &[Counts]) -> Progress {
        let at_ns = counts.iter().map(|counts| counts.at_ns).max().unwrap_or(0);
        let within_ns = at_ns.min(load.duration_ns());
        let outcomes = outcomes(counts);
        Progress {
            at_ns,
            stage: stage_at(load, at_ns),
            connections_requested: counts.iter().map(|counts| counts.connections_requested).sum(),
            connections_open: counts.iter().map(|counts| counts.connections_open).sum(),
            places_open: counts.iter().map(|counts| counts.places_open).sum(),
            in_flight: counts.iter().map(|counts| counts.in_flight).sum(),
            in_flight_mean: self.in_flight_mean(counts, within_ns),
            counts_apart_s: counts_apart_s(counts, within_ns),
            requests_sent: counts.iter().map(|counts| counts.sent).sum(),
            requests_ended: outcomes.values().sum(),
            outcomes,
            received_bytes: counts.iter().map(|counts| counts.received_bytes).sum(),
            opened: counts.iter().map(|counts| counts.opened).sum(),
            refused: counts.iter().map(|counts| counts.refused).sum(),
            lost_rows: counts.iter().map(|counts| counts.lost_rows).sum(),
            longest_pause_s: longest_pause_s(counts),
            statuses: statuses(counts),
            response_time: self.recent(counts),
            busy_cores: self.busy_cores(),
            threads: counts.len(),
        }
    }

    /// Response times since the last progress.
    fn recent(&mut self, counts: &[Counts]) -> Option<Recent> {
        let mut times = Histogram::default();
        for counts in counts {
            times.add(&counts.response_times);
        }
        let before = std::mem::replace(&mut self.response_times, times);
        Recent::of(&times.since(&before))
    }

    fn busy_cores(&mut self) -> f64 {
        let (cpu_s, read_ns) = (system::process_cpu_s(), system::now_ns());
        let busy_s = cpu_s - std::mem::replace(&mut self.cpu_s, cpu_s);
        let passed_ns = read_ns - std::mem::replace(&mut self.read_ns, read_ns);
        if passed_ns > 0 { busy_s / Duration::from_nanos(passed_ns).as_secs_f64() } else { 0.0 }
    }

    /// Mean requests in flight from the last instant to this one; those in flight now if both are the
    /// same. It is below zero where more time was given back than has passed, so that means add up.
    #[allow(clippy::cast_precision_loss)]
    fn in_flight_mean(&mut self, counts: &[Counts], until_ns: u64) -> f64 {
        let integrals = counts.iter().map(|counts| {
            let since_ns = until_ns.saturating_sub(counts.at_ns);
            counts.in_flight_ns + counts.in_flight as u128 * u128::from(since_ns)
        });
        let (before_ns, before) = self.in_flight;
        let integral = integrals.sum::<u128>();
        self.in_flight = (until_ns, integral);
        match until_ns.saturating_sub(before_ns) {
            0 => counts.iter().map(|counts| counts.in_flight).sum::<usize>() as f64,
            passed_ns => {
                let (more, less) =
                    (integral.saturating_sub(before), before.saturating_sub(integral));
                (more as f64 - less as f64) / passed_ns as f64
            }
        }
    }
}

fn counts_apart_s(counts: &[Counts], until_ns: u64) -> f64 {
    let first_ns = counts.iter().map(|counts| counts.at_ns).min().unwrap_or(until_ns);
    Duration::from_nanos(until_ns.saturating_sub(first_ns)).as_secs_f64()
}

fn longest_pause_s(counts: &[Counts]) -> f64 {
    let longest_ns = counts.iter().map(|counts| counts.recent_pause_ns).max().unwrap_or(0);
    Duration::from_nanos(longest_ns).as_secs_f64()
}

fn outcomes(counts: &[Counts]) -> BTreeMap<&'static str, u64> {
    let totals = Outcome::ALL.iter().map(|&outcome| {
        let total: u64 = counts.iter().map(|counts| counts.outcomes[outcome as usize]).sum();
        (outcome.name(), total)
    });
    totals.filter(|&(_, total)| total > 0).collect()
}

fn statuses(counts: &[Counts]) -> BTreeMap<u16, u64> {
    let mut totals = BTreeMap::new();
    for (code, count) in counts.iter().flat_map(|counts| counts.statuses.known()) {
        *totals.entry(code).or_default() += count;
    }
    totals
}

fn stage_at(load: &Load, at_ns: u64) -> &'static str {
    let stages = stage_times(load);
    let current = stages.iter().find(|stage| at_ns < stage.end_ns).or(stages.last());
    current.map_or("", |stage| stage.kind.name())
}

/// Why the load ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// It ran to the end of its last stage.
    Schedule,
    /// It was interrupted.
    Interrupt,
    /// The requested number of requests was reached.
    RequestLimit,
}

/// The end of a drive; the content of `finish.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Finish {
    /// Version of this format.
    pub format: u32,
    /// Version of the engine.
    pub version: &'static str,
    /// Why it ended.
    pub ended_by: EndedBy,
    /// The trial's zero on the monotonic clock.
    pub zero_monotonic_ns: u64,
    /// The instant of its end.
    pub ended_ns: u64,
    /// The stages and their boundaries.
    pub stages: Vec<StageTimes>,
    /// Threads that generate load.
    pub threads: usize,
    /// Cores they ran on; empty when they were not confined.
    pub cores: Vec<usize>,
    /// The most connections the load requests at one time.
    pub connections_requested: usize,
    /// Requests that began to be sent, by the workers' own count.
    pub sent: u64,
    /// Bytes given to transports, by the same count.
    pub sent_bytes: u64,
    /// Those of them that the kernel had not sent when their connection ended.
    pub unsent_bytes: u64,
    /// The fewest streams that the settings of a server have allowed on a connection at one time;
    /// none where they never said.
    pub fewest_streams: Option<u32>,
    /// Requests by outcome, by the workers' own count.
    pub outcomes: BTreeMap<&'static str, u64>,
    /// Handshakes that completed.
    pub opened: u64,
    /// Attempts to connect that failed.
    pub refused: u64,
    /// What handshakes of TLS agreed on, and how many; empty without TLS.
    pub tls: Secured,
    /// Redirects that were followed.
    pub redirects: u64,
    /// Bodies that were freed of a content coding.
    pub decoded: Decoded,
    /// Rows in `requests.bin`.
    pub requests_rows: u64,
    /// Rows in `connections.bin`.
    pub connections_rows: u64,
    /// Rows that could not be kept.
    pub lost_rows: u64,
    /// Responses whose body was compared in full.
    pub bodies_compared: u64,
    /// User and system time of the engine's process, in seconds.
    pub cpu_s: f64,
    /// The most memory it held.
    pub peak_rss_bytes: u64,
    /// Longest time any worker was away from its sockets.
    pub longest_pause_ns: u64,
}

impl Finish {
    /// Adds up what the workers left behind.
    #[must_use]
    pub fn new(spec: &Spec, zero_monotonic_ns: u64, ended_by: EndedBy, done: &[Done]) -> Self {
        let counts: Vec<Counts> = done.iter().map(|done| done.counts).collect();
        let rows = |rows: fn(&Recorded) -> u64| done.iter().map(|done| rows(&done.recorded)).sum();
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION"),
            ended_by,
            zero_monotonic_ns,
            ended_ns: counts.iter().map(|counts| counts.at_ns).max().unwrap_or(0),
            stages: stage_times(&spec.load),
            threads: done.len(),
            cores: spec.cores.clone().unwrap_or_default(),
            connections_requested: spec.peak_connections(),
            sent: counts.iter().map(|counts| counts.sent).sum(),
            sent_bytes: counts.iter().map(|counts| counts.sent_bytes).sum(),
            unsent_bytes: counts.iter().map(|counts| counts.unsent_bytes).sum(),
            fewest_streams: counts
                .iter()
                .map(|counts| counts.fewest_streams)
                .filter(|&streams| streams != u32::MAX)
                .min(),
            outcomes: outcomes(&counts),
            opened: counts.iter().map(|counts| counts.opened).sum(),
            refused: counts.iter().map(|counts| counts.refused).sum(),
            tls: secured(done),
            redirects: counts.iter().map(|counts| counts.redirects).sum(),
            decoded: decoded(&counts),
            requests_rows: rows(|recorded| recorded.request_rows),
            connections_rows: rows(|recorded| recorded.connection_rows),
            lost_rows: rows(|recorded| recorded.lost_rows),
            bodies_compared: counts.iter().map(|counts| counts.bodies_compared).sum(),
            cpu_s: system::process_cpu_s(),
            peak_rss_bytes: system::peak_rss_bytes(),
            longest_pause_ns: counts
                .iter()
                .map(|counts| counts.longest_pause_ns)
                .max()
                .unwrap_or(0),
        }
    }
}

fn decoded(counts: &[Counts]) -> Decoded {
    let mut all = Decoded::default();
    for counts in counts {
        all.add(counts.decoded);
    }
    all
}

fn secured(done: &[Done]) -> Secured {
    let mut all = Secured::default();
    for one in done {
        all.merge(&one.secured);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Counts of a worker that had so many requests in flight up to an instant, on average.
    fn counts(at_ms: u64, in_flight: usize, mean: u64) -> Counts {
        let in_flight_ns = u128::from(mean * at_ms * MS);
        Counts { at_ns: at_ms * MS, in_flight, in_flight_ns, ..Counts::default() }
    }

    /// They are too large for the stack.
    fn both(first: &Counts, second: &Counts) -> Vec<Counts> {
        vec![*first, *second]
    }

    #[test]
    fn means_add_up_to_the_integrals_of_workers_that_publish_at_different_instants() {
        let mut tally = Tally::begun();
        let first =
            tally.in_flight_mean(&both(&counts(1_000, 4, 4), &counts(600, 2, 2)), 1_000 * MS);
        assert_eq!(first.to_bits(), 6.0_f64.to_bits());
        // The second worker had none from 1.5 s on, in all 3 request-seconds.
        let idle = Counts { in_flight_ns: u128::from(3_000 * MS), ..counts(2_000, 0, 0) };
        let mean = tally.in_flight_mean(&both(&counts(2_000, 4, 4), &idle), 2_000 * MS);
        assert_eq!((first + mean).to_bits(), 11.0_f64.to_bits());
    }

    #[test]
    fn time_that_is_given_back_is_taken_off_wherever_it_was_counted() {
        let mut tally = Tally::begun();
        let first =
            tally.in_flight_mean(&both(&counts(1_000, 1, 1), &counts(1_000, 0, 0)), 1_000 * MS);
        let mut later = counts(1_010, 1, 1);
        later.give_back(500 * MS);
        let second = tally.in_flight_mean(&both(&later, &counts(1_010, 0, 0)), 1_010 * MS);
        assert!((first * 1_000.0 + second * 10.0 - 510.0).abs() < 1e-6, "{first} {second}");
    }

    #[test]
    fn counts_are_as_far_apart_as_the_first_of_them_was_published_before_the_instant() {
        let workers = both(&counts(1_000, 1, 1), &counts(600, 1, 1));
        assert_eq!(counts_apart_s(&workers, 1_000 * MS).to_bits(), 0.4_f64.to_bits());
        // After the end of a load nothing changes.
        assert_eq!(counts_apart_s(&workers, 500 * MS).to_bits(), 0.0_f64.to_bits());
    }
}
