//! Records: what ended becomes a row and a count.

use super::{Done, Worker};
use crate::connection::State;
use crate::outcome::Outcome;
use crate::recorder::Recorder;
use crate::sample::{NEVER, NO_CONNECTION, RequestSample};

impl Worker<'_> {
    /// The first request of a slot has ended.
    #[inline]
    pub(super) fn end_request(&mut self, index: usize, outcome: Outcome, errno: u8, done_ns: u64) {
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

    pub(super) fn close(&mut self, index: usize, outcome: Outcome, errno: u8, closed_ns: u64) {
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
                State::Connecting => self.close(index, Outcome::Unfinished, 0, NEVER),
                State::Open => self.close(index, Outcome::StillOpen, 0, NEVER),
            }
        }
        self.keep_unserved(now_ns);
        let recorded = self.recorder.take().map(Recorder::finish).unwrap_or_default();
        self.counts.lost_rows = recorded.lost_rows;
        Done { counts: self.counts, recorded, limit_reached: self.limit_reached }
    }

    fn end_unfinished(&mut self, index: usize) {
        while self.slots[index].connection.assigned() > 0 {
            let begun = self.slots[index].connection.in_flight() > 0;
            let outcome = if begun { Outcome::Unfinished } else { Outcome::NotSent };
            self.end_request(index, outcome, 0, NEVER);
        }
    }

    /// What was due and never got as far as a connection is a row too.
    fn keep_unserved(&mut self, now_ns: u64) {
        while let Some((index, due_ns)) = self.beginning.pop_front() {
            let places = std::mem::take(&mut self.slots[index].held);
            if index < self.target {
                self.waiting.extend(std::iter::repeat_n(due_ns, places));
            }
        }
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
