//! One session: the handshake, then plaintext on this side and ciphertext on the other.
//!
//! Nothing is left inside between calls but part of a record that has not come whole: what one read
//! of the socket holds is decrypted and handed out at once, so that a drained socket is a drained
//! session. Of what is to be sent one portion at a time is encrypted, and the next is taken when the
//! kernel has all of it.

use std::io::{self, ErrorKind, Read as _, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use plimsoll_system as system;
use rustls::{Connection, Error};
use thiserror::Error as ThisError;

/// The longest record with its head, which may lie in the session in part: 2^14 bytes, 2,048 of
/// expansion and 5 of the head; RFC 5246, section 6.2.3.
const LONGEST_RECORD_BYTES: usize = 16_384 + 2_048 + 5;

/// What one read takes in a handshake: less than the plaintext that the session holds back.
const HANDSHAKE_READ_BYTES: usize = 4096;

/// Why there is no TLS any more. It travels within an [`io::Error`].
#[derive(Debug, ThisError)]
pub enum Failure {
    /// The handshake ended with an error of this side, or with an alert of the peer.
    #[error("{0}")]
    Handshake(#[source] Error),
    /// The peer has closed or reset the connection within the handshake.
    #[error("the connection was closed within the handshake of TLS")]
    ClosedWithin,
    /// After the handshake came what is not TLS, or an alert.
    #[error("{0}")]
    Established(#[source] Error),
    /// The peer has closed the connection without saying so in TLS.
    #[error("the connection was closed without an end of TLS")]
    Truncated,
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        Self::other(failure)
    }
}

impl Failure {
    /// The failure that an error is, if it is one.
    #[must_use]
    pub fn within(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }

    /// Number of the alert that the peer has sent, if it has; RFC 8446, section 6.
    #[must_use]
    pub fn alert(&self) -> Option<u8> {
        match self {
            Self::Handshake(Error::AlertReceived(alert))
            | Self::Established(Error::AlertReceived(alert)) => Some((*alert).into()),
            _ => None,
        }
    }
}

/// What one read has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Bytes read, of plaintext; 0 is the end of the stream.
    pub count: usize,
    /// Whether nothing is left: what comes later makes the socket ready again.
    pub drained: bool,
}

/// A session of TLS on a socket.
#[derive(Debug)]
pub struct Session {
    socket: OwnedFd,
    connection: Connection,
    /// Plaintext that came with the last bytes of the handshake.
    left_bytes: usize,
    /// Whether the peer has said that nothing follows.
    has_ended: bool,
    failure: Option<Error>,
}

impl Session {
    /// A session that has not begun, on a socket that is connected or will be.
    #[must_use]
    pub fn new(socket: OwnedFd, connection: impl Into<Connection>) -> Self {
        let connection = connection.into();
        Self { socket, connection, left_bytes: 0, has_ended: false, failure: None }
    }

    /// What the library knows of it.
    #[must_use]
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Goes on with the handshake until the peer has to say something, or there is no more room;
    /// returns whether it is complete.
    ///
    /// # Errors
    ///
    /// A [`Failure`].
    pub fn shake_hands(&mut self) -> io::Result<bool> {
        let mut ciphertext = [0; HANDSHAKE_READ_BYTES];
        loop {
            // A peer that has gone may have said why before.
            let is_flushed = self.flush().is_ok();
            if is_flushed && !self.connection.is_handshaking() {
                return Ok(true);
            }
            match system::receive(&self.socket, &mut ciphertext) {
                Ok(0) => return Err(Failure::ClosedWithin.into()),
                Ok(count) => self.hear(&ciphertext[..count])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(_) => return Err(Failure::ClosedWithin.into()),
            }
        }
    }

    /// Takes in bytes of the handshake, and of what follows it.
    fn hear(&mut self, mut ciphertext: &[u8]) -> io::Result<()> {
        while !ciphertext.is_empty() && !self.has_ended && self.failure.is_none() {
            self.connection.read_tls(&mut ciphertext)?;
            let is_handshaking = self.connection.is_handshaking();
            match self.connection.process_new_packets() {
                Ok(state) => {
                    self.left_bytes = state.plaintext_bytes_to_read();
                    self.has_ended = state.peer_has_closed();
                }
                Err(error) if is_handshaking => {
                    // The peer is told why, if it still listens.
                    let _ = self.flush();
                    return Err(Failure::Handshake(error).into());
                }
                Err(error) => self.failure = Some(error),
            }
        }
        if self.has_ended && self.connection.is_handshaking() {
            return Err(Failure::ClosedWithin.into());
        }
        Ok(())
    }

    /// Hands ciphertext to the kernel.
    ///
    /// # Errors
    ///
    /// The error of `send(2)`; `WouldBlock` when some is left.
    pub fn flush(&mut self) -> io::Result<()> {
        let Self { socket, connection, .. } = self;
        while connection.wants_write() {
            connection.write_tls(&mut Outlet(socket))?;
        }
        Ok(())
    }

    /// Whether there is ciphertext that the kernel has not taken.
    #[must_use]
    pub fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    /// Drops the ciphertext that the kernel has not taken, and with it the session; returns its length.
    pub fn drop_unsent(&mut self) -> u64 {
        let mut dropped = 0;
        while let Ok(count @ 1..) = self.connection.write_tls(&mut io::sink()) {
            dropped += count as u64;
        }
        dropped
    }

    /// Encrypts bytes and hands them to the kernel; returns how many were taken.
    ///
    /// # Errors
    ///
    /// The error of `send(2)`; `WouldBlock` when bytes taken before have not reached the kernel.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.flush()?;
        let count = self.connection.writer().write(bytes)?;
        match self.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ => Ok(count),
        }
    }

    /// Reads and decrypts what there is, into a buffer of 64 KiB or more.
    ///
    /// # Errors
    ///
    /// The error of `recv(2)`; `WouldBlock` when there is nothing. [`Failure`] when the peer breaks
    /// TLS, or closes the connection without saying so in TLS.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        let ciphertext_bytes = into.len().saturating_sub(LONGEST_RECORD_BYTES) / 2;
        let (plaintext, ciphertext) = into.split_at_mut(into.len() - ciphertext_bytes);
        let mut count = self.take_left(plaintext)?;
        let mut drained = false;
        while count == 0 {
            if let Some(error) = self.failure.take() {
                return Err(Failure::Established(error).into());
            }
            if self.has_ended {
                return Ok(Read { count: 0, drained: true });
            }
            let received = system::receive(&self.socket, ciphertext)?;
            if received == 0 {
                return Err(Failure::Truncated.into());
            }
            count = self.decrypt(&ciphertext[..received], plaintext)?;
            drained = received < ciphertext_bytes;
        }
        let follows = self.has_ended || self.failure.is_some();
        Ok(Read { count, drained: drained && !follows })
    }

    /// Plaintext that came with the handshake.
    fn take_left(&mut self, plaintext: &mut [u8]) -> io::Result<usize> {
        let count = std::mem::take(&mut self.left_bytes);
        if count > 0 {
            self.connection.reader().read_exact(&mut plaintext[..count])?;
        }
        Ok(count)
    }

    /// Decrypts what has come; returns how many bytes of plaintext that was. A failure is kept until
    /// the plaintext before it has been handed out.
    fn decrypt(&mut self, mut ciphertext: &[u8], plaintext: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while !ciphertext.is_empty() && !self.has_ended && self.failure.is_none() {
            self.connection.read_tls(&mut ciphertext)?;
            match self.connection.process_new_packets() {
                Ok(state) => {
                    let bytes = state.plaintext_bytes_to_read();
                    let place = &mut plaintext[count..count + bytes];
                    self.connection.reader().read_exact(place)?;
                    count += bytes;
                    self.has_ended = state.peer_has_closed();
                }
                Err(error) => {
                    count += self.read_before_failure(&mut plaintext[count..]);
                    self.failure = Some(error);
                }
            }
        }
        // Alerts, and the answer to a change of keys; what is left goes when there is room.
        let _ = self.flush();
        Ok(count)
    }

    /// Plaintext of the records before the one that failed.
    fn read_before_failure(&mut self, plaintext: &mut [u8]) -> usize {
        let mut count = 0;
        while let Ok(bytes @ 1..) = self.connection.reader().read(&mut plaintext[count..]) {
            count += bytes;
        }
        count
    }

    /// Says that nothing follows, as far as there is room.
    pub fn say_farewell(&mut self) {
        if !self.connection.is_handshaking() {
            self.connection.send_close_notify();
        }
        let _ = self.flush();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.say_farewell();
    }
}

impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Where a session writes to.
struct Outlet<'a>(&'a OwnedFd);

impl Write for Outlet<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        system::send(self.0, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
