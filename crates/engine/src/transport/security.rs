//! What connections by TLS have in common: who is trusted, what is offered, and session tickets.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use plimsoll_tls::{certificates, private_key, provider};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue,
    WebPkiServerVerifier, verify_server_name,
};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, NamedGroup, RootCertStore,
    SignatureScheme,
};

use crate::error::EngineError;
use crate::outcome::is_of_an_authority;
use crate::spec::tls::{Resume, Tls};

/// Tickets of TLS 1.3 that are kept: each is used once, and a server hands out two or more for each
/// connection.
const MOST_TICKETS: usize = 4096;

/// What all connections to a server by TLS have in common.
#[derive(Clone, Debug)]
pub struct Security {
    config: Arc<ClientConfig>,
    server_name: ServerName<'static>,
}

impl Security {
    /// Reads the files that `tls` names.
    ///
    /// # Errors
    ///
    /// [`EngineError::Spec`] with every file that can't be read or has no certificate or key.
    pub fn new(tls: &Tls) -> Result<Self, EngineError> {
        let server_name = ServerName::try_from(tls.server_name.clone())
            .map_err(|error| wrong(&format!("`tls.server_name`: {error}")))?;
        let mut problems = Vec::new();
        let trusted = if tls.insecure { Ok(None) } else { trusted(tls).map(Some) };
        let trusted = trusted.map_err(|found| problems.extend(found)).ok();
        let own = own_certificate(tls).map_err(|found| problems.push(found)).ok();
        let (Some(trusted), Some(own)) = (trusted, own) else {
            return Err(EngineError::Spec(problems));
        };
        let offered = CryptoProvider { cipher_suites: tls.suites(), ..provider() };
        let algorithms = offered.signature_verification_algorithms;
        let builder = ClientConfig::builder_with_provider(Arc::new(offered))
            .with_protocol_versions(&tls.versions())
            .map_err(|error| wrong(&error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Verifier { algorithms, trusted }));
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| wrong(&format!("`tls.certificate` and `tls.key`: {error}")))?,
        };
        config.alpn_protocols = tls.alpn.iter().map(|name| name.clone().into_bytes()).collect();
        config.resumption = match tls.resume {
            Resume::Never => Resumption::disabled(),
            Resume::Always => Resumption::store(Arc::new(Tickets::default())),
        };
        Ok(Self { config: Arc::new(config), server_name })
    }

    /// A connection whose handshake has not begun.
    ///
    /// # Errors
    ///
    /// What the library can't begin it for, such as no random numbers.
    pub(super) fn connection(&self) -> Result<ClientConnection, Error> {
        ClientConnection::new(Arc::clone(&self.config), self.server_name.clone())
    }
}

fn wrong(problem: &str) -> EngineError {
    EngineError::Spec(vec![problem.to_owned()])
}

/// Who is trusted.
fn trusted(tls: &Tls) -> Result<Trusted, Vec<String>> {
    let mut roots = RootCertStore::empty();
    if tls.ca.is_empty() {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let (mut named, mut problems) = (Vec::new(), Vec::new());
    for path in &tls.ca {
        match certificates(path) {
            Ok(found) => {
                problems.extend(
                    found
                        .iter()
                        .filter_map(|one| roots.add(one.clone()).err())
                        .map(|error| format!("`{}`: {error}", path.display())),
                );
                named.extend(found);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    if roots.is_empty() {
        return Err(vec!["this host trusts no authority, and `tls.ca` names none".into()]);
    }
    let provider = Arc::new(provider());
    let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .build()
        .map_err(|error| vec![error.to_string()])?;
    Ok(Trusted { authorities, named })
}

type Own = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn own_certificate(tls: &Tls) -> Result<Option<Own>, String> {
    let (Some(certificate), Some(key)) = (&tls.certificate, &tls.key) else { return Ok(None) };
    Ok(Some((certificates(certificate)?, private_key(key)?)))
}

/// Decides about certificates; that the server has the key to its own is verified at any rate.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    /// Who is trusted; nothing where any certificate will do.
    trusted: Option<Trusted>,
}

/// What an authority has signed is trusted, and an authority's own certificate where its file was
/// named: `openssl req -x509` makes such ones for servers.
#[derive(Debug)]
struct Trusted {
    authorities: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(Trusted { authorities, named }) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        match authorities.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // Its dates were looked at before, its name was not.
            Err(Error::InvalidCertificate(problem))
                if is_of_an_authority(&problem) && named.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Session tickets of the one server; the library's own store keeps eight.
#[derive(Debug, Default)]
struct Tickets(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    group: Option<NamedGroup>,
    tls12: Option<Tls12ClientSessionValue>,
    tls13: VecDeque<Tls13ClientSessionValue>,
}

impl Tickets {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _: ServerName<'static>, group: NamedGroup) {
        self.kept().group = Some(group);
    }

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        self.kept().group
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        self.kept().tls12 = Some(session);
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        self.kept().tls12.clone()
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        self.kept().tls12 = None;
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        let mut kept = self.kept();
        if kept.tls13.len() == MOST_TICKETS {
            kept.tls13.pop_front();
        }
        kept.tls13.push_back(ticket);
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        self.kept().tls13.pop_back()
    }
}
