//! One thread, one epoll: the only loop, the same for the closed and the open model.
//!
//! A slot is a place for one connection. A request is bound to a free slot as soon as it is due;
//! the slot opens a connection if it has none. In the closed model a slot is free again when its
//! request has ended; in the open model free slots wait for arrivals, and arrivals for slots.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::connection::{Connection, Received, State};
use crate::error::EngineError;
use crate::outcome::{Outcome, errno_of};
use crate::recorder::{Recorded, Recorder};
use crate::request::Requests;
use crate::sample::{NEVER, NO_CONNECTION, RequestSample};
use crate::schedule::{ArrivalTimes, Connections};
use crate::share::share;
use crate::spec::{Model, Spec};
use crate::sys::{self, Poller};

/// Room for what one read takes; larger than most answers, small enough for the cache.
const READ_BYTES: usize = 64 * 1024;

/// The most connections opened in one turn, so that a high step does not keep the open ones waiting.
const OPENINGS_A_TURN: usize = 64;

/// The most reads of one socket in one turn, so that an endless answer does not starve the others.
const READS_A_TURN: usize = 16;

/// The most events one turn of the loop hands out, so that clocks and deadlines are looked at.
const EVENTS_A_TURN: usize = 512;

/// The longest wait: how late an interrupt may be noticed, and how old a published count may be.
const LONGEST_WAIT_NS: u64 = 20_000_000;

/// First and last pause before connecting again after a connect that failed.
const SHORTEST_RETRY_NS: u64 = 1_000_000;
const LONGEST_RETRY_NS: u64 = 1_000_000_000;

/// Room for a count of every outcome code.
pub const OUTCOME_CODES: usize = 64;

/// A worker's counts, all from zero on, by its own doing and not from the rows.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Instant of these counts.
    pub at_ns: u64,
    /// Connections asked for now.
    pub connections_asked: usize,
    /// Connections open now.
    pub connections_open: usize,
    /// Requests in flight now: begun to be sent and not ended.
    pub in_flight: usize,
    /// Requests in flight, integrated over time, in request-nanoseconds.
    pub in_flight_ns: u128,
    /// Requests that began to be sent.
    pub sent: u64,
    /// Requests that ended, by outcome code.
    pub outcomes: [u64; OUTCOME_CODES],
    /// Bytes of answers.
    pub received_bytes: u64,
    /// Handshakes that completed.
    pub opened: u64,
    /// Attempts to connect that failed.
    pub refused: u64,
    /// Answers whose body was compared in full.
    pub bodies_compared: u64,
    /// Rows that could not be kept.
    pub lost_rows: u64,
    /// Longest time the loop was away: late from its wait, or busy with one turn.
    pub longest_pause_ns: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            at_ns: 0,
            connections_asked: 0,
            connections_open: 0,
            in_flight: 0,
            in_flight_ns: 0,
            sent: 0,
            outcomes: [0; OUTCOME_CODES],
            received_bytes: 0,
            opened: 0,
            refused: 0,
            bodies_compared: 0,
            lost_rows: 0,
            longest_pause_ns: 0,
        }
    }
}

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
    /// Whether it takes part in the load.
    active: bool,
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
    /// Open model: arrivals that found no free slot.
    waiting: VecDeque<u64>,
    /// Open model: slots that found no arrival, the one that has waited longest first, so that
    /// the pool is used evenly.
    free: VecDeque<usize>,
    /// Closed model: requests this worker may still begin, if there is a limit.
    allowance: Option<usize>,
    /// Slots that have something to do at an instant: think time, or connecting again.
    wakeups: BinaryHeap<Reverse<(u64, usize)>>,
    deadlines: BinaryHeap<Reverse<(u64, usize)>>,
    /// Slots whose sockets still had bytes when others were given their turn.
    unread: Vec<Unread>,
    rng: fastrand::Rng,
    recorder: Option<Recorder>,
    counts: Counts,
    attempts: u32,
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
        Ok(Self {
            task,
            number: u16::try_from(index).unwrap_or(u16::MAX),
            poller: Poller::new(EVENTS_A_TURN)?,
            slots: std::iter::repeat_with(Slot::default).take(slots).collect(),
            target: 0,
            connections: Connections::new(load, index, workers),
            beginning: VecDeque::new(),
            arrivals: ArrivalTimes::new(load, index, workers, seed).peekable(),
            waiting: VecDeque::new(),
            free: VecDeque::with_capacity(slots),
            allowance: load.request_limit.map(|limit| share(limit, index, workers)),
            wakeups: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            unread: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
            recorder,
            counts: Counts::default(),
            attempts: 0,
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
        let mut buffer = vec![0; READ_BYTES];
        self.wait_for_zero()?;
        if self.is_open_model() {
            self.open_pool();
        }
        loop {
            let now_ns = self.clock();
            if now_ns >= self.end_ns || self.is_stopped() {
                return Ok(());
            }
            self.begin_due(now_ns);
            self.expire(now_ns);
            let wait_ns = self.next_instant_ns(now_ns).saturating_sub(self.clock());
            self.poller.wait(wait_ns)?;
            let woken_ns = self.clock();
            self.read_on(&mut buffer);
            for index in 0..self.poller.ready_count() {
                self.handle(index, &mut buffer);
            }
            self.note_pause(now_ns + wait_ns, woken_ns);
        }
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

    /// Opens all connections of the pool before the first arrivals need them.
    fn open_pool(&mut self) {
        self.target = self.slots.len();
        self.counts.connections_asked = self.target;
        for index in 0..self.target {
            self.slots[index].active = true;
            self.open(index, self.clock());
        }
    }

    /// Takes up everything that is due by now.
    fn begin_due(&mut self, now_ns: u64) {
        if self.is_open_model() {
            while let Some(due_ns) = self.arrivals.next_if(|&due_ns| due_ns <= now_ns) {
                self.arrive(due_ns);
            }
        } else {
            while let Some((at_ns, target)) = self.connections.take(now_ns) {
                self.change_target(target, at_ns);
            }
            for (index, due_ns) in self.first_to_begin() {
                self.begin(index, due_ns);
            }
        }
        while let Some(&Reverse((at_ns, index))) = self.wakeups.peek() {
            if at_ns > now_ns {
                break;
            }
            self.wakeups.pop();
            if self.slots[index].wakes_ns == Some(at_ns) {
                self.take_up(index, at_ns);
            }
        }
    }

    fn next_instant_ns(&mut self, now_ns: u64) -> u64 {
        if !self.unread.is_empty() || !self.beginning.is_empty() {
            return now_ns;
        }
        let scheduled = if self.is_open_model() {
            self.arrivals.peek().copied()
        } else {
            self.connections.next_ns()
        };
        let heaps = [self.wakeups.peek(), self.deadlines.peek()];
        let heaps = heaps.into_iter().flatten().map(|&Reverse((at_ns, _))| at_ns);
        let latest = self.end_ns.min(now_ns + LONGEST_WAIT_NS);
        scheduled.into_iter().chain(heaps).fold(latest, u64::min)
    }

    fn note_pause(&mut self, planned_ns: u64, woken_ns: u64) {
        let now_ns = self.clock();
        let late_ns = woken_ns.saturating_sub(planned_ns);
        let busy_ns = now_ns - woken_ns;
        self.counts.longest_pause_ns = self.counts.longest_pause_ns.max(late_ns.max(busy_ns));
        if now_ns - self.published_ns >= LONGEST_WAIT_NS {
            self.publish(now_ns);
        }
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

    // ---- when: slots and arrivals -------------------------------------------------------------

    /// Closed model: so many connections are asked for from `at_ns` on.
    fn change_target(&mut self, target: usize, at_ns: u64) {
        let before = std::mem::replace(&mut self.target, target);
        self.counts.connections_asked = target;
        for index in before..target {
            if !std::mem::replace(&mut self.slots[index].active, true) {
                self.beginning.push_back((index, at_ns));
            }
        }
        for index in target..before {
            if self.slots[index].connection.state() == State::Idle {
                self.retire(index, at_ns);
            }
        }
    }

    /// One turn's share of the slots that are to begin.
    fn first_to_begin(&mut self) -> Vec<(usize, u64)> {
        let count = self.beginning.len().min(OPENINGS_A_TURN);
        self.beginning.drain(..count).collect()
    }

    /// Open model: a request arrives.
    fn arrive(&mut self, due_ns: u64) {
        match self.free.pop_front() {
            Some(index) => self.begin(index, due_ns),
            None => self.waiting.push_back(due_ns),
        }
    }

    /// A slot's wake-up is due.
    fn take_up(&mut self, index: usize, at_ns: u64) {
        self.slots[index].wakes_ns = None;
        if self.is_open_model() {
            self.serve_next(index);
        } else {
            self.begin(index, at_ns);
        }
    }

    /// A slot is free: its request has ended.
    fn release(&mut self, index: usize, now_ns: u64) {
        if self.is_open_model() {
            self.serve_next(index);
            return;
        }
        match self.task.spec.load.think_time_ns {
            0 => self.begin(index, now_ns),
            think_ns => self.wake(index, now_ns + think_ns),
        }
    }

    fn wake(&mut self, index: usize, at_ns: u64) {
        self.slots[index].wakes_ns = Some(at_ns);
        self.wakeups.push(Reverse((at_ns, index)));
    }

    fn serve_next(&mut self, index: usize) {
        match self.waiting.pop_front() {
            Some(due_ns) => self.begin(index, due_ns),
            None => self.free.push_back(index),
        }
    }

    /// A slot that is no longer asked for closes its connection and takes no more requests.
    fn retire(&mut self, index: usize, now_ns: u64) {
        self.slots[index].active = false;
        self.slots[index].wakes_ns = None;
        if self.slots[index].connection.state() != State::Closed {
            self.close(index, Outcome::ClosedAsAnnounced, 0, now_ns);
        }
    }

    /// Binds the next request to a free slot and sends it, opening a connection if there is none.
    fn begin(&mut self, index: usize, due_ns: u64) {
        if index >= self.target {
            self.retire(index, due_ns);
            return;
        }
        if !self.take_allowance() {
            self.retire(index, due_ns);
            self.limit_reached = self.slots.iter().all(|slot| !slot.active);
            return;
        }
        let request = self.task.requests.draw(&mut self.rng);
        let ratio = self.task.spec.body_sample_ratio;
        let compared = ratio > 0.0
            && self.task.requests.kind(request).expected.body.is_some()
            && self.rng.f64() < ratio;
        self.slots[index].connection.assign(request, due_ns, compared);
        if self.slots[index].connection.state() == State::Closed {
            self.open(index, self.clock());
        } else {
            self.transmit(index);
        }
    }

    fn take_allowance(&mut self) -> bool {
        match &mut self.allowance {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    // ---- where: sockets -----------------------------------------------------------------------

    fn open(&mut self, index: usize, now_ns: u64) {
        let attempt = self.attempts;
        self.attempts = self.attempts.wrapping_add(1);
        self.slots[index].connection.connecting(attempt, now_ns);
        match self.connect(index, attempt) {
            Ok(socket) => {
                self.slots[index].socket = Some(socket);
                self.watch(index, now_ns + self.timeout_ns);
            }
            Err(error) => self.connect_failed(index, Outcome::of_connect(&error), errno_of(&error)),
        }
    }

    fn connect(&self, index: usize, attempt: u32) -> io::Result<OwnedFd> {
        let sources = self.task.sources;
        let source = (!sources.is_empty()).then(|| {
            let place = (index * self.task.workers + self.task.index) % sources.len();
            SocketAddrV4::new(sources[place], 0)
        });
        let socket = sys::connect(&self.task.spec.address, source)?;
        self.poller.add(&socket, u64::from(attempt) << 32 | index as u64)?;
        Ok(socket)
    }

    fn connect_failed(&mut self, index: usize, outcome: Outcome, errno: u8) {
        let now_ns = self.clock();
        self.counts.refused += 1;
        self.end_request(index, outcome, errno, now_ns);
        self.close(index, outcome, errno, now_ns);
        let slot = &mut self.slots[index];
        let retry_ns = SHORTEST_RETRY_NS << slot.failures.min(20);
        slot.failures += 1;
        self.wake(index, now_ns + retry_ns.min(LONGEST_RETRY_NS));
    }

    fn watch(&mut self, index: usize, deadline_ns: u64) {
        if !std::mem::replace(&mut self.slots[index].watched, true) {
            self.deadlines.push(Reverse((deadline_ns, index)));
        }
    }

    /// Ends what has taken longer than the timeout.
    fn expire(&mut self, now_ns: u64) {
        while let Some(&Reverse((at_ns, index))) = self.deadlines.peek() {
            if at_ns > now_ns {
                break;
            }
            self.deadlines.pop();
            self.slots[index].watched = false;
            let since_ns = self.slots[index].connection.waiting_since_ns();
            match since_ns.map(|since_ns| since_ns + self.timeout_ns) {
                None => {}
                Some(deadline_ns) if deadline_ns > now_ns => self.watch(index, deadline_ns),
                Some(_) => self.time_out(index, now_ns),
            }
        }
    }

    fn time_out(&mut self, index: usize, now_ns: u64) {
        match self.slots[index].connection.phase() {
            None => self.connect_failed(index, Outcome::ConnectTimeout, 0),
            Some(phase) => self.fail(index, Outcome::of_timeout(phase), 0, now_ns),
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    fn handle(&mut self, event: usize, buffer: &mut [u8]) {
        let ready = self.poller.ready(event);
        let index = ready.token as u32 as usize;
        let connection = &self.slots[index].connection;
        // The event may be older than the connection that now has the slot.
        if u64::from(connection.attempt()) != ready.token >> 32 {
            return;
        }
        match connection.state() {
            State::Closed => return,
            State::Connecting => {
                if ready.writable || ready.hung_up {
                    self.finish_connect(index);
                }
                return;
            }
            _ if ready.writable && connection.unsent_from().is_some() => self.push(index),
            _ => {}
        }
        let replaced = u64::from(self.slots[index].connection.attempt()) != ready.token >> 32;
        if replaced {
            return;
        }
        if (ready.readable || ready.hung_up) && !self.is_unread(index, ready.hung_up) {
            self.pull(index, ready.hung_up, buffer);
        }
    }

    fn finish_connect(&mut self, index: usize) {
        let Some(socket) = &self.slots[index].socket else {
            return;
        };
        if let Err(error) = sys::connect_result(socket) {
            self.connect_failed(index, Outcome::of_connect(&error), errno_of(&error));
            return;
        }
        let now_ns = self.clock();
        self.counts.opened += 1;
        self.counts.connections_open += 1;
        let slot = &mut self.slots[index];
        slot.failures = 0;
        slot.connection.connected(now_ns);
        if slot.connection.request().is_some() {
            self.transmit(index);
        } else {
            self.release(index, now_ns);
        }
    }

    /// Begins to send the request that is bound to an open connection.
    #[inline]
    fn transmit(&mut self, index: usize) {
        let connection = &mut self.slots[index].connection;
        let Some(request) = connection.request() else {
            return;
        };
        let now_ns = sys::now_ns().saturating_sub(self.task.zero_ns);
        let kind = self.task.requests.kind(request);
        connection.begin_sending(kind.bytes.len(), kind.is_head, now_ns);
        self.count_in_flight(now_ns);
        self.counts.in_flight += 1;
        self.counts.sent += 1;
        self.watch(index, now_ns + self.timeout_ns);
        self.push(index);
    }

    /// Hands as much of the request to the kernel as it takes.
    #[inline]
    fn push(&mut self, index: usize) {
        let slot = &mut self.slots[index];
        let (Some(socket), Some(request)) = (&slot.socket, slot.connection.request()) else {
            return;
        };
        let bytes = &self.task.requests.kind(request).bytes;
        while let Some(offset) = slot.connection.unsent_from() {
            match sys::send(socket, &bytes[offset..]) {
                Ok(count) => slot.connection.sent(count),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.io_failed(index, &error);
                    return;
                }
            }
        }
    }

    /// Whether a socket's turn comes anyway; the news that its peer has hung up is then kept.
    #[inline]
    fn is_unread(&mut self, index: usize, hung_up: bool) -> bool {
        let attempt = self.slots[index].connection.attempt();
        let mut known = self.unread.iter_mut();
        let found = known.find(|unread| (unread.index, unread.attempt) == (index, attempt));
        found.map(|unread| unread.hung_up |= hung_up).is_some()
    }

    /// Reads on where there was more than one turn's share.
    fn read_on(&mut self, buffer: &mut [u8]) {
        for Unread { index, attempt, hung_up } in std::mem::take(&mut self.unread) {
            if self.slots[index].connection.attempt() == attempt {
                self.pull(index, hung_up, buffer);
            }
        }
    }

    /// Reads what there is and acts on it.
    #[inline]
    fn pull(&mut self, index: usize, hung_up: bool, buffer: &mut [u8]) {
        let attempt = self.slots[index].connection.attempt();
        for _ in 0..READS_A_TURN {
            let slot = &mut self.slots[index];
            let Some(socket) = &slot.socket else { return };
            let count = match sys::receive(socket, buffer) {
                Ok(0) => return self.stream_ended(index),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return self.io_failed(index, &error),
            };
            let now_ns = sys::now_ns().saturating_sub(self.task.zero_ns);
            let kind = slot.connection.request().map(|request| self.task.requests.kind(request));
            match slot.connection.received(&buffer[..count], kind, now_ns) {
                Received::More => {}
                Received::Complete { outcome, unsolicited } => {
                    self.complete(index, outcome, unsolicited, hung_up, now_ns);
                }
                Received::Failed(outcome) => self.fail(index, outcome, 0, now_ns),
            }
            // A read that did not fill the buffer has emptied the socket; what comes later is a new
            // event, except the end of the stream when this event has already told of it.
            let same = self.slots[index].connection.attempt() == attempt;
            if !same || (count < buffer.len() && !hung_up) {
                return;
            }
        }
        self.unread.push(Unread { index, attempt, hung_up });
    }

    /// An answer is complete: the connection may go on, or has to be replaced.
    #[inline]
    fn complete(
        &mut self,
        index: usize,
        outcome: Outcome,
        unsolicited: bool,
        hung_up: bool,
        now_ns: u64,
    ) {
        self.counts.bodies_compared += u64::from(self.slots[index].connection.is_compared());
        self.end_request(index, outcome, 0, now_ns);
        let connection = &self.slots[index].connection;
        let limit = self.task.spec.load.requests_per_connection();
        let spent =
            connection.is_spent() || limit.is_some_and(|limit| connection.requests() >= limit);
        if unsolicited {
            self.close(index, Outcome::Unsolicited, 0, now_ns);
        } else if spent {
            self.close(index, Outcome::ClosedAsAnnounced, 0, now_ns);
        } else if hung_up {
            self.close(index, Outcome::ClosedIdle, 0, now_ns);
        }
        self.release(index, now_ns);
    }

    /// The server has closed its side.
    fn stream_ended(&mut self, index: usize) {
        let now_ns = self.clock();
        let connection = &mut self.slots[index].connection;
        match connection.request() {
            None => self.close(index, Outcome::ClosedIdle, 0, now_ns),
            Some(request) => {
                let outcome = connection.ended(self.task.requests.kind(request));
                if matches!(outcome, Outcome::ClosedEarly | Outcome::ClosedWaiting) {
                    self.fail(index, outcome, 0, now_ns);
                } else {
                    self.complete(index, outcome, false, true, now_ns);
                }
            }
        }
    }

    fn io_failed(&mut self, index: usize, error: &io::Error) {
        let now_ns = self.clock();
        let errno = errno_of(error);
        match self.slots[index].connection.phase() {
            Some(phase) => self.fail(index, Outcome::of_transfer(error, phase), errno, now_ns),
            None => self.close(index, Outcome::ClosedIdle, errno, now_ns),
        }
    }

    /// A request has failed and takes its connection with it.
    fn fail(&mut self, index: usize, outcome: Outcome, errno: u8, now_ns: u64) {
        let had_request = self.slots[index].connection.request().is_some();
        self.end_request(index, outcome, errno, now_ns);
        self.close(index, outcome, errno, now_ns);
        if had_request {
            self.release(index, now_ns);
        }
    }

    // ---- records ------------------------------------------------------------------------------

    #[inline]
    fn end_request(&mut self, index: usize, outcome: Outcome, errno: u8, done_ns: u64) {
        let connection = &mut self.slots[index].connection;
        let Some(sample) = connection.end_request(outcome, errno, done_ns, self.number) else {
            return;
        };
        if sample.sent_ns != NEVER {
            if done_ns != NEVER {
                self.count_in_flight(done_ns.min(self.end_ns));
            }
            self.counts.in_flight -= 1;
        }
        self.keep(&sample);
    }

    #[inline]
    fn keep(&mut self, sample: &RequestSample) {
        self.counts.outcomes[usize::from(sample.outcome)] += 1;
        self.counts.received_bytes += u64::from(sample.received_bytes);
        if let Some(recorder) = &mut self.recorder {
            recorder.request(sample);
        }
    }

    fn close(&mut self, index: usize, outcome: Outcome, errno: u8, closed_ns: u64) {
        let slot = &mut self.slots[index];
        slot.socket = None;
        let sample = slot.connection.close(outcome, errno, closed_ns, self.number);
        if sample.connected_ns != NEVER {
            self.counts.connections_open -= 1;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.connection(&sample);
        }
    }

    /// Writes down what had not ended, and hands over the rows.
    fn finish(mut self) -> Done {
        let now_ns = self.clock();
        self.publish(now_ns);
        for index in 0..self.slots.len() {
            let sending = self.slots[index].connection.phase().is_some();
            let outcome = if sending { Outcome::Unfinished } else { Outcome::NotSent };
            self.end_request(index, outcome, 0, NEVER);
            match self.slots[index].connection.state() {
                State::Closed => {}
                State::Connecting => self.close(index, Outcome::Unfinished, 0, NEVER),
                _ => self.close(index, Outcome::StillOpen, 0, NEVER),
            }
        }
        self.keep_unserved(now_ns);
        let recorded = self.recorder.take().map(Recorder::finish).unwrap_or_default();
        self.counts.lost_rows = recorded.lost_rows;
        Done { counts: self.counts, recorded, limit_reached: self.limit_reached }
    }

    /// What was due and never got as far as a connection is a row too.
    fn keep_unserved(&mut self, now_ns: u64) {
        let begun = self.beginning.drain(..).filter(|&(index, _)| index < self.target);
        self.waiting.extend(begun.map(|(_, due_ns)| due_ns));
        if self.is_open_model() {
            while let Some(due_ns) = self.arrivals.next_if(|&due_ns| due_ns <= now_ns) {
                self.waiting.push_back(due_ns);
            }
        }
        while let Some(due_ns) = self.waiting.pop_front() {
            let request = self.task.requests.draw(&mut self.rng);
            self.keep(&RequestSample {
                due_ns,
                sent_ns: NEVER,
                first_byte_ns: NEVER,
                done_ns: NEVER,
                received_bytes: 0,
                connection: NO_CONNECTION,
                request,
                status: 0,
                worker: self.number,
                outcome: Outcome::NotSent as u8,
                errno: 0,
            });
        }
    }
}
