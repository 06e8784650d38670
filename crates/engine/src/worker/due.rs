//! When: slots take up what is due.

use std::cmp::Reverse;

use super::arrivals::{Due, Start};
use super::{LONGEST_WAIT_NS, Worker};
use crate::connection::State;
use crate::outcome::Outcome;
use crate::sample::{Comparison, NEVER};

/// The most connections opened in one turn, so that a high step does not keep the open ones waiting.
const OPENINGS_A_TURN: usize = 64;

/// Time that opening a connection may take, and that must be left before the next arrival.
const OPENING_NS: u64 = 100_000;

impl Worker<'_> {
    /// Takes up everything that is due by now.
    pub(super) fn begin_due(&mut self, now_ns: u64) {
        loop {
            let (slots, most) = (&self.slots, self.most_requests);
            let is_full = |index: usize| slots[index].connection.turns_away(most);
            match self.arrivals.take(now_ns.min(self.turn_until_ns), is_full) {
                None => break,
                Some(Due::Level { count, at_ns }) => self.change_target(count, at_ns),
                Some(Due::Request { index, due_ns }) => self.begin(index, due_ns),
                Some(Due::Back { index, places }) => self.slots[index].held += places,
            }
        }
        while let Some(&Reverse((at_ns, index))) = self.wakeups.peek() {
            if at_ns > now_ns {
                break;
            }
            self.wakeups.pop();
            if self.slots[index].wakes_ns == at_ns {
                self.slots[index].wakes_ns = NEVER;
                self.wake_up(index, at_ns);
            }
        }
    }

    /// Has more slots begin that take part, one at least, and stops when an arrival comes near:
    /// arrivals are not late because of connections that others will use.
    pub(super) fn start_slots(&mut self) {
        if !self.arrivals.is_starting() {
            return;
        }
        for _ in 0..OPENINGS_A_TURN {
            match self.arrivals.start() {
                None => break,
                Some(Start::Requests { index, due_ns }) => self.begin_held(index, due_ns),
                // A request may have opened it since, or a rest has had it join once more.
                Some(Start::Connection { index }) => {
                    if self.slots[index].connection.state() == State::Closed {
                        self.open(index, self.clock());
                    }
                }
            }
            let soon_ns = self.clock() + OPENING_NS;
            if self.arrivals.next_request_ns().is_some_and(|due_ns| due_ns < soon_ns) {
                break;
            }
        }
        self.send_queued();
    }

    /// The instant up to which the loop may wait.
    pub(super) fn next_instant_ns(&mut self, now_ns: u64) -> u64 {
        let is_busy = !self.unread.is_empty() || !self.queued.is_empty();
        if is_busy || self.arrivals.is_starting() {
            return now_ns;
        }
        let scheduled = self.arrivals.next_ns().filter(|&at_ns| at_ns <= self.turn_until_ns);
        let heaps = [self.wakeups.peek(), self.deadlines.peek()];
        let heaps = heaps.into_iter().flatten().map(|&Reverse((at_ns, _))| at_ns);
        let latest = self.end_ns.min(now_ns + LONGEST_WAIT_NS);
        let latest =
            if now_ns < self.turn_until_ns { latest.min(self.turn_until_ns) } else { latest };
        scheduled.into_iter().chain(heaps).fold(latest, u64::min)
    }

    /// So many slots take part from `at_ns` on.
    fn change_target(&mut self, target: usize, at_ns: u64) {
        let before = std::mem::replace(&mut self.target, target);
        self.counts.connections_requested = target;
        for index in before..target {
            let slot = &mut self.slots[index];
            self.active += usize::from(!std::mem::replace(&mut slot.active, true));
            if slot.holds_places() {
                self.arrivals.join(index, at_ns);
            }
        }
        for index in target..before {
            if self.slots[index].connection.state() == State::Open {
                self.retire_if_idle(index, at_ns);
            }
        }
    }

    /// A slot offers the places that it held back: it is connected, or its wake-up is due.
    pub(super) fn begin_held(&mut self, index: usize, at_ns: u64) {
        for _ in 0..std::mem::take(&mut self.slots[index].held) {
            self.offer_place(index, at_ns);
        }
    }

    /// A place of a slot is free: its request has ended.
    #[inline]
    pub(super) fn release(&mut self, index: usize, now_ns: u64) {
        match self.task.spec.load.think_time_ns {
            0 => self.offer_place(index, now_ns),
            think_ns => {
                self.slots[index].held += 1;
                self.wake(index, now_ns + think_ns);
            }
        }
    }

    #[inline]
    fn offer_place(&mut self, index: usize, at_ns: u64) {
        let connection = &self.slots[index].connection;
        let is_full = if self.arrivals.are_scheduled() {
            connection.turns_away(self.most_requests)
        } else {
            connection.is_full()
        };
        if at_ns >= self.turn_until_ns || is_full {
            self.slots[index].held += 1;
            return;
        }
        if let Some(due_ns) = self.arrivals.offer(index, at_ns) {
            self.begin(index, due_ns);
        }
    }

    pub(super) fn wake(&mut self, index: usize, at_ns: u64) {
        self.slots[index].wakes_ns = at_ns;
        self.wakeups.push(Reverse((at_ns, index)));
    }

    /// Binds the next request to a slot and queues it for sending.
    fn begin(&mut self, index: usize, due_ns: u64) {
        if index >= self.target || !self.take_allowance() {
            self.slots[index].held += 1;
            self.retire_if_idle(index, due_ns);
            return;
        }
        let kind = self.task.requests.draw(&mut self.rng);
        let comparison = self.draw_comparison(kind, due_ns);
        let request = self.task.requests.kind(kind);
        self.slots[index].connection.assign(kind, request, due_ns, comparison);
        self.queue(index);
    }

    /// Whether the body of the response is compared: the first ones of each kind are, and a sample.
    ///
    /// One number is drawn for each request, so that the choice of requests that follow depends on
    /// the seed alone.
    #[inline]
    fn draw_comparison(&mut self, request: u16, due_ns: u64) -> Comparison {
        let kind = self.task.requests.kind(request);
        let ratio = kind.compared_ratio;
        if ratio == 0.0 {
            let keeps = kind.is_sampled && self.body_draw.draws(due_ns);
            return if keeps { Comparison::Kept } else { Comparison::NotExpected };
        }
        let first_left = &mut self.first_left[usize::from(request)];
        let first = *first_left > 0;
        *first_left -= u32::from(first);
        if first | (self.rng.f64() < ratio) { Comparison::Compared } else { Comparison::Skipped }
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

    /// A slot that takes no more requests closes its connection when the last has ended.
    fn retire_if_idle(&mut self, index: usize, now_ns: u64) {
        let slot = &mut self.slots[index];
        if slot.connection.assigned() > 0 {
            return;
        }
        self.active -= usize::from(std::mem::take(&mut slot.active));
        slot.wakes_ns = NEVER;
        if slot.connection.state() != State::Closed {
            self.close(index, Outcome::ClosedByDriver, 0, now_ns);
        }
        self.limit_reached = self.allowance == Some(0) && self.active == 0;
    }
}
