//! What the header fields of a response say about its framing and its body.
//!
//! # Source
//!
//! RFC 9113, sections 8.1 to 8.3.

use crate::coding::Coded;
use crate::events;

/// The largest head, or trailers, that is taken: names and values with 32 bytes for each field.
pub(super) const LONGEST_LIST_BYTES: usize = 64 * 1024;

/// The fields of one header block, as far as they matter here.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    pub(super) status: Option<u16>,
    pub(super) content_length: Option<u64>,
    pub(super) coded: Coded,
    pub(super) is_event_stream: bool,
    pub(super) is_malformed: bool,
    list_bytes: usize,
    has_regular: bool,
}

impl Fields {
    pub(super) fn is_too_large(&self) -> bool {
        self.list_bytes > LONGEST_LIST_BYTES
    }

    /// Takes the next field.
    #[inline]
    pub(super) fn take(&mut self, name: &[u8], value: &[u8]) {
        self.list_bytes = self.list_bytes.saturating_add(name.len() + value.len() + 32);
        if name.first() == Some(&b':') {
            self.is_malformed |= self.has_regular || self.status.is_some() || name != b":status";
            self.status = status(value);
            self.is_malformed |= self.status.is_none();
            return;
        }
        self.has_regular = true;
        self.is_malformed |= !is_name(name) || !is_value(value);
        match name {
            b"content-length" => {
                let length = content_length(value);
                let differs = self.content_length.is_some() && self.content_length != length;
                self.is_malformed |= length.is_none() || differs;
                self.content_length = length;
            }
            b"content-encoding" => self.coded = self.coded.and(value),
            b"content-type" => self.is_event_stream = events::is_type(value),
            b"connection" | b"transfer-encoding" | b"keep-alive" | b"proxy-connection"
            | b"upgrade" => self.is_malformed = true,
            _ => {}
        }
    }
}

#[inline]
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| matches!(byte, b'!'..=b'9' | b'^'..=b'~'))
}

#[inline]
fn is_value(value: &[u8]) -> bool {
    !value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n'))
}

fn status(value: &[u8]) -> Option<u16> {
    let digits = value.len() == 3 && value.iter().all(u8::is_ascii_digit);
    let status = std::str::from_utf8(value).ok()?.parse().ok()?;
    (digits && status >= 100).then_some(status)
}

fn content_length(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    let text = std::str::from_utf8(value).ok().filter(|_| digits)?;
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &str)]) -> Fields {
        let mut found = Fields::default();
        for (name, value) in fields {
            found.take(name.as_bytes(), value.as_bytes());
        }
        found
    }

    #[test]
    fn a_head_has_its_status_first() {
        let found = read(&[(":status", "204"), ("content-length", "12"), ("x-y", "z")]);
        assert_eq!((found.status, found.content_length), (Some(204), Some(12)));
        assert!(!found.is_malformed && !found.is_too_large());
    }

    #[test]
    fn what_no_response_may_have_is_malformed() {
        for wrong in [
            &[("x", "y"), (":status", "200")][..],
            &[(":status", "200"), (":status", "200")],
            &[(":status", "20")],
            &[(":status", "099")],
            &[(":path", "/")],
            &[("Upper", "case")],
            &[("", "nameless")],
            &[("a:b", "c")],
            &[("a", "line\nfeed")],
            &[("connection", "close")],
            &[("transfer-encoding", "chunked")],
            &[("content-length", "x")],
            &[("content-length", "1"), ("content-length", "2")],
        ] {
            assert!(read(wrong).is_malformed, "{wrong:?}");
        }
    }

    #[test]
    fn a_list_is_as_large_as_its_fields_and_what_they_cost() {
        let long = "v".repeat(LONGEST_LIST_BYTES - 33);
        assert!(!read(&[("n", &long)]).is_too_large());
        assert!(read(&[("n", &long), ("n", "")]).is_too_large());
    }
}
