//! One thread, one epoll: the only loop, the same for the closed and the open model.
//!
//! A slot is a place for one connection, which carries one request at a time, or several when they
//! are pipelined. A request is bound to a slot as soon as it is due; the slot opens a connection if
//! it has none. In the closed model a slot takes its next request when one has ended; in the open
//! model slots with a free place wait for arrivals, and arrivals for places.
//!
//! Each turn has two halves: everything that is due is handed to the kernel, then everything that
//! has come is read. Reading is not interrupted by sending, which takes several times as long: an
//! answer is not seen later because others were answered before it. Only a loop that has not caught
//! up for many turns takes fewer sockets a turn: answers wait for others then in any order, and a
//! socket that is written soon after it was read is still in the cache.

mod counts;
mod due;
mod rows;
mod wire;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

pub use self::counts::{Counts, OUTCOME_CODES};
use crate::connection::Connection;
use crate::error::EngineError;
use crate::recorder::{Recorded, Recorder};
use crate::request::Requests;
use crate::schedule::{ArrivalTimes, Connections};
use crate::share::share;
use crate::spec::{Model, Spec};
use crate::sys::{self, Poller};

/// Room for what one read takes; larger than most answers, small enough for the cache.
const READ_BYTES: usize = 64 * 1024;

/// The most sockets of one turn, so that clocks and deadlines are looked at.
const SOCKETS_A_TURN: usize = 512;

/// The same for a loop that does not catch up; so many fit into a core's second cache.
const SOCKETS_A_FULL_TURN: usize = 64;

/// Turns in a row that leave no time to wait, after which the loop does not catch up.
const FULL_AFTER_TURNS: u32 = 32;

/// The longest wait: how late an interrupt may be noticed, and how old a published count may be.
const LONGEST_WAIT_NS: u64 = 20_000_000;

/// What a worker needs from the outside.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What is to be done.
    pub spec: &'a Spec,
    /// The kinds of request.
    pub requests: &'a Requests,
    /// Source addresses to spread connections over; empty leaves the choice to the system.
    pub sources: &'a [Ipv4Addr],
    /// Number of this worker, and of all.
    pub index: usize,
    /// Number of all workers.
    pub workers: usize,
    /// The trial's zero on the monotonic clock.
    pub zero_ns: u64,
    /// Set when the load is to end early.
    pub stop: &'a AtomicBool,
    /// Where the counts are published, several times a second.
    pub published: &'a Mutex<Counts>,
}

/// What a worker leaves behind.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Its counts.
    pub counts: Counts,
    /// Its rows.
    pub recorded: Recorded,
    /// Whether it ended because its share of `request_limit` was reached.
    pub limit_reached: bool,
}

/// Drives one worker's share of the load from zero to its end.
///
/// # Errors
///
/// [`EngineError::System`] when readiness can't be waited for or the core can't be taken.
pub fn drive(task: Task<'_>, recorder: Option<Recorder>) -> Result<Done, EngineError> {
    if let Some(&core) = task.spec.cores.as_ref().and_then(|cores| cores.get(task.index)) {
        sys::pin_thread(core)
            .map_err(|source| EngineError::System { what: "taking a core", source })?;
    }
    sys::wake_precisely()
        .map_err(|source| EngineError::System { what: "asking for precise timers", source })?;
    let mut worker = Worker::new(task, recorder)
        .map_err(|source| EngineError::System { what: "creating an epoll", source })?;
    worker.run().map_err(|source| EngineError::System { what: "waiting for sockets", source })?;
    Ok(worker.finish())
}

#[derive(Debug, Default)]
struct Slot {
    socket: Option<OwnedFd>,
    connection: Connection,
    /// Places for requests that are not taken and not offered: the slot has not begun, is not
    /// connected, or waits for its wake-up.
    held: usize,
    /// Whether it takes part in the load.
    active: bool,
    /// Whether it is queued for sending.
    queued: bool,
    /// Whether a deadline for it is in the heap; there is never more than one.
    watched: bool,
    /// Connects that failed in a row.
    failures: u32,
    /// The instant of its wake-up; others that lie in the heap are no longer meant.
    wakes_ns: Option<u64>,
}

/// A socket that may have more to read than was read of it.
#[derive(Clone, Copy, Debug)]
struct Unread {
    index: usize,
    attempt: u32,
    hung_up: bool,
}

#[allow(missing_debug_implementations)]
struct Worker<'a> {
    task: Task<'a>,
    number: u16,
    poller: Poller,
    slots: Vec<Slot>,
    target: usize,
    connections: Connections,
    /// Closed model: slots that take part from an instant on and have not begun yet.
    beginning: VecDeque<(usize, u64)>,
    arrivals: std::iter::Peekable<ArrivalTimes>,
    /// Open model: slots of the pool whose first connection has been begun.
    pooled: usize,
    /// Open model: arrivals that found no free place.
    waiting: VecDeque<u64>,
    /// Open model: a slot for each place that found no arrival, the one that has waited longest
    /// first, so that the pool is used evenly.
    free: VecDeque<usize>,
    /// Closed model: requests this worker may still begin, if there is a limit.
    allowance: Option<usize>,
    /// Slots that have something to send, or a connection to open for it.
    queued: Vec<usize>,
    /// Slots that have something to do at an instant: think time, or connecting again.
    wakeups: BinaryHeap<Reverse<(u64, usize)>>,
    deadlines: BinaryHeap<Reverse<(u64, usize)>>,
    /// Slots whose sockets still had bytes when others were given their turn.
    unread: Vec<Unread>,
    /// What one read has brought.
    buffer: Box<[u8]>,
    /// Turns in a row that found at least half of [`SOCKETS_A_FULL_TURN`] ready.
    full_turns: u32,
    /// Pipelined requests on their way into one call of `send`.
    outbox: Vec<u8>,
    rng: fastrand::Rng,
    recorder: Option<Recorder>,
    counts: Counts,
    attempts: u32,
    /// Requests after which a connection is closed, if there is such a number.
    most_requests: Option<u32>,
    end_ns: u64,
    timeout_ns: u64,
    published_ns: u64,
    limit_reached: bool,
}

impl<'a> Worker<'a> {
    fn new(task: Task<'a>, recorder: Option<Recorder>) -> io::Result<Self> {
        let Task { spec, index, workers, .. } = task;
        let load = &spec.load;
        let slots = share(load.peak_connections(), index, workers);
        let seed = spec.seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = || Slot { held: load.pipeline, ..Slot::default() };
        Ok(Self {
            task,
            number: u16::try_from(index).unwrap_or(u16::MAX),
            poller: Poller::new(SOCKETS_A_TURN)?,
            slots: std::iter::repeat_with(slot).take(slots).collect(),
            target: 0,
            connections: Connections::new(load, index, workers),
            beginning: VecDeque::new(),
            arrivals: ArrivalTimes::new(load, index, workers, seed).peekable(),
            pooled: 0,
            waiting: VecDeque::new(),
            free: VecDeque::with_capacity(slots),
            allowance: load.request_limit.map(|limit| share(limit, index, workers)),
            queued: Vec::with_capacity(slots),
            wakeups: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            unread: Vec::new(),
            buffer: vec![0; READ_BYTES].into(),
            full_turns: 0,
            outbox: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
            recorder,
            counts: Counts::default(),
            attempts: 0,
            most_requests: load.requests_per_connection(),
            end_ns: load.duration_ns(),
            timeout_ns: load.timeout_ns,
            published_ns: 0,
            limit_reached: false,
        })
    }

    fn is_open_model(&self) -> bool {
        self.task.spec.load.model == Model::Open
    }

    /// Nanoseconds since the trial's zero.
    #[inline]
    fn clock(&self) -> u64 {
        sys::now_ns().saturating_sub(self.task.zero_ns)
    }

    fn run(&mut self) -> io::Result<()> {
        self.wait_for_zero()?;
        if self.is_open_model() {
            self.ask_for_pool();
        }
        let mut woken_ns = self.clock();
        loop {
            let now_ns = self.clock();
            self.begin_due(now_ns);
            self.expire(now_ns);
            self.send_queued();
            if self.is_open_model() {
                self.open_pool();
            }
            let ready_ns = self.clock();
            if ready_ns >= self.end_ns || self.is_stopped() {
                return Ok(());
            }
            let wait_ns = self.next_instant_ns(now_ns).saturating_sub(ready_ns);
            self.poller.wait(wait_ns)?;
            self.note_pause(ready_ns - woken_ns);
            woken_ns = self.clock();
            self.note_pause(woken_ns.saturating_sub(ready_ns + wait_ns));
            self.read_on();
            for index in 0..self.poller.ready_count() {
                self.handle(index);
            }
            self.choose_next_turn();
            if woken_ns - self.published_ns >= LONGEST_WAIT_NS {
                self.publish(woken_ns);
            }
        }
    }

    /// Has the next turn take as many sockets as suits how full the loop is.
    fn choose_next_turn(&mut self) {
        let full = self.poller.ready_count() >= SOCKETS_A_FULL_TURN / 2;
        self.full_turns = if full { self.full_turns.saturating_add(1) } else { 0 };
        let caught_up = self.full_turns < FULL_AFTER_TURNS;
        self.poller.hand_out(if caught_up { SOCKETS_A_TURN } else { SOCKETS_A_FULL_TURN });
    }

    fn wait_for_zero(&mut self) -> io::Result<()> {
        while sys::now_ns() < self.task.zero_ns {
            self.poller.wait(self.task.zero_ns - sys::now_ns())?;
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.limit_reached || self.task.stop.load(Ordering::Relaxed)
    }

    /// How long the loop was busy with one turn, or late from its wait.
    fn note_pause(&mut self, pause_ns: u64) {
        self.counts.longest_pause_ns = self.counts.longest_pause_ns.max(pause_ns);
    }

    fn publish(&mut self, now_ns: u64) {
        self.published_ns = now_ns;
        self.count_in_flight(now_ns);
        self.counts.lost_rows = self.recorder.as_ref().map_or(0, Recorder::lost_rows);
        if let Ok(mut published) = self.task.published.lock() {
            *published = self.counts;
        }
    }

    /// Brings the integral of requests in flight up to now, before their number changes.
    #[inline]
    fn count_in_flight(&mut self, now_ns: u64) {
        let passed_ns = now_ns.saturating_sub(self.counts.at_ns);
        self.counts.in_flight_ns += self.counts.in_flight as u128 * u128::from(passed_ns);
        self.counts.at_ns = self.counts.at_ns.max(now_ns);
    }
}
