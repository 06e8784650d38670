//! Certificates that are signed by themselves.

use rcgen::{CertificateParams, KeyPair};

/// A certificate for names and addresses, and the private key to it, both in PEM: ECDSA with P-256.
///
/// # Errors
///
/// One sentence: a name is none, or no random bytes are to be had.
pub fn self_signed(names: Vec<String>) -> Result<(String, String), String> {
    let described = |error: rcgen::Error| format!("no certificate can be made: {error}");
    let key = KeyPair::generate().map_err(described)?;
    let params = CertificateParams::new(names).map_err(described)?;
    let certificate = params.self_signed(&key).map_err(described)?;
    Ok((certificate.pem(), key.serialize_pem()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{certificates, private_key};

    #[test]
    fn a_certificate_and_its_key_are_read_again() {
        let (certificate, key) = self_signed(vec!["127.0.0.1".into(), "localhost".into()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (file, key_file) = (folder.path().join("c.pem"), folder.path().join("k.pem"));
        fs::write(&file, certificate).unwrap();
        fs::write(&key_file, key).unwrap();
        let (chain, key) = (certificates(&file).unwrap(), private_key(&key_file).unwrap());
        let config = rustls::ServerConfig::builder_with_provider(crate::provider().into())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key);
        assert!(config.is_ok());
    }
}
