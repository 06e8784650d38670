//! TLS over a socket, as a client.

use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsFd, BorrowedFd};

use plimsoll_system::{self as system, Address, Ready};
use plimsoll_tls::{Failure, Session, cipher_name};
use rustls::{HandshakeKind, ProtocolVersion};
use serde::Serialize;

use super::security::Security;
use super::{Handshake, Read};

/// A socket with a session of TLS on it.
#[derive(Debug)]
pub struct Tls {
    session: Session,
    is_connected: bool,
}

/// What client and server have agreed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Negotiated {
    /// `TLS 1.3`.
    pub version: &'static str,
    /// The cipher suite as IANA names it.
    pub cipher: String,
    /// The group of the key exchange; none where a session of TLS 1.2 was resumed.
    pub group: Option<String>,
    /// The protocol by ALPN; none where none was offered or chosen.
    pub alpn: Option<String>,
    /// Whether an earlier session was resumed.
    pub resumed: bool,
}

impl Tls {
    pub(super) fn connect(
        address: &Address,
        source: Option<SocketAddrV4>,
        security: &Security,
    ) -> io::Result<Self> {
        let connection = security.connection().map_err(Failure::Handshake)?;
        let session = Session::new(system::connect(address, source)?, connection);
        Ok(Self { session, is_connected: false })
    }

    pub(super) fn advance(&mut self, ready: Ready) -> io::Result<Handshake> {
        if !self.is_connected {
            if !ready.writable && !ready.hung_up {
                return Ok(Handshake::UnderWay);
            }
            system::connect_result(&self.session)?;
            self.is_connected = true;
            // What fails here fails again later. Nothing is read, so that who asks can tell the
            // time of TCP from that of TLS; an answer makes the socket ready.
            let _ = self.session.flush();
            return Ok(Handshake::Securing);
        }
        let is_complete = self.session.shake_hands()?;
        Ok(if is_complete { Handshake::Complete } else { Handshake::Securing })
    }

    /// What was agreed on; nothing before the handshake is complete.
    pub(super) fn negotiated(&self) -> Option<Negotiated> {
        let agreed = self.session.connection();
        let group = agreed.negotiated_key_exchange_group();
        let alpn = agreed.alpn_protocol();
        Some(Negotiated {
            version: match agreed.protocol_version()? {
                ProtocolVersion::TLSv1_2 => "TLS 1.2",
                _ => "TLS 1.3",
            },
            cipher: cipher_name(&agreed.negotiated_cipher_suite()?),
            group: group.map(|group| format!("{:?}", group.name())),
            alpn: alpn.map(|name| String::from_utf8_lossy(name).into_owned()),
            resumed: agreed.handshake_kind()? == HandshakeKind::Resumed,
        })
    }

    pub(super) fn has_unsent(&self) -> bool {
        self.session.has_unsent()
    }

    pub(super) fn drop_unsent(&mut self) -> u64 {
        self.session.drop_unsent()
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.session.flush()
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.session.send(bytes)
    }

    pub(super) fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        self.session.receive(into)
    }
}

impl AsFd for Tls {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.session.as_fd()
    }
}
