//! How responses fell on connections.

use std::io;
use std::{iter, mem};

use plimsoll_engine::sample::{ConnectionSample, NEVER, NO_CONNECTION, RequestSample};

use crate::Window;
use crate::counts::{in_hold, is_complete};

/// How responses of the holds fell on the connections that were open for long enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Those connections.
    pub connections: u64,
    /// Those of them without a complete response.
    pub starved: u64,
    /// Complete responses for each of them.
    pub mean_responses: f64,
    /// Jain's index of the responses per unit of time; None without any.
    pub jain: Option<f64>,
}

/// A number for each connection, by worker and then by its number there: engines count them from 0.
#[derive(Clone, Debug, Default)]
struct ByConnection(Vec<Vec<u64>>);

impl ByConnection {
    /// The number of a connection; 0 where there was none.
    #[inline]
    fn of(&mut self, worker: u16, connection: u32) -> &mut u64 {
        let (worker, connection) = (usize::from(worker), connection as usize);
        if worker >= self.0.len() {
            self.0.resize_with(worker + 1, Vec::new);
        }
        let numbers = &mut self.0[worker];
        if connection >= numbers.len() {
            numbers.resize(connection + 1, 0);
        }
        &mut numbers[connection]
    }

    /// The sums of two numbers of each connection.
    fn joined(self, other: Self) -> Self {
        let (mut sums, mut rest) = (self.0, other.0);
        if sums.len() < rest.len() {
            mem::swap(&mut sums, &mut rest);
        }
        for (numbers, mut more) in sums.iter_mut().zip(rest) {
            if numbers.len() < more.len() {
                mem::swap(numbers, &mut more);
            }
            for (number, add) in numbers.iter_mut().zip(more) {
                *number += add;
            }
        }
        Self(sums)
    }
}

/// Responses of the holds by connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(ByConnection);

impl Answers {
    #[inline]
    pub fn take(&mut self, record: &[u8; RequestSample::SIZE], holds: &[Window]) -> io::Result<()> {
        let sample = RequestSample::from_bytes(record);
        if is_complete(sample.outcome)?
            && in_hold(sample.done_ns, holds)
            && sample.connection != NO_CONNECTION
        {
            *self.0.of(sample.worker, sample.connection) += 1;
        }
        Ok(())
    }

    pub fn joined(self, other: Self) -> Self {
        Self(self.0.joined(other.0))
    }

    /// Shares of the connections with the time that each was open.
    #[allow(clippy::cast_precision_loss)]
    pub fn shares(&self, open: &OpenTimes, least_ns: u64) -> Shares {
        let mut found = Shares::default();
        let (mut answers, mut sum, mut squares) = (0, 0.0, 0.0);
        for (worker, connections) in open.0.0.iter().enumerate() {
            let of_worker = self.0.0.get(worker).map_or(&[][..], Vec::as_slice);
            let answered = of_worker.iter().copied().chain(iter::repeat(0));
            let long_enough = connections
                .iter()
                .zip(answered)
                .filter(|&(&open_ns, _)| open_ns >= least_ns.max(1));
            for (&open_ns, own) in long_enough {
                let share = own as f64 / open_ns as f64;
                found.connections += 1;
                found.starved += u64::from(own == 0);
                answers += own;
                sum += share;
                squares += share * share;
            }
        }
        found.mean_responses = answers as f64 / found.connections.max(1) as f64;
        found.jain = (squares > 0.0).then(|| sum * sum / (found.connections as f64 * squares));
        found
    }
}

/// How long connections were open within the holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTimes(ByConnection);

impl OpenTimes {
    pub fn take(&mut self, record: &[u8; ConnectionSample::SIZE], holds: &[Window]) {
        let sample = ConnectionSample::from_bytes(record);
        if sample.connected_ns != NEVER {
            let within = holds.iter().map(|&(start, end)| {
                sample.closed_ns.min(end).saturating_sub(sample.connected_ns.max(start))
            });
            let open_ns: u64 = within.sum();
            *self.0.of(sample.worker, sample.connection) += open_ns;
        }
    }

    pub fn joined(self, other: Self) -> Self {
        Self(self.0.joined(other.0))
    }
}
