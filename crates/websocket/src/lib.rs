//! Frames and opening handshake of WebSocket, without sockets, randomness or clocks.
//!
//! What a client does with messages is in the engine, what a server does in the reference server.
//! Nothing is allocated for a frame once the buffers have grown.
//!
//! # Source
//!
//! RFC 6455.

#![forbid(unsafe_code)]

pub mod frame;
pub mod handshake;
pub mod utf8;
