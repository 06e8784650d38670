//! What is sent of a request, as far as its protocol decides that.

use plimsoll_engine::protocol::http2::request::encode;
use plimsoll_engine::protocol::websocket::message_bytes;
use pyo3::prelude::*;

/// Bytes that the engine sends for a request, without those of TLS.
///
/// `protocol` is one of a load; `request` is one of HTTP/1, or a message. None is returned for what
/// the protocol cannot send.
#[pyfunction]
pub fn sent_bytes(protocol: &str, request: &[u8]) -> Option<usize> {
    match protocol {
        "http1" => Some(request.len()),
        "http2" => encode(request, "http").map(|encoded| encoded.sent_bytes()),
        "websocket" => Some(message_bytes(request)),
        _ => None,
    }
}
