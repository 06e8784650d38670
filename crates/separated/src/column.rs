//! The values of one column, as they are gathered.

use std::collections::HashMap;
use std::ops::Range;

use crate::value::{self, is_repeated, text};
use crate::{Irregular, Kind};

/// Digits of which no number is greater than what 64 bits hold.
const MOST_DIGITS: usize = 18;

/// A column while a block is read.
pub enum Column {
    /// Nothing is kept but where its last value lies.
    Unwanted(Range<usize>),
    Wholes(Wholes),
    Words(Words),
    Texts(Texts),
}

impl Column {
    pub fn of(kind: Kind) -> Self {
        match kind {
            Kind::Unwanted => Self::Unwanted(0..0),
            Kind::Whole => Self::Wholes(Wholes::default()),
            Kind::Word => Self::Words(Words::default()),
            Kind::Text => Self::Texts(Texts::default()),
        }
    }

    /// Takes the value that begins at a place; gives where it ends, or nothing where the block may
    /// end within it.
    pub fn take(
        &mut self,
        block: &[u8],
        at: usize,
        separator: u8,
    ) -> Result<Option<usize>, Irregular> {
        match self {
            Self::Unwanted(above) => {
                if is_repeated(block, at, separator, above) {
                    return Ok(Some(at + above.len()));
                }
                let end = value::end(block, at, separator)?;
                *above = at..end.unwrap_or(at);
                Ok(end)
            }
            Self::Wholes(wholes) => wholes.take(block, at, separator),
            Self::Words(words) => words.take(block, at, separator),
            Self::Texts(texts) => texts.take(block, at, separator),
        }
    }
}

/// Whole numbers; some may be missing.
#[derive(Debug, Default)]
pub struct Wholes {
    bytes: Vec<u8>,
    missing: Vec<usize>,
}

impl Wholes {
    /// The numbers: eight bytes each, in the order of this machine; 0 where one is missing.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A bit for each number, the lowest first, that is set where there is one; nothing where none
    /// is missing.
    #[must_use]
    pub fn validity(&self) -> Option<Vec<u8>> {
        if self.missing.is_empty() {
            return None;
        }
        let mut bits = vec![u8::MAX; self.count().div_ceil(8)];
        for row in &self.missing {
            bits[row / 8] &= !(1 << (row % 8));
        }
        Some(bits)
    }

    fn count(&self) -> usize {
        self.bytes.len() / size_of::<i64>()
    }

    fn take(&mut self, block: &[u8], at: usize, separator: u8) -> Result<Option<usize>, Irregular> {
        let (number, digits) = leading_number(&block[at..]);
        if digits > 0 {
            self.push(number, digits)?;
            return Ok(Some(at + digits));
        }
        let Some(end) = value::end(block, at, separator)? else { return Ok(None) };
        let said = text(&block[at..end]);
        let (number, digits) = leading_number(&said);
        if digits < said.len() {
            return Err(Irregular);
        }
        if digits == 0 {
            self.missing.push(self.count());
        }
        self.push(number, digits)?;
        Ok(Some(end))
    }

    fn push(&mut self, number: i64, digits: usize) -> Result<(), Irregular> {
        if digits > MOST_DIGITS {
            return Err(Irregular);
        }
        self.bytes.extend_from_slice(&number.to_ne_bytes());
        Ok(())
    }

    pub(crate) fn cut(mut self, count: usize) -> Self {
        self.bytes.truncate(count * size_of::<i64>());
        self.missing.retain(|&row| row < count);
        self
    }
}

/// The number that a text begins with, and how many digits it has; meaningless beyond
/// [`MOST_DIGITS`].
fn leading_number(text: &[u8]) -> (i64, usize) {
    let mut number = 0_i64;
    for (place, sign) in text.iter().enumerate() {
        let digit = sign.wrapping_sub(b'0');
        if digit > 9 {
            return (number, place);
        }
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    (number, text.len())
}

/// Words, each kept once.
#[derive(Debug, Default)]
pub struct Words {
    bytes: Vec<u8>,
    known: Vec<String>,
    places: HashMap<Vec<u8>, i32>,
    above: Option<(Range<usize>, i32)>,
}

impl Words {
    /// The place of each row's word among the known ones: four bytes each, in the order of this
    /// machine.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The words, in the order in which they were first met.
    #[must_use]
    pub fn known(&self) -> &[String] {
        &self.known
    }

    fn take(&mut self, block: &[u8], at: usize, separator: u8) -> Result<Option<usize>, Irregular> {
        if let Some((above, place)) = &self.above {
            if is_repeated(block, at, separator, above) {
                self.bytes.extend_from_slice(&place.to_ne_bytes());
                return Ok(Some(at + above.len()));
            }
        }
        let Some(end) = value::end(block, at, separator)? else { return Ok(None) };
        let place = self.place(&text(&block[at..end]))?;
        self.bytes.extend_from_slice(&place.to_ne_bytes());
        self.above = Some((at..end, place));
        Ok(Some(end))
    }

    fn place(&mut self, word: &[u8]) -> Result<i32, Irregular> {
        if let Some(&place) = self.places.get(word) {
            return Ok(place);
        }
        let text = std::str::from_utf8(word).map_err(|_| Irregular)?;
        let place = i32::try_from(self.known.len()).map_err(|_| Irregular)?;
        self.known.push(text.to_owned());
        self.places.insert(word.to_vec(), place);
        Ok(place)
    }

    pub(crate) fn cut(mut self, count: usize) -> Self {
        self.bytes.truncate(count * size_of::<i32>());
        self
    }
}

/// Words that are kept as often as they come.
#[derive(Debug, Default)]
pub struct Texts {
    ends: Vec<u8>,
    text: String,
}

impl Texts {
    /// Where each row's word ends in the text, before it where the first one begins: four bytes
    /// each, in the order of this machine.
    #[must_use]
    pub fn bounds(&self) -> Vec<u8> {
        [&0_i32.to_ne_bytes(), self.ends.as_slice()].concat()
    }

    /// The words, one behind the other.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    fn take(&mut self, block: &[u8], at: usize, separator: u8) -> Result<Option<usize>, Irregular> {
        let Some(end) = value::end(block, at, separator)? else { return Ok(None) };
        let said = text(&block[at..end]);
        self.text.push_str(std::str::from_utf8(&said).map_err(|_| Irregular)?);
        let bound = i32::try_from(self.text.len()).map_err(|_| Irregular)?;
        self.ends.extend_from_slice(&bound.to_ne_bytes());
        Ok(Some(end))
    }

    pub(crate) fn cut(mut self, count: usize) -> Self {
        self.ends.truncate(count * size_of::<i32>());
        self
    }
}
