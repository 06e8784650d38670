//! TCP and Unix sockets that never wait.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use rustix::io::Errno;
use rustix::ioctl::{self, Getter, Opcode};
use rustix::net::{
    self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt,
};

use crate::address::Address;

/// Starts to connect; completion shows as the socket becoming writable.
///
/// Over TCP, small writes go out at once (`TCP_NODELAY`).
///
/// # Errors
///
/// The error of `socket(2)`, `bind(2)` or `connect(2)`; a connect under way is none. `WouldBlock`
/// when the listen queue of a Unix socket is full: nothing is under way then.
pub fn connect(address: &Address, source: Option<SocketAddrV4>) -> io::Result<OwnedFd> {
    match address {
        Address::Tcp(address) => connect_tcp(address, source),
        Address::Unix(path) => connect_unix(path),
    }
}

fn connect_unix(path: &Path) -> io::Result<OwnedFd> {
    let socket = stream_socket(AddressFamily::UNIX)?;
    net::connect(&socket, &SocketAddrUnix::new(path)?)?;
    Ok(socket)
}

/// If nothing listens on a port that the kernel may give to clients, it may give a client that very
/// port, and connect it with itself: that is refused.
fn connect_tcp(address: &SocketAddr, source: Option<SocketAddrV4>) -> io::Result<OwnedFd> {
    let socket = stream_socket(family(address))?;
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

fn family(address: &SocketAddr) -> AddressFamily {
    if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 }
}

fn stream_socket(family: AddressFamily) -> io::Result<OwnedFd> {
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

/// Bytes that the kernel has taken and not sent yet; none where it does not say, as of Unix sockets.
///
/// # Source
///
/// `SIOCOUTQNSD` in include/uapi/linux/sockios.h, since Linux 2.6.32.
#[allow(unsafe_code)]
pub fn unsent_bytes(socket: impl AsFd) -> u64 {
    const SIOCOUTQNSD: Opcode = 0x894B;
    // SAFETY: the call writes an i32, which is what the getter has room for.
    let unsent = unsafe { ioctl::ioctl(socket, Getter::<SIOCOUTQNSD, i32>::new()) };
    unsent.ok().and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
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
    let socket = stream_socket(family(address))?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, shared_port)?;
    net::bind(&socket, address)?;
    net::listen(&socket, backlog)?;
    Ok(socket)
}

/// A socket that listens at a path. A file that an ended server has left there is replaced.
///
/// # Errors
///
/// The error of `bind(2)` or `listen(2)`; `AddrInUse` when a server listens there, or the file is
/// not a socket.
pub fn listen_at(path: &Path, backlog: i32) -> io::Result<OwnedFd> {
    let address = SocketAddrUnix::new(path)?;
    let socket = stream_socket(AddressFamily::UNIX)?;
    match net::bind(&socket, &address) {
        Err(Errno::ADDRINUSE) if is_left_behind(path) => {
            std::fs::remove_file(path)?;
            net::bind(&socket, &address)?;
        }
        bound => bound?,
    }
    net::listen(&socket, backlog)?;
    Ok(socket)
}

/// Whether a socket file has no server any more.
fn is_left_behind(path: &Path) -> bool {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket());
    let refused =
        || connect_unix(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused);
    is_socket && refused()
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
    match sockopt::set_tcp_nodelay(&socket, true) {
        // A Unix socket sends at once anyway.
        Ok(()) | Err(Errno::OPNOTSUPP) => Ok(socket),
        Err(error) => Err(error.into()),
    }
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::io::Read as _;
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn what_the_peer_has_no_room_for_is_not_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.set_nonblocking(true).unwrap();
        assert_eq!(send(&client, b"hello").unwrap(), 5);
        assert_eq!(unsent_bytes(&client), 0);
        let mut given = 5;
        while let Ok(count) = send(&client, &[0; 4_096]) {
            given += count as u64;
        }
        let unsent = unsent_bytes(&client);
        assert!((1..given).contains(&unsent), "{unsent} of {given}");
        finish_sending(&client).unwrap();
        let mut received = Vec::new();
        server.read_to_end(&mut received).unwrap();
        assert_eq!((received.len() as u64, unsent_bytes(&client)), (given, 0));
    }
}
