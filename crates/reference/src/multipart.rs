//! Parts of a `multipart/form-data` body.

use memchr::memmem;

/// Why a body can't be divided into parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken;

const PART_HEADER_LIMIT: usize = 16;

/// Bytes of the values of all parts together.
///
/// # Errors
///
/// The media type names no boundary, or the body is not divided by it as RFC 2046 asks.
///
/// # Source
///
/// RFC 7578; RFC 2046, section 5.1.1.
pub(super) fn value_bytes(content_type: &[u8], body: &[u8]) -> Result<usize, Broken> {
    let boundary = boundary(content_type).ok_or(Broken)?;
    let delimiter = [b"\r\n--", boundary].concat();
    let finder = memmem::Finder::new(&delimiter);
    let mut rest = after_first(body, &finder, &delimiter[2..])?;
    let mut total = 0;
    while let Some(part) = part_begins(rest)? {
        let end = finder.find(part).ok_or(Broken)?;
        total += part_value(&part[..end])?.len();
        rest = &part[end + delimiter.len()..];
    }
    Ok(total)
}

/// What follows the first delimiter; it needs no line end before it.
fn after_first<'a>(
    body: &'a [u8],
    finder: &memmem::Finder,
    delimiter: &[u8],
) -> Result<&'a [u8], Broken> {
    if let Some(rest) = body.strip_prefix(delimiter) {
        return Ok(rest);
    }
    let start = finder.find(body).ok_or(Broken)?;
    Ok(&body[start + finder.needle().len()..])
}

/// The bytes after a delimiter from the next part on; none after the last.
fn part_begins(after_delimiter: &[u8]) -> Result<Option<&[u8]>, Broken> {
    if after_delimiter.starts_with(b"--") {
        return Ok(None);
    }
    let line_end = memmem::find(after_delimiter, b"\r\n").ok_or(Broken)?;
    let padding = &after_delimiter[..line_end];
    if !padding.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
        return Err(Broken);
    }
    Ok(Some(&after_delimiter[line_end + 2..]))
}

/// The value of a part: what follows its headers.
fn part_value(part: &[u8]) -> Result<&[u8], Broken> {
    let mut headers = [httparse::EMPTY_HEADER; PART_HEADER_LIMIT];
    match httparse::parse_headers(part, &mut headers) {
        Ok(httparse::Status::Complete((head_bytes, headers))) => {
            let form_data = headers.iter().any(is_form_data);
            form_data.then(|| &part[head_bytes..]).ok_or(Broken)
        }
        _ => Err(Broken),
    }
}

fn is_form_data(header: &httparse::Header) -> bool {
    const KIND: &[u8] = b"form-data";
    header.name.eq_ignore_ascii_case("Content-Disposition")
        && header.value.get(..KIND.len()).is_some_and(|kind| kind.eq_ignore_ascii_case(KIND))
}

/// The boundary that a media type names, without its quotes.
fn boundary(content_type: &[u8]) -> Option<&[u8]> {
    let mut items = content_type.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    items.next().filter(|kind| kind.eq_ignore_ascii_case(b"multipart/form-data"))?;
    let value = items.find_map(|item| {
        let equals = item.iter().position(|&byte| byte == b'=')?;
        let named = item[..equals].trim_ascii().eq_ignore_ascii_case(b"boundary");
        named.then(|| item[equals + 1..].trim_ascii())
    })?;
    let bare = value.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\""));
    Some(bare.unwrap_or(value)).filter(|boundary| (1..=70).contains(&boundary.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &[u8] = b"multipart/form-data; boundary=xyz";

    fn body(values: &[&str]) -> Vec<u8> {
        let mut body = Vec::new();
        for value in values {
            body.extend(b"--xyz\r\nContent-Disposition: form-data; name=\"abca\"\r\n\r\n");
            body.extend(value.as_bytes());
            body.extend(b"\r\n");
        }
        body.extend(b"--xyz--\r\n");
        body
    }

    #[test]
    fn the_lengths_of_all_values_are_added() {
        assert_eq!(value_bytes(TYPE, &body(&["abc", "", "de"])), Ok(5));
    }

    #[test]
    fn a_value_may_hold_anything_but_its_delimiter() {
        let values = ["a\r\nb", "\r\n", "x--xyz", "\r\n--xy", " + % & = ", "é𝄞", "\r\n\r\n"];
        let expected = values.iter().map(|value| value.len()).sum();
        assert_eq!(value_bytes(TYPE, &body(&values)), Ok(expected));
    }

    #[test]
    fn a_body_without_parts_has_no_values() {
        assert_eq!(value_bytes(TYPE, b"--xyz--\r\n"), Ok(0));
    }

    #[test]
    fn text_before_and_after_the_parts_is_left_out() {
        let mut framed = b"before\r\n".to_vec();
        framed.extend(body(&["abc"]));
        framed.extend(b"after");
        assert_eq!(value_bytes(TYPE, &framed), Ok(3));
    }

    #[test]
    fn parts_may_have_other_headers_and_padding() {
        let part = b"--xyz \t\r\ncontent-type: text/plain\r\n\
            content-disposition: Form-Data; name=a\r\n\r\nabc\r\n--xyz--";
        assert_eq!(value_bytes(TYPE, part), Ok(3));
    }

    #[test]
    fn the_boundary_may_be_quoted_and_follow_others() {
        let named = b"Multipart/Form-Data; charset=utf-8; Boundary=\"x y\"";
        assert_eq!(boundary(named), Some(b"x y".as_slice()));
    }

    #[test]
    fn without_a_boundary_there_are_no_parts() {
        for wrong in ["", "multipart/form-data", "text/plain; boundary=xyz"] {
            assert_eq!(value_bytes(wrong.as_bytes(), &body(&["a"])), Err(Broken), "{wrong}");
        }
        assert_eq!(boundary(b"multipart/form-data; boundary="), None);
    }

    #[test]
    fn a_body_that_is_cut_is_broken() {
        let whole = body(&["abc", "def"]);
        let last = whole.len() - "--\r\n".len();
        for end in 0..last {
            assert_eq!(value_bytes(TYPE, &whole[..end]), Err(Broken), "{end}");
        }
    }

    #[test]
    fn a_part_without_its_disposition_is_broken() {
        assert_eq!(value_bytes(TYPE, b"--xyz\r\nA: b\r\n\r\nabc\r\n--xyz--"), Err(Broken));
        assert_eq!(value_bytes(TYPE, b"--xyzabc\r\n\r\nabc\r\n--xyz--"), Err(Broken));
    }
}
