//! Text that comes in pieces: UTF-8, checked as far as it has come.

use std::str;

/// Checks pieces of one text, whose characters may lie across their ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8 {
    /// The first bytes of a character that has not come whole.
    begun: [u8; 4],
    begun_bytes: usize,
}

impl Utf8 {
    /// Whether the text is UTF-8 as far as it has come with `piece`.
    #[inline]
    #[must_use]
    pub fn take(&mut self, mut piece: &[u8]) -> bool {
        while self.begun_bytes > 0 {
            let Some((&first, rest)) = piece.split_first() else { return true };
            self.begun[self.begun_bytes] = first;
            self.begun_bytes += 1;
            piece = rest;
            match str::from_utf8(&self.begun[..self.begun_bytes]) {
                Ok(_) => self.begun_bytes = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        let Err(error) = str::from_utf8(piece) else { return true };
        let rest = &piece[error.valid_up_to()..];
        if error.error_len().is_none() {
            self.begun[..rest.len()].copy_from_slice(rest);
            self.begun_bytes = rest.len();
        }
        error.error_len().is_none()
    }

    /// Whether the text may end here; the next piece is of another text.
    #[inline]
    #[must_use]
    pub fn end(&mut self) -> bool {
        std::mem::take(&mut self.begun_bytes) == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_text(pieces: &[&[u8]]) -> bool {
        let mut utf8 = Utf8::default();
        pieces.iter().all(|piece| utf8.take(piece)) && utf8.end()
    }

    #[test]
    fn a_text_is_refused_with_the_first_byte_that_cannot_go_on() {
        let mut utf8 = Utf8::default();
        assert!(utf8.take("µ€😀".as_bytes()) && utf8.take(b"\xF0\x90"));
        // Beyond U+10FFFF, whatever follows.
        assert!(!Utf8::default().take(b"\xF4\x90"));
        assert!(utf8.take(b"\x80") && !utf8.take(b"a"));
    }

    proptest! {
        #[test]
        fn any_split_means_the_same_as_none(
            text in prop_oneof![
                "\\PC{0,20}".prop_map(String::into_bytes),
                prop::collection::vec(
                    prop::sample::select(vec![b'a', 0x80, 0xBF, 0xC3, 0xE2, 0x82, 0xF0, 0x9F, 0xFF]),
                    0..8,
                ),
            ],
            cut in any::<prop::sample::Index>(),
        ) {
            let wanted = str::from_utf8(&text).is_ok();
            let (first, second) = text.split_at(cut.index(text.len() + 1));
            prop_assert_eq!(is_text(&[first, second]), wanted);
            let each: Vec<_> = text.chunks(1).collect();
            prop_assert_eq!(is_text(&each), wanted);
        }
    }
}
