//! Certificates and keys from files of PEM.

use std::fs;
use std::path::Path;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The certificates in a file, at least one.
///
/// # Errors
///
/// One sentence that names the file: it can't be read, is broken, or has none.
pub fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let content = content(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&content).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("`{}` has no certificate in PEM", path.display())),
        Err(error) => Err(format!("`{}` is broken PEM: {error}", path.display())),
    }
}

/// The first private key in a file.
///
/// # Errors
///
/// One sentence that names the file: it can't be read, or has none.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_slice(&content(path)?)
        .map_err(|_| format!("`{}` has no private key in PEM", path.display()))
}

fn content(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("can't read `{}`: {error}", path.display()))
}
