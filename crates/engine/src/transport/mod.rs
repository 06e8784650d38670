//! Bytes in, bytes out: what lies between a protocol and a socket.
//!
//! A transport never waits: what cannot be done now ends with [`ErrorKind::WouldBlock`].
//!
//! [`ErrorKind::WouldBlock`]: std::io::ErrorKind::WouldBlock

mod plain;
pub mod secured;
pub mod security;
mod tls;

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

pub use plimsoll_system::Address;
use plimsoll_system::{self as system, Ready};
pub use plimsoll_tls::Read;

use self::plain::Plain;
use self::security::Security;
pub use self::tls::Negotiated;
use self::tls::Tls;

/// How far an attempt to connect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    /// The server has not yet responded.
    UnderWay,
    /// The socket is connected, and the handshake of TLS under way.
    Securing,
    /// Requests can be sent.
    Complete,
}

/// A transport to a server.
#[derive(Debug)]
pub enum Transport {
    /// A socket without encryption.
    Plain(Plain),
    /// TLS over a socket.
    Tls(Box<Tls>),
}

impl Transport {
    /// Starts to connect, by TLS where there is `security`; the socket then becomes ready.
    ///
    /// # Errors
    ///
    /// The error of the operating system; a connect under way is none. `WouldBlock` when the listen
    /// queue of a Unix socket is full: nothing is under way then.
    pub fn connect(
        address: &Address,
        source: Option<SocketAddrV4>,
        security: Option<&Security>,
    ) -> io::Result<Self> {
        Ok(match security {
            None => Self::Plain(Plain::connect(address, source)?),
            Some(security) => Self::Tls(Box::new(Tls::connect(address, source, security)?)),
        })
    }

    /// Goes on with the handshake, as the socket is ready for something.
    ///
    /// # Errors
    ///
    /// The error that the attempt ended with; one of TLS is a [`plimsoll_tls::Failure`].
    pub fn advance(&mut self, ready: Ready) -> io::Result<Handshake> {
        match self {
            Self::Plain(plain) => plain.advance(ready),
            Self::Tls(tls) => tls.advance(ready),
        }
    }

    /// What was agreed on in the handshake of TLS; nothing without TLS.
    #[must_use]
    pub fn negotiated(&self) -> Option<Negotiated> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(tls) => tls.negotiated(),
        }
    }

    /// Whether bytes that were taken have not all reached the kernel.
    #[inline]
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(tls) => tls.has_unsent(),
        }
    }

    /// Closes it; bytes that were taken and that the kernel has not sent.
    #[must_use]
    pub fn into_unsent_bytes(mut self) -> u64 {
        let kept = match &mut self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => tls.drop_unsent(),
        };
        kept + system::unsent_bytes(self)
    }

    /// Hands the kernel what was taken and has not reached it.
    ///
    /// # Errors
    ///
    /// The error of `send(2)`; `WouldBlock` when some is left.
    #[inline]
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(tls) => tls.flush(),
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
            Self::Tls(tls) => tls.send(bytes),
        }
    }

    /// Reads what there is, into a buffer of 64 KiB or more.
    ///
    /// # Errors
    ///
    /// The error of `recv(2)`; `WouldBlock` when there is nothing. One of TLS is a
    /// [`plimsoll_tls::Failure`]; an end that TLS did not announce is one.
    #[inline]
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        match self {
            Self::Plain(plain) => plain.receive(into),
            Self::Tls(tls) => tls.receive(into),
        }
    }
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(plain) => plain.as_fd(),
            Self::Tls(tls) => tls.as_fd(),
        }
    }
}
