//! Records: what ended becomes a row and a count.

use std::sync::atomic::Ordering;

use super::arrivals::{Due, Start};
use super::{Done, Worker};
use crate::connection::{EventRow, State};
use crate::outcome::Outcome;
use crate::protocol::Id;
use crate::recorder::Recorder;
use crate::sample::{BodySample, Comparison, NEVER, NO_BYTES, NO_CONNECTION, RequestSample};

impl Worker<'_> {
    /// A request of a slot has ended.
    #[inline]
    pub(super) fn end_request(
        &mut self,
        index: usize,
        id: Id,
        outcome: Outcome,
        errno: u8,
        done_ns: u64,
    ) {
        if done_ns >= self.end_ns && done_ns != NEVER {
            self.count_in_flight(self.end_ns);
            return self.cut_short(index, id);
        }
        if outcome == Outcome::Ok {
            self.keep_body(index, id, done_ns);
        }
        let connection = &mut self.slots[index].connection;
        let has_had_rows = self.events_are_rows && connection.has_had_rows(id);
        let Some(sample) = connection.end_request(id, outcome, errno, done_ns, self.number) else {
            return;
        };
        if sample.sent_ns != NEVER {
            if done_ns != NEVER {
                self.count_in_flight(done_ns);
            }
            self.counts.in_flight -= 1;
        }
        if has_had_rows {
            // What was awaited after the last event counts only if something came of it. Whether
            // something comes was not known before, so the clock has counted its time in flight.
            if outcome == Outcome::Ok {
                self.counts.give_back(done_ns.saturating_sub(sample.sent_ns));
                return;
            }
            self.counts.sent += 1;
        }
        if outcome.is_complete() {
            self.counts.statuses.count(sample.status);
            self.counts.response_times.count(done_ns.saturating_sub(sample.due_ns));
        }
        self.keep(&sample);
    }

    /// The end of the load came before that of a request.
    #[cold]
    fn cut_short(&mut self, index: usize, id: Id) {
        let is_sent = self.slots[index].connection.is_sent(id);
        let outcome = if is_sent { Outcome::Unfinished } else { Outcome::Cancelled };
        self.end_request(index, id, outcome, 0, NEVER);
    }

    /// Events have come that are rows: each begins to be awaited when the one before it has come.
    pub(super) fn keep_events(&mut self) {
        let mut rows = std::mem::take(&mut self.event_rows);
        for EventRow { sample, is_first } in rows.drain(..) {
            self.counts.sent += u64::from(!is_first);
            self.counts.statuses.count(sample.status);
            self.counts.response_times.count(sample.done_ns.saturating_sub(sample.due_ns));
            self.keep(&RequestSample { worker: self.number, ..sample });
        }
        self.event_rows = rows;
    }

    #[inline]
    fn keep(&mut self, sample: &RequestSample) {
        self.counts.outcomes[usize::from(sample.outcome)] += 1;
        self.counts.bodies_compared += u64::from(sample.compared == Comparison::Compared as u32);
        self.counts.received_bytes += u64::from(sample.received_bytes);
        if let Some(recorder) = &mut self.recorder {
            recorder.request(sample);
        }
    }

    /// Writes down the body of a complete response if it was drawn for that.
    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    fn keep_body(&mut self, index: usize, id: Id, done_ns: u64) {
        let Some((request, body)) = self.slots[index].connection.take_kept(id) else { return };
        if let Some(recorder) = self.recorder.as_mut().filter(|_| self.body_draw.pays_for(&body)) {
            let length_bytes = body.len() as u32;
            let sample = BodySample { done_ns, length_bytes, request, worker: self.number };
            recorder.body(&sample, &body);
        }
    }

    pub(super) fn close(&mut self, index: usize, outcome: Outcome, errno: u8, closed_ns: u64) {
        let slot = &mut self.slots[index];
        if let Some(mut transport) = slot.transport.take() {
            // Best effort: who is gone needs no farewell, and who takes no bytes gets none.
            let farewell = slot.connection.farewell();
            if !farewell.is_empty() {
                let _ = transport.send(farewell);
            }
            if self.asks_unsent {
                self.counts.unsent_bytes += transport.into_unsent_bytes();
            }
        }
        self.counts.redirects += slot.connection.redirects();
        self.counts.decoded.add(slot.connection.decoded());
        let sample = slot.connection.close(outcome, errno, closed_ns, self.number);
        self.counts.change_places(slot.connection.count_places(closed_ns));
        if sample.connected_ns != NEVER {
            self.counts.connections_open -= 1;
        }
        if sample.requests > 0 {
            slot.failures = 0;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.connection(&sample);
        }
    }

    /// Writes down what had not ended, and hands over the rows.
    pub(super) fn finish(mut self) -> Done {
        let now_ns = self.clock();
        self.publish(now_ns);
        if let Some(recorder) = &mut self.recorder {
            recorder.wait_for_disk();
        }
        for index in 0..self.slots.len() {
            self.end_unfinished(index);
            match self.slots[index].connection.state() {
                State::Closed => {}
                State::Connecting | State::Upgrading => {
                    self.close(index, Outcome::Unfinished, 0, NEVER);
                }
                State::Open => self.close(index, Outcome::StillOpen, 0, NEVER),
            }
        }
        self.keep_unserved(now_ns);
        let recorded = self.recorder.take().map(Recorder::finish).unwrap_or_default();
        self.counts.lost_rows = recorded.lost_rows;
        Done {
            counts: self.counts,
            secured: self.secured,
            recorded,
            limit_reached: self.limit_reached,
        }
    }

    fn end_unfinished(&mut self, index: usize) {
        while let Some((id, _)) = self.slots[index].connection.oldest() {
            self.end_request(index, id, Outcome::Unfinished, 0, NEVER);
        }
        while let Some(id) = self.slots[index].connection.any() {
            self.end_request(index, id, Outcome::Cancelled, 0, NEVER);
        }
    }

    /// What was due and never got as far as a connection is a row too. Arrivals that waited for a
    /// free connection are failures, unless the load was interrupted; all others were cut short.
    fn keep_unserved(&mut self, now_ns: u64) {
        while let Some(start) = self.arrivals.start() {
            if let Start::Requests { index, due_ns } = start {
                let held = std::mem::take(&mut self.slots[index].held);
                let places = if index < self.target { held } else { 0 };
                (0..places).for_each(|_| self.keep_unsent(due_ns, Outcome::Cancelled));
            }
        }
        while let Some(due) = self.arrivals.take(now_ns.min(self.turn_until_ns), |_| false) {
            if let Due::Request { due_ns, .. } = due {
                self.keep_unsent(due_ns, Outcome::Cancelled);
            }
        }
        let is_interrupted = self.task.stop.load(Ordering::Relaxed);
        let outcome = if is_interrupted { Outcome::Cancelled } else { Outcome::NotSent };
        while let Some(due_ns) = self.arrivals.take_waiting() {
            self.keep_unsent(due_ns, outcome);
        }
    }

    fn keep_unsent(&mut self, due_ns: u64, outcome: Outcome) {
        let request = self.task.requests.draw(&mut self.rng);
        self.keep(&RequestSample {
            due_ns,
            sent_ns: NEVER,
            first_byte_ns: NEVER,
            done_ns: NEVER,
            received_bytes: 0,
            body_bytes: NO_BYTES,
            compared: Comparison::NotExpected as u32,
            connection: NO_CONNECTION,
            request,
            status: 0,
            worker: self.number,
            outcome: outcome as u8,
            errno: 0,
        });
    }
}
