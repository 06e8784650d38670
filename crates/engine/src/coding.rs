//! Content codings: what a body is compressed with, and a decoder that takes it in pieces. Pure.
//!
//! # Source
//!
//! RFC 9110, section 8.4; RFC 1952 (gzip), RFC 7932 (br), RFC 8878 and RFC 9659 (zstd).

use std::fmt;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use flate2::{Decompress, FlushDecompress, Status};
use serde::{Deserialize, Serialize};
use zstd::stream::raw::{DParameter, Decoder as ZstdDecoder, Operation};

use crate::outcome::Outcome;

/// The most bytes that one body is decoded to: a small response must not fill memory or time.
pub const MOST_DECODED_BYTES: u64 = 256 << 20;

/// Decoded bytes that are handed on at one time.
const PIECE_BYTES: usize = 16 * 1024;

/// Base-2 logarithm of the window of gzip, in bytes.
const GZIP_WINDOW_BITS: u8 = 15;

/// Base-2 logarithm of the largest window of zstd in HTTP, in bytes; RFC 9659, section 3.
const ZSTD_WINDOW_BITS: u32 = 23;

/// A content coding that a request can accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// DEFLATE with a checksum.
    Gzip,
    /// Brotli.
    Br,
    /// Zstandard.
    Zstd,
}

/// What the field `Content-Encoding` of a response says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coded {
    /// Nothing: the body is what it is.
    #[default]
    Not,
    /// The body has this one coding.
    By(Coding),
    /// It has another coding, or several.
    Otherwise,
}

impl Coded {
    /// What a value of the field says, beside what earlier ones said.
    #[must_use]
    pub fn and(self, value: &[u8]) -> Self {
        let names = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        names.fold(self, |earlier, name| match (earlier, Self::named(name)) {
            (earlier, Self::Not) => earlier,
            (Self::Not, coded) => coded,
            _ => Self::Otherwise,
        })
    }

    fn named(name: &[u8]) -> Self {
        let is = |coding: &str| name.eq_ignore_ascii_case(coding.as_bytes());
        if is("") || is("identity") {
            Self::Not
        } else if is("gzip") || is("x-gzip") {
            Self::By(Coding::Gzip)
        } else if is("br") {
            Self::By(Coding::Br)
        } else if is("zstd") {
            Self::By(Coding::Zstd)
        } else {
            Self::Otherwise
        }
    }
}

/// Bodies that were decoded to their end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Decoded {
    /// How many.
    pub bodies: u64,
    /// Their length as they came, in bytes.
    pub coded_bytes: u64,
    /// Their length without the coding, in bytes.
    pub decoded_bytes: u64,
}

impl Decoded {
    /// Adds more bodies.
    pub fn add(&mut self, more: Self) {
        self.bodies += more.bodies;
        self.coded_bytes += more.coded_bytes;
        self.decoded_bytes += more.decoded_bytes;
    }
}

/// How far a coded body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// No byte of it has come; a response may have no body whatever its head says.
    Empty,
    /// Its end has not come.
    Within,
    /// It is whole.
    Whole,
    /// It cannot be decoded: how the response ends.
    Failed(Outcome),
}

/// Decodes one body.
#[derive(Debug)]
pub struct Decoder {
    coding: Coding,
    stream: Stream,
    progress: Progress,
    coded_bytes: u64,
    decoded_bytes: u64,
}

impl Decoder {
    /// A decoder of a body that has not begun.
    #[must_use]
    pub fn new(coding: Coding) -> Self {
        let stream = Stream::new(coding);
        Self { coding, stream, progress: Progress::Empty, coded_bytes: 0, decoded_bytes: 0 }
    }

    /// A decoder of a body whose coding the request does not accept: nothing is decoded.
    #[must_use]
    pub fn refusing() -> Self {
        Self { progress: Progress::Failed(Outcome::WrongCoding), ..Self::new(Coding::Gzip) }
    }

    /// How the response ends that is complete, unless its body is decoded to its end.
    #[must_use]
    pub fn problem(&self) -> Option<Outcome> {
        match self.progress {
            Progress::Empty | Progress::Whole => None,
            Progress::Within => Some(Outcome::BrokenCoding),
            Progress::Failed(outcome) => Some(outcome),
        }
    }

    /// What was decoded; nothing as long as the body has not been decoded to its end.
    #[must_use]
    pub fn decoded(&self) -> Option<Decoded> {
        let Self { coded_bytes, decoded_bytes, .. } = *self;
        (self.progress == Progress::Whole).then_some(Decoded {
            bodies: 1,
            coded_bytes,
            decoded_bytes,
        })
    }

    /// Decodes the next piece of the body; `take` gets what that makes, in pieces.
    pub fn decode(&mut self, mut coded: &[u8], mut take: impl FnMut(&[u8])) {
        let mut decoded = [0; PIECE_BYTES];
        self.coded_bytes += coded.len() as u64;
        while !matches!(self.progress, Progress::Failed(_)) {
            if self.progress == Progress::Whole {
                if coded.is_empty() {
                    return;
                }
                // RFC 1952 and RFC 8878 have bodies of several parts; to br, all else is an error.
                if self.coding == Coding::Br {
                    self.progress = Progress::Failed(Outcome::BrokenCoding);
                    return;
                }
                self.stream = Stream::new(self.coding);
            }
            let Some(step) = self.stream.step(coded, &mut decoded) else {
                self.progress = Progress::Failed(Outcome::BrokenCoding);
                return;
            };
            coded = &coded[step.read..];
            take(&decoded[..step.written]);
            self.decoded_bytes += step.written as u64;
            self.progress = if self.decoded_bytes > MOST_DECODED_BYTES {
                Progress::Failed(Outcome::DecodedTooLarge)
            } else if step.ended {
                Progress::Whole
            } else {
                Progress::Within
            };
            let has_stopped = step.read == 0 && step.written == 0;
            if !step.ended && (has_stopped || coded.is_empty() && step.written < decoded.len()) {
                return;
            }
        }
    }
}

/// How far one step came.
struct Step {
    read: usize,
    written: usize,
    ended: bool,
}

enum Stream {
    Gzip(Decompress),
    Br(Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>),
    /// None where the library has no memory for it.
    Zstd(Option<ZstdDecoder<'static>>),
}

impl Stream {
    fn new(coding: Coding) -> Self {
        let alloc = StandardAlloc::default;
        match coding {
            Coding::Gzip => Self::Gzip(Decompress::new_gzip(GZIP_WINDOW_BITS)),
            Coding::Br => Self::Br(Box::new(BrotliState::new(alloc(), alloc(), alloc()))),
            Coding::Zstd => Self::Zstd(zstd_decoder()),
        }
    }

    /// Decodes on, as far as `coded` and the room in `decoded` go; nothing if what came is corrupt.
    fn step(&mut self, coded: &[u8], decoded: &mut [u8]) -> Option<Step> {
        match self {
            Self::Gzip(stream) => {
                let (before_in, before_out) = (stream.total_in(), stream.total_out());
                let status = stream.decompress(coded, decoded, FlushDecompress::None).ok()?;
                Some(Step {
                    read: usize::try_from(stream.total_in() - before_in).ok()?,
                    written: usize::try_from(stream.total_out() - before_out).ok()?,
                    ended: status == Status::StreamEnd,
                })
            }
            Self::Br(state) => {
                let (mut left, mut read) = (coded.len(), 0);
                let (mut room, mut written, mut total) = (decoded.len(), 0, 0);
                let result = BrotliDecompressStream(
                    &mut left,
                    &mut read,
                    coded,
                    &mut room,
                    &mut written,
                    decoded,
                    &mut total,
                    state,
                );
                let ended = matches!(result, BrotliResult::ResultSuccess);
                let is_broken = matches!(result, BrotliResult::ResultFailure);
                (!is_broken).then_some(Step { read, written, ended })
            }
            Self::Zstd(stream) => {
                let status = stream.as_mut()?.run_on_buffers(coded, decoded).ok()?;
                Some(Step {
                    read: status.bytes_read,
                    written: status.bytes_written,
                    ended: status.remaining == 0,
                })
            }
        }
    }
}

fn zstd_decoder() -> Option<ZstdDecoder<'static>> {
    let mut decoder = ZstdDecoder::new().ok()?;
    decoder.set_parameter(DParameter::WindowLogMax(ZSTD_WINDOW_BITS)).ok()?;
    Some(decoder)
}

impl fmt::Debug for Stream {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Gzip(_) => "Gzip",
            Self::Br(_) => "Br",
            Self::Zstd(_) => "Zstd",
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use brotli::enc::BrotliEncoderParams;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    const ALL: [Coding; 3] = [Coding::Gzip, Coding::Br, Coding::Zstd];

    fn coded(coding: Coding, body: &[u8]) -> Vec<u8> {
        match coding {
            Coding::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
                encoder.write_all(body).unwrap();
                encoder.finish().unwrap()
            }
            Coding::Br => {
                let mut encoded = Vec::new();
                let parameters = BrotliEncoderParams { quality: 1, ..Default::default() };
                brotli::BrotliCompress(&mut &*body, &mut encoded, &parameters).unwrap();
                encoded
            }
            Coding::Zstd => zstd::encode_all(body, 0).unwrap(),
        }
    }

    /// What pieces of a body are decoded to, and how the response ends.
    fn decoded(coding: Coding, pieces: &[&[u8]]) -> (Vec<u8>, Option<Outcome>) {
        let mut decoder = Decoder::new(coding);
        let mut body = Vec::new();
        for piece in pieces {
            decoder.decode(piece, |decoded| body.extend_from_slice(decoded));
        }
        (body, decoder.problem())
    }

    #[test]
    fn the_field_is_read_as_it_is_meant() {
        for (values, expected) in [
            (&["gzip"][..], Coded::By(Coding::Gzip)),
            (&["X-GZIP"], Coded::By(Coding::Gzip)),
            (&[" br "], Coded::By(Coding::Br)),
            (&["identity, zstd"], Coded::By(Coding::Zstd)),
            (&["identity"], Coded::Not),
            (&[""], Coded::Not),
            (&["deflate"], Coded::Otherwise),
            (&["gzip, br"], Coded::Otherwise),
            (&["gzip", "gzip"], Coded::Otherwise),
        ] {
            let read = values.iter().fold(Coded::Not, |read, value| read.and(value.as_bytes()));
            assert_eq!(read, expected, "{values:?}");
        }
    }

    #[test]
    fn a_body_that_is_cut_off_or_changed_is_broken() {
        let body: Vec<u8> = (0..2_000_u32).flat_map(u32::to_le_bytes).collect();
        for coding in ALL {
            let whole = coded(coding, &body);
            for end in [1, whole.len() / 2, whole.len() - 1] {
                let problem = decoded(coding, &[&whole[..end]]).1;
                assert_eq!(problem, Some(Outcome::BrokenCoding), "{coding:?} {end}");
            }
            let noise = vec![0xA5; 1000];
            assert_eq!(decoded(coding, &[&noise]).1, Some(Outcome::BrokenCoding), "{coding:?}");
        }
        let mut changed = coded(Coding::Gzip, &body);
        let checksum = changed.len() - 8;
        changed[checksum] ^= 1;
        assert_eq!(decoded(Coding::Gzip, &[&changed]).1, Some(Outcome::BrokenCoding));
    }

    #[test]
    fn a_body_of_no_bytes_is_right_and_one_of_several_parts_where_the_coding_has_them() {
        for coding in ALL {
            assert_eq!(decoded(coding, &[]), (vec![], None));
            let twice = coded(coding, b"HELLO").repeat(2);
            let expected = match coding {
                Coding::Br => (b"HELLO".to_vec(), Some(Outcome::BrokenCoding)),
                Coding::Gzip | Coding::Zstd => (b"HELLOHELLO".to_vec(), None),
            };
            assert_eq!(decoded(coding, &[&twice]), expected, "{coding:?}");
        }
    }

    #[test]
    fn a_bomb_is_given_up() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 0).unwrap();
        let part = vec![0; 1 << 20];
        for _ in 0..=MOST_DECODED_BYTES >> 20 {
            encoder.write_all(&part).unwrap();
        }
        let bomb = encoder.finish().unwrap();
        let mut decoder = Decoder::new(Coding::Zstd);
        let (mut count, mut longest) = (0, 0);
        decoder.decode(&bomb, |decoded| {
            count += decoded.len() as u64;
            longest = longest.max(decoded.len());
        });
        assert_eq!(decoder.problem(), Some(Outcome::DecodedTooLarge));
        assert!(count <= MOST_DECODED_BYTES + longest as u64 && longest <= PIECE_BYTES);
    }

    #[test]
    fn a_coding_that_is_not_accepted_is_not_decoded() {
        let mut decoder = Decoder::refusing();
        decoder.decode(b"HELLO", |_| panic!("something was decoded"));
        assert_eq!(decoder.problem(), Some(Outcome::WrongCoding));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_body_is_the_same_in_any_split(
            body in prop::collection::vec(any::<u8>(), 0..40_000),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
            coding in prop::sample::select(&ALL[..]),
        ) {
            let whole = coded(coding, &body);
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(whole.len() + 1)).collect();
            cuts.push(whole.len());
            cuts.sort_unstable();
            let mut start = 0;
            let pieces: Vec<_> =
                cuts.iter().map(|&cut| &whole[std::mem::replace(&mut start, cut)..cut]).collect();
            prop_assert_eq!(decoded(coding, &pieces), (body, None));
        }
    }
}
