//! One thread, one epoll: the only loop, the same for the closed and the open model.
//!
//! A slot is a place for one connection, which carries one request at a time, or several when they
//! are pipelined. A request is bound to a slot as soon as it is due; the slot opens a connection if
//! it has none. What makes a request due is known to [`arrivals`] alone: in the closed model a slot
//! takes its next request when one has ended; in the open model slots with a free place wait for
//! arrivals, and arrivals for places.
//!
//! Each turn has two halves: everything that is due is handed to the kernel, then everything that
//! has come is read. Reading is not interrupted by sending, which takes several times as long: a
//! response is not seen later because of sends after others before it. Only a loop that has not
//! caught up for many turns takes fewer sockets a turn: responses wait for others then in any order,
//! and a socket that is written soon after it was read is still in the cache.

mod arrivals;
mod body_draw;
mod connecting;
mod counts;
mod due;
mod rows;
mod turns;
mod upgrading;
mod wire;

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_system::{self as system, Poller};

use self::arrivals::Arrivals;
use self::body_draw::BodyDraw;
pub use self::counts::{Counts, OUTCOME_CODES};
use crate::connection::{Connection, EventRow};
use crate::error::EngineError;
use crate::protocol::Protocol;
use crate::recorder::{Recorded, Recorder};
use crate::request::Requests;
use crate::sample::NEVER;
use crate::share::{share, share_by_connections};
use crate::spec::{Load, RequestSpec, Spec};
use crate::transport::Transport;
use crate::transport::secured::Secured;
use crate::transport::security::Security;
use crate::turns::Gate;

/// Room for what one read takes; larger than most responses, small enough for the cache.
const READ_BYTES: usize = 64 * 1024;

/// The most sockets of one turn, so that clocks and deadlines are looked at.
const SOCKETS_A_TURN: usize = 512;

/// The same for a loop that does not catch up; so many fit into a core's second cache.
const SOCKETS_A_FULL_TURN: usize = 64;

/// Turns in a row that leave no time to wait, after which the loop does not catch up.
const FULL_AFTER_TURNS: u32 = 32;

/// The longest wait: how late an interrupt may be noticed, and how old a published count may be.
const LONGEST_WAIT_NS: u64 = 20_000_000;

/// So many bytes the kernel sends at once on a connection that is idle: 10 segments of Ethernet.
///
/// # Source
///
/// RFC 6928, section 2: the initial window is 14,600 bytes.
const SENT_AT_ONCE_BYTES: usize = 14_600;

/// Responses to each kind of request whose body is compared whatever its length, the first ones, by
/// all workers together: a fault in 1 of 700 responses is among them with a probability of 95 %.
const FIRST_COMPARED: usize = 2_000;

/// What a worker needs from the outside.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What is to be done.
    pub spec: &'a Spec,
    /// The kinds of request.
    pub requests: &'a Requests,
    /// Source addresses to spread connections over; empty leaves the choice to the system.
    pub sources: &'a [Ipv4Addr],
    /// How connections are secured, if they are.
    pub security: Option<&'a Security>,
    /// Number of this worker among those of all engines.
    pub index: usize,
    /// Number of all workers of all engines.
    pub workers: usize,
    /// The core it runs on; None for any.
    pub core: Option<usize>,
    /// The trial's zero on the monotonic clock.
    pub zero_ns: u64,
    /// Set when the load is to end early.
    pub stop: &'a AtomicBool,
    /// Where it rests between turns, if it takes turns.
    pub gate: Option<&'a Gate>,
    /// Where the counts are published, several times a second.
    pub published: &'a Mutex<Counts>,
}

impl Task<'_> {
    /// Nanoseconds since the trial's zero.
    #[inline]
    fn clock(&self) -> u64 {
        system::now_ns().saturating_sub(self.zero_ns)
    }
}

/// What a worker leaves behind.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its counts.
    pub counts: Counts,
    /// What its handshakes of TLS agreed on.
    pub secured: Secured,
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
    if let Some(core) = task.core {
        system::pin_thread(core)
            .map_err(|source| EngineError::System { what: "taking a core", source })?;
    }
    system::wake_precisely()
        .map_err(|source| EngineError::System { what: "asking for precise timers", source })?;
    let mut worker = Worker::new(task, recorder)
        .map_err(|source| EngineError::System { what: "creating an epoll", source })?;
    let ran = worker.run();
    if let Some(gate) = task.gate {
        let now_ns = worker.clock();
        worker.publish(now_ns);
        gate.leave(now_ns);
    }
    ran.map_err(|source| EngineError::System { what: "waiting for sockets", source })?;
    let done = worker.finish();
    if let Some(gate) = task.gate {
        gate.wait_until_closed();
    }
    Ok(done)
}

/// A place for a connection. It begins at a cache line, and holds all that a request of HTTP/1
/// touches unless it is pipelined.
#[derive(Debug)]
#[repr(align(64))]
struct Slot<'a> {
    transport: Option<Transport>,
    connection: Connection<'a>,
    /// Places for requests that are not taken and not offered: the slot has not begun, is not
    /// connected, or waits for its wake-up.
    held: usize,
    /// Whether it takes part in the load.
    active: bool,
    /// Whether it is queued for sending.
    queued: bool,
    /// Whether a deadline for it is in the heap; there is never more than one.
    watched: bool,
    /// Connects that failed since a connection carried a request.
    failures: u32,
    /// The instant of its wake-up; others that lie in the heap are no longer meant.
    wakes_ns: u64,
}

impl Slot<'_> {
    /// A slot that has not begun.
    fn new(load: &Load) -> Self {
        let protocol = Protocol::new(load);
        Self {
            transport: None,
            held: protocol.capacity(),
            connection: Connection::new(protocol),
            active: false,
            queued: false,
            watched: false,
            failures: 0,
            wakes_ns: NEVER,
        }
    }

    /// Whether it takes part in the load, and has places that no wake-up will offer.
    fn holds_places(&self) -> bool {
        self.active && self.held > 0 && self.wakes_ns == NEVER
    }
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
    slots: Vec<Slot<'a>>,
    target: usize,
    /// How many slots take part in the load.
    active: usize,
    /// When requests are due, and where from.
    arrivals: Arrivals,
    /// Requests this worker may still begin, if there is a limit.
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
    /// Whether the kernel may have to wait with requests that it took, so that a connection that ends
    /// is asked for what was not sent.
    asks_unsent: bool,
    /// Whether events of responses are rows, and those that have come.
    events_are_rows: bool,
    event_rows: Vec<EventRow>,
    /// Turns in a row that found at least half of [`SOCKETS_A_FULL_TURN`] ready.
    full_turns: u32,
    /// Requests on their way into one call of `send`, where there are several.
    outbox: Vec<u8>,
    rng: fastrand::Rng,
    /// Of each kind of request, first responses whose body is still to be compared.
    first_left: Vec<u32>,
    /// Which bodies are written down.
    body_draw: BodyDraw,
    recorder: Option<Recorder>,
    counts: Counts,
    /// What the handshakes of TLS agreed on.
    secured: Secured,
    attempts: u32,
    /// Requests after which a connection is closed, if there is such a number.
    most_requests: Option<u32>,
    end_ns: u64,
    /// What the clock said last.
    read_ns: Cell<u64>,
    /// From here on no request begins before the next turn; without turns, the end of the load.
    turn_until_ns: u64,
    timeout_ns: u64,
    published_ns: u64,
    limit_reached: bool,
}

/// Whether the requests that a connection has in flight may be too many bytes to be sent at once.
fn may_wait_in_kernel(spec: &Spec) -> bool {
    let longest = spec.requests.iter().map(|request| request.bytes.len()).max().unwrap_or(0);
    longest.saturating_mul(Protocol::new(&spec.load).capacity()) > SENT_AT_ONCE_BYTES
}

impl<'a> Worker<'a> {
    fn new(task: Task<'a>, recorder: Option<Recorder>) -> io::Result<Self> {
        let Task { spec, index, workers, .. } = task;
        let load = &spec.load;
        let slots = share(load.peak_connections(), index, workers);
        let seed = spec.seed ^ (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let limit = load.request_limit;
        let allowance =
            |limit| share_by_connections(limit, load.peak_connections(), index, workers);
        let first_compared = u32::try_from(share(FIRST_COMPARED, index, workers)).unwrap_or(0);
        Ok(Self {
            task,
            number: u16::try_from(index).unwrap_or(u16::MAX),
            poller: Poller::new(SOCKETS_A_TURN)?,
            slots: std::iter::repeat_with(|| Slot::new(load)).take(slots).collect(),
            target: 0,
            active: 0,
            arrivals: Arrivals::new(load, index, workers, seed),
            allowance: limit.map(allowance),
            queued: Vec::with_capacity(slots),
            wakeups: BinaryHeap::new(),
            deadlines: BinaryHeap::new(),
            unread: Vec::new(),
            buffer: vec![0; READ_BYTES].into(),
            asks_unsent: may_wait_in_kernel(spec),
            events_are_rows: spec.requests.iter().any(RequestSpec::has_rows_of_events),
            event_rows: Vec::new(),
            full_turns: 0,
            outbox: Vec::new(),
            rng: fastrand::Rng::with_seed(seed),
            first_left: vec![first_compared; spec.requests.len()],
            body_draw: BodyDraw::new(load.duration_ns(), index, workers, seed),
            recorder,
            counts: Counts::default(),
            secured: Secured::default(),
            attempts: 0,
            most_requests: load.requests_per_connection(),
            end_ns: load.duration_ns(),
            read_ns: Cell::new(0),
            turn_until_ns: if task.gate.is_some() { 0 } else { load.duration_ns() },
            timeout_ns: load.timeout_ns,
            published_ns: 0,
            limit_reached: false,
        })
    }

    /// Nanoseconds since the trial's zero.
    #[inline]
    fn clock(&self) -> u64 {
        let now_ns = self.task.clock();
        self.read_ns.set(now_ns);
        now_ns
    }

    /// The instant from which on the loop waits. It is read only where arrivals have to be met: else
    /// what the clock said before the last request was sent will do.
    fn ready_ns(&mut self) -> u64 {
        if self.arrivals.next_request_ns().is_some() { self.clock() } else { self.read_ns.get() }
    }

    fn run(&mut self) -> io::Result<()> {
        let Some(mut woken_ns) = self.begun()? else { return Ok(()) };
        loop {
            // Nothing was waited for since the clock was read last.
            let now_ns = self.read_ns.get();
            self.begin_due(now_ns);
            self.expire(now_ns);
            self.send_queued();
            self.start_slots();
            let ready_ns = self.ready_ns();
            if ready_ns >= self.end_ns || self.is_stopped() {
                return Ok(());
            }
            if ready_ns >= self.turn_until_ns && self.has_ended_its_turn() {
                match self.rest()? {
                    Some(begun_ns) => woken_ns = begun_ns,
                    None => return Ok(()),
                }
                continue;
            }
            let wait_ns = self.next_instant_ns(now_ns).saturating_sub(ready_ns);
            self.poller.wait(wait_ns)?;
            self.note_pause(ready_ns - woken_ns);
            woken_ns = self.clock();
            self.note_pause(woken_ns.saturating_sub(ready_ns + wait_ns));
            self.read_on();
            for event in 0..self.poller.ready_count() {
                self.handle(event);
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

    /// Waits for zero, or for the first turn; returns when the load begins, or nothing if there is no
    /// turn. What is due at zero is late by as much as this thread is.
    fn begun(&mut self) -> io::Result<Option<u64>> {
        if self.task.gate.is_some() {
            // Not even connections open before: whoever gives turns reads the kernel's counters first.
            return self.rest();
        }
        loop {
            let left_ns = self.task.zero_ns.saturating_sub(system::now_ns());
            if left_ns == 0 || self.is_stopped() {
                let begun_ns = self.clock();
                self.note_pause(begun_ns);
                return Ok(Some(begun_ns));
            }
            self.poller.wait(left_ns.min(LONGEST_WAIT_NS))?;
        }
    }

    fn is_stopped(&self) -> bool {
        self.limit_reached || self.task.stop.load(Ordering::Relaxed)
    }

    /// How long the loop was busy with one turn, or late from its wait, or for the begin of the load
    /// or of a turn.
    fn note_pause(&mut self, pause_ns: u64) {
        self.counts.longest_pause_ns = self.counts.longest_pause_ns.max(pause_ns);
        self.counts.recent_pause_ns = self.counts.recent_pause_ns.max(pause_ns);
    }

    fn publish(&mut self, now_ns: u64) {
        self.published_ns = now_ns;
        self.count_in_flight(now_ns);
        self.counts.lost_rows = self.recorder.as_ref().map_or(0, Recorder::lost_rows);
        if let Ok(mut published) = self.task.published.lock() {
            published.renew(self.counts);
            self.counts.recent_pause_ns = 0;
        }
    }

    /// Brings the integral of requests in flight up to now, before their number changes. Rows know
    /// nothing after the end of the load, nor does the integral.
    #[inline]
    fn count_in_flight(&mut self, now_ns: u64) {
        let passed_ns = now_ns.min(self.end_ns).saturating_sub(self.counts.at_ns);
        self.counts.in_flight_ns += self.counts.in_flight as u128 * u128::from(passed_ns);
        self.counts.at_ns = self.counts.at_ns.max(now_ns);
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, TcpListener};

    use super::*;
    use crate::outcome::Outcome;

    /// A load of two kinds of request, each as often as the other.
    fn spec(address: &str, load: &str) -> Spec {
        let json = format!(
            r#"{{"format": 1, "into": "x", "address": "{address}",
            "requests": [{{"name": "a", "bytes": "R0VU"}}, {{"name": "b", "bytes": "R0VU"}}],
            "load": {{"timeout_ns": 1, {load}}}}}"#
        );
        Spec::parse(&json).unwrap()
    }

    /// Has a worker, alone or one of several, do something without a server.
    fn with_worker<T>(spec: &Spec, workers: usize, act: impl FnOnce(Worker<'_>) -> T) -> T {
        let requests = Requests::new(&spec.requests, 0.0);
        let (stop, published) = (AtomicBool::new(false), Mutex::new(Counts::default()));
        let task = Task {
            spec,
            requests: &requests,
            sources: &[],
            security: None,
            index: workers - 1,
            workers,
            core: None,
            zero_ns: system::now_ns(),
            stop: &stop,
            gate: None,
            published: &published,
        };
        act(Worker::new(task, None).unwrap())
    }

    /// A server that someone else has to drive, and a load of one connection to it for ten seconds.
    fn server_and_spec(load: &str) -> (TcpListener, Spec) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = server.local_addr().unwrap().to_string();
        (server, spec(&address, load))
    }

    #[test]
    fn a_server_that_hangs_up_while_the_connection_opens_is_not_waited_for() {
        let (server, spec) = server_and_spec(
            r#""model": "closed", "stages":
            [{"kind": "hold", "duration_ns": 10000000000, "start": 1, "end": 1}]"#,
        );
        with_worker(&spec, 1, |mut worker| {
            worker.begin_due(0);
            worker.start_slots();
            let (client, _) = server.accept().unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            // Both are one event by then.
            let transport = worker.slots[0].transport.as_ref().unwrap();
            system::wait_for(transport, false, 5_000_000_000).unwrap().unwrap();
            worker.poller.wait(0).unwrap();
            worker.handle(0);
            worker.send_queued();
            worker.read_on();
            assert_eq!(worker.counts.sent, 1);
            assert_eq!(worker.counts.outcomes[Outcome::ClosedWaiting as usize], 1);
        });
    }

    #[test]
    fn a_slot_that_is_to_begin_twice_begins_once() {
        let stages = r#"[{"kind": "hold", "duration_ns": 10000000000, "start": 1, "end": 1}]"#;
        let (_server, open) =
            server_and_spec(&format!(r#""model": "open", "connections": 1, "stages": {stages}"#));
        with_worker(&open, 1, |mut worker| {
            worker.begin_due(0);
            worker.arrivals.join(0, 0);
            worker.start_slots();
            assert_eq!((worker.attempts, worker.arrivals.is_starting()), (1, false));
        });
        let (_server, closed) =
            server_and_spec(&format!(r#""model": "closed", "stages": {stages}"#));
        with_worker(&closed, 1, |mut worker| {
            worker.begin_due(0);
            worker.arrivals.join(0, 0);
            let done = worker.finish();
            assert_eq!(done.counts.outcomes[Outcome::Cancelled as usize], 1);
        });
    }

    /// The gap before each arrival, and which request it is.
    fn arrivals(mut worker: Worker<'_>) -> Vec<(u64, u16)> {
        while worker.arrivals.take(u64::MAX, |_| false).is_some() {}
        let due_ns: Vec<_> = std::iter::from_fn(|| worker.arrivals.take_waiting()).collect();
        let gaps = due_ns.windows(2).map(|pair| pair[1] - pair[0]);
        // The first one has no gap before it.
        worker.task.requests.draw(&mut worker.rng);
        gaps.map(|gap_ns| (gap_ns, worker.task.requests.draw(&mut worker.rng))).collect()
    }

    #[test]
    #[allow(clippy::cast_precision_loss)]
    fn which_request_arrives_does_not_depend_on_the_gap_before_it() {
        let spec = spec(
            "127.0.0.1:80",
            r#""model": "open", "arrivals": "poisson", "connections": 2, "stages":
            [{"kind": "hold", "duration_ns": 20000000000, "start": 1000, "end": 1000}]"#,
        );
        for workers in [1, 2] {
            let arrivals = with_worker(&spec, workers, arrivals);
            let mean_ns = |kind| {
                let gaps = arrivals.iter().filter(|&&(_, drawn)| drawn == kind);
                let gaps: Vec<_> = gaps.map(|&(gap_ns, _)| gap_ns as f64).collect();
                gaps.iter().sum::<f64>() / gaps.len() as f64
            };
            // At least 5,000 gaps of each kind, whose deviation is their mean: six deviations of the
            // difference of two means are 12 %.
            let both = [mean_ns(0), mean_ns(1)];
            assert!((both[0] / both[1] - 1.0).abs() < 0.12, "{both:?}");
        }
    }

    #[test]
    fn a_slot_takes_six_lines_of_the_cache() {
        // Of thousands of slots, each further line is one more that has to be fetched.
        assert_eq!(size_of::<Slot<'_>>(), 6 * 64);
    }
}
