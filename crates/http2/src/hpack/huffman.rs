//! The Huffman code of header strings, decoded by the lengths of its codes.
//!
//! The code is canonical: codes of one length are consecutive numbers in the order of their bytes.
//! So the lengths alone describe it, and a code is found by its length, which is 5 to 8 bits for
//! almost every byte of a header field.
//!
//! # Source
//!
//! RFC 7541, section 5.2 and appendix B.

/// Bits of the code of each byte.
#[rustfmt::skip]
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

const SHORTEST: usize = 5;
const LONGEST: usize = 30;

/// Codes of one length.
#[derive(Clone, Copy)]
struct Codes {
    /// The first code that is longer, aligned to 32 bits.
    end: u32,
    /// The first code of this length, not aligned.
    first: u32,
    /// Where its byte stands among all bytes by rising code.
    place: u32,
}

/// Codes by their length, and bytes by rising code.
const BY_LENGTH: ([Codes; LONGEST + 1], [u8; 256]) = by_length();

#[allow(clippy::cast_possible_truncation)]
const fn by_length() -> ([Codes; LONGEST + 1], [u8; 256]) {
    let mut codes = [Codes { end: 0, first: 0, place: 0 }; LONGEST + 1];
    let mut bytes = [0; 256];
    let (mut place, mut next, mut length) = (0, 0_u32, SHORTEST);
    while length <= LONGEST {
        codes[length].first = next;
        codes[length].place = place as u32;
        let mut byte = 0;
        while byte < LENGTHS.len() {
            if LENGTHS[byte] as usize == length {
                bytes[place] = byte as u8;
                place += 1;
                next += 1;
            }
            byte += 1;
        }
        codes[length].end = next << (32 - length);
        next <<= 1;
        length += 1;
    }
    (codes, bytes)
}

/// Decodes a string and appends it to `out`; nothing when it is no string of the code.
pub(super) fn decode(coded: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (lengths, by_code) = &BY_LENGTH;
    // Bits that are not decoded, aligned to the left.
    let (mut bits, mut count) = (0_u64, 0_usize);
    let mut rest = coded.iter();
    loop {
        while count <= 56 {
            let Some(&byte) = rest.next() else { break };
            bits |= u64::from(byte) << (56 - count);
            count += 8;
        }
        let top = (bits >> 32) as u32;
        let mut length = SHORTEST;
        while length <= LONGEST && top >= lengths[length].end {
            length += 1;
        }
        // What is left is too short for a code: only padding may be, which is less than a byte
        // of ones. The code of 30 ones, the end of a string, must not stand in one.
        if length > count || length > LONGEST {
            let is_padding = count < 8 && top.leading_ones() as usize >= count;
            return is_padding.then_some(());
        }
        let Codes { first, place, .. } = lengths[length];
        out.push(by_code[((top >> (32 - length)) - first + place) as usize]);
        bits <<= length;
        count -= length;
    }
}

#[cfg(test)]
#[allow(clippy::similar_names, clippy::format_push_string, clippy::large_stack_arrays)]
mod tests {
    use super::*;

    fn decoded(coded: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(coded, &mut out).map(|()| out)
    }

    /// Encodes as the table says, for comparison.
    fn encoded(text: &[u8]) -> Vec<u8> {
        let (lengths, by_code) = &BY_LENGTH;
        let mut bits = String::new();
        for &byte in text {
            let length = usize::from(LENGTHS[usize::from(byte)]);
            let place = by_code.iter().position(|&other| other == byte).unwrap();
            let code =
                u32::try_from(place).unwrap() - lengths[length].place + lengths[length].first;
            bits += &format!("{code:0length$b}");
        }
        while bits.len() % 8 > 0 {
            bits.push('1');
        }
        let bytes = bits.as_bytes().chunks(8).map(|byte| std::str::from_utf8(byte).unwrap());
        bytes.map(|byte| u8::from_str_radix(byte, 2).unwrap()).collect()
    }

    #[test]
    fn the_examples_of_the_rfc_are_decoded() {
        let coded = [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff];
        assert_eq!(decoded(&coded).unwrap(), b"www.example.com");
        assert_eq!(decoded(&[0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]).unwrap(), b"no-cache");
        assert_eq!(decoded(&[0x64, 0x02]).unwrap(), b"302");
        assert_eq!(decoded(&[]).unwrap(), b"");
    }

    #[test]
    fn every_byte_is_decoded_in_any_place() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for start in 0..8 {
            assert_eq!(decoded(&encoded(&all[start..])).unwrap(), &all[start..]);
        }
    }

    #[test]
    fn padding_is_less_than_a_byte_of_ones() {
        assert_eq!(decoded(&[0b0000_0111]).unwrap(), b"0");
        assert_eq!(decoded(&[0b0000_0110]), None);
        assert_eq!(decoded(&[0b0000_0111, 0xff]), None);
        assert_eq!(decoded(&[0xff, 0xff, 0xff, 0xff]), None);
    }
}
