//! A request of HTTP/2 out of its header fields.
//!
//! # Source
//!
//! RFC 9113, sections 8.1 to 8.3.

use std::borrow::Cow;

use crate::coding::Coding;
use crate::files::Selection;
use crate::request::{self, BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, Persistence, Request};

/// What one header block holds.
#[derive(Default)]
pub(super) struct Fields {
    method: Option<String>,
    scheme: Option<String>,
    path: Option<String>,
    authority: Option<String>,
    content_type: Vec<u8>,
    accepted: Option<Coding>,
    authorization: Vec<u8>,
    selection: Selection<Vec<u8>>,
    content_length: Option<usize>,
    has_regular: bool,
    has_pseudo: bool,
    is_malformed: bool,
    list_bytes: usize,
}

impl Fields {
    /// Takes the next field.
    pub fn take(&mut self, name: &[u8], value: &[u8]) {
        self.list_bytes = self.list_bytes.saturating_add(name.len() + value.len() + 32);
        if self.list_bytes > 2 * HEAD_LIMIT_BYTES {
            self.is_malformed = true;
            return;
        }
        if name.first() == Some(&b':') {
            self.take_pseudo(name, value);
            return;
        }
        self.has_regular = true;
        let is_lower = !name.is_empty() && !name.iter().any(u8::is_ascii_uppercase);
        self.is_malformed |= !is_lower;
        match name {
            b"content-type" => self.content_type = value.to_vec(),
            b"authorization" => self.authorization = value.to_vec(),
            b"range" => self.selection.range = Some(value.to_vec()),
            b"if-range" => self.selection.if_range = Some(value.to_vec()),
            b"if-none-match" => self.selection.if_none_match = Some(value.to_vec()),
            b"if-modified-since" => self.selection.if_modified_since = Some(value.to_vec()),
            b"accept-encoding" => self.accepted = Coding::accepted(value),
            b"content-length" => {
                let length = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                let differs = self.content_length.is_some_and(|before| Some(before) != length);
                self.is_malformed |= length.is_none() || differs;
                self.content_length = length;
            }
            b"te" => self.is_malformed |= value != b"trailers",
            b"connection" | b"transfer-encoding" | b"keep-alive" | b"proxy-connection"
            | b"upgrade" => self.is_malformed = true,
            _ => {}
        }
    }

    fn take_pseudo(&mut self, name: &[u8], value: &[u8]) {
        self.has_pseudo = true;
        let place = match name {
            b":method" => &mut self.method,
            b":scheme" => &mut self.scheme,
            b":path" => &mut self.path,
            b":authority" => &mut self.authority,
            _ => {
                self.is_malformed = true;
                return;
            }
        };
        let text = String::from_utf8_lossy(value).into_owned();
        self.is_malformed |= self.has_regular || place.replace(text).is_some();
    }

    /// Whether they may follow a body.
    pub fn are_trailers(&self) -> bool {
        !self.is_malformed && !self.has_pseudo
    }

    /// The request they begin; nothing when they are none of a request.
    pub fn into_request(self) -> Option<Asked> {
        let (method, path) = (self.method?, self.path?);
        self.scheme?;
        let is_right = !self.is_malformed && !path.is_empty();
        is_right.then_some(Asked {
            method,
            path,
            content_type: self.content_type,
            accepted: self.accepted,
            authorization: self.authorization,
            selection: self.selection,
            content_length: self.content_length,
            body: Vec::new(),
        })
    }
}

/// A request, complete or not.
pub(super) struct Asked {
    method: String,
    path: String,
    content_type: Vec<u8>,
    accepted: Option<Coding>,
    authorization: Vec<u8>,
    selection: Selection<Vec<u8>>,
    content_length: Option<usize>,
    pub body: Vec<u8>,
}

impl Asked {
    /// Whether its body, which is complete, has the length that the head says.
    pub fn is_as_long_as_said(&self) -> bool {
        self.content_length.is_none_or(|length| length == self.body.len())
    }

    /// Whether its head announces a body that is not taken.
    pub fn is_too_large(&self) -> bool {
        self.content_length.is_some_and(|length| length > BODY_LIMIT_BYTES)
    }

    /// The request, as the contract knows it.
    pub fn request(&self) -> Request<'_> {
        let (path, query) = request::split_target(&self.path);
        Request {
            method: request::method(&self.method),
            path,
            query,
            content_type: &self.content_type,
            accepted: self.accepted,
            authorization: &self.authorization,
            selection: self.selection.borrowed(),
            body: Cow::Borrowed(&self.body),
            persistence: Persistence::Kept,
            websocket_key: None,
            length_bytes: 0,
        }
    }
}
