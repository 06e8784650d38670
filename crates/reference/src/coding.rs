//! Compressed bodies: the constant ones of the contract, made once, for clients that accept them.
//!
//! # Source
//!
//! RFC 9110, sections 8.4 and 12.5.3.

use std::io::{self, Write};
use std::sync::LazyLock;

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

/// Lengths of bodies of letters, in bytes.
pub(super) const LENGTHS: [usize; 3] = [2048, 8192, 32768];

/// Quality and base-2 logarithm of the window of Brotli.
const BROTLI: (u32, u32) = (5, 18);

const BUFFER_BYTES: usize = 4096;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Br,
    Zstd,
}

impl Coding {
    const ALL: [Self; 3] = [Self::Gzip, Self::Br, Self::Zstd];

    /// The first one in a list of `Accept-Encoding` that is known and not excluded by its weight.
    pub fn accepted(list: &[u8]) -> Option<Self> {
        list.split(|&byte| byte == b',').find_map(|one| {
            let mut parts = one.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
            let name = parts.next().unwrap_or_default();
            let is_excluded = parts.any(|part| matches!(part, b"q=0" | b"q=0.0"));
            let is = |coding: &Self| name.eq_ignore_ascii_case(coding.name().as_bytes());
            Self::ALL.into_iter().find(is).filter(|_| !is_excluded)
        })
    }

    /// Its name in header fields.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Br => "br",
            Self::Zstd => "zstd",
        }
    }

    /// A body in this coding.
    pub fn encoded(self, body: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body)?;
                encoder.finish()
            }
            Self::Br => {
                let (quality, window) = BROTLI;
                let mut encoder = CompressorWriter::new(Vec::new(), BUFFER_BYTES, quality, window);
                encoder.write_all(body)?;
                Ok(encoder.into_inner())
            }
            Self::Zstd => zstd::encode_all(body, zstd::DEFAULT_COMPRESSION_LEVEL),
        }
    }
}

/// Coding, length and compressed bytes of each body of letters.
static BODIES: LazyLock<Vec<(Coding, usize, Vec<u8>)>> = LazyLock::new(|| {
    let each = Coding::ALL.into_iter().flat_map(|coding| LENGTHS.map(|length| (coding, length)));
    let encoded = each
        .map(|(coding, length)| Some((coding, length, coding.encoded(&vec![b'A'; length]).ok()?)));
    encoded.flatten().collect()
});

/// A body of so many letters, compressed.
pub(super) fn letters(coding: Coding, length: usize) -> Option<&'static [u8]> {
    let found = BODIES.iter().find(|one| (one.0, one.1) == (coding, length));
    found.map(|(_, _, body)| body.as_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_is_known_and_not_excluded_is_taken() {
        for (list, expected) in [
            ("gzip, br", Some(Coding::Gzip)),
            ("deflate, BR;q=0.5, gzip", Some(Coding::Br)),
            ("gzip;q=0, zstd", Some(Coding::Zstd)),
            ("gzip; q=0", None),
            ("identity", None),
            ("", None),
        ] {
            assert_eq!(Coding::accepted(list.as_bytes()), expected, "{list}");
        }
    }

    #[test]
    fn bodies_are_those_of_the_contract_and_smaller() {
        for length in LENGTHS {
            let body = letters(Coding::Zstd, length).unwrap();
            assert_eq!(zstd::decode_all(body).unwrap(), vec![b'A'; length]);
            for coding in Coding::ALL {
                assert!(letters(coding, length).unwrap().len() < length / 10, "{coding:?}");
            }
        }
        assert_eq!(letters(Coding::Gzip, 1), None);
    }
}
