//! Puts a known load on an HTTP server and records every request.
//!
//! The engine knows sockets and time, and nothing of frameworks, storage formats or charts.
//! [`run`] is the whole flow: check the host, render the requests, share the load among the
//! threads, watch them once a second, and write down how it ended.

pub mod connection;
pub mod error;
pub mod outcome;
pub mod preflight;
pub mod progress;
pub mod recorder;
pub mod reference;
pub mod request;
pub mod response;
pub mod sample;
pub mod schedule;
pub mod share;
pub mod spec;
pub mod sys;
pub mod worker;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use crate::error::EngineError;
use crate::progress::{EndedBy, Event, Finish, Tally};
use crate::recorder::Writer;
use crate::request::Requests;
use crate::spec::Spec;
use crate::worker::{Counts, Done, Task};

/// From the start of the threads to the trial's zero, so that all are there by then.
const LEAD_NS: u64 = 20_000_000;

/// How often an interrupt is looked for.
const TICK: Duration = Duration::from_millis(20);

/// How often progress is reported.
const PROGRESS_NS: u64 = 1_000_000_000;

/// Puts on the load that `spec` asks for; returns how it ended.
///
/// `observe` is told when it starts and once a second; `interrupted` is asked many times a second
/// whether the load is to end early. Rows and `finish.json` lie in `spec.into` afterwards.
///
/// # Errors
///
/// [`EngineError`]: the host is not fit, the rows can't be written, or a thread failed.
pub fn run(
    spec: &Spec,
    mut observe: impl FnMut(&Event),
    mut interrupted: impl FnMut() -> bool,
) -> Result<Finish, EngineError> {
    let means = preflight::check(spec)?;
    let requests = Requests::new(&spec.requests);
    let workers = spec.thread_count().min(spec.load.peak_connections()).max(1);
    let writer = if spec.record { Some(Writer::start(&spec.into, workers)?) } else { None };
    let published: Vec<_> = (0..workers).map(|_| Mutex::new(Counts::default())).collect();
    let stop = AtomicBool::new(false);
    let zero_ns = sys::now_ns() + LEAD_NS;
    observe(&Event::Started {
        zero_monotonic_ns: zero_ns,
        zero_utc_ns: sys::wall_clock_ns() + LEAD_NS,
        stages: progress::stage_times(&spec.load),
    });
    let done = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|index| {
                let task = Task {
                    spec,
                    requests: &requests,
                    sources: &means.sources,
                    index,
                    workers,
                    zero_ns,
                    stop: &stop,
                    published: &published[index],
                };
                let recorder = writer.as_ref().map(Writer::recorder);
                scope.spawn(move || worker::drive(task, recorder))
            })
            .collect();
        watch(spec, &threads, &published, &mut observe, || {
            if interrupted() || writer.as_ref().is_some_and(Writer::has_failed) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        threads.into_iter().map(join).collect::<Result<Vec<_>, _>>()
    })?;
    let ended_by = ended_by(&stop, &done);
    if let Some(writer) = writer {
        writer.finish()?;
    }
    let finish = Finish::new(spec, zero_ns, ended_by, &done);
    write_finish(spec, &finish)?;
    Ok(finish)
}

/// Reports progress once a second until every thread has ended.
fn watch(
    spec: &Spec,
    threads: &[ScopedJoinHandle<'_, Result<Done, EngineError>>],
    published: &[Mutex<Counts>],
    observe: &mut impl FnMut(&Event),
    mut look: impl FnMut(),
) {
    let mut tally = Tally::default();
    let mut report = || {
        let counts: Vec<_> = published
            .iter()
            .filter_map(|counts| counts.lock().ok().map(|counts| *counts))
            .collect();
        observe(&Event::Progress(tally.progress(&spec.load, &counts)));
    };
    let mut next_ns = sys::now_ns() + LEAD_NS + PROGRESS_NS;
    while !threads.iter().all(ScopedJoinHandle::is_finished) {
        thread::sleep(TICK);
        look();
        if sys::now_ns() >= next_ns {
            next_ns += PROGRESS_NS;
            report();
        }
    }
    report();
}

fn join(thread: ScopedJoinHandle<'_, Result<Done, EngineError>>) -> Result<Done, EngineError> {
    thread.join().map_err(|_| EngineError::WorkerLost)?
}

fn ended_by(stop: &AtomicBool, done: &[Done]) -> EndedBy {
    if done.iter().all(|done| done.limit_reached) {
        EndedBy::RequestLimit
    } else if stop.load(Ordering::Relaxed) {
        EndedBy::Interrupt
    } else {
        EndedBy::Schedule
    }
}

fn write_finish(spec: &Spec, finish: &Finish) -> Result<(), EngineError> {
    let path = spec.into.join("finish.json");
    let text = serde_json::to_string(finish).unwrap_or_default();
    fs::write(&path, text)
        .map_err(|source| EngineError::Storage { path: path.display().to_string(), source })
}
