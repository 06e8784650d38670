//! Rows of a separated file become columns, a block at a time.
//!
//! A block is read wholly or not at all: if one of its rows is irregular, the caller has to read the
//! rows one by one, to report which it is and why. What ends within a row is left for the next
//! block.
//!
//! Most values of a result file repeat the one above them. So a value is compared with the one above
//! first, and only where they differ is its end searched for.
//!
//! Source: RFC 4180, with any separator; a quote within a value that does not begin with one is a
//! sign like any other.

mod column;
mod value;

pub use column::{Texts, Wholes, Words};

use column::Column;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not needed.
    Unwanted,
    /// Whole numbers, none of which is below 0.
    Whole,
    /// Words, most of which come again and again.
    Word,
    /// Words, most of which differ.
    Text,
}

/// The whole rows at the beginning of a block.
#[derive(Debug)]
pub struct Rows {
    /// Bytes that they take.
    pub end: usize,
    /// Their number.
    pub count: usize,
    /// Line feeds among their bytes.
    pub lines: usize,
    /// Columns of whole numbers, in the order of the file.
    pub wholes: Vec<Wholes>,
    /// Columns of words, in the order of the file.
    pub words: Vec<Words>,
    /// Columns of texts, in the order of the file.
    pub texts: Vec<Texts>,
}

/// A row has too many values or too few, a quote is out of place, or a value is not what its column
/// holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Irregular;

/// Reads the whole rows at the beginning of a block; empty lines are none.
///
/// The separator is ASCII, and neither a quote nor a line end. There is a kind for each column.
///
/// # Errors
///
/// A row is not as it should be.
pub fn read(block: &[u8], separator: u8, kinds: &[Kind]) -> Result<Rows, Irregular> {
    let mut columns: Vec<_> = kinds.iter().copied().map(Column::of).collect();
    let (mut end, mut count) = (behind_empty_lines(block, 0), 0);
    while let Some(next) = row(block, end, separator, &mut columns)? {
        end = behind_empty_lines(block, next);
        count += 1;
    }
    let mut rows = Rows {
        end,
        count,
        lines: memchr::memchr_iter(b'\n', &block[..end]).count(),
        wholes: Vec::new(),
        words: Vec::new(),
        texts: Vec::new(),
    };
    for column in columns {
        match column {
            Column::Unwanted(_) => {}
            Column::Wholes(wholes) => rows.wholes.push(wholes.cut(count)),
            Column::Words(words) => rows.words.push(words.cut(count)),
            Column::Texts(texts) => rows.texts.push(texts.cut(count)),
        }
    }
    Ok(rows)
}

/// Takes the values of a row into their columns; gives where the next one begins, or nothing where
/// the block ends within it.
fn row(
    block: &[u8],
    begin: usize,
    separator: u8,
    columns: &mut [Column],
) -> Result<Option<usize>, Irregular> {
    let Some((last, others)) = columns.split_last_mut() else { return Err(Irregular) };
    let mut at = begin;
    for column in others {
        let Some(end) = column.take(block, at, separator)? else { return Ok(None) };
        match block.get(end) {
            Some(&sign) if sign == separator => at = end + 1,
            Some(_) => return Err(Irregular),
            None => return Ok(None),
        }
    }
    let Some(end) = last.take(block, at, separator)? else { return Ok(None) };
    match &block[end..] {
        [b'\n', ..] => Ok(Some(end + 1)),
        [b'\r', b'\n', ..] => Ok(Some(end + 2)),
        [] | [b'\r'] => Ok(None),
        _ => Err(Irregular),
    }
}

fn behind_empty_lines(block: &[u8], begin: usize) -> usize {
    let mut at = begin;
    loop {
        match &block[at..] {
            [b'\n', ..] => at += 1,
            [b'\r', b'\n', ..] => at += 2,
            _ => return at,
        }
    }
}
