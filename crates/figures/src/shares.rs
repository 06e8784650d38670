//! How responses fell on connections.

use std::collections::HashMap;
use std::io;

use plimsoll_engine::sample::{ConnectionSample, NEVER, RequestSample};

use crate::Window;
use crate::counts::{in_hold, is_complete};

/// A connection: its worker, and its number there.
type Connection = (u16, u32);

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

/// Responses of the holds by connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers(HashMap<Connection, u64>);

impl Answers {
    #[inline]
    pub fn take(&mut self, record: &[u8; RequestSample::SIZE], holds: &[Window]) -> io::Result<()> {
        let sample = RequestSample::from_bytes(record);
        if is_complete(sample.outcome)? && in_hold(sample.done_ns, holds) {
            *self.0.entry((sample.worker, sample.connection)).or_default() += 1;
        }
        Ok(())
    }

    pub fn joined(mut self, other: Self) -> Self {
        for (connection, more) in other.0 {
            *self.0.entry(connection).or_default() += more;
        }
        self
    }

    /// Shares of the connections with the time that each was open.
    #[allow(clippy::cast_precision_loss)]
    pub fn shares(&self, open: &HashMap<Connection, u64>, least_ns: u64) -> Shares {
        let mut found = Shares::default();
        let (mut answers, mut sum, mut squares) = (0, 0.0, 0.0);
        let mut lives: Vec<_> = open.iter().filter(|&(_, &open_ns)| open_ns >= least_ns).collect();
        lives.sort_unstable(); // the sums of fractions do not depend on chance
        for (connection, &open_ns) in lives {
            let own = self.0.get(connection).copied().unwrap_or(0);
            let share = own as f64 / open_ns as f64;
            found.connections += 1;
            found.starved += u64::from(own == 0);
            answers += own;
            sum += share;
            squares += share * share;
        }
        found.mean_responses = answers as f64 / found.connections.max(1) as f64;
        found.jain = (squares > 0.0).then(|| sum * sum / (found.connections as f64 * squares));
        found
    }
}

/// How long connections were open within the holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenTimes(pub HashMap<Connection, u64>);

impl OpenTimes {
    pub fn take(&mut self, record: &[u8; ConnectionSample::SIZE], holds: &[Window]) {
        let sample = ConnectionSample::from_bytes(record);
        if sample.connected_ns != NEVER {
            let within = holds.iter().map(|&(start, end)| {
                sample.closed_ns.min(end).saturating_sub(sample.connected_ns.max(start))
            });
            let open_ns: u64 = within.sum();
            *self.0.entry((sample.worker, sample.connection)).or_default() += open_ns;
        }
    }

    pub fn joined(mut self, other: Self) -> Self {
        for (connection, more) in other.0 {
            *self.0.entry(connection).or_default() += more;
        }
        self
    }
}
