//! How a request, or a connection, ends; a total mapping from the system's error numbers.

use std::io;

use plimsoll_tls::Failure;
use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};
use serde::Serialize;

/// What kinds of endings have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// A complete response, as expected.
    Successful,
    /// A complete response, but not the expected one.
    Wrong,
    /// No connection could be opened.
    Connect,
    /// The connection was lost before the response was complete.
    Lost,
    /// Something took longer than the timeout.
    TimedOut,
    /// The bytes were not HTTP.
    Malformed,
    /// Not ended, or never begun.
    Open,
    /// Endings that only connections have.
    Connection,
}

macro_rules! outcomes {
    ($($variant:ident = $code:literal, $name:literal, $group:ident, $meaning:literal;)*) => {
        /// How a request, or a connection, ended.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Outcome {
            $(#[doc = $meaning] $variant = $code,)*
        }

        impl Outcome {
            /// Every outcome.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name in tables and reports.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it has in common with others.
            #[must_use]
            pub fn group(self) -> Group {
                match self { $(Self::$variant => Group::$group,)* }
            }

            /// What it means, in one line.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }
        }
    };
}

outcomes! {
    Ok = 0, "ok", Successful, "a complete response with the expected status, length and body";
    WrongStatus = 1, "wrong_status", Wrong, "a complete response with another status";
    WrongLength = 2, "wrong_length", Wrong, "a complete response with a body of another length";
    WrongBody = 3, "wrong_body", Wrong, "a complete response whose body differs";
    WrongCoding = 4, "wrong_coding", Wrong, "a complete response with a content coding that the request does not accept";
    BrokenCoding = 5, "broken_coding", Wrong, "a complete response whose content coding is corrupt or cut off";
    DecodedTooLarge = 6, "decoded_too_large", Wrong, "a complete response whose body has more than 256 MiB without its content coding";
    RedirectedElsewhere = 7, "redirected_elsewhere", Wrong, "a redirect to another origin, which is not followed";
    TooManyRedirects = 8, "too_many_redirects", Wrong, "a redirect after as many as are followed; a loop ends so";
    RedirectNotFollowed = 9, "redirect_not_followed", Wrong, "a redirect without a valid Location, or with which the server closes the connection";
    ConnectRefused = 10, "connect_refused", Connect, "nothing listens, or the host refuses";
    ConnectTimeout = 11, "connect_timeout", Connect, "no TCP connection within the timeout";
    ConnectUnreachable = 12, "connect_unreachable", Connect, "there is no way to the host";
    ConnectReset = 13, "connect_reset", Connect, "reset during the handshake of TCP";
    NoPort = 14, "no_port", Connect, "no local port is left for another connection";
    TooManyFiles = 15, "too_many_files", Connect, "the limit of open files is reached";
    ConnectFailed = 16, "connect_failed", Connect, "connecting failed in another way; see errno";
    NotEvents = 17, "not_events", Wrong, "a complete response that is no `text/event-stream`, where events are expected";
    WrongEvents = 18, "wrong_events", Wrong, "a complete response whose events are not those expected: none, another number, other data, cut off, early or all at once";
    ResetSending = 20, "reset_sending", Lost, "reset while the request was being sent";
    ResetWaiting = 21, "reset_waiting", Lost, "reset before the first byte of the response";
    ResetReceiving = 22, "reset_receiving", Lost, "reset within the response";
    ClosedWaiting = 23, "closed_waiting", Lost, "closed before the first byte of the response";
    ClosedEarly = 24, "closed_early", Lost, "closed within the response";
    LostBehind = 25, "lost_behind", Lost, "in flight on a connection that another request's failure ended";
    StreamReset = 26, "stream_reset", Lost, "HTTP/2: the server reset the stream; its code is in errno";
    StreamRefused = 27, "stream_refused", Lost, "HTTP/2: the server refused the stream and has not processed the request";
    GoneAway = 28, "gone_away", Lost, "HTTP/2: not processed, since the server ended the connection (GOAWAY); of a connection: ended with an error code";
    CloseReceived = 29, "close_received", Lost, "WebSocket: the server closed the connection with a close frame; its code is in `status`";
    TimedOutSending = 30, "timed_out_sending", TimedOut, "the request could not be sent in time";
    TimedOutWaiting = 31, "timed_out_waiting", TimedOut, "no byte of the response in time";
    TimedOutReceiving = 32, "timed_out_receiving", TimedOut, "the response began, but was not complete in time";
    MalformedHead = 40, "malformed_head", Malformed, "the head of the response is not HTTP/1";
    MalformedChunk = 41, "malformed_chunk", Malformed, "the chunked coding of the body is broken";
    HeadTooLarge = 42, "head_too_large", Malformed, "the head of the response is larger than the reader takes";
    Unsolicited = 43, "unsolicited", Malformed, "bytes beyond the end of a response, or before any request";
    IoFailed = 44, "io_failed", Lost, "reading or writing failed in another way; see errno";
    Http2Error = 45, "http2_error", Malformed, "HTTP/2: the server broke a rule of the protocol";
    NotHttp2 = 46, "not_http2", Malformed, "the server does not speak HTTP/2";
    WebSocketError = 47, "websocket_error", Malformed, "WebSocket: the server broke a rule of the protocol";
    Unfinished = 50, "unfinished", Open, "sent, and not ended when the load ended";
    NotSent = 51, "not_sent", Open, "due, and no connection was free for it until the load ended";
    Cancelled = 52, "cancelled", Open, "due, and not sent because the load ended; no failure";
    ClosedIdle = 60, "closed_idle", Connection, "the server closed it while no request was on it";
    ClosedAsAnnounced = 61, "closed_as_announced", Connection, "closed as the server had announced: with a response, with GOAWAY, or with status 408 while no request was on it";
    StillOpen = 62, "still_open", Connection, "open when the load ended";
    ClosedByDriver = 63, "closed_by_driver", Connection, "closed by the driver, as the load asks, or for a response that came before its request was sent";
    TlsUnknownAuthority = 70, "tls_unknown_authority", Connect, "no trusted authority has signed the server's certificate";
    TlsWrongName = 71, "tls_wrong_name", Connect, "the server's certificate is for another name";
    TlsExpired = 72, "tls_expired", Connect, "the server's certificate has expired, or is not yet valid";
    TlsBadCertificate = 73, "tls_bad_certificate", Connect, "the server's certificate is missing, broken, revoked or not one for servers";
    TlsNothingInCommon = 74, "tls_nothing_in_common", Connect, "client and server have no version, cipher, group or protocol of TLS in common";
    TlsAlert = 75, "tls_alert", Connect, "the server ended the TLS handshake with an alert; its number is in `alert`";
    TlsClosed = 76, "tls_closed", Connect, "closed or reset within the TLS handshake";
    TlsTimeout = 77, "tls_timeout", Connect, "connected, and the TLS handshake not complete within the timeout";
    TlsNotSpoken = 78, "tls_not_spoken", Connect, "what the server sent is not TLS";
    TlsBroken = 79, "tls_broken", Connect, "the server broke TLS within the handshake";
    TlsFailed = 80, "tls_failed", Lost, "after the TLS handshake came an alert, or what breaks TLS";
    UpgradeRefused = 81, "upgrade_refused", Connect, "the server did not upgrade to WebSocket: another status than 101, which is in `status`";
    UpgradeInvalid = 82, "upgrade_invalid", Connect, "the response to the upgrade is not one of WebSocket: no HTTP, or a 101 with a missing or wrong field";
    UpgradeClosed = 83, "upgrade_closed", Connect, "closed or reset within the upgrade to WebSocket";
    UpgradeTimeout = 84, "upgrade_timeout", Connect, "connected, and not upgraded to WebSocket within the timeout";
}

/// Where a request was when its connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Some of its bytes are not yet handed to the kernel.
    Sending,
    /// All is sent, nothing has come back.
    Waiting,
    /// Some of the response has come.
    Receiving,
}

impl Outcome {
    /// Whether a complete response came, right or wrong.
    #[inline]
    #[must_use]
    pub fn is_complete(self) -> bool {
        matches!(
            self,
            Self::Ok
                | Self::WrongStatus
                | Self::WrongLength
                | Self::WrongBody
                | Self::WrongCoding
                | Self::BrokenCoding
                | Self::DecodedTooLarge
                | Self::RedirectedElsewhere
                | Self::TooManyRedirects
                | Self::RedirectNotFollowed
                | Self::NotEvents
                | Self::WrongEvents
        )
    }

    /// How an attempt to connect ended that failed with `error`.
    #[must_use]
    pub fn of_connect(error: &io::Error) -> Self {
        if let Some(failure) = Failure::within(error) {
            return Self::of_failed_handshake(failure);
        }
        match Errno::from_io_error(error) {
            Some(Errno::CONNREFUSED | Errno::NOENT) => Self::ConnectRefused,
            Some(Errno::TIMEDOUT) => Self::ConnectTimeout,
            Some(Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN) => {
                Self::ConnectUnreachable
            }
            Some(Errno::CONNRESET | Errno::CONNABORTED) => Self::ConnectReset,
            Some(Errno::ADDRNOTAVAIL | Errno::ADDRINUSE) => Self::NoPort,
            Some(Errno::MFILE | Errno::NFILE) => Self::TooManyFiles,
            _ => Self::ConnectFailed,
        }
    }

    /// How an attempt to connect ended whose upgrade failed with `error`.
    #[must_use]
    pub fn of_upgrade(error: &io::Error) -> Self {
        match Failure::within(error) {
            Some(Failure::Established(_) | Failure::Handshake(_)) => Self::TlsFailed,
            Some(Failure::Truncated | Failure::ClosedWithin) | None => Self::UpgradeClosed,
        }
    }

    /// How a request ended whose connection failed with `error` in `phase`.
    #[must_use]
    pub fn of_transfer(error: &io::Error, phase: Phase) -> Self {
        if let Some(failure) = Failure::within(error) {
            return Self::of_failed_tls(failure, phase);
        }
        match Errno::from_io_error(error) {
            Some(Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED) => Self::of_reset(phase),
            Some(Errno::TIMEDOUT) => Self::of_timeout(phase),
            _ => Self::IoFailed,
        }
    }

    /// How a connection ended that failed with `error` while no request was on it.
    #[must_use]
    pub fn of_idle(error: &io::Error) -> Self {
        match Failure::within(error) {
            None | Some(Failure::Truncated) => Self::ClosedIdle,
            Some(failure) => Self::of_failed_tls(failure, Phase::Waiting),
        }
    }

    /// How a request ended whose connection was reset in `phase`.
    #[must_use]
    pub fn of_reset(phase: Phase) -> Self {
        match phase {
            Phase::Sending => Self::ResetSending,
            Phase::Waiting => Self::ResetWaiting,
            Phase::Receiving => Self::ResetReceiving,
        }
    }

    /// How a request ended that was not complete within the timeout.
    #[must_use]
    pub fn of_timeout(phase: Phase) -> Self {
        match phase {
            Phase::Sending => Self::TimedOutSending,
            Phase::Waiting => Self::TimedOutWaiting,
            Phase::Receiving => Self::TimedOutReceiving,
        }
    }

    /// How a request ended whose connection the server closed in `phase`.
    #[must_use]
    pub fn of_close(phase: Phase) -> Self {
        match phase {
            Phase::Sending | Phase::Waiting => Self::ClosedWaiting,
            Phase::Receiving => Self::ClosedEarly,
        }
    }
}

impl Outcome {
    /// How an attempt to connect ended whose handshake of TLS failed.
    #[must_use]
    pub fn of_failed_handshake(failure: &Failure) -> Self {
        match failure {
            Failure::Handshake(error) => of_handshake(error),
            Failure::ClosedWithin | Failure::Truncated | Failure::Established(_) => Self::TlsClosed,
        }
    }

    /// How a request ended in `phase` when TLS failed after the handshake.
    #[must_use]
    pub fn of_failed_tls(failure: &Failure, phase: Phase) -> Self {
        match failure {
            Failure::Truncated | Failure::ClosedWithin => Self::of_close(phase),
            Failure::Established(_) | Failure::Handshake(_) => Self::TlsFailed,
        }
    }
}

fn of_handshake(error: &Error) -> Outcome {
    match error {
        Error::InvalidCertificate(problem) => of_certificate(problem),
        Error::NoCertificatesPresented => Outcome::TlsBadCertificate,
        Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::HandshakeFailure
            | AlertDescription::InsufficientSecurity
            | AlertDescription::NoApplicationProtocol,
        )
        | Error::PeerIncompatible(_)
        | Error::NoApplicationProtocol => Outcome::TlsNothingInCommon,
        Error::AlertReceived(_) => Outcome::TlsAlert,
        Error::InvalidMessage(
            InvalidMessage::InvalidContentType | InvalidMessage::UnknownProtocolVersion,
        ) => Outcome::TlsNotSpoken,
        _ => Outcome::TlsBroken,
    }
}

fn of_certificate(problem: &CertificateError) -> Outcome {
    match problem {
        // An authority of the same name has signed it, and not the one that is trusted.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            Outcome::TlsUnknownAuthority
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            Outcome::TlsWrongName
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => Outcome::TlsExpired,
        other if is_of_an_authority(other) => Outcome::TlsUnknownAuthority,
        _ => Outcome::TlsBadCertificate,
    }
}

/// Whether a certificate was refused only for being one of an authority, as `openssl req -x509`
/// makes them for servers: it will do where its own file is named as that of an authority.
pub(crate) fn is_of_an_authority(problem: &CertificateError) -> bool {
    let CertificateError::Other(cause) = problem else { return false };
    matches!(cause.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}

/// The error number as a byte; 0 when the error has none. Linux has none above 133.
#[must_use]
pub fn errno_of(error: &io::Error) -> u8 {
    error.raw_os_error().and_then(|number| u8::try_from(number).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_number_has_an_outcome_in_each_phase() {
        for number in 1..=133 {
            let error = io::Error::from_raw_os_error(number);
            assert_eq!(Outcome::of_connect(&error).group(), Group::Connect);
            for phase in [Phase::Sending, Phase::Waiting, Phase::Receiving] {
                let group = Outcome::of_transfer(&error, phase).group();
                assert!(matches!(group, Group::Lost | Group::TimedOut), "{number} {group:?}");
            }
            assert_eq!(i32::from(errno_of(&error)), number);
        }
    }

    #[test]
    fn names_and_codes_are_unique() {
        let mut names: Vec<_> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
        let mut codes: Vec<_> = Outcome::ALL.iter().map(|outcome| *outcome as u8).collect();
        names.sort_unstable();
        names.dedup();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(names.len(), Outcome::ALL.len());
        assert_eq!(codes.len(), Outcome::ALL.len());
    }
}
