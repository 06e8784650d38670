//! WebSocket as a client speaks it: messages one after the other, and each of them echoed.
//!
//! A request is the payload of one message, which is sent in one masked frame; the next message of
//! the server is its response, however many frames it has. Whether it is text or binary is left to
//! the server. Everything to be sent goes through one buffer.
//!
//! # Source
//!
//! RFC 6455.

pub mod upgrade;

use std::collections::VecDeque;

use plimsoll_websocket::frame::{self, NORMAL, Opcode, PROTOCOL_ERROR, Part, Reader, Sender};
use plimsoll_websocket::utf8::Utf8;

use self::upgrade::{Answer, Upgrade};
use super::{Event, Id, Step};
use crate::outcome::Outcome;
use crate::request::Request;
use crate::spec::{self, Message};

/// The most bytes that wait to be sent; pings beyond that are not responded to.
const MOST_REPLY_BYTES: usize = 1 << 20;

/// The code of a close frame for text that is not UTF-8; RFC 6455, section 7.4.1.
const NOT_TEXT: u16 = 1007;

/// A message whose echo is awaited, or that has been handed out to be sent.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    id: Id,
    /// Where it begins and ends, in bytes of the connection.
    start: u64,
    end: u64,
}

/// One connection of WebSocket.
#[derive(Clone, Debug)]
pub struct WebSocket {
    capacity: usize,
    opcode: Opcode,
    upgrade: Upgrade,
    is_upgraded: bool,
    /// Draws keys and masks.
    rng: fastrand::Rng,
    reader: Reader,
    utf8: Utf8,
    /// In the order of their echoes.
    awaited: VecDeque<Awaited>,
    /// How many of them, from the first on, are under way.
    begun: usize,
    output: Vec<u8>,
    /// Bytes of `output` that the transport has taken.
    taken: usize,
    /// Bytes that were taken before those.
    taken_before: u64,
    /// The code that the driver closes the connection with.
    code: u16,
}

impl WebSocket {
    pub(super) fn new(capacity: usize, spec: &spec::WebSocket, rng: fastrand::Rng) -> Self {
        Self {
            capacity,
            opcode: match spec.message {
                Message::Text => Opcode::Text,
                Message::Binary => Opcode::Binary,
            },
            upgrade: Upgrade::new(&spec.upgrade),
            is_upgraded: false,
            rng,
            reader: Reader::new(Sender::Server),
            utf8: Utf8::default(),
            awaited: VecDeque::with_capacity(capacity),
            begun: 0,
            output: Vec::new(),
            taken: 0,
            taken_before: 0,
            code: NORMAL,
        }
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn reset(&mut self) {
        self.is_upgraded = false;
        self.reader = Reader::new(Sender::Server);
        self.utf8 = Utf8::default();
        self.awaited.clear();
        self.begun = 0;
        self.output.clear();
        self.taken = 0;
        self.code = NORMAL;
    }

    /// Asks the server to speak WebSocket.
    pub(super) fn ask(&mut self) {
        let nonce = self.rng.u128(..).to_ne_bytes();
        self.upgrade.ask(nonce, &mut self.output);
    }

    /// Bytes have come before the connection was upgraded.
    pub(super) fn answered(&mut self, bytes: &[u8]) -> Answer {
        let answer = self.upgrade.answered(bytes);
        self.is_upgraded = matches!(answer, Answer::Upgraded { .. });
        answer
    }

    /// What is pending, and the close frame that ends the connection.
    pub(super) fn farewell(&mut self) -> &[u8] {
        if !self.is_upgraded {
            return &[];
        }
        frame::write_close(&mut self.output, self.code, Some(mask(&mut self.rng)));
        self.pending_output()
    }

    /// The code that the connection is closed with: the server's, once it has sent one.
    pub(super) fn close_code(&self) -> u16 {
        self.code
    }

    #[inline]
    pub(super) fn begin(&mut self, id: Id, request: &Request) {
        let start = self.taken_before + self.output.len() as u64;
        let mask = mask(&mut self.rng);
        frame::write(&mut self.output, self.opcode, true, Some(mask), &request.bytes);
        let end = self.taken_before + self.output.len() as u64;
        self.awaited.push_back(Awaited { id, start, end });
    }

    #[inline]
    pub(super) fn pending_output(&self) -> &[u8] {
        &self.output[self.taken..]
    }

    /// A message is under way when some of its bytes were taken, or when none was in its way.
    #[inline]
    pub(super) fn sent(&mut self, count: usize) -> usize {
        self.taken += count;
        let before = self.begun;
        let taken = self.taken_before + self.taken as u64;
        while let Some(next) = self.awaited.get(self.begun) {
            if next.start > taken {
                self.output.truncate(self.output.len() - self.bytes_from(next.start));
                break;
            }
            self.begun += 1;
        }
        self.awaited.truncate(self.begun);
        // Some may always be pending: what was taken goes when moving the rest costs no more.
        if self.taken * 2 >= self.output.len() {
            self.taken_before = taken;
            self.output.drain(..std::mem::take(&mut self.taken));
        }
        self.begun - before
    }

    /// Bytes of the output that lie behind a place in the connection.
    fn bytes_from(&self, place: u64) -> usize {
        let end = self.taken_before + self.output.len() as u64;
        usize::try_from(end - place).unwrap_or(usize::MAX)
    }

    pub(super) fn is_sending(&self, id: Id) -> bool {
        let taken = self.taken_before + self.taken as u64;
        self.awaited.iter().any(|one| one.id == id && one.end > taken)
    }

    /// The message whose echo comes next.
    #[inline]
    fn oldest(&self) -> Option<Id> {
        if self.begun == 0 { None } else { self.awaited.front().map(|oldest| oldest.id) }
    }

    #[inline]
    pub(super) fn received(&mut self, bytes: &[u8], mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        let mut consumed = 0;
        loop {
            let oldest = self.oldest();
            let Ok(read) = self.reader.next(&bytes[consumed..]) else {
                return self.broken(PROTOCOL_ERROR);
            };
            let count = read.consumed;
            consumed += count;
            match (read.part, oldest) {
                (Part::Data { .. }, None) => {
                    return Step::Failed { id: None, outcome: Outcome::Unsolicited };
                }
                (Part::Data { is_text, piece, is_last, .. }, Some(id)) => {
                    let is_right =
                        !is_text || self.utf8.take(piece) && (!is_last || self.utf8.end());
                    emit(id, Event::Body(piece));
                    emit(id, Event::Bytes(count));
                    if !is_right {
                        return self.broken(NOT_TEXT);
                    }
                    if is_last {
                        self.awaited.pop_front();
                        self.begun -= 1;
                        return Step::Complete { id, consumed };
                    }
                }
                (Part::Ping(payload), _) => {
                    if self.output.len() < MOST_REPLY_BYTES {
                        let mask = mask(&mut self.rng);
                        frame::write(&mut self.output, Opcode::Pong, true, Some(mask), payload);
                    }
                }
                (Part::Close { code }, _) => return self.closed(code, emit),
                (Part::Pong(_), _) => {}
                (Part::More, _) => {
                    if let Some(id) = oldest.filter(|_| self.reader.is_in_data()) {
                        if count > 0 {
                            emit(id, Event::Bytes(count));
                        }
                    }
                    if consumed == bytes.len() {
                        return Step::More;
                    }
                }
            }
        }
    }

    /// The server has broken a rule; the connection is closed with a code that tells it so.
    fn broken(&mut self, code: u16) -> Step {
        self.code = code;
        Step::Failed { id: self.oldest(), outcome: Outcome::WebSocketError }
    }

    /// The server has sent a close frame: its code is the status of all that was in flight.
    fn closed(&mut self, code: u16, mut emit: impl FnMut(Id, Event<'_>)) -> Step {
        self.code = code;
        for one in self.awaited.iter().take(self.begun) {
            emit(one.id, Event::Head(code));
        }
        Step::Failed { id: self.oldest(), outcome: Outcome::CloseReceived }
    }
}

/// Bytes that are sent for a message: one frame with its mask.
#[must_use]
pub fn message_bytes(message: &[u8]) -> usize {
    let mut frame = Vec::new();
    frame::write(&mut frame, Opcode::Binary, true, Some([0; 4]), message);
    frame.len()
}

/// A mask for a frame.
#[inline]
fn mask(rng: &mut fastrand::Rng) -> frame::Mask {
    rng.u32(..).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use plimsoll_websocket::handshake;
    use proptest::prelude::*;

    use super::*;
    use crate::request::Requests;
    use crate::spec::{Expected, RequestSpec};

    const HEAD: &[u8] = b"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n";

    fn requests() -> Requests {
        let spec = RequestSpec {
            name: String::new(),
            bytes: b"hello".to_vec(),
            weight: 1.0,
            method: String::new(),
            expects_continue: false,
            expected: Expected::default(),
        };
        Requests::new(&[spec], 0.0)
    }

    fn asking() -> WebSocket {
        let spec = spec::WebSocket { upgrade: Arc::from(HEAD), message: Message::Text };
        let mut websocket = WebSocket::new(4, &spec, fastrand::Rng::with_seed(1));
        websocket.ask();
        websocket
    }

    /// The response to what is pending, which is then taken.
    fn answer(websocket: &mut WebSocket) -> Vec<u8> {
        let asked = websocket.pending_output().to_vec();
        websocket.sent(asked.len());
        let mut headers = [httparse::EMPTY_HEADER; 16];
        let mut request = httparse::Request::new(&mut headers);
        assert!(request.parse(&asked).unwrap().is_complete());
        let accept = handshake::accept(handshake::key_of(request.headers).unwrap());
        let head: [&[u8]; 4] = [
            b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
            b"Sec-WebSocket-Accept: ",
            &accept,
            b"\r\n\r\n",
        ];
        head.concat()
    }

    /// A connection with so many messages under way.
    fn under_way(requests: &Requests, messages: u32) -> WebSocket {
        let mut websocket = asking();
        let answer = answer(&mut websocket);
        let upgraded = Answer::Upgraded { consumed: answer.len() };
        assert_eq!(websocket.answered(&answer), upgraded);
        (0..messages).for_each(|number| websocket.begin(Id(number), requests.kind(0)));
        let count = websocket.pending_output().len();
        assert_eq!(websocket.sent(count), messages as usize);
        websocket
    }

    #[test]
    fn a_connection_is_upgraded_whatever_the_pieces_and_what_follows_is_left() {
        let whole = asking().pending_output().to_vec();
        assert!(whole.starts_with(&HEAD[..HEAD.len() - 2]) && whole.ends_with(b"==\r\n\r\n"));
        let mut websocket = asking();
        let answer = [answer(&mut websocket), vec![0x81]].concat();
        for byte in &answer[..answer.len() - 2] {
            assert_eq!(websocket.answered(&[*byte]), Answer::Partial);
        }
        let rest = &answer[answer.len() - 2..];
        assert_eq!(websocket.answered(rest), Answer::Upgraded { consumed: 1 });
        websocket.reset();
        websocket.ask();
        // Its key is another one.
        let again = websocket.answered(&answer);
        assert!(matches!(again, Answer::Invalid { .. }), "{again:?}");
    }

    #[test]
    fn the_bytes_of_a_message_are_those_of_its_frame() {
        for (length, sent) in [(0, 6), (5, 11), (125, 131), (126, 134), (65_536, 65_550)] {
            assert_eq!(message_bytes(&vec![b'x'; length]), sent);
        }
    }

    #[test]
    fn messages_of_which_nothing_was_taken_have_not_begun() {
        let requests = requests();
        // A message of five bytes is eleven on the wire.
        for (taken, begun, pending) in [(0, 1, 11), (11, 2, 11), (12, 2, 10), (33, 3, 0)] {
            let mut websocket = under_way(&requests, 0);
            (0..3).for_each(|number| websocket.begin(Id(number), requests.kind(0)));
            assert_eq!(websocket.sent(taken), begun, "{taken}");
            assert_eq!(websocket.pending_output().len(), pending, "{taken}");
            let last = Id(u32::try_from(begun).unwrap() - 1);
            assert_eq!(websocket.is_sending(last), pending > 0, "{taken}");
            websocket.begin(Id(9), requests.kind(0));
            assert_eq!(websocket.sent(pending + 11), 1, "{taken}");
            assert!(websocket.pending_output().is_empty());
        }
    }

    #[test]
    fn what_was_taken_is_not_kept_though_some_is_always_pending() {
        let requests = requests();
        let mut websocket = under_way(&requests, 0);
        for number in 0..100 {
            websocket.begin(Id(number), requests.kind(0));
            let count = websocket.pending_output().len() - 5;
            assert_eq!(websocket.sent(count), 1);
            assert!(websocket.is_sending(Id(number)));
            assert!(number == 0 || !websocket.is_sending(Id(number - 1)));
        }
        assert!(websocket.output.len() <= 32, "{}", websocket.output.len());
    }

    #[test]
    fn a_connection_that_is_not_upgraded_is_closed_without_a_frame() {
        assert!(asking().farewell().is_empty());
        let requests = requests();
        let mut websocket = under_way(&requests, 1);
        // A masked close frame with a code.
        assert_eq!(websocket.farewell().len(), 8);
    }

    #[derive(Debug, Default, PartialEq)]
    struct Heard {
        statuses: Vec<(Id, u16)>,
        bodies: BTreeMap<u32, Vec<u8>>,
        bytes: BTreeMap<u32, usize>,
        /// Ends of exchanges in their order, and of the connection.
        ended: Vec<String>,
        output: Vec<u8>,
    }

    fn hear(requests: &Requests, bytes: &[u8], cuts: &[usize]) -> Heard {
        let mut websocket = under_way(requests, 4);
        let mut heard = Heard::default();
        let mut start = 0;
        'all: for &cut in cuts.iter().chain([&bytes.len()]) {
            let mut rest = &bytes[start..cut];
            start = cut;
            while !rest.is_empty() {
                let step = websocket.received(rest, |id, event| match event {
                    Event::Head(status) => heard.statuses.push((id, status)),
                    Event::Coded(_) | Event::EventStream => {}
                    Event::Body(piece) => {
                        heard.bodies.entry(id.0).or_default().extend_from_slice(piece);
                    }
                    Event::Bytes(count) => *heard.bytes.entry(id.0).or_default() += count,
                });
                rest = match step {
                    Step::More => break,
                    Step::Complete { id, consumed } => {
                        heard.ended.push(format!("{id:?}"));
                        &rest[consumed..]
                    }
                    Step::Ended { .. } => unreachable!(),
                    Step::Failed { id, outcome } => {
                        heard.ended.push(format!("{id:?} {outcome:?}"));
                        break 'all;
                    }
                };
            }
        }
        heard.output = websocket.pending_output().to_vec();
        // How much came of a message before it failed depends on how it came.
        let is_complete = |id: &u32| heard.ended.contains(&format!("{:?}", Id(*id)));
        heard.bytes.retain(|id, _| is_complete(id));
        heard.bodies.retain(|id, _| is_complete(id));
        heard
    }

    /// Frames of a server, right and wrong ones.
    fn frames() -> impl Strategy<Value = Vec<u8>> {
        let opcodes = prop_oneof![
            Just(Opcode::Text),
            Just(Opcode::Binary),
            Just(Opcode::Continuation),
            Just(Opcode::Ping),
            Just(Opcode::Pong),
            Just(Opcode::Close),
        ];
        let payloads: Vec<&[u8]> =
            vec![b"", b"hello", &[0xC3], &[0xBC, b'x'], &[0x03, 0xE9], &[b'y'; 125], &[b'z'; 300]];
        let payloads = prop::sample::select(payloads);
        let one = (opcodes, any::<bool>(), payloads).prop_map(|(opcode, is_final, payload)| {
            let mut out = Vec::new();
            frame::write(&mut out, opcode, is_final, None, payload);
            out
        });
        prop::collection::vec(one, 0..10).prop_map(|frames| frames.concat())
    }

    proptest! {
        #[test]
        fn any_split_of_anything_means_the_same_as_none(
            bytes in prop_oneof![
                9 => frames(), 1 => prop::collection::vec(any::<u8>(), 0..100)
            ],
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let requests = requests();
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let whole = hear(&requests, &bytes, &[]);
            prop_assert_eq!(&hear(&requests, &bytes, &cuts), &whole);
            let each: Vec<_> = (0..=bytes.len()).collect();
            prop_assert_eq!(&hear(&requests, &bytes, &each), &whole);
        }
    }
}
