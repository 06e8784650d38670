//! Frames and header compression of HTTP/2, without sockets, streams or clocks.
//!
//! What a client does with frames is in the engine, what a server does in the reference server.
//! Nothing is allocated for a frame or a header field once the buffers have grown.
//!
//! # Source
//!
//! RFC 9113 (HTTP/2) and RFC 7541 (HPACK).

#![forbid(unsafe_code)]

pub mod frame;
pub mod hpack;
