//! Where a server is reached: over TCP, or at a Unix socket.

use std::fmt;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Begins an address that is the path of a Unix socket.
const UNIX: &str = "unix:";

/// The longest path of a Unix socket, in bytes.
///
/// # Source
///
/// `unix(7)`: `sun_path` has 108 bytes, the last of them a NUL.
const LONGEST_PATH_BYTES: usize = 107;

/// Where a server is reached: `127.0.0.1:8080`, or `unix:/run/app.sock`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub enum Address {
    /// Address and port.
    Tcp(SocketAddr),
    /// The absolute path of a socket file.
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix(UNIX).map(PathBuf::from) else {
            let address = text.parse().map(Self::Tcp);
            return address.map_err(|_| format!("`{text}` is not an address and port"));
        };
        let length_bytes = path.as_os_str().as_bytes().len();
        if !path.is_absolute() || length_bytes > LONGEST_PATH_BYTES {
            let path = path.display();
            return Err(format!(
                "`{path}` is not an absolute path of at most {LONGEST_PATH_BYTES} bytes"
            ));
        }
        Ok(Self::Unix(path))
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(formatter),
            Self::Unix(path) => write!(formatter, "{UNIX}{}", path.display()),
        }
    }
}

impl From<Address> for String {
    fn from(address: Address) -> Self {
        address.to_string()
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_same_after_writing_and_reading() {
        for text in ["127.0.0.1:8080", "[::1]:80", "unix:/run/app.sock", "unix:/run/a b:1"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused_with_what_is_wrong() {
        let long = format!("unix:/{}", "x".repeat(LONGEST_PATH_BYTES));
        for (text, problem) in [
            ("localhost:80", "not an address and port"),
            ("127.0.0.1", "not an address and port"),
            ("unix:app.sock", "absolute path"),
            ("unix:", "absolute path"),
            (&long, "at most 107 bytes"),
        ] {
            let error = text.parse::<Address>().unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
        assert!(long[..long.len() - 1].parse::<Address>().is_ok());
    }
}
