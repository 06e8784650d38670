//! A socket without encryption: each call is one of the kernel.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_system::{self as system, Address, Ready};

use super::{Handshake, Read};

/// A socket of TCP, or a Unix socket.
#[derive(Debug)]
pub struct Plain {
    socket: OwnedFd,
}

impl Plain {
    pub(super) fn connect(address: &Address, source: Option<SocketAddrV4>) -> io::Result<Self> {
        Ok(Self { socket: system::connect(address, source)? })
    }

    pub(super) fn advance(&mut self, ready: Ready) -> io::Result<Handshake> {
        if !ready.writable && !ready.hung_up {
            return Ok(Handshake::UnderWay);
        }
        system::connect_result(&self.socket)?;
        Ok(Handshake::Complete)
    }

    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        system::send(&self.socket, bytes)
    }

    /// A read that does not fill the buffer has emptied the socket.
    #[inline]
    pub(super) fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        let count = system::receive(&self.socket, into)?;
        Ok(Read { count, drained: count < into.len() })
    }
}

impl AsFd for Plain {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
