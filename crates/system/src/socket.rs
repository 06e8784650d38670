//! TCP sockets that never wait.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, sockopt};

/// Starts to connect; completion shows as the socket becoming writable.
///
/// Small writes go out at once (`TCP_NODELAY`). If nothing listens on a port that the kernel may
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
/// `connect(2)`, `EINPROGRESS`: `SO_ERROR` holds the result.
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
    Ok(uninterrupted(|| net::send(&socket, bytes, SendFlags::NOSIGNAL))?)
}

/// Reads what there is; 0 is the end of the stream.
///
/// # Errors
///
/// The error of `recv(2)`; `WouldBlock` when there is nothing.
#[inline]
pub fn receive(socket: impl AsFd, into: &mut [u8]) -> io::Result<usize> {
    let (count, _) = uninterrupted(|| net::recv(&socket, &mut *into, RecvFlags::empty()))?;
    Ok(count)
}

/// The result of a call once no signal has interrupted it.
#[inline]
fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
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
