//! How responses fell on connections.

use std::io;
use std::iter;

use plimsoll_engine::sample::{ConnectionSample, NEVER, NO_CONNECTION, RequestSample};

use crate::Window;
use crate::by_connection::ByConnection;
use crate::counts::{in_hold, is_complete};

/// How responses of the holds fell on the connections that were open for long enough.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Those connections.
    pub connections: u64,
    /// Those of them without a complete response.
    pub starved: u64,
    /// Jain's index of the responses per unit of time; None without any.
    pub jain: Option<f64>,
}

/// Responses of the holds by connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(ByConnection<u64>);

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
        Self(self.0.joined(other.0, |sum, more| *sum += more))
    }

    /// Shares of the connections with the time that each was open.
    #[allow(clippy::cast_precision_loss)]
    pub fn shares(&self, open: &OpenTimes, least_ns: u64) -> Shares {
        let mut found = Shares::default();
        let (mut sum, mut squares) = (0.0, 0.0);
        for (worker, connections) in open.0.of_workers().iter().enumerate() {
            let of_worker = self.0.of_workers().get(worker).map_or(&[][..], Vec::as_slice);
            let answered = of_worker.iter().copied().chain(iter::repeat(0));
            let long_enough = connections
                .iter()
                .zip(answered)
                .filter(|&(&open_ns, _)| open_ns >= least_ns.max(1));
            for (&open_ns, own) in long_enough {
                let share = own as f64 / open_ns as f64;
                found.connections += 1;
                found.starved += u64::from(own == 0);
                sum += share;
                squares += share * share;
            }
        }
        found.jain = (squares > 0.0).then(|| sum * sum / (found.connections as f64 * squares));
        found
    }
}

/// How long connections were open within the holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTimes(ByConnection<u64>);

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
        Self(self.0.joined(other.0, |sum, more| *sum += more))
    }
}
