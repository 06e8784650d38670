//! Bytes in, bytes out: what lies between a protocol and a socket.
//!
//! A transport never waits: what cannot be done now ends with [`ErrorKind::WouldBlock`].
//!
//! [`ErrorKind::WouldBlock`]: std::io::ErrorKind::WouldBlock

mod plain;

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use plimsoll_system::Ready;

use self::plain::Plain;

/// How far an attempt to connect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The server has not yet responded.
    UnderWay,
    /// Requests can be sent.
    Complete,
}

/// What one read has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Bytes read; 0 is the end of the stream.
    pub count: usize,
    /// Whether nothing is left: bytes that come later make the socket ready again.
    pub drained: bool,
}

/// A transport to a server.
#[derive(Debug)]
pub enum Transport {
    /// TCP without encryption.
    Plain(Plain),
}

impl Transport {
    /// Starts to connect; the socket then becomes ready.
    ///
    /// # Errors
    ///
    /// The error of the operating system; a connect under way is none.
    pub fn connect(address: &SocketAddr, source: Option<SocketAddrV4>) -> io::Result<Self> {
        Ok(Self::Plain(Plain::connect(address, source)?))
    }

    /// Goes on with the handshake, as the socket is ready for something.
    ///
    /// # Errors
    ///
    /// The error that the attempt ended with.
    pub fn advance(&mut self, ready: Ready) -> io::Result<Handshake> {
        match self {
            Self::Plain(plain) => plain.advance(ready),
        }
    }

    /// Takes bytes to be sent; returns how many. What is not taken is offered again.
    ///
    /// # Errors
    ///
    /// The error of `send(2)`; `WouldBlock` when there is no room.
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(plain) => plain.send(bytes),
        }
    }

    /// Reads what there is.
    ///
    /// # Errors
    ///
    /// The error of `recv(2)`; `WouldBlock` when there is nothing.
    #[inline]
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        match self {
            Self::Plain(plain) => plain.receive(into),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(plain) => plain.as_fd(),
        }
    }
}
