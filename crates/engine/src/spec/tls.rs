//! What of TLS is asked for.

use std::path::PathBuf;

use plimsoll_tls::{cipher_name, provider};
use rustls::pki_types::ServerName;
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};
use serde::Deserialize;

use crate::error::EngineError;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Version {
    /// RFC 5246.
    #[serde(rename = "1.2")]
    Tls12,
    /// RFC 8446.
    #[serde(rename = "1.3")]
    Tls13,
}

impl Version {
    /// Both, the latest first.
    pub const ALL: [Self; 2] = [Self::Tls13, Self::Tls12];

    /// It in the library.
    #[must_use]
    pub fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::Tls12 => &rustls::version::TLS12,
            Self::Tls13 => &rustls::version::TLS13,
        }
    }
}

/// Whether a connection takes up the session of an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resume {
    /// Every handshake is a full one.
    #[default]
    Never,
    /// As soon as the server has given a ticket.
    Always,
}

/// TLS between the engine and the server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Host name or address of the server: what its certificate is for, and what SNI says of a name.
    pub server_name: String,
    /// Files of PEM with the authorities that are trusted; empty trusts those of the system.
    #[serde(default)]
    pub ca: Vec<PathBuf>,
    /// Whether any certificate will do.
    #[serde(default)]
    pub insecure: bool,
    /// File of PEM with the client's certificates, its own first.
    #[serde(default)]
    pub certificate: Option<PathBuf>,
    /// File of PEM with the private key to it.
    #[serde(default)]
    pub key: Option<PathBuf>,
    /// Protocols that are offered by ALPN, the preferred one first; empty offers none.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// The oldest version that is offered.
    #[serde(default = "oldest")]
    pub min_version: Version,
    /// The latest version that is offered.
    #[serde(default = "latest")]
    pub max_version: Version,
    /// Whether sessions are resumed.
    #[serde(default)]
    pub resume: Resume,
    /// Names of the cipher suites that are offered, as IANA has them, the preferred one first; empty
    /// offers all that there are.
    #[serde(default)]
    pub ciphers: Vec<String>,
}

fn oldest() -> Version {
    Version::Tls12
}

fn latest() -> Version {
    Version::Tls13
}

impl Tls {
    /// Parses it on its own and validates it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Spec`] with every problem found.
    pub fn parse(json: &str) -> Result<Self, EngineError> {
        let tls: Self = serde_json::from_str(json)
            .map_err(|error| EngineError::Spec(vec![error.to_string()]))?;
        let mut problems = Vec::new();
        tls.add_problems(&mut problems);
        if problems.is_empty() { Ok(tls) } else { Err(EngineError::Spec(problems)) }
    }

    /// The versions that are offered, the latest first.
    #[must_use]
    pub fn versions(&self) -> Vec<&'static SupportedProtocolVersion> {
        let offered = Version::ALL.into_iter().filter(|one| self.offers(*one));
        offered.map(Version::supported).collect()
    }

    /// The cipher suites that are offered, the preferred one first.
    #[must_use]
    pub fn suites(&self) -> Vec<SupportedCipherSuite> {
        let all = provider().cipher_suites;
        if self.ciphers.is_empty() {
            return all;
        }
        let named = self.ciphers.iter();
        named.filter_map(|name| all.iter().find(|suite| is_named(suite, name)).copied()).collect()
    }

    fn offers(&self, version: Version) -> bool {
        (self.min_version..=self.max_version).contains(&version)
    }

    pub(super) fn add_problems(&self, problems: &mut Vec<String>) {
        if ServerName::try_from(self.server_name.as_str()).is_err() {
            let name = &self.server_name;
            problems.push(format!("`tls.server_name` is `{name}`, neither a name nor an address"));
        }
        if self.min_version > self.max_version {
            problems.push("`tls.min_version` is later than `tls.max_version`".into());
        }
        if self.certificate.is_some() != self.key.is_some() {
            problems.push("`tls.certificate` and `tls.key` need each other".into());
        }
        if self.insecure && !self.ca.is_empty() {
            problems.push("`tls.insecure` and `tls.ca` exclude each other".into());
        }
        if self.alpn.iter().any(|name| name.is_empty() || name.len() > usize::from(u8::MAX)) {
            problems.push("a name in `tls.alpn` must have between 1 and 255 bytes".into());
        }
        self.add_cipher_problems(problems);
    }

    fn add_cipher_problems(&self, problems: &mut Vec<String>) {
        let all = provider().cipher_suites;
        let is_known = |name: &String| all.iter().any(|suite| is_named(suite, name));
        let unknown: Vec<_> = self.ciphers.iter().filter(|name| !is_known(name)).collect();
        for name in &unknown {
            let known: Vec<_> = all.iter().map(cipher_name).collect();
            problems.push(format!("cipher `{name}` is none of {}", known.join(", ")));
        }
        let offered = self.versions();
        let suites = self.suites();
        let usable = suites.iter().any(|suite| offered.contains(&suite.version()));
        if unknown.is_empty() && !usable && self.min_version <= self.max_version {
            problems.push("none of `tls.ciphers` belongs to a version that is offered".into());
        }
    }
}

fn is_named(suite: &SupportedCipherSuite, name: &str) -> bool {
    cipher_name(suite).eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(json: &str) -> Vec<String> {
        match Tls::parse(json).unwrap_err() {
            EngineError::Spec(problems) => problems,
            error => panic!("{error}"),
        }
    }

    #[test]
    fn a_name_is_enough() {
        let tls = Tls::parse(r#"{"server_name": "localhost"}"#).unwrap();
        assert_eq!(tls.versions().len(), 2);
        assert_eq!(tls.suites().len(), provider().cipher_suites.len());
        assert_eq!(tls.resume, Resume::Never);
    }

    #[test]
    fn addresses_are_names_too() {
        for name in ["127.0.0.1", "::1", "a_b.example"] {
            Tls::parse(&format!(r#"{{"server_name": "{name}"}}"#)).unwrap();
        }
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let found = problems(
            r#"{"server_name": "a b", "ca": ["x"], "insecure": true, "key": "k", "alpn": [""],
                "min_version": "1.3", "max_version": "1.2", "ciphers": ["RC4"]}"#,
        );
        assert_eq!(found.len(), 6, "{found:?}");
        assert!(found.iter().any(|problem| problem.contains("TLS_AES_128_GCM_SHA256")));
    }

    #[test]
    fn ciphers_must_fit_a_version_that_is_offered() {
        let with = |version: &str| {
            format!(
                r#"{{"server_name": "a", "ciphers": ["tls_aes_128_gcm_sha256"],
                     "min_version": "{version}", "max_version": "{version}"}}"#
            )
        };
        assert_eq!(Tls::parse(&with("1.3")).unwrap().suites().len(), 1);
        assert_eq!(problems(&with("1.2")).len(), 1);
    }
}
