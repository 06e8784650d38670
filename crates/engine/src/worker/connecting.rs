//! Connections are opened, and opened again when that failed.

use std::io::{self, ErrorKind};
use std::net::SocketAddrV4;

use plimsoll_system::Ready;
use plimsoll_tls::Failure;

use super::{Slot, Unread, Worker};
use crate::connection::State;
use crate::outcome::{Outcome, errno_of};
use crate::sample::Resumed;
use crate::transport::{Handshake, Negotiated, Transport};

/// First and last pause before connecting again after a connect that failed.
const SHORTEST_RETRY_NS: u64 = 1_000_000;
const LONGEST_RETRY_NS: u64 = 1_000_000_000;

/// A full listen queue is tried again after this part of the time that it was full.
const QUEUE_RETRIES: u64 = 8;

impl Worker<'_> {
    pub(super) fn open(&mut self, index: usize, now_ns: u64) {
        let attempt = self.attempts;
        self.attempts = self.attempts.wrapping_add(1);
        self.slots[index].connection.connecting(attempt, now_ns);
        self.try_to_connect(index, attempt, now_ns);
    }

    /// Starts to connect. No event tells when a full listen queue of a Unix socket has room. So
    /// this is tried again soon, for as long as a connect may take.
    fn try_to_connect(&mut self, index: usize, attempt: u32, now_ns: u64) {
        match self.connect(index, attempt) {
            Ok(transport) => self.slots[index].transport = Some(transport),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let since_ns = self.slots[index].connection.waiting_since_ns().unwrap_or(now_ns);
                let pause_ns = (now_ns - since_ns) / QUEUE_RETRIES;
                self.wake(index, now_ns + pause_ns.max(SHORTEST_RETRY_NS));
            }
            Err(error) => return self.connect_broke(index, &error),
        }
        self.watch(index, now_ns + self.timeout_ns);
    }

    /// A wake-up of a slot is due: it tries to connect again, or offers its places.
    pub(super) fn wake_up(&mut self, index: usize, at_ns: u64) {
        let Slot { connection, transport, .. } = &self.slots[index];
        let (state, attempt) = (connection.state(), connection.attempt());
        if state == State::Connecting && transport.is_none() {
            self.try_to_connect(index, attempt, self.clock());
        } else {
            self.begin_held(index, at_ns);
        }
    }

    fn connect(&self, index: usize, attempt: u32) -> io::Result<Transport> {
        let sources = self.task.sources;
        let source = (!sources.is_empty()).then(|| {
            let place = (index * self.task.workers + self.task.index) % sources.len();
            SocketAddrV4::new(sources[place], 0)
        });
        let transport = Transport::connect(&self.task.spec.address, source, self.task.security)?;
        self.poller.add(&transport, u64::from(attempt) << 32 | index as u64)?;
        Ok(transport)
    }

    fn connect_broke(&mut self, index: usize, error: &io::Error) {
        let alert = Failure::within(error).and_then(Failure::alert);
        self.slots[index].connection.alerted(alert);
        self.connect_failed(index, Outcome::of_connect(error), errno_of(error));
    }

    /// No connection.
    pub(super) fn connect_failed(&mut self, index: usize, outcome: Outcome, errno: u8) {
        self.counts.refused += 1;
        self.try_again_later(index, outcome, errno, self.clock());
    }

    /// No connection, or one that ended before it carried a request: whatever waited for it has
    /// failed, and the slot tries again later.
    pub(super) fn try_again_later(
        &mut self,
        index: usize,
        outcome: Outcome,
        errno: u8,
        now_ns: u64,
    ) {
        while let Some(id) = self.slots[index].connection.any() {
            self.end_request(index, id, outcome, errno, now_ns);
            self.slots[index].held += 1;
        }
        self.close(index, outcome, errno, now_ns);
        let slot = &mut self.slots[index];
        let retry_ns = SHORTEST_RETRY_NS << slot.failures.min(20);
        slot.failures += 1;
        self.wake(index, now_ns + retry_ns.min(LONGEST_RETRY_NS));
    }

    /// Goes on with the handshake of a slot whose socket is ready.
    pub(super) fn advance(&mut self, index: usize, ready: Ready) {
        let Some(transport) = &mut self.slots[index].transport else {
            return;
        };
        match transport.advance(ready) {
            Ok(Handshake::UnderWay) => {}
            Ok(Handshake::Securing) => {
                let now_ns = self.clock();
                let is_new = self.slots[index].connection.securing(now_ns);
                // What came with the end of TCP's handshake makes the socket ready no more.
                if is_new && (ready.readable || ready.hung_up) {
                    self.advance(index, ready);
                }
            }
            Ok(Handshake::Complete) => {
                let negotiated = transport.negotiated();
                let now_ns = self.clock();
                if self.slots[index].connection.upgrading(now_ns) {
                    return self.upgrade(index, ready);
                }
                // What came with the end of the handshake makes the socket ready no more, nor does the
                // end of the stream. Both are read after the first request was sent: a server that has
                // hung up may have responded to it.
                if negotiated.is_some() || ready.readable || ready.hung_up {
                    let attempt = self.slots[index].connection.attempt();
                    self.unread.push(Unread { index, attempt, hung_up: ready.hung_up });
                }
                self.connected(index, negotiated);
            }
            Err(error) => self.connect_broke(index, &error),
        }
    }

    pub(super) fn connected(&mut self, index: usize, negotiated: Option<Negotiated>) {
        let now_ns = self.clock();
        self.counts.opened += 1;
        self.counts.connections_open += 1;
        let resumed = match &negotiated {
            None => Resumed::NoTls,
            Some(negotiated) if negotiated.resumed => Resumed::Yes,
            Some(_) => Resumed::No,
        };
        let connection = &mut self.slots[index].connection;
        connection.connected(now_ns, resumed);
        self.counts.change_places(connection.count_places(now_ns));
        if connection.assigned() > 0 || connection.is_sending() {
            self.queue(index);
        }
        if let Some(negotiated) = negotiated {
            self.secured.add(negotiated);
        }
        self.begin_held(index, now_ns);
    }
}
