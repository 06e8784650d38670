//! Loads by TLS: every way a server can fail at it has one documented outcome, counted exactly, and
//! what is right is right however its ciphertext comes.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;
mod secured;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Duration;

use plimsoll_engine::sample::{NEVER, NO_ALERT, Resumed};
use plimsoll_tls::provider;
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};

use drive::{ASK, Ask, Seen, WAITED_MS, by_outcome, drive_by};
use hostile::{BODY, head, right};
use secured::{
    Authority, Identity, Server, Stream, answers, hears_request, self_signed, shake_hands,
};

const FEW: u64 = 8;

const ASK_FEW: Ask = Ask { requests: Some(8), ..ASK };

static RIGHT: LazyLock<Vec<u8>> = LazyLock::new(right);

fn right_bytes() -> &'static [u8] {
    &RIGHT
}

fn all(outcome: &'static str, count: u64) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, count)])
}

/// Every request and every connection ends in one way, and the server has seen each connection.
fn assert_all_fail(server: &Server, tls: &Value, ask: &Ask, outcome: &'static str) -> Seen {
    let seen = drive_by(server.address(), ask, tls);
    assert_eq!(by_outcome(&seen.requests), all(outcome, FEW));
    assert_eq!(by_outcome(&seen.connections), all(outcome, FEW));
    assert_eq!(server.accepted() as u64, FEW);
    seen
}

/// No handshake comes to its end, and TCP is connected each time.
fn assert_no_handshake(server: &Server, tls: &Value, outcome: &'static str) -> Seen {
    let seen = assert_all_fail(server, tls, &ASK_FEW, outcome);
    assert!(seen.connections.iter().all(|row| row["tcp_connected_ns"] != NEVER));
    assert!(seen.connections.iter().all(|row| row["connected_ns"] == NEVER));
    assert!(seen.connections.iter().all(|row| row["resumed"] == Resumed::NoTls as u64));
    seen
}

fn assert_alerts(seen: &Seen, alert: u64) {
    assert!(seen.connections.iter().all(|row| row["alert"] == alert), "{:?}", seen.connections);
}

/// A server that says some bytes to a `ClientHello`, and then closes.
fn says(bytes: &'static [u8]) -> Server {
    Server::start(move |mut socket, _| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(bytes);
        drain(&mut socket);
    })
}

/// Reads until the client has gone, so that the close is none by a reset.
fn drain(socket: &mut TcpStream) {
    let _ = socket.shutdown(Shutdown::Write);
    while socket.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}

fn refuses_certificate(sign: impl Fn(&Authority) -> Identity, outcome: &'static str) {
    let authority = Authority::new();
    let server = Server::secured(sign(&authority).config(&[&TLS13]), |mut stream, _| {
        hears_request(&mut stream);
    });
    assert_no_handshake(&server, &authority.tls(), outcome);
}

/// All is right on connections that stay.
fn assert_right(
    config: ServerConfig,
    tls: &Value,
    way: impl Fn(Stream, usize) + Send + Sync + 'static,
) -> Seen {
    let server = Server::secured(config, way);
    let seen = drive_by(server.address(), &ASK, tls);
    assert_eq!(by_outcome(&seen.requests), all("ok", 40));
    assert_eq!(by_outcome(&seen.connections), all("closed_by_driver", 4));
    assert_eq!(server.accepted(), 4);
    assert!(seen.connections.iter().all(|row| row["due_ns"] <= row["tcp_connected_ns"]));
    assert!(seen.connections.iter().all(|row| row["tcp_connected_ns"] < row["connected_ns"]));
    assert_alerts(&seen, u64::from(NO_ALERT));
    seen
}

// ---- what is right ----------------------------------------------------------------------------

#[test]
fn a_load_by_tls_is_right_and_says_what_was_agreed_on() {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let seen = assert_right(config, &authority.tls(), answers(right_bytes()));
    assert!(seen.connections.iter().all(|row| row["resumed"] == Resumed::No as u64));
    let agreed = serde_json::to_value(&seen.finish.tls).unwrap();
    assert_eq!(
        agreed,
        json!([{
            "version": "TLS 1.3", "cipher": "TLS_AES_256_GCM_SHA384", "group": "X25519",
            "alpn": null, "resumed": false, "connections": 4,
        }])
    );
}

#[test]
fn version_cipher_and_protocol_are_those_that_were_asked_for() {
    let authority = Authority::new();
    let mut config = authority.right().config(&[&TLS12, &TLS13]);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let mut tls = authority.tls();
    tls["max_version"] = "1.2".into();
    tls["ciphers"] = json!(["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]);
    tls["alpn"] = json!(["h3", "http/1.1"]);
    let seen = assert_right(config, &tls, answers(right_bytes()));
    let agreed = serde_json::to_value(&seen.finish.tls).unwrap();
    assert_eq!(agreed[0]["version"], "TLS 1.2");
    assert_eq!(agreed[0]["cipher"], "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
    assert_eq!(agreed[0]["alpn"], "http/1.1");
}

#[test]
fn without_verification_any_certificate_will_do() {
    let tls = json!({"server_name": "other.example", "insecure": true});
    assert_right(self_signed().config(&[&TLS13]), &tls, answers(right_bytes()));
}

#[test]
fn a_client_shows_its_certificate() {
    let authority = Authority::new();
    let own = authority.signs("client", 2000, 4000);
    let mut tls = authority.tls();
    (tls["certificate"], tls["key"]) = own.files(&authority);
    assert_right(asking_for_a_certificate(&authority), &tls, answers(right_bytes()));
}

fn asking_for_a_certificate(authority: &Authority) -> ServerConfig {
    let mut roots = RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let provider = Arc::new(provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let (chain, key) = authority.right().parts();
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, key)
        .unwrap()
}

#[test]
fn sessions_are_resumed_when_asked_for_and_counted_apart() {
    let authority = Authority::new();
    for (resume, version, resumed) in
        [("always", &TLS13, FEW - 1), ("always", &TLS12, FEW - 1), ("never", &TLS13, 0)]
    {
        let config = authority.right().config(&[version]);
        let server = Server::secured(config, answers(right_bytes()));
        let mut tls = authority.tls();
        tls["resume"] = resume.into();
        let ask = Ask { requests_per_connection: Some(1), connections: 1, ..ASK_FEW };
        let seen = drive_by(server.address(), &ask, &tls);
        assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
        let again = seen.connections.iter().filter(|row| row["resumed"] == Resumed::Yes as u64);
        assert_eq!(again.count() as u64, resumed, "{resume} {version:?}");
        assert_eq!(server.accepted() as u64, FEW);
    }
}

// ---- how ciphertext may come ------------------------------------------------------------------

#[test]
fn ciphertext_byte_by_byte_is_right() {
    let authority = Authority::new();
    let config = Arc::new(authority.right().config(&[&TLS13]));
    let server = Server::start(move |socket, _| {
        let Ok(mut stream) = shake_hands(socket, &config) else { return };
        while hears_request(&mut stream) {
            stream.conn.writer().write_all(right_bytes()).unwrap();
            let mut ciphertext = Vec::new();
            while stream.conn.wants_write() {
                stream.conn.write_tls(&mut ciphertext).unwrap();
            }
            for byte in ciphertext {
                stream.sock.write_all(&[byte]).unwrap();
            }
        }
    });
    let seen = drive_by(server.address(), &ASK_FEW, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
}

#[test]
fn records_of_any_size_are_right() {
    let authority = Authority::new();
    for size in [33, 100, 5_000] {
        let mut config = authority.right().config(&[&TLS13]);
        config.max_fragment_size = Some(size);
        assert_right(config, &authority.tls(), answers(right_bytes()));
    }
}

/// A body of many reads, whose bytes differ.
static LONG: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..1_000_003_u32).map(|place| u8::try_from(place * 31 % 251).unwrap()).collect()
});

#[test]
fn a_long_body_is_right_to_the_byte() {
    static ANSWER: LazyLock<Vec<u8>> = LazyLock::new(|| {
        [head(&format!("Content-Length: {}\r\n", LONG.len())), LONG.clone()].concat()
    });
    let authority = Authority::new();
    for version in [&TLS12, &TLS13] {
        let server = Server::secured(authority.right().config(&[version]), answers(&ANSWER));
        let ask = Ask { length_bytes: Some(LONG.len()), body: Some(&LONG), ..ASK_FEW };
        let seen = drive_by(server.address(), &ask, &authority.tls());
        assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
        assert_eq!(seen.finish.bodies_compared, FEW);
    }
}

#[test]
fn a_long_request_to_a_server_that_reads_late_is_sent_whole() {
    const BYTES: usize = 6_000_000;
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let server = Server::secured(config, |mut stream, _| {
        let mut heard = 0;
        let mut buffer = vec![0; 65_536];
        thread::sleep(Duration::from_millis(200));
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            heard += count;
            if heard > BYTES {
                stream.write_all(right_bytes()).unwrap();
                heard = 0;
            }
        }
    });
    let ask = Ask { requests: Some(4), connections: 2, request_body_bytes: BYTES, ..ASK };
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", 4));
}

#[test]
fn keys_that_the_server_changes_make_no_difference() {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let seen = assert_right(config, &authority.tls(), |mut stream, _| {
        while hears_request(&mut stream) {
            stream.conn.refresh_traffic_keys().unwrap();
            stream.write_all(right_bytes()).unwrap();
        }
    });
    assert_eq!(seen.finish.bodies_compared, 40);
}

#[test]
fn keys_that_change_within_requests_and_responses_make_no_difference() {
    const BYTES: usize = 3_000_000;
    const STEP_BYTES: usize = 100_000;
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let server = Server::secured(config, |mut stream, _| {
        let (mut heard, mut changes) = (0, 0);
        let mut buffer = vec![0; 65_536];
        while let Ok(count @ 1..) = stream.read(&mut buffer) {
            heard += count;
            if heard / STEP_BYTES > changes {
                changes = heard / STEP_BYTES;
                stream.conn.refresh_traffic_keys().unwrap();
                // The client has more to send than there is room for.
                thread::sleep(Duration::from_millis(2));
            }
            if heard > BYTES {
                for piece in right_bytes().chunks(3) {
                    stream.conn.refresh_traffic_keys().unwrap();
                    stream.write_all(piece).unwrap();
                }
                (heard, changes) = (0, 0);
            }
        }
    });
    let ask = Ask { requests: Some(8), connections: 2, request_body_bytes: BYTES, ..ASK };
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", 8));
    assert_eq!((seen.finish.bodies_compared, server.accepted()), (8, 2));
}

#[test]
fn what_comes_with_the_end_of_the_handshake_is_read() {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    // The answer comes before the request is heard, and nothing after it.
    let server = Server::secured(config, |mut stream, _| {
        stream.write_all(right_bytes()).unwrap();
        while hears_request(&mut stream) {}
    });
    let ask = Ask { requests_per_connection: Some(1), ..ASK_FEW };
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
    assert_eq!(server.accepted() as u64, FEW);
}

// ---- handshakes that fail ---------------------------------------------------------------------

#[test]
fn a_certificate_of_another_authority_is_refused() {
    refuses_certificate(|_| Authority::new().right(), "tls_unknown_authority");
}

#[test]
fn a_certificate_signed_by_itself_is_refused() {
    refuses_certificate(|_| self_signed(), "tls_unknown_authority");
}

#[test]
fn an_authoritys_own_certificate_will_do_where_its_file_is_named() {
    let authority = Authority::of("127.0.0.1");
    assert_right(authority.own().config(&[&TLS13]), &authority.tls(), answers(right_bytes()));
    let other = Authority::of("127.0.0.1");
    let server = Server::secured(other.own().config(&[&TLS13]), answers(right_bytes()));
    assert_no_handshake(&server, &authority.tls(), "tls_unknown_authority");
}

#[test]
fn an_authoritys_own_certificate_for_another_name_is_refused() {
    let authority = Authority::of("other.example");
    let server = Server::secured(authority.own().config(&[&TLS13]), answers(right_bytes()));
    assert_no_handshake(&server, &authority.tls(), "tls_wrong_name");
}

#[test]
fn a_certificate_for_another_name_is_refused() {
    refuses_certificate(|authority| authority.signs("other.example", 2000, 4000), "tls_wrong_name");
}

#[test]
fn a_certificate_that_is_none_for_servers_is_refused() {
    refuses_certificate(Authority::signs_a_client, "tls_bad_certificate");
}

#[test]
fn a_certificate_that_has_expired_is_refused() {
    refuses_certificate(|authority| authority.signs("127.0.0.1", 2000, 2001), "tls_expired");
}

#[test]
fn a_certificate_that_is_not_yet_valid_is_refused() {
    refuses_certificate(|authority| authority.signs("127.0.0.1", 3999, 4000), "tls_expired");
}

#[test]
fn a_server_that_closes_at_once_has_closed_within_the_handshake() {
    let server = Server::start(|socket, _| drop(socket));
    let seen = drive_by(server.address(), &ASK_FEW, &Authority::new().tls());
    assert_eq!(by_outcome(&seen.requests).values().sum::<u64>(), FEW);
    assert!(
        by_outcome(&seen.requests)
            .keys()
            .all(|name| ["tls_closed", "connect_reset"].contains(name))
    );
}

#[test]
fn a_server_that_closes_after_the_first_message_has_closed_within_the_handshake() {
    assert_no_handshake(&says(b""), &Authority::new().tls(), "tls_closed");
}

#[test]
fn a_server_that_ends_its_side_at_once_is_not_waited_for() {
    let server = Server::start(|mut socket, _| drain(&mut socket));
    assert_no_handshake(&server, &Authority::new().tls(), "tls_closed");
}

#[test]
fn a_server_that_resets_after_the_first_message_has_closed_within_the_handshake() {
    let server = Server::start(|mut socket, _| {
        let _ = socket.read(&mut [0; 4096]);
        plimsoll_system::reset(socket.into()).unwrap();
    });
    assert_no_handshake(&server, &Authority::new().tls(), "tls_closed");
}

#[test]
fn plain_http_is_no_tls() {
    let server = says(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    assert_no_handshake(&server, &Authority::new().tls(), "tls_not_spoken");
}

#[test]
fn noise_is_no_tls() {
    assert_no_handshake(&says(&[0x99; 64]), &Authority::new().tls(), "tls_not_spoken");
}

#[test]
fn a_broken_message_breaks_the_handshake() {
    // A record of the handshake, with a message of a type that there is not.
    let server = says(&[22, 3, 3, 0, 8, 2, 0, 0, 4, 1, 2, 3, 4]);
    assert_no_handshake(&server, &Authority::new().tls(), "tls_broken");
}

#[test]
fn an_alert_is_an_outcome_with_its_number() {
    let server = says(&[21, 3, 3, 0, 2, 2, 80]);
    let seen = assert_no_handshake(&server, &Authority::new().tls(), "tls_alert");
    assert_alerts(&seen, 80);
}

#[test]
fn an_alert_about_the_offer_says_that_nothing_is_in_common() {
    for alert in [40, 70, 71] {
        let server = Server::start(move |mut socket, _| {
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(&[21, 3, 3, 0, 2, 2, alert]);
            drain(&mut socket);
        });
        let seen = assert_no_handshake(&server, &Authority::new().tls(), "tls_nothing_in_common");
        assert_alerts(&seen, u64::from(alert));
    }
}

#[test]
fn versions_that_do_not_meet_have_nothing_in_common() {
    let authority = Authority::new();
    for (spoken, offered) in [(&TLS12, "1.3"), (&TLS13, "1.2")] {
        let server = Server::secured(authority.right().config(&[spoken]), answers(right_bytes()));
        let mut tls = authority.tls();
        (tls["min_version"], tls["max_version"]) = (offered.into(), offered.into());
        assert_no_handshake(&server, &tls, "tls_nothing_in_common");
    }
}

#[test]
fn protocols_that_do_not_meet_have_nothing_in_common() {
    let authority = Authority::new();
    let mut config = authority.right().config(&[&TLS13]);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let server = Server::secured(config, answers(right_bytes()));
    let mut tls = authority.tls();
    tls["alpn"] = json!(["http/1.1"]);
    let seen = assert_no_handshake(&server, &tls, "tls_nothing_in_common");
    assert_alerts(&seen, 120);
}

#[test]
fn a_server_that_stalls_in_the_handshake_runs_into_the_timeout() {
    let server = Server::start(
        |mut socket, _| {
            while socket.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
        },
    );
    let ask = Ask { timeout_ms: WAITED_MS, connections: 8, ..ASK_FEW };
    let seen = assert_all_fail(&server, &Authority::new().tls(), &ask, "tls_timeout");
    for row in &seen.connections {
        assert!(row["closed_ns"] - row["due_ns"] >= WAITED_MS * 1_000_000, "{row:?}");
    }
}

// ---- failures after the handshake -------------------------------------------------------------

/// Each connection carries one request, which fails.
fn loses_each_connection(
    way: impl Fn(Stream) + Send + Sync + 'static,
    ask: &Ask,
    outcome: &'static str,
) -> Seen {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let server = Server::secured(config, move |mut stream, _| {
        if hears_request(&mut stream) {
            way(stream);
        }
    });
    let seen = assert_all_fail(&server, &authority.tls(), ask, outcome);
    assert!(seen.connections.iter().all(|row| row["connected_ns"] != NEVER));
    seen
}

/// Closes TCP without an end of TLS.
fn truncate(mut stream: Stream) {
    drain(&mut stream.sock);
}

/// Ends TLS, and then TCP.
fn end(mut stream: Stream) {
    stream.conn.send_close_notify();
    stream.flush().unwrap();
    drain(&mut stream.sock);
}

#[test]
fn a_body_that_is_cut_short_is_no_success() {
    for finish in [truncate, end] {
        let way = move |mut stream: Stream| {
            stream.write_all(&right_bytes()[..right_bytes().len() - 9]).unwrap();
            finish(stream);
        };
        loses_each_connection(way, &ASK_FEW, "closed_early");
    }
}

#[test]
fn a_body_that_ends_with_the_connection_needs_the_end_of_tls() {
    let ask = Ask { length_bytes: None, ..ASK_FEW };
    let sent = |finish: fn(Stream)| {
        move |mut stream: Stream| {
            stream.write_all(&[head(""), BODY.to_vec()].concat()).unwrap();
            finish(stream);
        }
    };
    loses_each_connection(sent(truncate), &ask, "closed_early");
    let authority = Authority::new();
    let way = sent(end);
    let server = Server::secured(authority.right().config(&[&TLS13]), move |mut stream, _| {
        if hears_request(&mut stream) {
            way(stream);
        }
    });
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
}

#[test]
fn a_server_that_closes_before_it_answers_has_closed_waiting() {
    for finish in [truncate, end] {
        loses_each_connection(finish, &ASK_FEW, "closed_waiting");
    }
}

#[test]
fn an_end_of_tls_between_requests_is_no_failure() {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let server = Server::secured(config, |mut stream, _| {
        if hears_request(&mut stream) {
            stream.write_all(right_bytes()).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            // TCP stays open.
            while stream.sock.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
        }
    });
    let ask = Ask { think_ms: 30, ..ASK_FEW };
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("ok", FEW));
    let ended = by_outcome(&seen.connections);
    assert_eq!(
        ended.get("closed_idle").copied().unwrap_or(0)
            + ended.get("closed_by_driver").copied().unwrap_or(0),
        FEW
    );
    assert_eq!(server.accepted() as u64, FEW);
}

#[test]
fn ciphertext_that_is_none_fails_after_the_handshake() {
    let way = |mut stream: Stream| {
        stream.write_all(&right_bytes()[..40]).unwrap();
        stream.sock.write_all(&[[23, 3, 3, 0, 32].as_slice(), &[7; 32]].concat()).unwrap();
        drain(&mut stream.sock);
    };
    let seen = loses_each_connection(way, &ASK_FEW, "tls_failed");
    assert!(seen.requests.iter().all(|row| row["first_byte_ns"] != NEVER));
}

#[test]
fn a_certificate_that_was_asked_for_and_not_shown_is_an_alert_after_the_handshake() {
    let authority = Authority::new();
    let server = Server::secured(asking_for_a_certificate(&authority), answers(right_bytes()));
    let seen = drive_by(server.address(), &ASK_FEW, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("tls_failed", FEW));
    assert_alerts(&seen, 116);
}

#[test]
fn a_server_that_never_reads_has_the_request_time_out_while_it_is_sent() {
    let authority = Authority::new();
    let config = authority.right().config(&[&TLS13]);
    let held = Mutex::new(Vec::new());
    let server = Server::secured(config, move |stream, _| held.lock().unwrap().push(stream));
    let ask = Ask {
        requests: Some(2),
        connections: 2,
        timeout_ms: WAITED_MS,
        request_body_bytes: 20_000_000,
        ..ASK
    };
    let seen = drive_by(server.address(), &ask, &authority.tls());
    assert_eq!(by_outcome(&seen.requests), all("timed_out_sending", 2));
}
