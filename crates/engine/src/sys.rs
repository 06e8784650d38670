//! The operating system: clock, sockets, readiness, cores and limits, over `rustix`.
//!
//! This is the only module that reads a clock and the only one that may hold `unsafe`.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll;
use rustix::event::{EventfdFlags, Timespec, epoll::EventFlags, eventfd};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

const NS_PER_S: u64 = 1_000_000_000;

/// The monotonic clock, in nanoseconds.
///
/// # Source
///
/// `clock_gettime(2)`, `CLOCK_MONOTONIC`.
#[inline]
#[must_use]
pub fn now_ns() -> u64 {
    nanoseconds(ClockId::Monotonic)
}

/// The wall clock, in nanoseconds since 1970.
#[must_use]
pub fn wall_clock_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// User and system time of this process so far, in seconds.
///
/// # Source
///
/// `clock_gettime(2)`, `CLOCK_PROCESS_CPUTIME_ID`.
#[must_use]
#[allow(clippy::cast_precision_loss)]
pub fn process_cpu_s() -> f64 {
    nanoseconds(ClockId::ProcessCPUTime) as f64 / 1e9
}

#[inline]
#[allow(clippy::cast_sign_loss)]
fn nanoseconds(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * NS_PER_S + time.tv_nsec as u64
}

/// The most memory this process has held, in bytes; 0 when it can't be read.
///
/// # Source
///
/// `proc_pid_status(5)`, `VmHWM`.
#[must_use]
pub fn peak_rss_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

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

/// Starts to connect; completion shows as the socket becoming writable.
///
/// Small writes go out at once (`TCP_NODELAY`). Where nobody listens on a port that the kernel may
/// give to clients, it may give a client that very port, and connect it with itself: that is refused.
///
/// # Errors
///
/// The error of `socket(2)`, `bind(2)` or `connect(2)`; a connect under way is none.
pub fn connect(address: &SocketAddr, source: Option<SocketAddrV4>) -> io::Result<OwnedFd> {
    let socket = tcp_socket(address)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    if let Some(source) = source {
        bind_source(&socket, source)?;
    }
    match net::connect(&socket, address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    if local_address(&socket)? == *address {
        // A farewell would keep the port for a minute.
        reset(socket)?;
        return Err(Errno::CONNREFUSED.into());
    }
    Ok(socket)
}

/// Binds to an address and leaves the port to `connect`, which then needs it to be free only
/// towards that one destination.
///
/// # Source
///
/// `ip(7)`, `IP_BIND_ADDRESS_NO_PORT` (Linux 4.2).
#[allow(unsafe_code)]
fn bind_source(socket: &OwnedFd, source: SocketAddrV4) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    const IPPROTO_IP: i32 = 0;
    const IP_BIND_ADDRESS_NO_PORT: i32 = 24;
    unsafe extern "C" {
        fn setsockopt(socket: i32, level: i32, name: i32, value: *const i32, length: u32) -> i32;
    }
    let on: i32 = 1;
    // SAFETY: the descriptor is open, and the value is an i32 of four bytes that outlives the call.
    let result = unsafe {
        setsockopt(socket.as_raw_fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &raw const on, 4)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(net::bind(socket, &SocketAddr::V4(source))?)
}

fn tcp_socket(address: &SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    Ok(net::socket_with(family, SocketType::STREAM, flags, None)?)
}

/// Whether a connect has succeeded; asks the socket, as writability alone proves nothing.
///
/// # Errors
///
/// The error the connect ended with.
///
/// # Source
///
/// `connect(2)`, `EINPROGRESS`: `SO_ERROR` tells.
pub fn connect_result(socket: impl AsFd) -> io::Result<()> {
    sockopt::socket_error(socket)??;
    Ok(())
}

/// Hands bytes to the kernel; returns how many it took.
///
/// # Errors
///
/// The error of `send(2)`; `WouldBlock` when there is no room.
#[inline]
pub fn send(socket: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

/// Reads what there is; 0 is the end of the stream.
///
/// # Errors
///
/// The error of `recv(2)`; `WouldBlock` when there is nothing.
#[inline]
pub fn receive(socket: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    let (count, _) = net::recv(socket, into, RecvFlags::empty())?;
    Ok(count)
}

/// A listening socket.
///
/// With `shared_port` several sockets may listen on the same address and the kernel divides new
/// connections among them (`SO_REUSEPORT`).
///
/// # Errors
///
/// The error of `bind(2)` or `listen(2)`, such as an address in use.
pub fn listen(address: &SocketAddr, backlog: i32, shared_port: bool) -> io::Result<OwnedFd> {
    let socket = tcp_socket(address)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, shared_port)?;
    net::bind(&socket, address)?;
    net::listen(&socket, backlog)?;
    Ok(socket)
}

/// The address a socket is bound to.
///
/// # Errors
///
/// The error of `getsockname(2)`.
pub fn local_address(socket: impl AsFd) -> io::Result<SocketAddr> {
    Ok(net::getsockname(socket)?.try_into()?)
}

/// Takes the next connection off the listen queue.
///
/// # Errors
///
/// The error of `accept4(2)`; `WouldBlock` when the queue is empty.
pub fn accept(listener: impl AsFd) -> io::Result<OwnedFd> {
    let socket = net::accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC)?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    Ok(socket)
}

/// Says that nothing more will be sent; reading goes on.
///
/// # Errors
///
/// The error of `shutdown(2)`, such as a connection that is gone.
pub fn finish_sending(socket: impl AsFd) -> io::Result<()> {
    Ok(net::shutdown(socket, net::Shutdown::Write)?)
}

/// Closes a connection with a reset instead of a farewell.
///
/// # Errors
///
/// The error of `setsockopt(2)`.
///
/// # Source
///
/// `socket(7)`, `SO_LINGER` of zero seconds.
pub fn reset(socket: OwnedFd) -> io::Result<()> {
    sockopt::set_socket_linger(&socket, Some(std::time::Duration::ZERO))?;
    drop(socket);
    Ok(())
}

/// The cores this process may run on.
///
/// # Errors
///
/// The error of `sched_getaffinity(2)`.
pub fn allowed_cores() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
}

/// Confines the calling thread to one core.
///
/// # Errors
///
/// The error of `sched_setaffinity(2)`: the core is not there, or not allowed.
pub fn pin_thread(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the waits of the calling thread end when asked, not up to 50 µs later.
///
/// # Errors
///
/// The error of `prctl(2)`.
///
/// # Source
///
/// `prctl(2)`, `PR_SET_TIMERSLACK`.
pub fn wake_precisely() -> io::Result<()> {
    Ok(rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN))?)
}

/// Raises the soft limit of open files as far as the hard one allows; returns the limit.
#[must_use]
pub fn raise_open_file_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _ = setrlimit(Resource::Nofile, raised);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// First and last port that the system gives to outgoing connections.
///
/// # Source
///
/// `ip(7)`, `ip_local_port_range`.
#[must_use]
pub fn local_port_range() -> Option<(u16, u16)> {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = text.split_whitespace().map(str::parse::<u16>);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
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
