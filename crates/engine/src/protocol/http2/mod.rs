//! HTTP/2 as a client speaks it: several requests at a time, responses in any order.
//!
//! A request is one HEADERS frame whose block was encoded once, and its body as far as the windows
//! of the server allow. Everything to be sent goes through one buffer. The windows for responses are
//! so large that a server waits for them only if a client reads nothing.
//!
//! # Source
//!
//! RFC 9113.

pub mod request;
mod response;
mod session;

use plimsoll_http2::frame::{Kind, Part, Reader};

use self::session::{Ended, Fault, Session};
use super::{Event, Id, Step};
use crate::outcome::Outcome;
use crate::request::Request;

pub use self::session::{CONNECTION_WINDOW_BYTES, STREAM_WINDOW_BYTES};

/// One connection of HTTP/2.
#[derive(Clone, Debug)]
pub struct Http2<'a> {
    reader: Reader,
    session: Session<'a>,
    /// Bytes taken of the frame that is being read, and not yet told.
    untold: usize,
}

impl<'a> Http2<'a> {
    pub(super) fn new(streams: usize) -> Self {
        Self { reader: Reader::default(), session: Session::new(streams), untold: 0 }
    }

    pub(super) fn capacity(&self) -> usize {
        self.session.capacity()
    }

    pub(super) fn places(&self) -> usize {
        self.session.places()
    }

    pub(super) fn room(&self) -> usize {
        self.session.room()
    }

    pub(super) fn is_ready(&self) -> bool {
        self.session.is_settled()
    }

    pub(super) fn has_grown(&mut self) -> bool {
        self.session.has_grown()
    }

    pub(super) fn reset(&mut self) {
        self.reader.reset();
        self.session.reset();
        self.untold = 0;
    }

    pub(super) fn open(&mut self) {
        self.session.open();
    }

    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &'a Request) {
        self.session.begin(id, request);
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &[u8] {
        self.session.pending_output()
    }

    #[inline]
    pub(super) fn sent(&mut self, count: usize) -> usize {
        self.session.sent(count)
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        self.session.is_sending(id)
    }

    pub(super) fn cancel(&mut self, id: Id) -> bool {
        self.session.cancel(id)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.session.has_unprocessed()
    }

    #[inline]
    pub(super) fn must_close(&self) -> Option<Outcome> {
        self.session.must_close()
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: &[u8], mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        let mut consumed = 0;
        if let Some(ended) = self.session.take_unprocessed() {
            return step(ended, consumed);
        }
        loop {
            let read = match self.reader.next(&bytes[consumed..]) {
                Ok(read) => read,
                Err(code) => return failed(self.session.fault(code)),
            };
            consumed += read.consumed;
            self.untold += read.consumed;
            let ended = match read.part {
                Part::More => {
                    self.tell_begun(&mut emit);
                    return Step::More;
                }
                Part::Frame(head, payload) => {
                    self.session.frame(head, payload, self.untold, &mut emit)
                }
                Part::Data { head, piece, is_first, is_last } => {
                    let piece = session::Piece { bytes: piece, is_first, is_last };
                    self.session.data(head, piece, self.untold, &mut emit)
                }
            };
            self.untold = 0;
            match ended {
                Ok(None) => {}
                Ok(Some(ended)) => return step(ended, consumed),
                Err(fault) => return failed(fault),
            }
        }
    }

    /// Tells of the bytes of a head that is not complete: the first of them are its first byte.
    fn tell_begun(&mut self, emit: &mut impl FnMut(Id, Event<'_>)) {
        let Some((head, _)) = self.reader.pending() else { return };
        if matches!(head.kind, Kind::Headers | Kind::Continuation) {
            if let Some(id) = self.session.id_of(head.stream) {
                emit(id, Event::Bytes(std::mem::take(&mut self.untold)));
            }
        }
    }
}

fn step(ended: Ended, consumed: usize) -> Step {
    match ended {
        Ended::Complete(id) => Step::Complete { id, consumed },
        Ended::Early { id, outcome, code } => Step::Ended { id, outcome, code, consumed },
    }
}

fn failed(Fault { id, outcome }: Fault) -> Step {
    Step::Failed { id, outcome }
}
