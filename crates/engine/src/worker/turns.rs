//! Rests between turns.

use std::io;

use super::Worker;
use crate::connection::State;

impl Worker<'_> {
    /// Whether nothing of this turn is under way any more.
    pub(super) fn has_ended_its_turn(&self) -> bool {
        self.counts.in_flight == 0
            && self.queued.is_empty()
            && self.unread.is_empty()
            && self.slots.iter().all(|slot| slot.connection.assigned() == 0)
    }

    /// Rests until the next turn; returns when it begins for this thread, or nothing if there is none.
    /// The clock stands still meanwhile, but not while the thread is late for the turn.
    pub(super) fn rest(&mut self) -> io::Result<Option<u64>> {
        let now_ns = self.clock();
        self.publish(now_ns);
        let Some(turn) = self.task.gate.and_then(|gate| gate.rest(now_ns)) else { return Ok(None) };
        self.task.zero_ns = turn.zero_ns;
        self.take_in_what_came_meanwhile()?;
        self.turn_until_ns = turn.until_ns;
        self.arrivals.pass_over(turn.start_ns);
        self.resume(turn.start_ns);
        let begun_ns = self.clock();
        self.note_pause(begun_ns.saturating_sub(turn.start_ns));
        Ok(Some(begun_ns))
    }

    /// Connections that the server has closed during the rest are known before a request begins.
    fn take_in_what_came_meanwhile(&mut self) -> io::Result<()> {
        loop {
            self.poller.wait(0)?;
            if self.poller.ready_count() == 0 {
                return Ok(());
            }
            for index in 0..self.poller.ready_count() {
                self.handle(index);
            }
        }
    }

    /// Slots that take part offer the places that they held back.
    fn resume(&mut self, at_ns: u64) {
        for index in 0..self.slots.len() {
            let slot = &self.slots[index];
            if !slot.holds_places() {
                continue;
            }
            match slot.connection.state() {
                State::Open => self.begin_held(index, at_ns),
                State::Closed => self.arrivals.join(index, at_ns),
                State::Connecting | State::Upgrading => {}
            }
        }
    }
}
