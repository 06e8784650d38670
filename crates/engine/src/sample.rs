//! The records and their layout: flat, little-endian, written down once.

/// An instant that never came.
pub const NEVER: u64 = u64::MAX;

/// The connection of a request that never had one.
pub const NO_CONNECTION: u32 = u32::MAX;

/// An unknown number of bytes.
pub const NO_BYTES: u32 = u32::MAX;

/// No alert of TLS.
pub const NO_ALERT: u32 = u32::MAX;

/// Whether a session of TLS was resumed; a code, of four bytes because the size of a record is a
/// multiple of eight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Resumed {
    /// The handshake was a full one.
    No = 0,
    /// It took up an earlier session.
    Yes = 1,
    /// No handshake of TLS was completed.
    NoTls = u32::MAX,
}

/// Whether a body was compared with the one expected, byte for byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Comparison {
    /// A body was expected, and this one was not drawn for the sample.
    Skipped = 0,
    /// It was compared whole.
    Compared = 1,
    /// None was expected, and this one is written down; a record has [`Self::NotExpected`].
    Kept = 2,
    /// No body was expected, or status or length were wrong already.
    NotExpected = u32::MAX,
}

/// One field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its type: `u8`, `u16`, `u32` or `u64`, little-endian.
    pub kind: &'static str,
}

macro_rules! record {
    ($(#[$about:meta])* $name:ident, $size:literal, { $($(#[$doc:meta])* $field:ident: $kind:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(C)]
        pub struct $name {
            $($(#[$doc])* pub $field: $kind,)*
        }

        impl $name {
            /// Size of one record, in bytes.
            pub const SIZE: usize = $size;

            /// Its fields in order.
            pub const FIELDS: &'static [Field] = &[$(
                Field {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    kind: stringify!($kind),
                },
            )*];

            /// The record as it lies in a file.
            #[inline]
            #[must_use]
            pub fn to_bytes(&self) -> [u8; $size] {
                let mut bytes = [0; $size];
                $(
                    let field = self.$field.to_le_bytes();
                    let offset = std::mem::offset_of!($name, $field);
                    bytes[offset..offset + field.len()].copy_from_slice(&field);
                )*
                bytes
            }

            /// The record that lies in a file as these bytes.
            #[inline]
            #[must_use]
            pub fn from_bytes(bytes: &[u8; $size]) -> Self {
                $(
                    let offset = std::mem::offset_of!($name, $field);
                    let end = offset + std::mem::size_of::<$kind>();
                    let mut $field = [0; std::mem::size_of::<$kind>()];
                    $field.copy_from_slice(&bytes[offset..end]);
                )*
                Self { $($field: $kind::from_le_bytes($field),)* }
            }
        }

        const _: () = assert!(std::mem::size_of::<$name>() == $size);
    };
}

record! {
    /// One request that was due. Instants are nanoseconds since the zero of the trial.
    RequestSample, 56, {
        /// The instant the schedule wanted it to start.
        due_ns: u64,
        /// Handed to the kernel; [`NEVER`] when it was not.
        sent_ns: u64,
        /// First byte of the response; [`NEVER`] when none came.
        first_byte_ns: u64,
        /// Its end; [`NEVER`] when it had not ended.
        done_ns: u64,
        /// Bytes of the response, head and body.
        received_bytes: u32,
        /// Bytes of the body, freed of its transfer coding, and of its content coding where that was
        /// asked for; [`NO_BYTES`] of an incomplete response.
        body_bytes: u32,
        /// Code of its [`Comparison`]; four bytes, because the size is a multiple of eight.
        compared: u32,
        /// Attempt to connect that carried it; [`NO_CONNECTION`] when none did.
        connection: u32,
        /// Index of the kind of request.
        request: u16,
        /// Status code, or the code of a close frame; 0 when none was read.
        status: u16,
        /// Thread that drove it.
        worker: u16,
        /// Code of its [`Outcome`](crate::outcome::Outcome).
        outcome: u8,
        /// Error number of the system; 0 when there was none.
        errno: u8,
    }
}

record! {
    /// One attempt to connect. Instants are nanoseconds since the zero of the trial.
    ConnectionSample, 56, {
        /// The instant connect was called.
        due_ns: u64,
        /// Connected by TCP; [`NEVER`] when it never was.
        tcp_connected_ns: u64,
        /// Requests can be sent: the handshake of TLS and the upgrade to WebSocket, if there are
        /// such, are complete as well; [`NEVER`] when they never could.
        connected_ns: u64,
        /// Its end; [`NEVER`] when it was open at the end of the load.
        closed_ns: u64,
        /// Requests sent on it.
        requests: u32,
        /// Responses of which at least one byte came.
        responses: u32,
        /// Code of [`Resumed`].
        resumed: u32,
        /// Number of the alert of TLS that the server sent; [`NO_ALERT`] when it sent none.
        alert: u32,
        /// Number of the attempt, per worker.
        connection: u32,
        /// Thread that drove it.
        worker: u16,
        /// Code of its [`Outcome`](crate::outcome::Outcome).
        outcome: u8,
        /// Error number of the system; 0 when there was none.
        errno: u8,
    }
}

record! {
    /// One body that was written down, which follows its record.
    BodySample, 16, {
        /// The end of its response, in nanoseconds since the zero of the trial.
        done_ns: u64,
        /// Its length without the transfer coding.
        length_bytes: u32,
        /// Index of the kind of request.
        request: u16,
        /// Thread that drove it.
        worker: u16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_fill_the_record_without_gaps() {
        for (fields, size) in [
            (RequestSample::FIELDS, RequestSample::SIZE),
            (ConnectionSample::FIELDS, ConnectionSample::SIZE),
            (BodySample::FIELDS, BodySample::SIZE),
        ] {
            let mut next = 0;
            for field in fields {
                assert_eq!(field.offset, next, "{}", field.name);
                next += match field.kind {
                    "u8" => 1,
                    "u16" => 2,
                    "u32" => 4,
                    _ => 8,
                };
            }
            assert_eq!(next, size);
        }
    }

    #[test]
    fn a_record_is_little_endian() {
        let sample = ConnectionSample {
            due_ns: 1,
            tcp_connected_ns: NEVER,
            connected_ns: NEVER,
            closed_ns: 0x0102,
            requests: 7,
            responses: 8,
            resumed: Resumed::NoTls as u32,
            alert: NO_ALERT,
            connection: 9,
            worker: 0x0a0b,
            outcome: 12,
            errno: 13,
        };
        let bytes = sample.to_bytes();
        assert_eq!(bytes[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[8..24], [255; 16]);
        assert_eq!(bytes[24..26], [2, 1]);
        assert_eq!(bytes[52..], [0x0b, 0x0a, 12, 13]);
        assert_eq!(ConnectionSample::from_bytes(&bytes), sample);
    }
}
