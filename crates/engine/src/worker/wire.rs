//! Where: sockets are opened, written, read and given up.

use std::cmp::Reverse;
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use super::{Unread, Worker};
use crate::connection::{Received, State};
use crate::outcome::{Outcome, errno_of};
use crate::sys;

/// The most reads of one socket in one turn, so that an endless answer does not starve the others.
const READS_A_TURN: usize = 16;

/// Pipelined requests go into one call of `send` up to this size.
const OUTBOX_BYTES: usize = 64 * 1024;

/// First and last pause before connecting again after a connect that failed.
const SHORTEST_RETRY_NS: u64 = 1_000_000;
const LONGEST_RETRY_NS: u64 = 1_000_000_000;

impl Worker<'_> {
    /// Has a slot sent what was assigned to it, later in this turn or early in the next.
    #[inline]
    pub(super) fn queue(&mut self, index: usize) {
        if !std::mem::replace(&mut self.slots[index].queued, true) {
            self.queued.push(index);
        }
    }

    /// Sends what is queued, and opens the connections that it needs.
    pub(super) fn send_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.queued);
        for index in queued.drain(..) {
            self.slots[index].queued = false;
            let connection = &self.slots[index].connection;
            match connection.state() {
                State::Open => self.push(index),
                State::Closed if connection.assigned() > 0 => self.open(index, self.clock()),
                State::Closed | State::Connecting => {}
            }
        }
        queued.append(&mut self.queued);
        self.queued = queued;
    }

    pub(super) fn open(&mut self, index: usize, now_ns: u64) {
        let attempt = self.attempts;
        self.attempts = self.attempts.wrapping_add(1);
        self.slots[index].connection.connecting(attempt, now_ns);
        match self.connect(index, attempt) {
            Ok(socket) => {
                self.slots[index].socket = Some(socket);
                self.watch(index, now_ns + self.timeout_ns);
            }
            Err(error) => self.connect_failed(index, Outcome::of_connect(&error), errno_of(&error)),
        }
    }

    fn connect(&self, index: usize, attempt: u32) -> io::Result<OwnedFd> {
        let sources = self.task.sources;
        let source = (!sources.is_empty()).then(|| {
            let place = (index * self.task.workers + self.task.index) % sources.len();
            SocketAddrV4::new(sources[place], 0)
        });
        let socket = sys::connect(&self.task.spec.address, source)?;
        self.poller.add(&socket, u64::from(attempt) << 32 | index as u64)?;
        Ok(socket)
    }

    /// No connection: whatever waited for it has failed, and the slot tries again later.
    fn connect_failed(&mut self, index: usize, outcome: Outcome, errno: u8) {
        let now_ns = self.clock();
        self.counts.refused += 1;
        while self.slots[index].connection.assigned() > 0 {
            self.end_request(index, outcome, errno, now_ns);
            self.slots[index].held += 1;
        }
        self.close(index, outcome, errno, now_ns);
        let slot = &mut self.slots[index];
        let retry_ns = SHORTEST_RETRY_NS << slot.failures.min(20);
        slot.failures += 1;
        self.wake(index, now_ns + retry_ns.min(LONGEST_RETRY_NS));
    }

    fn watch(&mut self, index: usize, deadline_ns: u64) {
        if !std::mem::replace(&mut self.slots[index].watched, true) {
            self.deadlines.push(Reverse((deadline_ns, index)));
        }
    }

    /// Ends what has taken longer than the timeout.
    pub(super) fn expire(&mut self, now_ns: u64) {
        while let Some(&Reverse((at_ns, index))) = self.deadlines.peek() {
            if at_ns > now_ns {
                break;
            }
            self.deadlines.pop();
            self.slots[index].watched = false;
            let since_ns = self.slots[index].connection.waiting_since_ns();
            match since_ns.map(|since_ns| since_ns + self.timeout_ns) {
                None => {}
                Some(deadline_ns) if deadline_ns > now_ns => self.watch(index, deadline_ns),
                Some(_) => self.time_out(index, now_ns),
            }
        }
    }

    fn time_out(&mut self, index: usize, now_ns: u64) {
        match self.slots[index].connection.phase() {
            None => self.connect_failed(index, Outcome::ConnectTimeout, 0),
            Some(phase) => self.fail(index, Outcome::of_timeout(phase), 0, now_ns),
        }
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn handle(&mut self, event: usize) {
        let ready = self.poller.ready(event);
        let index = ready.token as u32 as usize;
        let connection = &self.slots[index].connection;
        // The event may be older than the connection that now has the slot.
        if u64::from(connection.attempt()) != ready.token >> 32 {
            return;
        }
        match connection.state() {
            State::Closed => return,
            State::Connecting => {
                if ready.writable || ready.hung_up {
                    self.finish_connect(index);
                }
                return;
            }
            State::Open if ready.writable && connection.is_sending() => self.push(index),
            State::Open => {}
        }
        if (ready.readable || ready.hung_up) && !self.is_unread(index, ready.hung_up) {
            self.pull(index, ready.hung_up);
        }
    }

    fn finish_connect(&mut self, index: usize) {
        let Some(socket) = &self.slots[index].socket else {
            return;
        };
        if let Err(error) = sys::connect_result(socket) {
            self.connect_failed(index, Outcome::of_connect(&error), errno_of(&error));
            return;
        }
        let now_ns = self.clock();
        self.counts.opened += 1;
        self.counts.connections_open += 1;
        let slot = &mut self.slots[index];
        slot.failures = 0;
        slot.connection.connected(now_ns);
        if slot.connection.assigned() > 0 {
            self.queue(index);
        }
        self.begin_held(index, now_ns);
    }

    /// Hands the kernel as much of the slot's requests as it takes.
    #[inline]
    fn push(&mut self, index: usize) {
        while let Some((now_ns, result)) = self.offer(index) {
            match result {
                Ok(count) => self.handed_over(index, count, now_ns),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.handed_over(index, 0, now_ns);
                    if error.kind() != io::ErrorKind::WouldBlock {
                        self.send_failed(index, &error);
                    }
                    return;
                }
            }
        }
    }

    /// Offers the kernel what the slot has to send, pipelined requests together; returns when, and
    /// how many bytes it took. Nothing when there is nothing to send.
    #[inline]
    fn offer(&mut self, index: usize) -> Option<(u64, io::Result<usize>)> {
        let slot = &self.slots[index];
        let socket = slot.socket.as_ref()?;
        let requests = self.task.requests;
        let mut next = slot.connection.to_send(self.most_requests);
        let (request, left) = next.next()?;
        let mut bytes = requests.kind(request).rest(left);
        if let Some((second, _)) = next.next() {
            self.outbox.clear();
            self.outbox.extend_from_slice(bytes);
            self.outbox.extend_from_slice(&requests.kind(second).bytes);
            for (request, _) in next {
                if self.outbox.len() >= OUTBOX_BYTES {
                    break;
                }
                self.outbox.extend_from_slice(&requests.kind(request).bytes);
            }
            bytes = &self.outbox;
        }
        Some((self.clock(), sys::send(socket, bytes)))
    }

    /// The kernel was given requests at `now_ns` and took so many bytes of them; the first of them
    /// has begun even if it took none.
    #[inline]
    fn handed_over(&mut self, index: usize, count: usize, now_ns: u64) {
        let mut count = count;
        loop {
            if !self.slots[index].connection.is_sending() {
                self.begin_sending(index, now_ns);
            }
            count = self.slots[index].connection.sent(count);
            if count == 0 {
                return;
            }
        }
    }

    #[inline]
    fn begin_sending(&mut self, index: usize, now_ns: u64) {
        let connection = &mut self.slots[index].connection;
        let Some((request, _)) = connection.to_send(self.most_requests).next() else {
            return;
        };
        let kind = self.task.requests.kind(request);
        connection.begin_sending(kind.bytes.len(), kind.is_head, now_ns);
        self.count_in_flight(now_ns);
        self.counts.in_flight += 1;
        self.counts.sent += 1;
        self.watch(index, now_ns + self.timeout_ns);
    }

    /// Whether a socket's turn comes anyway; the news that its peer has hung up is then kept.
    #[inline]
    fn is_unread(&mut self, index: usize, hung_up: bool) -> bool {
        let attempt = self.slots[index].connection.attempt();
        let mut known = self.unread.iter_mut();
        let found = known.find(|unread| (unread.index, unread.attempt) == (index, attempt));
        found.map(|unread| unread.hung_up |= hung_up).is_some()
    }

    /// Reads on where there was more than one turn's share.
    pub(super) fn read_on(&mut self) {
        for Unread { index, attempt, hung_up } in std::mem::take(&mut self.unread) {
            if self.slots[index].connection.attempt() == attempt {
                self.pull(index, hung_up);
            }
        }
    }

    /// Reads what there is and acts on it.
    #[inline]
    fn pull(&mut self, index: usize, hung_up: bool) {
        for _ in 0..READS_A_TURN {
            let Some(socket) = &self.slots[index].socket else { return };
            let count = match sys::receive(socket, &mut self.buffer) {
                Ok(0) => return self.stream_ended(index),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return self.io_failed(index, &error),
            };
            self.take_in(index, hung_up, count);
            // A read that did not fill the buffer has emptied the socket; what comes later is a new
            // event, except the end of the stream when this event has already told of it.
            if count < self.buffer.len() && !hung_up {
                return;
            }
        }
        let attempt = self.slots[index].connection.attempt();
        self.unread.push(Unread { index, attempt, hung_up });
    }

    /// Sending has failed: answers that came before are still in the socket and count.
    fn send_failed(&mut self, index: usize, error: &io::Error) {
        for _ in 0..READS_A_TURN {
            let Some(socket) = &self.slots[index].socket else { return };
            match sys::receive(socket, &mut self.buffer) {
                Ok(0) | Err(_) => break,
                Ok(count) => self.take_in(index, false, count),
            }
        }
        if self.slots[index].connection.state() == State::Open {
            self.io_failed(index, error);
        }
    }

    /// So many bytes have come into the buffer: parts of an answer, or of several.
    #[inline]
    fn take_in(&mut self, index: usize, hung_up: bool, count: usize) {
        let now_ns = self.clock();
        let mut start = 0;
        while start < count && self.slots[index].connection.state() == State::Open {
            let bytes = &self.buffer[start..count];
            let connection = &mut self.slots[index].connection;
            match connection.received(bytes, self.task.requests, now_ns) {
                Received::More => return,
                Received::Complete { outcome, consumed } => {
                    start += consumed;
                    self.complete(index, outcome, start < count, hung_up, now_ns);
                }
                Received::Failed(outcome) => self.fail(index, outcome, 0, now_ns),
            }
        }
    }

    /// An answer is complete: the connection may go on, or has to be replaced. `more` when bytes
    /// followed it.
    #[inline]
    fn complete(&mut self, index: usize, outcome: Outcome, more: bool, hung_up: bool, now_ns: u64) {
        let connection = &self.slots[index].connection;
        self.counts.bodies_compared += u64::from(connection.is_compared());
        let spent = connection.is_spent();
        self.end_request(index, outcome, 0, now_ns);
        let connection = &self.slots[index].connection;
        let last = connection.in_flight() == 0;
        let full = self.most_requests.is_some_and(|most| connection.requests() >= most);
        let mut behind = 0;
        if last && more {
            self.close(index, Outcome::Unsolicited, 0, now_ns);
        } else if spent || (last && full) {
            behind = self.end_in_flight(index, Outcome::ClosedWaiting, 0, now_ns);
            self.close(index, Outcome::ClosedAsAnnounced, 0, now_ns);
        } else if last && hung_up {
            self.close(index, Outcome::ClosedIdle, 0, now_ns);
        }
        self.release_ended(index, behind + 1, now_ns);
    }

    /// The server has closed its side.
    fn stream_ended(&mut self, index: usize) {
        let now_ns = self.clock();
        match self.slots[index].connection.ended(self.task.requests) {
            None => {
                self.close(index, Outcome::ClosedIdle, 0, now_ns);
                self.release_ended(index, 0, now_ns);
            }
            Some(outcome @ (Outcome::ClosedEarly | Outcome::ClosedWaiting)) => {
                self.fail(index, outcome, 0, now_ns);
            }
            Some(outcome) => self.complete(index, outcome, false, true, now_ns),
        }
    }

    fn io_failed(&mut self, index: usize, error: &io::Error) {
        let now_ns = self.clock();
        let errno = errno_of(error);
        let phase = self.slots[index].connection.phase();
        let outcome = phase.map_or(Outcome::ClosedIdle, |phase| Outcome::of_transfer(error, phase));
        self.fail(index, outcome, errno, now_ns);
    }

    /// A connection has failed, and with it whatever was in flight on it.
    fn fail(&mut self, index: usize, outcome: Outcome, errno: u8, now_ns: u64) {
        let lost = self.end_in_flight(index, outcome, errno, now_ns);
        self.close(index, outcome, errno, now_ns);
        self.release_ended(index, lost, now_ns);
    }

    /// Ends the requests in flight on a connection that is given up; returns how many there were.
    fn end_in_flight(&mut self, index: usize, outcome: Outcome, errno: u8, now_ns: u64) -> usize {
        let lost = self.slots[index].connection.in_flight();
        for place in 0..lost {
            let connection = &self.slots[index].connection;
            let own = if place == 0 { outcome } else { connection.outcome_behind(outcome) };
            self.end_request(index, own, errno, now_ns);
        }
        lost
    }

    /// Requests of a slot have ended; what is assigned to it and not sent needs a connection again.
    #[inline]
    fn release_ended(&mut self, index: usize, ended: usize, now_ns: u64) {
        for _ in 0..ended {
            self.release(index, now_ns);
        }
        if self.slots[index].connection.assigned() > 0 {
            self.queue(index);
        }
    }
}
