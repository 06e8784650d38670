//! Messages and control frames of WebSocket, one at a time.

use plimsoll_websocket::frame::{Part, Reader, Sender};
use plimsoll_websocket::utf8::Utf8;

use super::{LARGEST_BODY_BYTES, NoResponse};

/// What a message or control frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message of text, which is UTF-8.
    Text,
    /// A message of bytes.
    Binary,
    /// A ping.
    Ping,
    /// A pong.
    Pong,
    /// The end, with its code as two bytes.
    Close,
}

/// A whole message, or a control frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub payload: Vec<u8>,
}

/// Reads what comes on an upgraded connection.
#[derive(Debug)]
pub(super) struct Messages {
    reader: Reader,
    /// Bytes that have come and are not read.
    unread: Vec<u8>,
    /// What has come of a message.
    begun: Vec<u8>,
    utf8: Utf8,
}

impl Default for Messages {
    fn default() -> Self {
        Self {
            reader: Reader::new(Sender::Server),
            unread: Vec::new(),
            begun: Vec::new(),
            utf8: Utf8::default(),
        }
    }
}

impl Messages {
    /// Takes bytes that have come.
    pub fn keep(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// The next message or control frame; none where bytes of it are missing.
    pub fn next(&mut self) -> Result<Option<Message>, NoResponse> {
        let (mut used, mut found) = (0, None);
        while found.is_none() {
            let read = self.reader.next(&self.unread[used..]);
            let Ok(read) = read else {
                return Err(NoResponse::NotWebSocket("a frame breaks RFC 6455"));
            };
            used += read.consumed;
            found = match read.part {
                Part::More if used == self.unread.len() => break,
                Part::More => None,
                Part::Ping(payload) => Some(Message::of(Kind::Ping, payload)),
                Part::Pong(payload) => Some(Message::of(Kind::Pong, payload)),
                Part::Close { code } => Some(Message::of(Kind::Close, &code.to_be_bytes())),
                Part::Data { is_text, piece, is_last, .. } => {
                    if is_text && !(self.utf8.take(piece) && (!is_last || self.utf8.end())) {
                        return Err(NoResponse::NotWebSocket("a text is not UTF-8"));
                    }
                    self.begun.extend_from_slice(piece);
                    if self.begun.len() > LARGEST_BODY_BYTES {
                        return Err(NoResponse::TooLarge);
                    }
                    let kind = if is_text { Kind::Text } else { Kind::Binary };
                    is_last.then(|| Message { kind, payload: std::mem::take(&mut self.begun) })
                }
            };
        }
        self.unread.drain(..used);
        Ok(found)
    }
}

impl Message {
    fn of(kind: Kind, payload: &[u8]) -> Self {
        Self { kind, payload: payload.to_vec() }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_websocket::frame::{Opcode, write, write_close};

    use super::*;

    #[test]
    fn messages_are_put_together_and_control_frames_stand_for_themselves() {
        let mut bytes = Vec::new();
        write(&mut bytes, Opcode::Text, false, None, b"one ");
        write(&mut bytes, Opcode::Ping, true, None, b"?");
        write(&mut bytes, Opcode::Continuation, true, None, b"two");
        write(&mut bytes, Opcode::Binary, true, None, b"");
        write_close(&mut bytes, 1000, None);
        let expected = [
            Message::of(Kind::Ping, b"?"),
            Message::of(Kind::Text, b"one two"),
            Message::of(Kind::Binary, b""),
            Message::of(Kind::Close, &[3, 232]),
        ];
        for split in 0..bytes.len() {
            let mut messages = Messages::default();
            let mut found = Vec::new();
            for piece in [&bytes[..split], &bytes[split..]] {
                messages.keep(piece);
                while let Some(message) = messages.next().unwrap() {
                    found.push(message);
                }
            }
            assert_eq!(found, expected, "split at {split}");
        }
    }

    #[test]
    fn a_text_that_is_not_utf8_is_refused_though_its_characters_may_be_cut() {
        let heard = |text: &[u8]| {
            let mut bytes = Vec::new();
            write(&mut bytes, Opcode::Text, false, None, &text[..1]);
            write(&mut bytes, Opcode::Continuation, true, None, &text[1..]);
            let mut messages = Messages::default();
            messages.keep(&bytes);
            messages.next().is_ok_and(|message| message.is_some())
        };
        assert!(heard("€".as_bytes()));
        assert!(!heard("€".as_bytes().split_last().unwrap().1));
        assert!(!heard(&[b'a', 0xff]));
    }

    #[test]
    fn a_frame_that_breaks_a_rule_is_named() {
        let mut messages = Messages::default();
        messages.keep(&[0xf1, 0]);
        assert!(matches!(messages.next(), Err(NoResponse::NotWebSocket(_))));
    }
}
