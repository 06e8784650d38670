//! Frames: read in any split of their bytes, and written.
//!
//! # Source
//!
//! RFC 6455, sections 5 and 7.4; numbers in comments are its sections.

use std::str;

/// The longest payload of a control frame.
pub const LONGEST_CONTROL_BYTES: usize = 125;

/// The longest head of a frame.
pub const LONGEST_HEAD_BYTES: usize = 14;

/// The four bytes that a client hides a payload with.
pub type Mask = [u8; 4];

/// Closed because the purpose of the connection is fulfilled.
pub const NORMAL: u16 = 1000;
/// Closed because the other side broke the protocol.
pub const PROTOCOL_ERROR: u16 = 1002;
/// A close frame without a code; never on the wire.
pub const NO_CODE: u16 = 1005;

const FIN: u8 = 0x80;
const RESERVED: u8 = 0x70;
const OPCODE: u8 = 0x0F;
const CONTROL: u8 = 0x08;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7F;
const LENGTH_16: u8 = 126;
const LENGTH_64: u8 = 127;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// Goes on with the message of the frame before.
    Continuation = 0,
    /// Begins a message of UTF-8.
    Text = 1,
    /// Begins a message of any bytes.
    Binary = 2,
    /// Ends the connection.
    Close = 8,
    /// Asks for a pong with the same payload.
    Ping = 9,
    /// Responds to a ping.
    Pong = 10,
}

impl Opcode {
    const ALL: [Self; 6] =
        [Self::Continuation, Self::Text, Self::Binary, Self::Close, Self::Ping, Self::Pong];

    #[inline]
    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|opcode| *opcode as u8 == byte & OPCODE)
    }
}

/// Who has sent what is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Every frame is masked.
    Client,
    /// No frame is.
    Server,
}

/// Why bytes are not frames that may come now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A reserved bit is set, and no extension was agreed on; 5.2.
    ReservedBit,
    /// An opcode that the protocol does not have; 5.2.
    ReservedOpcode,
    /// A server masks, or a client does not; 5.1.
    Masking,
    /// A length in more bytes than it takes, or of more than 63 bits; 5.2.
    Length,
    /// A control frame in fragments, or with more than 125 bytes; 5.5.
    Control,
    /// A continuation of nothing, or a new message within another; 5.4.
    Fragment,
    /// A close frame whose code or reason is not one; 5.5.1 and 7.4.
    Close,
}

/// A part of what has come.
#[derive(Debug, PartialEq, Eq)]
pub enum Part<'b> {
    /// Everything is read.
    More,
    /// A piece of a message.
    Data {
        /// Whether the message is text.
        is_text: bool,
        /// Its bytes, as they came.
        piece: &'b [u8],
        /// What they are masked with, the first byte by the first; zeros from a server.
        mask: Mask,
        /// Whether the message ends with it.
        is_last: bool,
    },
    /// To be responded to with a pong of the same payload.
    Ping(&'b [u8]),
    /// To be passed over.
    Pong(&'b [u8]),
    /// The last frame.
    Close {
        /// Why; [`NO_CODE`] when it is not said.
        code: u16,
    },
}

/// What was read, and how many bytes that took.
#[derive(Debug, PartialEq, Eq)]
pub struct Read<'b> {
    /// Bytes read, all of one frame; what follows has not been looked at.
    pub consumed: usize,
    /// What they are.
    pub part: Part<'b>,
}

/// A frame whose head has come.
#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: Opcode,
    is_final: bool,
    mask: Mask,
    /// Bytes of the payload that have not come.
    left: u64,
}

/// Reads the frames of one connection.
#[derive(Clone, Debug)]
pub struct Reader {
    sender: Sender,
    /// The head that is being read.
    head: [u8; LONGEST_HEAD_BYTES],
    head_bytes: usize,
    frame: Option<Frame>,
    /// Whether the message under way, if one is, is text.
    message: Option<bool>,
    /// The payload of a control frame, as far as it has come.
    control: [u8; LONGEST_CONTROL_BYTES],
    control_bytes: usize,
}

impl Reader {
    /// A reader of what `sender` sends.
    #[must_use]
    pub fn new(sender: Sender) -> Self {
        Self {
            sender,
            head: [0; LONGEST_HEAD_BYTES],
            head_bytes: 0,
            frame: None,
            message: None,
            control: [0; LONGEST_CONTROL_BYTES],
            control_bytes: 0,
        }
    }

    /// Whether the frame that is being read is one of a message.
    #[inline]
    #[must_use]
    pub fn is_in_data(&self) -> bool {
        match self.frame {
            Some(frame) => !is_control(frame.opcode as u8),
            None => self.head_bytes > 0 && !is_control(self.head[0]),
        }
    }

    /// Reads up to the end of a frame, or of the bytes.
    ///
    /// # Errors
    ///
    /// A [`Violation`], with the first byte that shows it; nothing can be read after it.
    #[inline]
    pub fn next<'r>(&'r mut self, bytes: &'r [u8]) -> Result<Read<'r>, Violation> {
        let mut consumed = 0;
        let frame = match self.frame {
            Some(frame) => frame,
            None => match self.read_head(bytes, &mut consumed)? {
                Some(frame) => frame,
                None => return Ok(Read { consumed, part: Part::More }),
            },
        };
        let rest = &bytes[consumed..];
        let count = usize::try_from(frame.left).map_or(rest.len(), |left| left.min(rest.len()));
        let (piece, left) = (&rest[..count], frame.left - count as u64);
        if count == 0 && left > 0 {
            self.frame = Some(frame);
            return Ok(Read { consumed, part: Part::More });
        }
        consumed += count;
        let mut mask = frame.mask;
        mask.rotate_left(count % 4);
        self.frame = (left > 0).then_some(Frame { mask, left, ..frame });
        if is_control(frame.opcode as u8) {
            let part = self.control(frame, piece, left == 0)?;
            return Ok(Read { consumed, part });
        }
        let is_last = left == 0 && frame.is_final;
        let is_text = self.message.unwrap_or(false);
        if is_last {
            self.message = None;
        }
        Ok(Read { consumed, part: Part::Data { is_text, piece, mask: frame.mask, is_last } })
    }

    /// Takes bytes until the head of a frame is complete.
    #[inline]
    fn read_head(
        &mut self,
        bytes: &[u8],
        consumed: &mut usize,
    ) -> Result<Option<Frame>, Violation> {
        while self.head_bytes < self.head_length() {
            let Some(&byte) = bytes.get(*consumed) else { return Ok(None) };
            *consumed += 1;
            self.head[self.head_bytes] = byte;
            self.head_bytes += 1;
            match self.head_bytes {
                1 => self.check_first()?,
                2 => self.check_second()?,
                _ => {}
            }
        }
        let frame = self.complete_head()?;
        self.head_bytes = 0;
        self.control_bytes = 0;
        Ok(Some(frame))
    }

    /// Length of the head, as far as it is known.
    #[inline]
    fn head_length(&self) -> usize {
        if self.head_bytes < 2 {
            return 2;
        }
        let length = match self.head[1] & LENGTH {
            LENGTH_16 => 4,
            LENGTH_64 => 10,
            _ => 2,
        };
        if self.sender == Sender::Client { length + 4 } else { length }
    }

    fn check_first(&self) -> Result<(), Violation> {
        let first = self.head[0];
        if first & RESERVED != 0 {
            return Err(Violation::ReservedBit);
        }
        match Opcode::of(first).ok_or(Violation::ReservedOpcode)? {
            Opcode::Close | Opcode::Ping | Opcode::Pong if first & FIN == 0 => {
                Err(Violation::Control)
            }
            Opcode::Continuation if self.message.is_none() => Err(Violation::Fragment),
            Opcode::Text | Opcode::Binary if self.message.is_some() => Err(Violation::Fragment),
            _ => Ok(()),
        }
    }

    fn check_second(&self) -> Result<(), Violation> {
        let second = self.head[1];
        if (second & MASKED != 0) != (self.sender == Sender::Client) {
            return Err(Violation::Masking);
        }
        let is_long = usize::from(second & LENGTH) > LONGEST_CONTROL_BYTES;
        if is_control(self.head[0]) && is_long { Err(Violation::Control) } else { Ok(()) }
    }

    #[inline]
    fn complete_head(&mut self) -> Result<Frame, Violation> {
        let head = &self.head[..self.head_bytes];
        let (left, least) = match head[1] & LENGTH {
            LENGTH_16 => (number(&head[2..4]), u64::from(LENGTH_16)),
            LENGTH_64 => (number(&head[2..10]), 1 << 16),
            length => (u64::from(length), 0),
        };
        if left < least || left >> 63 != 0 {
            return Err(Violation::Length);
        }
        let mask = match self.sender {
            Sender::Client => head.last_chunk().copied().unwrap_or_default(),
            Sender::Server => Mask::default(),
        };
        let opcode = Opcode::of(head[0]).ok_or(Violation::ReservedOpcode)?;
        if matches!(opcode, Opcode::Text | Opcode::Binary) {
            self.message = Some(opcode == Opcode::Text);
        }
        Ok(Frame { opcode, is_final: head[0] & FIN != 0, mask, left })
    }

    /// Takes a piece of a control frame.
    fn control(
        &mut self,
        frame: Frame,
        piece: &[u8],
        is_whole: bool,
    ) -> Result<Part<'_>, Violation> {
        let end = self.control_bytes + piece.len();
        let place = &mut self.control[self.control_bytes..end];
        place.copy_from_slice(piece);
        apply(frame.mask, place);
        self.control_bytes = end;
        let payload = &self.control[..end];
        Ok(match frame.opcode {
            _ if !is_whole => Part::More,
            Opcode::Ping => Part::Ping(payload),
            Opcode::Close => Part::Close { code: close_code(payload)? },
            _ => Part::Pong(payload),
        })
    }
}

#[inline]
fn is_control(first: u8) -> bool {
    first & CONTROL != 0
}

/// A number in network byte order, of up to eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The code in the payload of a close frame; 7.4 and the registry of IANA have those that may be
/// sent.
fn close_code(payload: &[u8]) -> Result<u16, Violation> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(NO_CODE) } else { Err(Violation::Close) };
    };
    let code = u16::from_be_bytes(*code);
    match code {
        1000..=1003 | 1007..=1014 | 3000..=4999 if str::from_utf8(reason).is_ok() => Ok(code),
        _ => Err(Violation::Close),
    }
}

/// Masks bytes, or frees them of their mask: both are the same.
#[inline]
pub fn apply(mask: Mask, bytes: &mut [u8]) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        if let Ok(eight) = <[u8; 8]>::try_from(&*word) {
            word.copy_from_slice(&(u64::from_ne_bytes(eight) ^ wide).to_ne_bytes());
        }
    }
    for (byte, by) in words.into_remainder().iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= by;
    }
}

/// Writes a frame; a client's is masked.
#[inline]
#[allow(clippy::cast_possible_truncation)]
pub fn write(
    out: &mut Vec<u8>,
    opcode: Opcode,
    is_final: bool,
    mask: Option<Mask>,
    payload: &[u8],
) {
    let first = opcode as u8 | if is_final { FIN } else { 0 };
    let masked = if mask.is_some() { MASKED } else { 0 };
    match payload.len() {
        short @ 0..126 => out.extend_from_slice(&[first, masked | short as u8]),
        medium @ 126..0x1_0000 => {
            let [high, low] = (medium as u16).to_be_bytes();
            out.extend_from_slice(&[first, masked | LENGTH_16, high, low]);
        }
        long => {
            out.extend_from_slice(&[first, masked | LENGTH_64]);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    if let Some(mask) = mask {
        out.extend_from_slice(&mask);
    }
    let start = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        apply(mask, &mut out[start..]);
    }
}

/// Writes a close frame with a code; without one for [`NO_CODE`].
pub fn write_close(out: &mut Vec<u8>, code: u16, mask: Option<Mask>) {
    let payload = if code == NO_CODE { &[][..] } else { &code.to_be_bytes() };
    write(out, Opcode::Close, true, mask, payload);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What was read, with pieces of one message together.
    #[derive(Debug, Default, PartialEq)]
    struct Heard {
        messages: Vec<(bool, Vec<u8>)>,
        unfinished: Vec<u8>,
        controls: Vec<String>,
        violation: Option<Violation>,
    }

    fn hear(sender: Sender, bytes: &[u8], cuts: &[usize]) -> Heard {
        let (mut reader, mut heard) = (Reader::new(sender), Heard::default());
        let mut start = 0;
        for &cut in cuts.iter().chain([&bytes.len()]) {
            let mut rest = &bytes[start..cut];
            start = cut;
            loop {
                let read = match reader.next(rest) {
                    Ok(read) => read,
                    Err(violation) => {
                        heard.violation = Some(violation);
                        return heard;
                    }
                };
                rest = &rest[read.consumed..];
                match read.part {
                    Part::More if rest.is_empty() => break,
                    Part::More => {}
                    Part::Data { is_text, piece, mask, is_last } => {
                        let start = heard.unfinished.len();
                        heard.unfinished.extend_from_slice(piece);
                        apply(mask, &mut heard.unfinished[start..]);
                        if is_last {
                            let message = std::mem::take(&mut heard.unfinished);
                            heard.messages.push((is_text, message));
                        }
                    }
                    Part::Ping(payload) => heard.controls.push(format!("ping {payload:?}")),
                    Part::Pong(_) => heard.controls.push("pong".into()),
                    Part::Close { code } => heard.controls.push(format!("close {code}")),
                }
            }
        }
        heard
    }

    fn violation(bytes: &[u8]) -> Option<Violation> {
        hear(Sender::Server, bytes, &[]).violation
    }

    #[test]
    fn the_examples_of_the_standard_are_read() {
        // Section 5.7.
        let unmasked = [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
        let masked = [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
        let fragmented = [0x01, 0x03, 0x48, 0x65, 0x6c, 0x80, 0x02, 0x6c, 0x6f];
        let hello = vec![(true, b"Hello".to_vec())];
        assert_eq!(hear(Sender::Server, &unmasked, &[]).messages, hello);
        assert_eq!(hear(Sender::Client, &masked, &[]).messages, hello);
        assert_eq!(hear(Sender::Server, &fragmented, &[]).messages, hello);
        let mut written = Vec::new();
        write(&mut written, Opcode::Text, true, Some([0x37, 0xfa, 0x21, 0x3d]), b"Hello");
        assert_eq!(written, masked);
        let pong = [0x89, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f];
        let payload = format!("ping {:?}", b"Hello");
        assert_eq!(hear(Sender::Server, &pong, &[]).controls, [payload]);
    }

    #[test]
    fn a_receiver_refuses_what_it_must() {
        for (bytes, wanted) in [
            (&[0xC1][..], Violation::ReservedBit),
            (&[0x91], Violation::ReservedBit),
            (&[0x83], Violation::ReservedOpcode),
            (&[0x8B], Violation::ReservedOpcode),
            (&[0x81, 0x80], Violation::Masking),
            (&[0x82, 126, 0, 125], Violation::Length),
            (&[0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], Violation::Length),
            (&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], Violation::Length),
            (&[0x89, 126], Violation::Control),
            (&[0x08], Violation::Control),
            (&[0x80], Violation::Fragment),
            (&[0x01, 0, 0x81], Violation::Fragment),
            (&[0x88, 1, 3], Violation::Close),
            (&[0x88, 2, 0x03, 0xED], Violation::Close),
            (&[0x88, 3, 0x03, 0xE8, 0xFF], Violation::Close),
        ] {
            assert_eq!(violation(bytes), Some(wanted), "{bytes:x?}");
            assert_eq!(violation(&bytes[..bytes.len() - 1]), None, "{bytes:x?}");
        }
        let unmasked = hear(Sender::Client, &[0x81, 0x05], &[]);
        assert_eq!(unmasked.violation, Some(Violation::Masking));
    }

    #[test]
    fn an_unfinished_message_is_not_told_as_one() {
        let heard = hear(Sender::Server, &[0x01, 2, b'a', b'b'], &[]);
        assert_eq!((heard.messages.len(), &*heard.unfinished), (0, &b"ab"[..]));
    }

    #[test]
    fn closes_have_a_code_or_none() {
        for code in [NORMAL, 1011, 3000, 4999, NO_CODE] {
            let mut out = Vec::new();
            write_close(&mut out, code, None);
            assert_eq!(hear(Sender::Server, &out, &[]).controls, [format!("close {code}")]);
        }
    }

    #[test]
    fn a_frame_that_is_being_read_is_of_a_message_or_not() {
        let mut reader = Reader::new(Sender::Server);
        for (bytes, is_in_data) in [
            (&[0x01][..], true),
            (&[3], true),
            (b"abc", false),
            (&[0x89], false),
            (&[1, b'p'], false),
            (&[0x80, 1], true),
        ] {
            reader.next(bytes).unwrap();
            assert_eq!(reader.is_in_data(), is_in_data, "{bytes:x?}");
        }
    }

    /// Frames that may follow each other, and what is read of them.
    fn conversation() -> impl Strategy<Value = (Vec<(Opcode, bool, Vec<u8>)>, Heard)> {
        let length = prop_oneof![4 => 0usize..130, 1 => 120usize..300, 1 => 65_530usize..65_545];
        let payload = (length, any::<u8>()).prop_map(|(length, first)| {
            (first..=u8::MAX).chain(0..=250).cycle().take(length).collect()
        });
        let message = (any::<bool>(), prop::collection::vec(payload, 1..4));
        let ping = prop::option::of(prop::collection::vec(any::<u8>(), 0..126));
        prop::collection::vec((message, ping), 0..4).prop_map(|messages| {
            let (mut frames, mut heard) = (Vec::new(), Heard::default());
            for ((is_text, pieces), ping) in messages {
                let last = pieces.len() - 1;
                heard.messages.push((is_text, pieces.concat()));
                for (place, piece) in pieces.into_iter().enumerate() {
                    let opcode = match (place, is_text) {
                        (0, true) => Opcode::Text,
                        (0, false) => Opcode::Binary,
                        _ => Opcode::Continuation,
                    };
                    frames.push((opcode, place == last, piece));
                    // A control frame may come between the fragments.
                    if let Some(payload) = ping.clone().filter(|_| place == 0) {
                        heard.controls.push(format!("ping {payload:?}"));
                        frames.push((Opcode::Ping, true, payload));
                    }
                }
            }
            (frames, heard)
        })
    }

    fn cuts(of: &[prop::sample::Index], length: usize) -> Vec<usize> {
        let mut cuts: Vec<_> = of.iter().map(|cut| cut.index(length + 1)).collect();
        cuts.sort_unstable();
        cuts
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_any_split(
            (frames, wanted) in conversation(),
            mask in prop::option::of(any::<Mask>()),
            split in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut bytes = Vec::new();
            for (opcode, is_final, payload) in &frames {
                write(&mut bytes, *opcode, *is_final, mask, payload);
            }
            let sender = if mask.is_some() { Sender::Client } else { Sender::Server };
            prop_assert_eq!(&hear(sender, &bytes, &[]), &wanted);
            prop_assert_eq!(&hear(sender, &bytes, &cuts(&split, bytes.len())), &wanted);
        }

        #[test]
        fn any_split_of_anything_means_the_same_as_none(
            bytes in prop::collection::vec(
                prop_oneof![
                    3 => prop::sample::select(vec![0x01, 0x80, 0x81, 0x82, 0x88, 0x89, 0x8A, 0, 1, 2, 3]),
                    1 => any::<u8>(),
                ],
                0..40,
            ),
            sender in prop_oneof![Just(Sender::Server), Just(Sender::Client)],
            split in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let whole = hear(sender, &bytes, &[]);
            prop_assert_eq!(&hear(sender, &bytes, &cuts(&split, bytes.len())), &whole);
            let each: Vec<_> = (0..=bytes.len()).collect();
            prop_assert_eq!(&hear(sender, &bytes, &each), &whole);
        }

        #[test]
        fn masking_is_by_each_byte_of_four_in_turn_and_undoes_itself(
            bytes in prop::collection::vec(any::<u8>(), 0..100), mask in any::<Mask>()
        ) {
            let mut masked = bytes.clone();
            apply(mask, &mut masked);
            let simply: Vec<_> =
                bytes.iter().enumerate().map(|(place, byte)| byte ^ mask[place % 4]).collect();
            prop_assert_eq!(&masked, &simply);
            apply(mask, &mut masked);
            prop_assert_eq!(masked, bytes);
        }
    }
}
