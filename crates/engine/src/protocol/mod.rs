//! What the bytes between driver and server mean: protocols without sockets, clocks or records.
//!
//! A protocol belongs to one connection. It receives the requests that begin and the bytes that have
//! come; it returns the bytes to send, and what has happened to which exchange. The worker, the
//! schedule and the records know exchanges by their [`Id`] alone.

pub mod http1;

use self::http1::Http1;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::spec::Load;

/// One request and its response, on the connection that carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(pub u32);

/// Something that has come of a response, in this order: head, pieces of the body, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// The head, with its status code; interim heads are none.
    Head(u16),
    /// The next piece of the body, freed of its transfer coding.
    Body(&'b [u8]),
    /// So many more bytes, all that belong to the response counted; the first are its first byte.
    Bytes(usize),
}

/// How far the bytes that have come were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To their end, and no exchange has ended.
    More,
    /// To the end of a response.
    Complete {
        /// The exchange it belongs to.
        id: Id,
        /// Bytes read; what follows has not been looked at.
        consumed: usize,
    },
    /// They are not of this protocol, or of no exchange: the connection is of no further use.
    Failed {
        /// The exchange whose response is at fault, if it is one's.
        id: Option<Id>,
        /// How that exchange, and the connection, end.
        outcome: Outcome,
    },
}

/// The protocol of one connection, for requests that live as long as `'a`.
#[derive(Clone, Debug)]
pub enum Protocol<'a> {
    /// HTTP/1.1, one response after the other.
    Http1(Http1<'a>),
}

impl<'a> Protocol<'a> {
    /// The protocol of a load.
    #[must_use]
    pub fn new(load: &Load) -> Self {
        Self::Http1(Http1::new(load.pipeline))
    }

    /// Exchanges that a connection may carry at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match self {
            Self::Http1(http1) => http1.capacity(),
        }
    }

    /// Makes ready for a new connection; whatever was on the last one is forgotten.
    pub fn reset(&mut self) {
        match self {
            Self::Http1(http1) => http1.reset(),
        }
    }

    /// Begins a request: the bytes to be sent for it, after those that are pending.
    #[inline]
    pub fn begin(&mut self, id: Id, request: &'a Request) -> &[u8] {
        match self {
            Self::Http1(http1) => http1.begin(id, request),
        }
    }

    /// Bytes to be sent that were handed out before and not taken, or that belong to no request.
    #[inline]
    #[must_use]
    pub fn pending_output(&self) -> &[u8] {
        match self {
            Self::Http1(http1) => http1.pending_output(),
        }
    }

    /// The transport took so many of the bytes handed out. Returns how many of the requests begun
    /// since the last call are under way with that; the others have not begun, and are to be begun
    /// again.
    #[inline]
    pub fn sent(&mut self, count: usize) -> usize {
        match self {
            Self::Http1(http1) => http1.sent(count),
        }
    }

    /// Whether bytes of a request under way are still pending.
    #[must_use]
    pub fn is_sending(&self, id: Id) -> bool {
        match self {
            Self::Http1(http1) => http1.is_sending(id),
        }
    }

    /// Bytes have come; `emit` gets what they hold, up to the end of a response.
    #[inline]
    pub fn received(&mut self, bytes: &[u8], emit: impl FnMut(Id, Event<'_>)) -> Step {
        match self {
            Self::Http1(http1) => http1.received(bytes, emit),
        }
    }

    /// The server has closed its side: the exchange whose response is complete with that.
    pub fn server_closed(&mut self) -> Option<Id> {
        match self {
            Self::Http1(http1) => http1.server_closed(),
        }
    }

    /// How the connection ends if it can carry no request after the exchange completed last.
    #[inline]
    #[must_use]
    pub fn must_close(&self) -> Option<Outcome> {
        match self {
            Self::Http1(http1) => http1.must_close(),
        }
    }
}
