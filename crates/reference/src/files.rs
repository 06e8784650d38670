//! Static files: whole, in ranges, or not at all when the client has them.
//!
//! # Source
//!
//! RFC 9110, sections 8.8, 13 and 14; numbers in comments are its sections.

use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// A request for more ranges than this gets the whole file; 14.2 warns of many small ones.
const MOST_RANGES: usize = 16;

/// Media types by extension.
const MEDIA_TYPES: [(&str, &str); 8] = [
    ("html", "text/html"),
    ("css", "text/css"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("txt", "text/plain"),
    ("woff2", "font/woff2"),
];

/// Header fields that select parts of a file, or ask for it under a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Selection<Bytes> {
    pub range: Option<Bytes>,
    pub if_range: Option<Bytes>,
    pub if_none_match: Option<Bytes>,
    pub if_modified_since: Option<Bytes>,
}

impl Selection<Vec<u8>> {
    pub fn borrowed(&self) -> Selection<&[u8]> {
        Selection {
            range: self.range.as_deref(),
            if_range: self.if_range.as_deref(),
            if_none_match: self.if_none_match.as_deref(),
            if_modified_since: self.if_modified_since.as_deref(),
        }
    }
}

/// What a response to a request for a file consists of.
pub(super) struct Selected {
    pub status: &'static str,
    /// Lines of the head, each with its end.
    pub headers: String,
    /// Nothing when the status excludes a body.
    pub body: Option<Vec<u8>>,
}

/// A file at one instant.
pub(super) struct StaticFile {
    content: Vec<u8>,
    media_type: &'static str,
    /// Since 1970.
    modified: Duration,
}

impl StaticFile {
    /// Reads a file; nothing when the folder has none of that name.
    pub fn read(folder: &Path, name: &str) -> Option<Self> {
        let is_name =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !is_name {
            return None;
        }
        let mut file = File::open(folder.join(name)).ok()?;
        let about = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let mut content = Vec::with_capacity(usize::try_from(about.len()).ok()?);
        file.read_to_end(&mut content).ok()?;
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let known = MEDIA_TYPES.iter().find(|(known, _)| Some(*known) == extension);
        let media_type = known.map_or("application/octet-stream", |(_, media_type)| media_type);
        Some(Self { content, media_type, modified })
    }

    /// The response to a `GET` at an instant, in seconds since 1970.
    pub fn selected(self, selection: &Selection<&[u8]>, now_s: u64) -> Selected {
        let validators =
            format!("ETag: {}\r\nLast-Modified: {}\r\n", self.entity_tag(), self.last_modified());
        if self.is_known(selection) {
            return Selected { status: "304 Not Modified", headers: validators, body: None };
        }
        let range = selection.range.filter(|_| self.is_same(selection.if_range, now_s));
        let length = self.content.len();
        match range.and_then(|range| ranges(range, length)).as_deref() {
            None => {
                let kind = self.media_type;
                let headers =
                    format!("Content-Type: {kind}\r\n{validators}Accept-Ranges: bytes\r\n");
                Selected { status: "200 OK", headers, body: Some(self.content) }
            }
            Some([]) => {
                let headers = format!("Content-Range: bytes */{length}\r\n");
                Selected { status: "416 Range Not Satisfiable", headers, body: Some(Vec::new()) }
            }
            Some([one]) => {
                let headers = format!("{}{validators}", self.part_headers(one));
                let body = self.content[one.clone()].to_vec();
                Selected { status: "206 Partial Content", headers, body: Some(body) }
            }
            Some(several) => {
                let boundary = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
                let headers = format!(
                    "Content-Type: multipart/byteranges; boundary={boundary}\r\n{validators}"
                );
                let body = self.multipart(several, &boundary);
                Selected { status: "206 Partial Content", headers, body: Some(body) }
            }
        }
    }

    /// Changes with each change of the file that its file system can tell apart.
    fn entity_tag(&self) -> String {
        format!("\"{:x}-{:x}\"", self.modified.as_nanos(), self.content.len())
    }

    fn last_modified(&self) -> String {
        httpdate::fmt_http_date(UNIX_EPOCH + self.modified)
    }

    /// Whether the client has it; 13.2.2: a date counts only where no entity tag is given.
    fn is_known(&self, selection: &Selection<&[u8]>) -> bool {
        if let Some(tags) = selection.if_none_match {
            let tag = self.entity_tag();
            return tags.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).any(|one| {
                one == b"*" || one.strip_prefix(b"W/").unwrap_or(one) == tag.as_bytes()
            });
        }
        let since_s = selection.if_modified_since.and_then(date_s);
        since_s.is_some_and(|since_s| self.modified.as_secs() <= since_s)
    }

    /// Whether it is the file of which the client has other parts.
    fn is_same(&self, if_range: Option<&[u8]>, now_s: u64) -> bool {
        let Some(validator) = if_range else { return true };
        let modified_s = self.modified.as_secs();
        // 8.8.2.2: within the second of a change there may be another one of the same date.
        validator == self.entity_tag().as_bytes()
            || date_s(validator) == Some(modified_s) && modified_s < now_s
    }

    fn part_headers(&self, range: &Range<usize>) -> String {
        let (first, last, length) = (range.start, range.end - 1, self.content.len());
        format!(
            "Content-Type: {}\r\nContent-Range: bytes {first}-{last}/{length}\r\n",
            self.media_type
        )
    }

    /// The parts one after the other; 14.6.
    fn multipart(&self, ranges: &[Range<usize>], boundary: &str) -> Vec<u8> {
        let mut body = Vec::new();
        for range in ranges {
            let head = format!("--{boundary}\r\n{}\r\n", self.part_headers(range));
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(&self.content[range.clone()]);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
        body
    }
}

/// A date of a header field, in seconds since 1970.
fn date_s(field: &[u8]) -> Option<u64> {
    let date = httpdate::parse_http_date(std::str::from_utf8(field).ok()?).ok()?;
    Some(date.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// Those ranges of a `Range` field that lie in a file of so many bytes.
///
/// Nothing when the field is to be ignored: in another unit, malformed, or for more than the file.
fn ranges(field: &[u8], length: usize) -> Option<Vec<Range<usize>>> {
    let (unit, set) = std::str::from_utf8(field).ok()?.split_once('=')?;
    if !unit.eq_ignore_ascii_case("bytes") {
        return None;
    }
    let specs = set.split(',').map(str::trim).filter(|spec| !spec.is_empty());
    let all: Vec<_> = specs.map(|spec| range(spec, length)).collect::<Option<_>>()?;
    let within: Vec<_> = all.iter().filter(|range| !range.is_empty()).cloned().collect();
    let is_too_much = all.len() > MOST_RANGES
        || within.iter().map(ExactSizeIterator::len).sum::<usize>() > length;
    (!all.is_empty() && !is_too_much).then_some(within)
}

/// The bytes that one range takes of a file: none when it lies outside. Nothing when it is malformed.
fn range(spec: &str, length: usize) -> Option<Range<usize>> {
    match spec.split_once('-')? {
        ("", count) => Some(length - position(count)?.min(length)..length),
        (first, "") => Some(position(first)?.min(length)..length),
        (first, last) => {
            let (first, last) = (position(first)?, position(last)?);
            (first <= last).then(|| first.min(length)..last.saturating_add(1).min(length))
        }
    }
}

/// A number of bytes; the largest there is for one that is too large.
fn position(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODIFIED_S: u64 = 784_111_777;
    const DATE: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
    const EARLIER: &[u8] = b"Sun, 06 Nov 1994 08:49:36 GMT";

    fn file() -> StaticFile {
        let modified = Duration::new(MODIFIED_S, 5);
        StaticFile { content: b"0123456789".to_vec(), media_type: "text/plain", modified }
    }

    fn selected(selection: &Selection<&[u8]>) -> Selected {
        file().selected(selection, MODIFIED_S + 1)
    }

    fn status(selection: &Selection<&[u8]>) -> &'static str {
        &selected(selection).status[..3]
    }

    #[test]
    fn ranges_are_those_within_the_file() {
        let cases: [(&str, &[(usize, usize)]); 9] = [
            ("bytes=0-0", &[(0, 1)]),
            ("Bytes=3-", &[(3, 10)]),
            ("bytes=-3", &[(7, 10)]),
            ("bytes=-99", &[(0, 10)]),
            ("bytes=8-99999999999999999999999", &[(8, 10)]),
            ("bytes=0-1, 4-5,,-1", &[(0, 2), (4, 6), (9, 10)]),
            ("bytes=10-,2-2", &[(2, 3)]),
            ("bytes=10-12", &[]),
            ("bytes=-0", &[]),
        ];
        for (field, expected) in cases {
            let found = ranges(field.as_bytes(), 10).unwrap();
            let ends: Vec<_> = found.iter().map(|range| (range.start, range.end)).collect();
            assert_eq!(ends, expected, "{field}");
        }
    }

    #[test]
    fn a_range_that_is_malformed_or_takes_more_than_the_file_is_ignored() {
        let many = format!("bytes={}", "0-0,".repeat(MOST_RANGES + 1));
        for field in [
            "bytes=",
            "bytes=2-1",
            "bytes=a-b",
            "bytes=+1-2",
            "bytes 0-1",
            "lines=0-1",
            "bytes=-",
            "bytes=0-,0-",
            &many,
        ] {
            assert_eq!(ranges(field.as_bytes(), 10), None, "{field}");
        }
        let as_many = format!("bytes={}", "0-0,".repeat(10));
        assert_eq!(ranges(as_many.as_bytes(), 10).map(|all| all.len()), Some(10));
    }

    #[test]
    fn a_file_is_sent_with_what_it_is_known_by() {
        let whole = selected(&Selection::default());
        assert_eq!(whole.body.as_deref(), Some(&b"0123456789"[..]));
        let tag = file().entity_tag();
        let date = String::from_utf8_lossy(DATE).into_owned();
        for line in [
            "Content-Type: text/plain".to_owned(),
            format!("ETag: {tag}"),
            format!("Last-Modified: {date}"),
            "Accept-Ranges: bytes".to_owned(),
        ] {
            assert!(whole.headers.contains(&format!("{line}\r\n")), "{}", whole.headers);
        }
    }

    #[test]
    fn who_has_the_file_gets_none() {
        let tag = file().entity_tag();
        let tagged = |list: String| {
            let if_modified_since = Some(EARLIER);
            let if_none_match = Some(list.as_bytes());
            status(&Selection { if_none_match, if_modified_since, ..Selection::default() })
        };
        assert_eq!(tagged(format!("\"a\", {tag}")), "304");
        assert_eq!(tagged(format!("W/{tag}")), "304");
        assert_eq!(tagged("*".into()), "304");
        assert_eq!(tagged("\"a\"".into()), "200");
        let since =
            |date| status(&Selection { if_modified_since: Some(date), ..Selection::default() });
        assert_eq!(since(DATE), "304");
        assert_eq!(since(EARLIER), "200");
        assert_eq!(since(b"yesterday"), "200");
        let other = Selection {
            if_none_match: Some(&b"\"a\""[..]),
            if_modified_since: Some(DATE),
            ..Selection::default()
        };
        assert_eq!(status(&other), "200");
    }

    #[test]
    fn a_range_is_of_the_file_that_the_client_knows_or_all_is_sent() {
        let tag = file().entity_tag();
        let weak = format!("W/{tag}");
        let range = Some(&b"bytes=0-1"[..]);
        for (validator, expected) in [
            (tag.as_bytes(), "206"),
            (DATE, "206"),
            (weak.as_bytes(), "200"),
            (b"\"a\"", "200"),
            (EARLIER, "200"),
        ] {
            let if_range = Some(validator);
            assert_eq!(status(&Selection { range, if_range, ..Selection::default() }), expected);
        }
        let within_the_second = Selection { range, if_range: Some(DATE), ..Selection::default() };
        assert!(file().selected(&within_the_second, MODIFIED_S).status.starts_with("200"));
    }

    #[test]
    fn a_file_that_is_known_is_not_sent_in_parts_either() {
        let range = Some(&b"bytes=0-1"[..]);
        let known = Selection { range, if_modified_since: Some(DATE), ..Selection::default() };
        assert_eq!(status(&known), "304");
    }

    #[test]
    fn several_ranges_are_parts_with_their_places() {
        let range = Some(&b"bytes=1-2,-1"[..]);
        let found = selected(&Selection { range, ..Selection::default() });
        let boundary = found.headers.split("boundary=").nth(1).unwrap().lines().next().unwrap();
        let part = |place: &str, bytes: &str| {
            format!(
                "--{boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes {place}/10\r\n\
                 \r\n{bytes}\r\n"
            )
        };
        let expected = format!("{}{}--{boundary}--\r\n", part("1-2", "12"), part("9-9", "9"));
        assert_eq!(found.status, "206 Partial Content");
        assert_eq!(String::from_utf8(found.body.unwrap()).unwrap(), expected);
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("static");
        std::fs::create_dir_all(inner.join("folder")).unwrap();
        std::fs::write(inner.join("a.css"), "a{}").unwrap();
        std::fs::write(folder.path().join("secret"), "no").unwrap();
        assert_eq!(StaticFile::read(&inner, "a.css").unwrap().media_type, "text/css");
        for name in ["", "..", "../secret", "..%2fsecret", "b.css", "folder", "a.css/"] {
            assert!(StaticFile::read(&inner, name).is_none(), "{name}");
        }
    }
}
