//! Readiness of many sockets, and a bell that ends the wait for it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll::EventFlags, eventfd, poll};
use rustix::io::Errno;

use crate::clock::NS_PER_S;

/// One socket that is ready, by the token it was added with.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// The token given to [`Poller::add`].
    pub token: u64,
    /// There may be bytes to read.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
    /// The peer has closed its side, or the socket has failed: read until the end.
    pub hung_up: bool,
}

/// Readiness of many sockets: one edge-triggered `epoll`.
#[allow(missing_debug_implementations)]
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    /// A poller that hands out at most `capacity` events a turn.
    ///
    /// # Errors
    ///
    /// The error of `epoll_create1(2)`, such as too many open files.
    pub fn new(capacity: usize) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(capacity) })
    }

    /// Adds a socket once and for all, edge-triggered, for reading and writing.
    ///
    /// Closing the socket removes it.
    ///
    /// # Errors
    ///
    /// The error of `epoll_ctl(2)`, such as too many watches.
    pub fn add(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), flags)?)
    }

    /// Adds a listening socket, level-triggered, so that threads may share it.
    ///
    /// # Errors
    ///
    /// The error of `epoll_ctl(2)`.
    pub fn add_listener(&self, socket: impl AsFd, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
        Ok(epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), flags)?)
    }

    /// Adds a bell; each ring shows once.
    ///
    /// # Errors
    ///
    /// The error of `epoll_ctl(2)`.
    pub fn add_bell(&self, bell: &Bell, token: u64) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::ET;
        Ok(epoll::add(&self.epoll, &bell.event, epoll::EventData::new_u64(token), flags)?)
    }

    /// Takes a socket out that stays open.
    ///
    /// # Errors
    ///
    /// The error of `epoll_ctl(2)`, such as a socket that was never added.
    pub fn remove(&self, socket: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits until a socket is ready or `timeout_ns` has passed; an interrupted wait is an empty one.
    ///
    /// # Errors
    ///
    /// The error of `epoll_pwait2(2)`.
    #[allow(clippy::cast_possible_wrap)]
    pub fn wait(&mut self, timeout_ns: u64) -> io::Result<()> {
        let timeout = Timespec {
            tv_sec: (timeout_ns / NS_PER_S) as i64,
            tv_nsec: (timeout_ns % NS_PER_S) as _,
        };
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Has the next waits hand out at most so many sockets; forgets what the last one found.
    pub fn hand_out(&mut self, most: usize) {
        if self.events.capacity() != most {
            self.events = Vec::with_capacity(most);
        }
    }

    /// How many sockets the last [`Poller::wait`] found ready.
    #[must_use]
    pub fn ready_count(&self) -> usize {
        self.events.len()
    }

    /// The `index`-th socket that the last [`Poller::wait`] found ready.
    #[inline]
    #[must_use]
    pub fn ready(&self, index: usize) -> Ready {
        let event = self.events[index];
        let flags = event.flags;
        Ready {
            token: event.data.u64(),
            readable: flags.contains(EventFlags::IN),
            writable: flags.contains(EventFlags::OUT),
            hung_up: flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR),
        }
    }
}

/// Waits until one socket has room to write, or has bytes to read; nothing when the time is over.
///
/// # Errors
///
/// The error of `poll(2)`.
#[allow(clippy::cast_possible_wrap)]
pub fn wait_for(socket: impl AsFd, for_room: bool, timeout_ns: u64) -> io::Result<Option<Ready>> {
    let timeout =
        Timespec { tv_sec: (timeout_ns / NS_PER_S) as i64, tv_nsec: (timeout_ns % NS_PER_S) as _ };
    let wanted = if for_room { PollFlags::OUT } else { PollFlags::IN | PollFlags::RDHUP };
    let mut sockets = [PollFd::new(&socket, wanted)];
    match poll(&mut sockets, Some(&timeout)) {
        Ok(0) | Err(Errno::INTR) => return Ok(None),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let found = sockets[0].revents();
    Ok(Some(Ready {
        token: 0,
        readable: found.contains(PollFlags::IN),
        writable: found.contains(PollFlags::OUT),
        hung_up: found.intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR),
    }))
}

/// Ends the wait of another thread's poller.
#[derive(Debug)]
pub struct Bell {
    event: OwnedFd,
}

impl Bell {
    /// A bell, to be added with [`Poller::add_bell`].
    ///
    /// # Errors
    ///
    /// The error of `eventfd(2)`, such as too many open files.
    pub fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self { event: eventfd(0, flags)? })
    }

    /// Rings it.
    ///
    /// # Errors
    ///
    /// The error of `write(2)`.
    pub fn ring(&self) -> io::Result<()> {
        rustix::io::write(&self.event, &1_u64.to_ne_bytes())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::Poller;

    #[test]
    fn what_one_wait_had_no_room_for_the_next_one_hands_out() {
        let mut poller = Poller::new(8).unwrap();
        let pairs: Vec<_> = (0..3).map(|_| UnixStream::pair().unwrap()).collect();
        for (token, (near, far)) in (0..).zip(&pairs) {
            poller.add(near, token).unwrap();
            (&*far).write_all(b"x").unwrap();
        }
        poller.hand_out(2);
        let mut found = Vec::new();
        for expected in [2, 1, 0] {
            poller.wait(0).unwrap();
            assert_eq!(poller.ready_count(), expected);
            found.extend((0..expected).map(|index| poller.ready(index).token));
        }
        found.sort_unstable();
        assert_eq!(found, [0, 1, 2]);
    }
}
