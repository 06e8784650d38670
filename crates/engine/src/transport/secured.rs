//! What handshakes of TLS agreed on, counted.

use serde::Serialize;

use super::Negotiated;

/// Handshakes with the same result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// What was agreed on.
    #[serde(flatten)]
    pub negotiated: Negotiated,
    /// How many handshakes agreed on that.
    pub connections: u64,
}

/// What handshakes agreed on; a server that is one program agrees on one or two things.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Secured(Vec<Alike>);

impl Secured {
    /// Counts one handshake.
    pub fn add(&mut self, negotiated: Negotiated) {
        self.add_all(Alike { negotiated, connections: 1 });
    }

    /// Counts those of another worker.
    pub fn merge(&mut self, other: &Self) {
        for alike in &other.0 {
            self.add_all(alike.clone());
        }
    }

    fn add_all(&mut self, more: Alike) {
        match self.0.iter_mut().find(|alike| alike.negotiated == more.negotiated) {
            Some(alike) => alike.connections += more.connections,
            None => self.0.push(more),
        }
    }
}
