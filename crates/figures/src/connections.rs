//! What became of the attempts to connect.

use std::io;
use std::sync::LazyLock;

use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::sample::{ConnectionSample, NEVER};

use crate::Times;
use crate::rows::OfOutcomes;

/// What became of the attempts to connect, of the whole load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Connections {
    /// Handshakes that completed.
    pub opened: u64,
    /// Those of them on which a byte of a response came.
    pub with_response: u64,
    /// Attempts that failed.
    pub refused: u64,
    /// Connections that ended otherwise than the load or the server had announced.
    pub lost: u64,
    /// From the call to connect to the end of the handshake.
    pub connect: Times,
}

/// What an outcome means for a connection that was opened, and for one that was not.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    is_lost: bool,
    is_refused: bool,
}

static MEANINGS: LazyLock<OfOutcomes<Meaning>> = LazyLock::new(|| OfOutcomes::new(meaning));

fn meaning(outcome: Outcome) -> Meaning {
    Meaning {
        is_lost: !matches!(
            outcome,
            Outcome::Ok | Outcome::ClosedAsAnnounced | Outcome::ClosedByDriver | Outcome::StillOpen
        ),
        is_refused: !matches!(outcome, Outcome::Unfinished | Outcome::StillOpen | Outcome::NotSent),
    }
}

impl Connections {
    pub(crate) fn with_room(rows: usize) -> Self {
        Self { connect: Times::with_room(rows), ..Self::default() }
    }

    pub(crate) fn take(&mut self, record: &[u8; ConnectionSample::SIZE]) -> io::Result<()> {
        let sample = ConnectionSample::from_bytes(record);
        let meaning = MEANINGS.of(sample.outcome)?;
        let is_open = sample.connected_ns != NEVER;
        self.opened += u64::from(is_open);
        self.with_response += u64::from(is_open && sample.responses > 0);
        self.lost += u64::from(is_open && meaning.is_lost);
        self.refused += u64::from(!is_open && meaning.is_refused);
        self.connect.note(sample.due_ns, sample.connected_ns);
        Ok(())
    }

    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            opened: self.opened + other.opened,
            with_response: self.with_response + other.with_response,
            refused: self.refused + other.refused,
            lost: self.lost + other.lost,
            connect: self.connect.joined(other.connect),
        }
    }
}
