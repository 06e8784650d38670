//! When: slots and arrivals take up what is due.

use std::cmp::Reverse;

use super::{LONGEST_WAIT_NS, Worker};
use crate::connection::State;
use crate::outcome::Outcome;

/// The most connections opened in one turn, so that a high step does not keep the open ones waiting.
const OPENINGS_A_TURN: usize = 64;

/// Time that opening a connection may take, and that must be left before the next arrival.
const OPENING_NS: u64 = 100_000;

impl Worker<'_> {
    /// Open model: the whole pool is asked for from the beginning.
    pub(super) fn ask_for_pool(&mut self) {
        self.target = self.slots.len();
        self.counts.connections_asked = self.target;
        self.slots.iter_mut().for_each(|slot| slot.active = true);
    }

    /// Open model: opens more of the pool, one connection at least, and stops when an arrival comes
    /// near: arrivals are not late because of connections that others will use.
    pub(super) fn open_pool(&mut self) {
        for _ in 0..OPENINGS_A_TURN.min(self.target - self.pooled) {
            self.open(self.pooled, self.clock());
            self.pooled += 1;
            let soon_ns = self.clock() + OPENING_NS;
            if self.arrivals.peek().is_some_and(|&due_ns| due_ns < soon_ns) {
                break;
            }
        }
    }

    /// Takes up everything that is due by now.
    pub(super) fn begin_due(&mut self, now_ns: u64) {
        if self.is_open_model() {
            while let Some(due_ns) = self.arrivals.next_if(|&due_ns| due_ns <= now_ns) {
                self.arrive(due_ns);
            }
        } else {
            while let Some((at_ns, target)) = self.connections.take(now_ns) {
                self.change_target(target, at_ns);
            }
            for _ in 0..OPENINGS_A_TURN {
                let Some((index, due_ns)) = self.beginning.pop_front() else { break };
                self.begin_held(index, due_ns);
            }
        }
        while let Some(&Reverse((at_ns, index))) = self.wakeups.peek() {
            if at_ns > now_ns {
                break;
            }
            self.wakeups.pop();
            if self.slots[index].wakes_ns == Some(at_ns) {
                self.slots[index].wakes_ns = None;
                self.begin_held(index, at_ns);
            }
        }
    }

    /// The instant up to which the loop may wait.
    pub(super) fn next_instant_ns(&mut self, now_ns: u64) -> u64 {
        let opening = self.is_open_model() && self.pooled < self.target;
        let idle = self.unread.is_empty() && self.beginning.is_empty() && self.queued.is_empty();
        if opening || !idle {
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

    /// Closed model: so many connections are asked for from `at_ns` on.
    fn change_target(&mut self, target: usize, at_ns: u64) {
        let before = std::mem::replace(&mut self.target, target);
        self.counts.connections_asked = target;
        for index in before..target {
            let slot = &mut self.slots[index];
            slot.active = true;
            if slot.held > 0 && slot.wakes_ns.is_none() {
                self.beginning.push_back((index, at_ns));
            }
        }
        for index in target..before {
            if self.slots[index].connection.state() == State::Open {
                self.retire_if_idle(index, at_ns);
            }
        }
    }

    /// Open model: a request arrives.
    fn arrive(&mut self, due_ns: u64) {
        match self.free.pop_front() {
            Some(index) => self.begin(index, due_ns),
            None => self.waiting.push_back(due_ns),
        }
    }

    /// A slot offers the places that it held back: it is connected, or its wake-up is due.
    pub(super) fn begin_held(&mut self, index: usize, due_ns: u64) {
        for _ in 0..std::mem::take(&mut self.slots[index].held) {
            if self.is_open_model() {
                self.serve_next(index);
            } else {
                self.begin(index, due_ns);
            }
        }
    }

    /// A place of a slot is free: its request has ended.
    pub(super) fn release(&mut self, index: usize, now_ns: u64) {
        if self.is_open_model() {
            self.serve_next(index);
            return;
        }
        match self.task.spec.load.think_time_ns {
            0 => self.begin(index, now_ns),
            think_ns => {
                self.slots[index].held += 1;
                self.wake(index, now_ns + think_ns);
            }
        }
    }

    pub(super) fn wake(&mut self, index: usize, at_ns: u64) {
        self.slots[index].wakes_ns = Some(at_ns);
        self.wakeups.push(Reverse((at_ns, index)));
    }

    fn serve_next(&mut self, index: usize) {
        match self.waiting.pop_front() {
            Some(due_ns) => self.begin(index, due_ns),
            None => self.free.push_back(index),
        }
    }

    /// Binds the next request to a slot and queues it for sending.
    fn begin(&mut self, index: usize, due_ns: u64) {
        if index >= self.target || !self.take_allowance() {
            self.slots[index].held += 1;
            self.retire_if_idle(index, due_ns);
            return;
        }
        let request = self.task.requests.draw(&mut self.rng);
        let ratio = self.task.spec.body_sample_ratio;
        let compared = ratio > 0.0
            && self.task.requests.kind(request).expected.body.is_some()
            && self.rng.f64() < ratio;
        self.slots[index].connection.assign(request, due_ns, compared);
        self.queue(index);
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
        slot.active = false;
        slot.wakes_ns = None;
        if slot.connection.state() != State::Closed {
            self.close(index, Outcome::ClosedAsAnnounced, 0, now_ns);
        }
        let limited = self.allowance == Some(0);
        self.limit_reached = limited && self.slots.iter().all(|slot| !slot.active);
    }
}
