//! Any numbers in a specification: they are refused, or there is a schedule that runs forward, within
//! the load, and in bounded time and memory.

#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_engine::progress::stage_times;
use plimsoll_engine::schedule::{ArrivalTimes, Connections};
use plimsoll_engine::spec::{Load, Spec};

/// Arrivals that are looked at.
const MOST_ARRIVALS: usize = 1_000;

/// Connections above which the list of their changes is not made: no host has as many.
const MOST_CONNECTIONS: usize = 100_000;

type Stage = (u64, f64, f64, u32);

/// Model, arrivals, stages, size of the pool, timeout, think time, pipeline, threads, seed.
type Numbers = (bool, bool, Vec<Stage>, u64, u64, u64, u32, u16, u64);

fuzz_target!(|numbers: Numbers| {
    if let Ok(spec) = Spec::parse(&specification(&numbers)) {
        let workers = spec.thread_count();
        for index in [0, workers - 1] {
            check(&spec.load, index, workers, spec.seed);
        }
    }
});

fn specification(numbers: &Numbers) -> String {
    let (is_open, is_poisson, stages, connections, timeout, think, pipeline, threads, seed) =
        numbers;
    let model = if *is_open { "open" } else { "closed" };
    let arrivals = if *is_poisson { "poisson" } else { "constant" };
    let stages: Vec<_> = stages.iter().take(8).map(stage).collect();
    format!(
        r#"{{"format": 1, "into": "x", "address": "127.0.0.1:80", "threads": {threads}, "seed": {seed},
        "requests": [{{"name": "a", "bytes": "R0VU"}}],
        "load": {{"model": "{model}", "arrivals": "{arrivals}", "stages": [{}],
        "connections": {connections}, "timeout_ns": {timeout}, "think_time_ns": {think},
        "pipeline": {pipeline}}}}}"#,
        stages.join(", ")
    )
}

fn stage(&(duration_ns, start, end, steps): &Stage) -> String {
    format!(
        r#"{{"kind": "hold", "duration_ns": {duration_ns}, "start": {start:?}, "end": {end:?}, "steps": {steps}}}"#
    )
}

fn check(load: &Load, index: usize, workers: usize, seed: u64) {
    let end_ns = load.duration_ns();
    assert_eq!(stage_times(load).last().map(|stage| stage.end_ns), Some(end_ns));
    let arrivals = ArrivalTimes::new(load, index, workers, seed).take(MOST_ARRIVALS);
    let arrivals: Vec<_> = arrivals.collect();
    assert!(arrivals.is_sorted(), "{arrivals:?}");
    assert!(arrivals.iter().all(|&at_ns| at_ns <= end_ns), "{arrivals:?}");
    if load.peak_connections() > MOST_CONNECTIONS {
        return;
    }
    let mut connections = Connections::new(load, index, workers);
    let mut before_ns = 0;
    while let Some(at_ns) = connections.next_ns() {
        assert!(before_ns <= at_ns && at_ns < end_ns);
        let taken = connections.take(at_ns);
        assert!(taken.is_some_and(|(_, count)| count <= load.peak_connections()));
        before_ns = at_ns;
    }
}
