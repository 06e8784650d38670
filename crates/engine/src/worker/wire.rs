//! Where: connections are written, read and given up.

use std::cmp::Reverse;
use std::io;

use plimsoll_system as system;
use plimsoll_tls::Failure;

use super::{Slot, Unread, Worker};
use crate::connection::{Received, State};
use crate::outcome::{Outcome, Phase, errno_of};
use crate::protocol::Id;
use crate::transport::{Read, Transport};

/// The most reads of one socket in one turn, so that an endless response does not starve the others.
const READS_A_TURN: usize = 16;

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
        for (place, &index) in queued.iter().enumerate() {
            if let Some(&next) = queued.get(place + 1) {
                self.fetch(next);
            }
            self.slots[index].queued = false;
            let connection = &self.slots[index].connection;
            match connection.state() {
                State::Open => self.push(index),
                State::Closed if connection.assigned() > 0 => self.open(index, self.clock()),
                State::Closed | State::Connecting | State::Upgrading => {}
            }
        }
        queued.clear();
        queued.append(&mut self.queued);
        self.queued = queued;
    }

    /// Has a slot fetched into the cache while the system is busy with the socket of another: of
    /// thousands, few are there.
    #[inline]
    fn fetch(&self, index: usize) {
        if let Some(slot) = self.slots.get(index) {
            system::prefetch(slot);
        }
    }

    pub(super) fn watch(&mut self, index: usize, deadline_ns: u64) {
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
        let oldest = self.oldest(index);
        let connection = &mut self.slots[index].connection;
        match oldest {
            None if connection.is_securing() => self.connect_failed(index, Outcome::TlsTimeout, 0),
            None if connection.state() == State::Connecting => {
                self.connect_failed(index, Outcome::ConnectTimeout, 0);
            }
            None if connection.state() == State::Upgrading => {
                self.connect_failed(index, Outcome::UpgradeTimeout, 0);
            }
            None => {
                let id = connection.any();
                self.fail(index, id, Outcome::TimedOutSending, 0, now_ns);
            }
            Some((id, phase)) if connection.cancel(id) => {
                self.complete(index, id, Outcome::of_timeout(phase), 0, false, now_ns);
                self.queue(index);
                if let Some(since_ns) = self.slots[index].connection.waiting_since_ns() {
                    self.watch(index, since_ns + self.timeout_ns);
                }
            }
            Some((id, phase)) => self.fail(index, Some(id), Outcome::of_timeout(phase), 0, now_ns),
        }
    }

    /// The request in flight that was sent before all others, and where it is. The protocol does
    /// not know whether what the transport took has reached the kernel.
    fn oldest(&self, index: usize) -> Option<(Id, Phase)> {
        let Slot { connection, transport, .. } = &self.slots[index];
        let (id, phase) = connection.oldest()?;
        let is_unsent = transport.as_ref().is_some_and(Transport::has_unsent);
        Some((id, if phase == Phase::Waiting && is_unsent { Phase::Sending } else { phase }))
    }

    #[inline]
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn handle(&mut self, event: usize) {
        if event + 1 < self.poller.ready_count() {
            self.fetch(self.poller.ready(event + 1).token as u32 as usize);
        }
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
                self.advance(index, ready);
                return;
            }
            State::Upgrading => {
                self.upgrade(index, ready);
                return;
            }
            State::Open if ready.writable => self.go_on_sending(index),
            State::Open => {}
        }
        if (ready.readable || ready.hung_up) && !self.is_unread(index, ready.hung_up) {
            self.pull(index, ready.hung_up);
        }
    }

    /// There is room: what was not taken, or has not reached the kernel, goes on.
    #[inline]
    fn go_on_sending(&mut self, index: usize) {
        let Slot { connection, transport, .. } = &mut self.slots[index];
        if connection.is_sending() {
            return self.push(index);
        }
        let flushed = transport.as_mut().map_or(Ok(()), Transport::flush);
        if let Err(error) = flushed {
            if error.kind() != io::ErrorKind::WouldBlock {
                self.send_failed(index, &error);
            }
        }
    }

    /// Hands the transport as much of the slot's requests as it takes.
    #[inline]
    fn push(&mut self, index: usize) {
        while let Some((now_ns, result)) = self.offer(index) {
            self.handed_over(index, result.as_ref().map_or(0, |&count| count), now_ns);
            if let Err(error) = result {
                if error.kind() != io::ErrorKind::WouldBlock {
                    self.send_failed(index, &error);
                }
                return;
            }
        }
        let connection = &self.slots[index].connection;
        if connection.in_flight() == 0 && connection.assigned() > 0 {
            self.watch(index, self.clock() + self.timeout_ns);
        }
    }

    /// Offers the transport what the slot has to send; returns when, and how many bytes it took.
    /// Nothing when there is nothing to send.
    #[inline]
    fn offer(&mut self, index: usize) -> Option<(u64, io::Result<usize>)> {
        let slot = &mut self.slots[index];
        let transport = slot.transport.as_mut()?;
        let bytes = slot.connection.output(self.most_requests, &mut self.outbox);
        if bytes.is_empty() {
            return None;
        }
        let now_ns = self.task.clock();
        self.read_ns.set(now_ns);
        Some((now_ns, transport.send(bytes)))
    }

    /// The transport was given output at `now_ns` and took so many bytes of it.
    #[inline]
    fn handed_over(&mut self, index: usize, count: usize, now_ns: u64) {
        self.counts.sent_bytes += count as u64;
        let begun = self.slots[index].connection.sent(count, now_ns);
        if begun > 0 {
            self.count_in_flight(now_ns);
            self.counts.in_flight += begun;
            self.counts.sent += begun as u64;
            self.watch(index, now_ns + self.timeout_ns);
        }
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
            let Some(transport) = &mut self.slots[index].transport else { return };
            let read = match transport.receive(&mut self.buffer) {
                Ok(Read { count: 0, .. }) => return self.stream_ended(index),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) => return self.io_failed(index, &error),
            };
            self.take_in(index, hung_up, read.count);
            // What comes later is a new event, except the end of the stream if this event has
            // already announced it.
            if read.drained && !hung_up {
                return;
            }
        }
        let attempt = self.slots[index].connection.attempt();
        self.unread.push(Unread { index, attempt, hung_up });
    }

    /// Sending has failed: responses that came before are still in the socket and count.
    fn send_failed(&mut self, index: usize, error: &io::Error) {
        for _ in 0..READS_A_TURN {
            let Some(transport) = &mut self.slots[index].transport else { return };
            match transport.receive(&mut self.buffer) {
                Ok(Read { count: 0, .. }) | Err(_) => break,
                Ok(read) => self.take_in(index, false, read.count),
            }
        }
        if self.slots[index].connection.state() == State::Open {
            self.io_failed(index, error);
        }
    }

    /// So many bytes have come into the buffer: parts of a response, or of several. What the
    /// protocol has to say to them is sent later in this turn or early in the next.
    #[inline]
    pub(super) fn take_in(&mut self, index: usize, hung_up: bool, count: usize) {
        let now_ns = self.clock();
        let mut start = 0;
        while self.slots[index].connection.state() == State::Open
            && (start < count || self.slots[index].connection.has_ended())
        {
            let bytes = &self.buffer[start..count];
            let connection = &mut self.slots[index].connection;
            let received = connection.received(bytes, &mut self.event_rows, now_ns);
            if !self.event_rows.is_empty() {
                self.keep_events();
            }
            match received {
                Received::More => break,
                Received::Ended { id, outcome, code, consumed } => {
                    start += consumed;
                    self.complete(index, id, outcome, code, hung_up, now_ns);
                }
                Received::Failed { id, outcome } => self.fail(index, id, outcome, 0, now_ns),
            }
        }
        let connection = &mut self.slots[index].connection;
        if connection.is_sending() {
            // Settings are acknowledged: with nothing to send there were none.
            let has_grown = connection.has_grown();
            self.counts.change_places(connection.count_places(now_ns));
            if let Some(streams) = connection.allowed_streams() {
                self.counts.fewest_streams = self.counts.fewest_streams.min(streams);
            }
            let is_shut = connection.is_shut();
            self.queue(index);
            if is_shut {
                self.watch(index, now_ns + self.timeout_ns);
            }
            if has_grown {
                self.begin_held(index, now_ns);
            }
        }
    }

    /// An exchange has ended: the connection may go on, or has to be replaced. `errno` is the code
    /// that the server gave as its reason, if it did.
    #[inline]
    fn complete(
        &mut self,
        index: usize,
        id: Id,
        outcome: Outcome,
        errno: u8,
        hung_up: bool,
        now_ns: u64,
    ) {
        let end = self.slots[index].connection.must_close();
        self.end_request(index, id, outcome, errno, now_ns);
        let mut ended = 1;
        if let Some(end) = end.or_else(|| self.end_of_idle(index, hung_up)) {
            ended += self.end_in_flight(index, None, Outcome::ClosedWaiting, 0, now_ns);
            self.close(index, end, 0, now_ns);
        }
        self.release_ended(index, ended, now_ns);
    }

    /// How a connection ends that could go on, but has nothing in flight any more.
    #[inline]
    fn end_of_idle(&self, index: usize, hung_up: bool) -> Option<Outcome> {
        let connection = &self.slots[index].connection;
        if connection.in_flight() > 0 {
            None
        } else if self.most_requests.is_some_and(|most| connection.requests() >= most) {
            Some(Outcome::ClosedByDriver)
        } else {
            hung_up.then_some(Outcome::ClosedIdle)
        }
    }

    /// The server has closed its side.
    fn stream_ended(&mut self, index: usize) {
        let now_ns = self.clock();
        match self.slots[index].connection.server_closed() {
            None => {
                self.close(index, Outcome::ClosedIdle, 0, now_ns);
                self.release_ended(index, 0, now_ns);
            }
            Some((id, outcome @ (Outcome::ClosedEarly | Outcome::ClosedWaiting))) => {
                self.fail(index, Some(id), outcome, 0, now_ns);
            }
            Some((id, outcome)) => self.complete(index, id, outcome, 0, true, now_ns),
        }
    }

    fn io_failed(&mut self, index: usize, error: &io::Error) {
        let now_ns = self.clock();
        let errno = errno_of(error);
        self.slots[index].connection.alerted(Failure::within(error).and_then(Failure::alert));
        match self.oldest(index) {
            None => self.fail(index, None, Outcome::of_idle(error), errno, now_ns),
            Some((id, phase)) => {
                self.fail(index, Some(id), Outcome::of_transfer(error, phase), errno, now_ns);
            }
        }
    }

    /// A connection has failed, and with it whatever was in flight on it; `id` is the request that
    /// `outcome` is of. Requests that wait for the connection fail with it if it never took any, or
    /// if it did not take them in time. Where it never carried one, the next is not opened at once.
    fn fail(&mut self, index: usize, id: Option<Id>, outcome: Outcome, errno: u8, now_ns: u64) {
        let connection = &self.slots[index].connection;
        if connection.requests() == 0 && connection.assigned() > 0 {
            return self.try_again_later(index, outcome, errno, now_ns);
        }
        let mut lost = self.end_in_flight(index, id, outcome, errno, now_ns);
        if !self.slots[index].connection.is_ready() || id.is_some() && lost == 0 {
            lost += self.end_unsent(index, outcome, errno, now_ns);
        }
        self.close(index, outcome, errno, now_ns);
        self.release_ended(index, lost, now_ns);
    }

    /// Ends the requests that waited for a connection to take them; returns how many there were.
    fn end_unsent(&mut self, index: usize, outcome: Outcome, errno: u8, now_ns: u64) -> usize {
        let mut ended = 0;
        while let Some(id) = self.slots[index].connection.any() {
            self.end_request(index, id, outcome, errno, now_ns);
            ended += 1;
        }
        ended
    }

    /// Ends the requests in flight on a connection that is given up; returns how many there were.
    fn end_in_flight(
        &mut self,
        index: usize,
        id: Option<Id>,
        outcome: Outcome,
        errno: u8,
        now_ns: u64,
    ) -> usize {
        let mut lost = 0;
        while let Some((each, _)) = self.slots[index].connection.oldest() {
            let connection = &self.slots[index].connection;
            let is_own = id == Some(each);
            let own = if is_own { outcome } else { connection.outcome_beside(each, outcome) };
            self.end_request(index, each, own, errno, now_ns);
            lost += 1;
        }
        lost
    }

    /// Requests of a slot have ended; what is assigned to it and not sent needs a connection again.
    #[inline]
    fn release_ended(&mut self, index: usize, ended: usize, now_ns: u64) {
        for _ in 0..ended {
            self.release(index, now_ns);
        }
        let slot = &self.slots[index];
        let is_closed = slot.connection.state() == State::Closed;
        if slot.connection.assigned() > 0 {
            self.queue(index);
        } else if is_closed && slot.holds_places() {
            // What the connection took no requests for is none of the next one's. Else nothing would
            // open that.
            self.begin_held(index, now_ns);
        }
    }
}
