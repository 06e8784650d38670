//! What became of the attempts to connect.

use std::io;
use std::sync::LazyLock;

use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::sample::{ConnectionSample, NEVER};

use crate::Window;
use crate::counts::in_hold;
use crate::grouped::Grouped;
use crate::rows::OfOutcomes;
use crate::times::{Kept, Times};

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
    /// When each handshake completed, and when the connection ended or [`NEVER`].
    lives: Vec<Window>,
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
        if is_open {
            self.lives.push((sample.connected_ns, sample.closed_ns));
        }
        Ok(())
    }

    /// The most connections that were open at one time; those that open and close at the same
    /// instant are open together.
    #[must_use]
    pub fn peak_open(&self) -> u64 {
        let opened = self.lives.iter().map(|&(at_ns, _)| (at_ns, false));
        let closed = self.lives.iter().map(|&(_, at_ns)| (at_ns, true));
        let mut changes: Vec<_> = opened.chain(closed.filter(|&(at, _)| at != NEVER)).collect();
        changes.sort_unstable();
        let (mut open, mut peak) = (0_i64, 0_i64);
        for (_, closes) in changes {
            open += if closes { -1 } else { 1 };
            peak = peak.max(open);
        }
        peak.unsigned_abs()
    }

    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            opened: self.opened + other.opened,
            with_response: self.with_response + other.with_response,
            refused: self.refused + other.refused,
            lost: self.lost + other.lost,
            connect: self.connect.joined(other.connect),
            lives: [self.lives, other.lives].concat(),
        }
    }
}

/// Opened connections that ended alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// All.
    pub connections: u64,
    /// Those of them on which no byte of a response ever came.
    pub without_response: u64,
    /// Those that ended within the holds.
    pub held: u64,
    /// The fewest responses that one of these carried, and the most.
    pub responses: Option<(u32, u32)>,
}

impl Ends {
    fn take(&mut self, sample: &ConnectionSample, holds: &[Window]) {
        self.connections += 1;
        self.without_response += u64::from(sample.responses == 0);
        if in_hold(sample.closed_ns, holds) {
            self.held += 1;
            self.add_responses((sample.responses, sample.responses));
        }
    }

    fn add(&mut self, more: Self) {
        self.connections += more.connections;
        self.without_response += more.without_response;
        self.held += more.held;
        if let Some(responses) = more.responses {
            self.add_responses(responses);
        }
    }

    fn add_responses(&mut self, (fewest, most): (u32, u32)) {
        let (known_fewest, known_most) = self.responses.unwrap_or((fewest, most));
        self.responses = Some((fewest.min(known_fewest), most.max(known_most)));
    }
}

/// What checks need to know of the attempts to connect.
#[derive(Clone, Debug, Default)]
pub struct Lives {
    /// Opened connections by the code of their outcome.
    pub ends: Grouped<u8, Ends>,
    /// Time that connections were open within the holds, summed.
    pub open_ns: i128,
    /// Connections that lived for some time and never got a byte of a response.
    pub without_response: u64,
}

/// What [`Lives`] depends on besides the records.
#[derive(Clone, Copy, Debug)]
pub struct LivesOf<'a> {
    /// The stretches of time that are summarised.
    pub holds: &'a [Window],
    /// A connection that opened so soon after the beginning of a hold was open in all of it.
    pub opening_ns: u64,
    /// The end of the load.
    pub end_ns: u64,
    /// How long a connection must have lived to count among those without a response.
    pub least_ns: u64,
    /// How many requests it must have carried to count among them.
    pub least_requests: u32,
}

impl Lives {
    pub(crate) fn take(
        &mut self,
        record: &[u8; ConnectionSample::SIZE],
        of: LivesOf<'_>,
    ) -> io::Result<()> {
        let sample = ConnectionSample::from_bytes(record);
        MEANINGS.of(sample.outcome)?;
        if sample.connected_ns == NEVER {
            return Ok(());
        }
        self.ends.of(sample.outcome).take(&sample, of.holds);
        let open_ns = of.holds.iter().map(|&hold| open_within(&sample, hold, of.opening_ns));
        self.open_ns += open_ns.sum::<i128>();
        let closed_ns = if sample.closed_ns == NEVER { of.end_ns } else { sample.closed_ns };
        let lived_ns = i128::from(closed_ns) - i128::from(sample.connected_ns);
        let is_silent = sample.requests >= of.least_requests
            && sample.responses == 0
            && lived_ns >= i128::from(of.least_ns);
        self.without_response += u64::from(is_silent);
        Ok(())
    }

    pub(crate) fn joined(self, other: Self) -> Self {
        Self {
            ends: self.ends.joined(other.ends, Ends::add),
            open_ns: self.open_ns + other.open_ns,
            without_response: self.without_response + other.without_response,
        }
    }
}

/// How long a connection was open in a hold.
fn open_within(sample: &ConnectionSample, (start, end): Window, opening_ns: u64) -> i128 {
    let is_there_at_once = sample.connected_ns < start.saturating_add(opening_ns);
    let since = if is_there_at_once { start } else { sample.connected_ns };
    (i128::from(sample.closed_ns.min(end)) - i128::from(since)).max(0)
}
