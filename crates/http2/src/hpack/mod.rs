//! Header compression: blocks of header fields, decoded and written.
//!
//! The writers add nothing to the table of the other side, so that a block can be encoded once and
//! sent on any connection at any time.
//!
//! # Source
//!
//! RFC 7541.

mod huffman;
mod table;

use self::table::{STATIC, Table};

/// The size of the table unless the settings say otherwise.
pub const DEFAULT_TABLE_BYTES: usize = 4096;

/// The most bits of a number.
const MOST_BITS: u32 = 28;

/// Why a block cannot be decoded; the connection is of no further use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Decodes the header blocks of one connection, in their order.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: Table,
    /// Name and value of a field that are not where they came from.
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Default for Decoder {
    fn default() -> Self {
        let table = Table::new(DEFAULT_TABLE_BYTES);
        Self { table, name: Vec::new(), value: Vec::new() }
    }
}

impl Decoder {
    /// Makes ready for a new connection.
    pub fn reset(&mut self) {
        self.table.clear(DEFAULT_TABLE_BYTES);
    }

    /// Decodes a whole block; `field` gets name and value of each field in order.
    ///
    /// # Errors
    ///
    /// [`Malformed`].
    #[inline]
    pub fn decode(
        &mut self,
        mut block: &[u8],
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Malformed> {
        let mut is_first = true;
        while let Some(&first) = block.first() {
            match first {
                0x80.. => {
                    let index = number(&mut block, 7)?;
                    let (name, value) = self.table.get(index).ok_or(Malformed)?;
                    field(name, value);
                }
                0x40.. => self.literal(&mut block, 6, true, &mut field)?,
                0x20.. => {
                    let most_bytes = number(&mut block, 5)?;
                    if !is_first || most_bytes > DEFAULT_TABLE_BYTES {
                        return Err(Malformed);
                    }
                    self.table.resize(most_bytes);
                    continue;
                }
                _ => self.literal(&mut block, 4, false, &mut field)?,
            }
            is_first = false;
        }
        Ok(())
    }

    /// Reads a field whose value, and maybe name, is written out.
    #[inline]
    fn literal(
        &mut self,
        block: &mut &[u8],
        prefix: u32,
        is_added: bool,
        field: &mut impl FnMut(&[u8], &[u8]),
    ) -> Result<(), Malformed> {
        let index = number(block, prefix)?;
        let name = if index == 0 {
            string(block, &mut self.name)?
        } else if let Some((name, _)) = STATIC.get(index - 1) {
            name.as_bytes()
        } else {
            // The entry with this name may have to go for the new one.
            let (name, _) = self.table.get(index).ok_or(Malformed)?;
            self.name.clear();
            self.name.extend_from_slice(name);
            &self.name
        };
        let value = string(block, &mut self.value)?;
        field(name, value);
        if is_added {
            self.table.add(name, value);
        }
        Ok(())
    }
}

/// Takes a number off the front of a block; its first byte has so many bits for it.
#[inline]
fn number(block: &mut &[u8], prefix: u32) -> Result<usize, Malformed> {
    let most = (1_usize << prefix) - 1;
    let mut number = usize::from(take(block)?) & most;
    if number < most {
        return Ok(number);
    }
    let mut shift = 0;
    loop {
        let byte = take(block)?;
        number += usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
        shift += 7;
        if shift >= MOST_BITS {
            return Err(Malformed);
        }
    }
}

#[inline]
fn take(block: &mut &[u8]) -> Result<u8, Malformed> {
    let (&first, rest) = block.split_first().ok_or(Malformed)?;
    *block = rest;
    Ok(first)
}

/// Takes a string off the front of a block; `decoded` holds it if it was coded.
#[inline]
fn string<'s, 'b: 's>(
    block: &mut &'b [u8],
    decoded: &'s mut Vec<u8>,
) -> Result<&'s [u8], Malformed> {
    let is_coded = block.first().is_some_and(|first| first & 0x80 != 0);
    let length = number(block, 7)?;
    let (coded, rest) = block.split_at_checked(length).ok_or(Malformed)?;
    *block = rest;
    if !is_coded {
        return Ok(coded);
    }
    decoded.clear();
    huffman::decode(coded, decoded).ok_or(Malformed)?;
    Ok(decoded)
}

/// Writes a field that no table of the other side keeps.
pub fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let is_named = |&(known, _): &(&str, &str)| known.as_bytes() == name;
    let is_same = |field: &(&str, &str)| is_named(field) && field.1.as_bytes() == value;
    if let Some(place) = STATIC.iter().position(is_same) {
        write_number(out, 0x80, 7, place + 1);
        return;
    }
    if let Some(place) = STATIC.iter().position(is_named) {
        write_number(out, 0, 4, place + 1);
    } else {
        write_number(out, 0, 4, 0);
        write_string(out, name);
    }
    write_string(out, value);
}

fn write_string(out: &mut Vec<u8>, text: &[u8]) {
    write_number(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

#[allow(clippy::cast_possible_truncation)]
fn write_number(out: &mut Vec<u8>, flags: u8, prefix: u32, mut number: usize) {
    let most = (1_usize << prefix) - 1;
    if number < most {
        out.push(flags | number as u8);
        return;
    }
    out.push(flags | most as u8);
    number -= most;
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Fields = Vec<(Vec<u8>, Vec<u8>)>;

    fn decoded(decoder: &mut Decoder, block: &[u8]) -> Result<Fields, Malformed> {
        let mut fields = Vec::new();
        decoder.decode(block, |name, value| fields.push((name.to_vec(), value.to_vec())))?;
        Ok(fields)
    }

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        pairs
            .iter()
            .map(|(name, value)| (name.as_bytes().into(), value.as_bytes().into()))
            .collect()
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<_> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    }

    #[test]
    fn the_requests_of_the_rfc_are_decoded_one_after_the_other() {
        let mut decoder = Decoder::default();
        let first = [
            (":method", "GET"),
            (":scheme", "http"),
            (":path", "/"),
            (":authority", "www.example.com"),
        ];
        let block = hex("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff");
        assert_eq!(decoded(&mut decoder, &block), Ok(fields(&first)));
        let second = [first.as_slice(), &[("cache-control", "no-cache")]].concat();
        let block = hex("8286 84be 5886 a8eb 1064 9cbf");
        assert_eq!(decoded(&mut decoder, &block), Ok(fields(&second)));
        let third = [
            (":method", "GET"),
            (":scheme", "https"),
            (":path", "/index.html"),
            (":authority", "www.example.com"),
            ("custom-key", "custom-value"),
        ];
        let block = hex("8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf");
        assert_eq!(decoded(&mut decoder, &block), Ok(fields(&third)));
    }

    #[test]
    fn a_field_may_have_the_name_of_one_that_goes_for_it() {
        let mut decoder = Decoder::default();
        let name = "n".repeat(100);
        let mut block = vec![0x40];
        write_string(&mut block, name.as_bytes());
        write_string(&mut block, &[b'a'; 3_900]);
        write_number(&mut block, 0x40, 6, 62);
        write_string(&mut block, &[b'b'; 3_900]);
        write_number(&mut block, 0x80, 7, 62);
        let found = decoded(&mut decoder, &block).unwrap();
        assert_eq!(found[2], (name.clone().into_bytes(), vec![b'b'; 3_900]));
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for wrong in [
            "80",              // no field has the index 0
            "be",              // nor 62 before one was added
            "ff ffff ffff 7f", // a number without end
            "ff",              // a number that is cut
            "40 03 61 62",     // a name that is cut
            "40 81 ff 00",     // a code that is none
            "82 20",           // the size changes after a field
            "3f e2 1f",        // the table becomes larger than it may
        ] {
            assert_eq!(decoded(&mut Decoder::default(), &hex(wrong)), Err(Malformed), "{wrong}");
        }
        assert_eq!(decoded(&mut Decoder::default(), &hex("3f e1 1f 82")).unwrap().len(), 1);
    }

    #[test]
    fn the_next_connection_knows_no_field_of_the_last() {
        let mut decoder = Decoder::default();
        decoded(&mut decoder, &hex("4001 6101 62")).unwrap();
        assert!(decoded(&mut decoder, &hex("be")).is_ok());
        decoder.reset();
        assert_eq!(decoded(&mut decoder, &hex("be")), Err(Malformed));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            pairs in prop::collection::vec(("[a-z:-]{1,20}", "[ -~]{0,300}"), 0..12),
        ) {
            let mut block = Vec::new();
            for (name, value) in &pairs {
                write_field(&mut block, name.as_bytes(), value.as_bytes());
            }
            let found = decoded(&mut Decoder::default(), &block).unwrap();
            let pairs: Fields =
                pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            prop_assert_eq!(found, pairs);
        }

        #[test]
        fn any_bytes_are_read_or_refused(
            blocks in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 0..8),
        ) {
            let mut decoder = Decoder::default();
            for block in blocks {
                let _ = decoded(&mut decoder, &block);
            }
        }
    }
}
