//! Turns: a load that rests between them, on a clock that stands still while it rests.
//!
//! Connections stay open. A worker begins requests until its turn is over, waits for the responses
//! to those in flight, and rests; it costs nothing until the next turn. The time of the load goes on
//! where it stopped, so that its schedule, its records and its deadlines know nothing of rests.
//!
//! A load whose schedule is over rests as well, until it is told that no turn follows: whoever gives
//! turns can read what its threads have used in the last one.
//!
//! Several engines that generate one load together get an instant at which all begin, and the time of
//! the load at which the last of them rested: their clocks stand still alike.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plimsoll_system as system;

/// An order to take a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// For how long requests begin.
    pub duration_ns: u64,
    /// When it begins beside other engines; at once, and where the last one ended, without.
    pub together: Option<Together>,
}

/// When several engines begin a turn of one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// The instant of the monotonic clock.
    pub begin_ns: u64,
    /// The time of the load at that instant.
    pub start_ns: u64,
}

impl Order {
    /// The order in a line: `DURATION`, or `DURATION BEGIN START`, in nanoseconds.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split_whitespace().map(str::parse);
        let duration_ns = numbers.next()?.ok()?;
        let together = match (numbers.next(), numbers.next(), numbers.next()) {
            (None, ..) => None,
            (Some(begin), Some(start), None) => {
                Some(Together { begin_ns: begin.ok()?, start_ns: start.ok()? })
            }
            _ => return None,
        };
        Some(Self { duration_ns, together })
    }
}

/// A turn as every worker sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// Zero of the load on the monotonic clock, less all rests before this turn.
    pub zero_ns: u64,
    /// The time of the load at which the turn begins.
    pub start_ns: u64,
    /// The time of the load from which on no request begins.
    pub until_ns: u64,
}

#[derive(Debug, Default)]
struct State {
    turn: Option<Turn>,
    /// Turns so far.
    number: u64,
    /// Workers that rest.
    resting: usize,
    /// Workers that have nothing left to do.
    left: usize,
    /// The latest time of the load at which a worker began to rest.
    rested_ns: u64,
    closed: bool,
}

impl State {
    /// Whether any of so many workers neither rests nor has left.
    fn moving(&self, workers: usize) -> bool {
        self.resting + self.left < workers
    }
}

/// Where workers rest between turns.
#[derive(Debug)]
pub struct Gate {
    workers: usize,
    state: Mutex<State>,
    opened: Condvar,
    rested: Condvar,
}

impl Gate {
    /// A gate for so many workers; closed until the first turn.
    #[must_use]
    pub fn new(workers: usize) -> Self {
        Self { workers, state: Mutex::default(), opened: Condvar::new(), rested: Condvar::new() }
    }

    /// Begins a turn at once; every worker must rest. It is up to the caller to wait for the instant
    /// at which several engines begin.
    pub fn open(&self, order: Order) -> Turn {
        let mut state = self.state();
        let start_ns = state.rested_ns.max(order.together.map_or(0, |other| other.start_ns));
        let turn = Turn {
            zero_ns: system::now_ns().saturating_sub(start_ns),
            start_ns,
            until_ns: start_ns.saturating_add(order.duration_ns),
        };
        state.turn = Some(turn);
        state.number += 1;
        state.resting = 0;
        self.opened.notify_all();
        turn
    }

    /// Waits until every worker rests, no longer than `most`; returns whether they do.
    #[must_use]
    pub fn is_at_rest(&self, most: Duration) -> bool {
        let state = self.state();
        let waited =
            self.rested.wait_timeout_while(state, most, |state| state.moving(self.workers));
        waited.is_ok_and(|(state, _)| !state.moving(self.workers))
    }

    /// A worker rests from `now_ns` of the load on; returns the next turn. Nothing when there is
    /// none any more.
    pub fn rest(&self, now_ns: u64) -> Option<Turn> {
        let mut state = self.state();
        let number = state.number;
        state.rested_ns = state.rested_ns.max(now_ns);
        state.resting += 1;
        self.rested.notify_all();
        let waited = self.opened.wait_while(state, |state| state.number == number && !state.closed);
        let state = waited.unwrap_or_else(PoisonError::into_inner);
        state.turn.filter(|_| !state.closed)
    }

    /// A worker has nothing left to do: its schedule is over, its requests are sent, or it failed.
    pub fn leave(&self, now_ns: u64) {
        let mut state = self.state();
        state.rested_ns = state.rested_ns.max(now_ns);
        state.left += 1;
        self.rested.notify_all();
    }

    /// Whether every worker has left.
    #[must_use]
    pub fn is_deserted(&self) -> bool {
        self.state().left >= self.workers
    }

    /// Waits until no turn follows. The kernel forgets what a thread has used when it ends, so one
    /// that has left ends no sooner than this.
    pub fn wait_until_closed(&self) {
        drop(self.opened.wait_while(self.state(), |state| !state.closed));
    }

    /// No turn follows: workers that rest or have left go on, and end.
    pub fn close(&self) {
        self.state().closed = true;
        self.opened.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const MS: u64 = 1_000_000;

    fn order(duration_ns: u64) -> Order {
        Order { duration_ns, together: None }
    }

    #[test]
    fn a_turn_begins_where_the_last_worker_rested() {
        let gate = Gate::new(2);
        thread::scope(|scope| {
            let first = scope.spawn(|| {
                let turn = gate.rest(0).unwrap();
                (turn, gate.rest(turn.until_ns + 2 * MS).unwrap())
            });
            let second = scope.spawn(|| {
                let turn = gate.rest(0).unwrap();
                (turn, gate.rest(turn.until_ns + MS).unwrap())
            });
            while !gate.is_at_rest(Duration::from_millis(1)) {}
            let opened = gate.open(order(10 * MS));
            assert_eq!((opened.start_ns, opened.until_ns), (0, 10 * MS));
            while !gate.is_at_rest(Duration::from_millis(1)) {}
            thread::sleep(Duration::from_millis(5));
            let again = gate.open(order(10 * MS));
            assert_eq!((again.start_ns, again.until_ns), (12 * MS, 22 * MS));
            assert_eq!(first.join().unwrap(), (opened, again));
            assert_eq!(second.join().unwrap(), (opened, again));
        });
    }

    #[test]
    fn a_turn_of_several_engines_begins_where_the_last_of_them_rested() {
        let gate = Gate::new(1);
        thread::scope(|scope| {
            let worker = scope.spawn(|| (gate.rest(7 * MS), gate.rest(40 * MS)));
            for (start_ns, began_ns) in [(30 * MS, 30 * MS), (35 * MS, 40 * MS)] {
                while !gate.is_at_rest(Duration::from_millis(1)) {}
                let together = Some(Together { begin_ns: 0, start_ns });
                let turn = gate.open(Order { duration_ns: MS, together });
                assert_eq!((turn.start_ns, turn.until_ns), (began_ns, began_ns + MS));
            }
            worker.join().unwrap();
        });
    }

    #[test]
    fn orders_are_numbers_in_a_line() {
        let together = Some(Together { begin_ns: 7, start_ns: 3 });
        let parsed = ["5", " 5 7 3 ", "5 7", "5 7 3 1", "-5", "", "5 7 x"].map(Order::parse);
        let right = Order { duration_ns: 5, together };
        assert_eq!(parsed[..2], [Some(order(5)), Some(right)]);
        assert_eq!(parsed[2..], [None; 5]);
    }

    #[test]
    fn the_clock_stands_still_between_turns() {
        let gate = Gate::new(1);
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let first = gate.rest(0).unwrap();
                (first, gate.rest(first.until_ns).unwrap())
            });
            while !gate.is_at_rest(Duration::from_millis(1)) {}
            let first = gate.open(order(MS));
            while !gate.is_at_rest(Duration::from_millis(1)) {}
            thread::sleep(Duration::from_millis(20));
            let second = gate.open(order(MS));
            assert!(second.zero_ns >= first.zero_ns + 19 * MS, "{first:?} {second:?}");
            worker.join().unwrap();
        });
    }

    #[test]
    fn who_has_left_waits_until_no_turn_follows() {
        let gate = Gate::new(1);
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                gate.leave(0);
                gate.wait_until_closed();
            });
            while !gate.is_deserted() {
                thread::yield_now();
            }
            gate.open(order(MS));
            assert!(gate.is_at_rest(Duration::ZERO));
            thread::sleep(Duration::from_millis(20));
            assert!(!worker.is_finished());
            gate.close();
            worker.join().unwrap();
        });
    }

    #[test]
    fn a_gate_that_closes_lets_everybody_go() {
        let gate = Gate::new(1);
        thread::scope(|scope| {
            let worker = scope.spawn(|| gate.rest(0));
            while !gate.is_at_rest(Duration::from_millis(1)) {}
            gate.close();
            assert_eq!(worker.join().unwrap(), None);
        });
        assert_eq!((gate.rest(0), gate.is_deserted()), (None, false));
        gate.leave(0);
        assert!(gate.is_deserted());
    }
}
