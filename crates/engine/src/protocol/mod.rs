//! What the bytes between driver and server mean: protocols without sockets, clocks or records.
//!
//! A protocol belongs to one connection. It receives the requests that begin and the bytes that have
//! come; it returns the bytes to send, and what has happened to which exchange. The worker, the
//! schedule and the records know exchanges by their [`Id`] alone.

pub mod http1;
pub mod http2;
pub mod websocket;

use self::http1::Http1;
use self::http1::following::Following;
use self::http2::Http2;
use self::websocket::WebSocket;
use self::websocket::upgrade::Answer;
use crate::coding::Coded;
use crate::outcome::Outcome;
use crate::request::Request;
use crate::spec::{self, Load};

/// One request and its response, on the connection that carries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(pub u32);

/// Something that has come of a response, in this order: head, coding and type, pieces of the body,
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'b> {
    /// The head, with its status code; interim heads are none.
    Head(u16),
    /// The content coding of the body that comes, if it has one.
    Coded(Coded),
    /// The body that comes is a stream of events.
    EventStream,
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
    /// To the end of an exchange that has no complete response; the connection goes on.
    Ended {
        /// Which one.
        id: Id,
        /// How.
        outcome: Outcome,
        /// The code that the server gives as its reason; 0 for none.
        code: u8,
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
    /// HTTP/1.1 that follows redirects.
    Following(Box<Following<'a>>),
    /// HTTP/2, responses in any order.
    Http2(Box<Http2<'a>>),
    /// WebSocket, messages that are echoed in their order.
    WebSocket(Box<WebSocket>),
}

impl<'a> Protocol<'a> {
    /// The protocol of a load.
    #[must_use]
    pub fn new(load: &Load) -> Self {
        match (&load.protocol, &load.follow) {
            (spec::Protocol::Http1, Some(follow)) => {
                Self::Following(Box::new(Following::new(follow)))
            }
            (spec::Protocol::Http1, None) => Self::Http1(Http1::new(load.pipeline)),
            (spec::Protocol::Http2, _) => Self::http2(load.streams),
            (spec::Protocol::WebSocket(spec), _) => {
                let rng = fastrand::Rng::new();
                Self::WebSocket(Box::new(WebSocket::new(load.pipeline, spec, rng)))
            }
        }
    }

    /// HTTP/2 with so many streams at one time.
    #[must_use]
    pub fn http2(streams: usize) -> Self {
        Self::Http2(Box::new(Http2::new(streams)))
    }

    /// Exchanges that a connection may carry at one time.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match self {
            Self::Http1(http1) => http1.capacity(),
            Self::Following(following) => following.capacity(),
            Self::Http2(http2) => http2.capacity(),
            Self::WebSocket(websocket) => websocket.capacity(),
        }
    }

    /// Exchanges that may be assigned to the connection now: fewer if the server takes fewer.
    #[inline]
    #[must_use]
    pub fn places(&self) -> usize {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => usize::MAX,
            Self::Http2(http2) => http2.places(),
        }
    }

    /// Exchanges that may begin now.
    #[inline]
    #[must_use]
    pub fn room(&self) -> usize {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => usize::MAX,
            Self::Http2(http2) => http2.room(),
        }
    }

    /// Whether no further exchange begins on the connection, which ends with those under way.
    #[inline]
    #[must_use]
    pub fn is_retiring(&self) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => false,
            Self::Http2(http2) => http2.is_retiring(),
        }
    }

    /// Whether there are more [`places`](Self::places) than when this was last asked.
    #[inline]
    pub fn has_grown(&mut self) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => false,
            Self::Http2(http2) => http2.has_grown(),
        }
    }

    /// Whether the server has shown that it speaks the protocol, where that comes before responses.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => true,
            Self::Http2(http2) => http2.is_ready(),
        }
    }

    /// The transport is there. Returns whether the server has to be asked for the protocol first;
    /// that request is then pending.
    pub fn ask(&mut self) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::Http2(_) => false,
            Self::WebSocket(websocket) => {
                websocket.ask();
                true
            }
        }
    }

    /// Bytes have come of the response to what was [asked](Self::ask).
    pub fn answered(&mut self, bytes: &[u8]) -> Answer {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::Http2(_) => {
                Answer::Upgraded { consumed: 0 }
            }
            Self::WebSocket(websocket) => websocket.answered(bytes),
        }
    }

    /// The connection is open: what is sent before any request is pending.
    pub fn open(&mut self) {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => {}
            Self::Http2(http2) => http2.open(),
        }
    }

    /// What the server is sent last, when the driver closes the connection.
    pub fn farewell(&mut self) -> &[u8] {
        match self {
            Self::Http1(_) | Self::Following(_) => &[],
            Self::Http2(http2) => http2.farewell(),
            Self::WebSocket(websocket) => websocket.farewell(),
        }
    }

    /// Streams that the server's settings allow at one time; nothing where they do not say.
    #[must_use]
    pub fn allowed_streams(&self) -> Option<u32> {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => None,
            Self::Http2(http2) => http2.allowed_streams(),
        }
    }

    /// The code that a server of WebSocket has closed the connection with.
    #[must_use]
    pub fn close_code(&self) -> u16 {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::Http2(_) => 0,
            Self::WebSocket(websocket) => websocket.close_code(),
        }
    }

    /// Makes ready for a new connection; whatever was on the last one is forgotten.
    pub fn reset(&mut self) {
        match self {
            Self::Http1(http1) => http1.reset(),
            Self::Following(following) => following.reset(),
            Self::Http2(http2) => http2.reset(),
            Self::WebSocket(websocket) => websocket.reset(),
        }
    }

    /// Whether requests that begin are put behind what is pending, and are sent from there.
    #[inline]
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        !matches!(self, Self::Http1(_))
    }

    /// Begins a request: the bytes to be sent for it, after those that are pending; none if it
    /// [`is_buffered`](Self::is_buffered).
    #[inline]
    pub fn begin(&mut self, id: Id, request: &'a Request) -> &[u8] {
        match self {
            Self::Http1(http1) => http1.begin(id, request),
            Self::Following(following) => {
                following.begin(id, request);
                &[]
            }
            Self::Http2(http2) => {
                http2.begin(id, request);
                &[]
            }
            Self::WebSocket(websocket) => {
                websocket.begin(id, request);
                &[]
            }
        }
    }

    /// Bytes to be sent that were handed out before and not taken, or that belong to no request.
    #[inline]
    #[must_use]
    pub fn pending_output(&self) -> &[u8] {
        match self {
            Self::Http1(http1) => http1.pending_output(),
            Self::Following(following) => following.pending_output(),
            Self::Http2(http2) => http2.pending_output(),
            Self::WebSocket(websocket) => websocket.pending_output(),
        }
    }

    /// The transport took so many of the bytes handed out. Returns how many of the requests begun
    /// since the last call are under way with that; the others have not begun, and are to be begun
    /// again.
    #[inline]
    pub fn sent(&mut self, count: usize) -> usize {
        match self {
            Self::Http1(http1) => http1.sent(count),
            Self::Following(following) => following.sent(count),
            Self::Http2(http2) => http2.sent(count),
            Self::WebSocket(websocket) => websocket.sent(count),
        }
    }

    /// Whether bytes of a request under way are still pending.
    #[must_use]
    pub fn is_sending(&self, id: Id) -> bool {
        match self {
            Self::Http1(http1) => http1.is_sending(id),
            Self::Following(following) => following.is_sending(id),
            Self::Http2(http2) => http2.is_sending(id),
            Self::WebSocket(websocket) => websocket.is_sending(id),
        }
    }

    /// Gives up an exchange under way and leaves the others alone; false when that cannot be.
    pub fn cancel(&mut self, id: Id) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => false,
            Self::Http2(http2) => http2.cancel(id),
        }
    }

    /// Whether exchanges have ended that [`received`](Self::received) has not told of, as several
    /// end with one frame.
    #[inline]
    #[must_use]
    pub fn has_ended(&self) -> bool {
        match self {
            Self::Http1(_) | Self::Following(_) | Self::WebSocket(_) => false,
            Self::Http2(http2) => http2.has_ended(),
        }
    }

    /// Bytes have come; `emit` gets what they hold, up to the end of a response.
    #[inline]
    pub fn received(&mut self, bytes: &[u8], emit: impl FnMut(Id, Event<'_>)) -> Step {
        match self {
            Self::Http1(http1) => http1.received(bytes, emit),
            Self::Following(following) => following.received(bytes, emit),
            Self::Http2(http2) => http2.received(bytes, emit),
            Self::WebSocket(websocket) => websocket.received(bytes, emit),
        }
    }

    /// The server has closed its side: the exchange whose response is complete with that.
    pub fn server_closed(&mut self) -> Option<Id> {
        match self {
            Self::Http1(http1) => http1.server_closed(),
            Self::Following(following) => following.server_closed(),
            Self::Http2(_) | Self::WebSocket(_) => None,
        }
    }

    /// Redirects followed since the last [`reset`](Self::reset).
    #[must_use]
    pub fn redirects(&self) -> u64 {
        match self {
            Self::Http1(_) | Self::Http2(_) | Self::WebSocket(_) => 0,
            Self::Following(following) => following.redirects(),
        }
    }

    /// How the connection ends if it can carry no request after the exchange completed last.
    #[inline]
    #[must_use]
    pub fn must_close(&self) -> Option<Outcome> {
        match self {
            Self::Http1(http1) => http1.must_close(),
            Self::Following(following) => following.must_close(),
            Self::Http2(http2) => http2.must_close(),
            Self::WebSocket(_) => None,
        }
    }
}
