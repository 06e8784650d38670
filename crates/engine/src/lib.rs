//! Puts a known load on an HTTP server and records every request.
//!
//! The engine knows sockets and time, and nothing of frameworks, storage formats or charts.
//! [`run`] is the whole flow: check the host, render the requests, share the load among the
//! threads, watch them once a second, and write down how it ended.

#![forbid(unsafe_code)]

pub mod ask;
pub mod coding;
pub mod connection;
pub mod error;
pub mod events;
pub mod exchange;
pub mod histogram;
pub mod outcome;
pub mod preflight;
pub mod progress;
pub mod protocol;
pub mod queue;
pub mod recorder;
pub mod request;
pub mod sample;
pub mod schedule;
pub mod share;
pub mod spec;
pub mod transport;
pub mod turns;
pub mod worker;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use plimsoll_system as system;

use crate::error::EngineError;
use crate::progress::{EndedBy, Event, Finish, Progress, Tally};
use crate::recorder::Writer;
use crate::request::Requests;
use crate::spec::{Protocol, Spec};
use crate::transport::security::Security;
use crate::turns::{Gate, Order};
use crate::worker::{Counts, Done, Task};

/// From the start of the threads to the trial's zero, so that all are there by then.
const LEAD_NS: u64 = 20_000_000;

/// How often an interrupt is looked for.
const TICK: Duration = Duration::from_millis(20);

/// How often progress is reported.
const PROGRESS_NS: u64 = 1_000_000_000;

/// Generates the load that `spec` specifies; returns how it ended.
///
/// `observe` is called when it starts and once a second; `interrupted` is called many times a second
/// and ends the load early by returning true. Rows and `finish.json` are in `spec.into` afterwards.
///
/// # Errors
///
/// [`EngineError`]: the host is not fit, the rows can't be written, or a thread failed.
pub fn run(
    spec: &Spec,
    observe: impl FnMut(&Event),
    interrupted: impl FnMut() -> bool,
) -> Result<Finish, EngineError> {
    drive(spec, None, observe, interrupted)
}

/// Generates the load in turns: it rests until `orders` brings one, and again after it. See [`turns`].
///
/// `observe` gets [`Event::Ready`] before the first turn and [`Event::Turn`] after each. The load
/// ends when the sender of orders is gone, early if its stages have not passed by then.
///
/// # Errors
///
/// As [`run`].
pub fn run_in_turns(
    spec: &Spec,
    orders: &Receiver<Order>,
    observe: impl FnMut(&Event),
    interrupted: impl FnMut() -> bool,
) -> Result<Finish, EngineError> {
    drive(spec, Some(orders), observe, interrupted)
}

fn drive(
    spec: &Spec,
    orders: Option<&Receiver<Order>>,
    mut observe: impl FnMut(&Event),
    mut interrupted: impl FnMut() -> bool,
) -> Result<Finish, EngineError> {
    let means = preflight::check(spec)?;
    let security = spec.tls.as_ref().map(Security::new).transpose()?;
    let mut requests = Requests::new(&spec.requests, spec.body_sample_ratio);
    if spec.load.protocol == Protocol::Http2 {
        requests = requests.encoded(if security.is_some() { "https" } else { "http" });
    }
    let (own, workers) = spec.workers();
    let writer = if spec.record { Some(Writer::start(&spec.into, own.len())?) } else { None };
    let published: Vec<_> = own.clone().map(|_| Mutex::new(Counts::default())).collect();
    let stop = AtomicBool::new(false);
    let gate = orders.map(|_| Gate::new(own.len()));
    let mut zero_ns = (system::now_ns() + LEAD_NS).max(spec.start_monotonic_ns.unwrap_or(0));
    let done = thread::scope(|scope| {
        if gate.is_none() {
            observe(&started(spec, zero_ns));
        }
        let tasks = own.zip(&published).enumerate().map(|(place, (index, published))| Task {
            spec,
            requests: &requests,
            sources: &means.sources,
            security: security.as_ref(),
            index,
            workers,
            core: spec.cores.as_ref().and_then(|cores| cores.get(place)).copied(),
            zero_ns,
            stop: &stop,
            gate: gate.as_ref(),
            published,
        });
        let threads = spawned(scope, tasks, writer.as_ref());
        let mut watch =
            Watch { spec, threads: &threads, published: &published, tally: Tally::begun() };
        let mut look = || {
            if interrupted() || writer.as_ref().is_some_and(Writer::has_failed) {
                stop.store(true, Ordering::Relaxed);
            }
            stop.load(Ordering::Relaxed)
        };
        match (&gate, orders) {
            (Some(gate), Some(orders)) => {
                watch.through_turns(gate, orders, &mut observe, &mut look, &mut zero_ns);
                if !gate.is_deserted() {
                    stop.store(true, Ordering::Relaxed);
                }
                gate.close();
            }
            _ => watch.until_the_end(zero_ns, &mut observe, &mut look),
        }
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

/// A thread for each task, with a recorder of its own where records are written.
fn spawned<'scope>(
    scope: &'scope Scope<'scope, '_>,
    tasks: impl Iterator<Item = Task<'scope>>,
    writer: Option<&Writer>,
) -> Vec<ScopedJoinHandle<'scope, Result<Done, EngineError>>> {
    tasks
        .map(|task| {
            let recorder = writer.map(Writer::recorder);
            scope.spawn(move || worker::drive(task, recorder))
        })
        .collect()
}

fn started(spec: &Spec, zero_monotonic_ns: u64) -> Event {
    let ahead_ns = zero_monotonic_ns.saturating_sub(system::now_ns());
    Event::Started {
        zero_monotonic_ns,
        zero_utc_ns: system::wall_clock_ns() + ahead_ns,
        stages: progress::stage_times(&spec.load),
    }
}

/// Who watches the workers meanwhile.
struct Watch<'a, 'scope> {
    spec: &'a Spec,
    threads: &'a [ScopedJoinHandle<'scope, Result<Done, EngineError>>],
    published: &'a [Mutex<Counts>],
    tally: Tally,
}

impl Watch<'_, '_> {
    fn progress(&mut self) -> Progress {
        let counts: Vec<_> = self
            .published
            .iter()
            .filter_map(|counts| counts.lock().ok().map(|mut counts| counts.take()))
            .collect();
        self.tally.progress(&self.spec.load, &counts)
    }

    /// Reports progress once a second after zero, until every thread has ended.
    fn until_the_end(
        &mut self,
        zero_ns: u64,
        observe: &mut impl FnMut(&Event),
        look: &mut impl FnMut() -> bool,
    ) {
        let mut next_ns = zero_ns + PROGRESS_NS;
        while !self.threads.iter().all(ScopedJoinHandle::is_finished) {
            thread::sleep(TICK);
            look();
            if system::now_ns() >= next_ns {
                next_ns += PROGRESS_NS;
                observe(&Event::Progress(self.progress()));
            }
        }
        observe(&Event::Progress(self.progress()));
    }

    /// Gives the turns that are ordered until the sender of orders is gone, `look` ends the load, or a
    /// thread has failed: no other ends before the gate is closed.
    fn through_turns(
        &mut self,
        gate: &Gate,
        orders: &Receiver<Order>,
        observe: &mut impl FnMut(&Event),
        look: &mut impl FnMut() -> bool,
        zero_ns: &mut u64,
    ) {
        let threads = self.threads;
        let mut is_over = || look() || threads.iter().any(ScopedJoinHandle::is_finished);
        let mut is_first = true;
        while !gate.is_at_rest(TICK) {
            if is_over() {
                return;
            }
        }
        observe(&Event::Ready);
        while !is_over() {
            let order = match orders.recv_timeout(TICK) {
                Ok(order) => order,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if !waited_for(order, &mut is_over) {
                return;
            }
            let turn = gate.open(order);
            if std::mem::take(&mut is_first) {
                *zero_ns = turn.zero_ns;
                observe(&started(self.spec, turn.zero_ns));
            }
            let mut next_ns = system::now_ns() + PROGRESS_NS;
            while !gate.is_at_rest(TICK) {
                if is_over() {
                    return;
                }
                if system::now_ns() >= next_ns {
                    next_ns += PROGRESS_NS;
                    observe(&Event::Progress(self.progress()));
                }
            }
            let progress = self.progress();
            observe(&Event::Turn {
                start_ns: turn.start_ns,
                start_monotonic_ns: turn.zero_ns + turn.start_ns,
                progress,
            });
        }
    }
}

/// Waits for the instant at which several engines begin; false when the load is over before.
fn waited_for(order: Order, is_over: &mut impl FnMut() -> bool) -> bool {
    let begin_ns = order.together.map_or(0, |together| together.begin_ns);
    loop {
        let left = Duration::from_nanos(begin_ns.saturating_sub(system::now_ns()));
        if left.is_zero() {
            return true;
        }
        if is_over() {
            return false;
        }
        thread::sleep(left.min(TICK));
    }
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
    serde_json::to_string(finish)
        .map_err(Into::into)
        .and_then(|text| fs::write(&path, text))
        .map_err(|source| EngineError::Storage { path: path.display().to_string(), source })
}
