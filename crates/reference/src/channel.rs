//! What a client's bytes go through: TCP, or TLS over it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_system as system;
use plimsoll_tls::{Read, Session, certificates, private_key, provider};
use rustls::{ServerConfig, ServerConnection};
use serde::{Deserialize, Serialize};

/// HTTP/2 as ALPN names it.
const HTTP2: &[u8] = b"h2";

/// Files of PEM that the server shows that it is who it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// Its certificates, its own first.
    pub certificate: PathBuf,
    /// The private key to it.
    pub key: PathBuf,
}

impl TlsFiles {
    /// How connections are secured with them: TLS 1.2 and 1.3, with tickets, and both versions of
    /// HTTP by ALPN.
    pub(super) fn config(&self) -> Result<Arc<ServerConfig>, String> {
        let (chain, key) = (certificates(&self.certificate)?, private_key(&self.key)?);
        let described = |error: rustls::Error| format!("`{}`: {error}", self.certificate.display());
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider()))
            .with_safe_default_protocol_versions()
            .map_err(described)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(described)?;
        config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(described)?;
        config.alpn_protocols = vec![HTTP2.to_vec(), b"http/1.1".to_vec()];
        Ok(Arc::new(config))
    }
}

/// A connection to one client.
pub(super) enum Channel {
    Plain(OwnedFd),
    Tls(Box<Session>),
}

impl Channel {
    /// What a new connection goes through; by TLS where there is `security`.
    pub fn new(socket: OwnedFd, security: Option<&Arc<ServerConfig>>) -> io::Result<Self> {
        let Some(config) = security else { return Ok(Self::Plain(socket)) };
        let connection = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        Ok(Self::Tls(Box::new(Session::new(socket, connection))))
    }

    /// Goes on with the handshake; returns whether it is complete.
    pub fn shake_hands(&mut self) -> io::Result<bool> {
        match self {
            Self::Plain(_) => Ok(true),
            Self::Tls(session) => session.shake_hands(),
        }
    }

    /// Whether the handshake agreed on HTTP/2.
    pub fn agreed_on_http2(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(session) => session.connection().alpn_protocol() == Some(HTTP2),
        }
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => system::send(socket, bytes),
            Self::Tls(session) => session.send(bytes),
        }
    }

    /// Hands the kernel what was taken and has not reached it.
    pub fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(_) => Ok(()),
            Self::Tls(session) => session.flush(),
        }
    }

    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<Read> {
        match self {
            Self::Plain(socket) => {
                let count = system::receive(socket, into)?;
                Ok(Read { count, drained: count < into.len() })
            }
            Self::Tls(session) => session.receive(into),
        }
    }

    /// Says that nothing more will be sent; reading goes on.
    pub fn finish_sending(&mut self) -> io::Result<()> {
        if let Self::Tls(session) = self {
            session.say_farewell();
        }
        system::finish_sending(&*self)
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Plain(socket) => socket.as_fd(),
            Self::Tls(session) => session.as_fd(),
        }
    }
}
