//! Sessions of TLS on sockets that never wait, for the engine and the reference server.

#![forbid(unsafe_code)]

mod own;
mod pem;
mod session;

use rustls::SupportedCipherSuite;
use rustls::crypto::CryptoProvider;

pub use crate::own::self_signed;
pub use crate::pem::{certificates, private_key};
pub use crate::session::{Failure, Read, Session};

/// The cryptography that is used.
#[must_use]
pub fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

/// The name of a cipher suite as IANA has it; the library marks those of TLS 1.3.
#[must_use]
pub fn cipher_name(suite: &SupportedCipherSuite) -> String {
    format!("{:?}", suite.suite()).replacen("TLS13_", "TLS_", 1)
}
