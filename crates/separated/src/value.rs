//! Where a value ends, and its text.

use std::borrow::Cow;
use std::ops::Range;

use crate::Irregular;

/// Whether the value that begins at a place is that above it.
pub fn is_repeated(block: &[u8], at: usize, separator: u8, above: &Range<usize>) -> bool {
    let rest = &block[at..];
    rest.get(above.len()).is_some_and(|&sign| ends_value(sign, separator))
        && rest.starts_with(&block[above.clone()])
}

/// The end of the value that begins at a place; nothing where the block ends before it is certain.
pub fn end(block: &[u8], at: usize, separator: u8) -> Result<Option<usize>, Irregular> {
    let rest = &block[at..];
    if rest.first() == Some(&b'"') {
        return quoted_end(block, at, separator);
    }
    Ok(memchr::memchr3(separator, b'\n', b'\r', rest).map(|length| at + length))
}

/// The text of a value, from where it begins to where it ends.
pub fn text(raw: &[u8]) -> Cow<'_, [u8]> {
    match raw {
        [b'"', inner @ .., b'"'] if memchr::memchr(b'"', inner).is_none() => Cow::Borrowed(inner),
        [b'"', inner @ .., b'"'] => {
            let mut is_second = false;
            let kept = inner.iter().filter(|&&sign| {
                is_second = sign == b'"' && !is_second;
                !is_second
            });
            Cow::Owned(kept.copied().collect())
        }
        bare => Cow::Borrowed(bare),
    }
}

fn quoted_end(block: &[u8], begin: usize, separator: u8) -> Result<Option<usize>, Irregular> {
    let mut at = begin + 1;
    while let Some(length) = memchr::memchr(b'"', &block[at..]) {
        let behind = at + length + 1;
        match block.get(behind) {
            Some(b'"') => at = behind + 1,
            Some(&sign) if ends_value(sign, separator) => return Ok(Some(behind)),
            Some(_) => return Err(Irregular),
            None => return Ok(None),
        }
    }
    Ok(None)
}

fn ends_value(sign: u8, separator: u8) -> bool {
    sign == separator || sign == b'\n' || sign == b'\r'
}
