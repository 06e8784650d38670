//! The reference server as its clients see it: raw bytes over sockets.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::Duration;

use plimsoll_http2::{frame as http2, hpack};
use plimsoll_reference::{
    Acceptors, Address, Counts, ReferenceError, ReferenceSpec, Server, ServiceTime, Stall, Streams,
};
use plimsoll_system as system;
use plimsoll_websocket::frame as websocket;

const MS: u64 = 1_000_000;
const GET_EMPTY: &[u8] = b"GET /empty HTTP/1.1\r\nHost: x\r\n\r\n";
const GET_PLAINTEXT: &[u8] = b"GET /plaintext HTTP/1.1\r\nHost: x\r\n\r\n";
const GET_32768: &[u8] = b"GET /32768 HTTP/1.1\r\nHost: x\r\n\r\n";

fn spec() -> ReferenceSpec {
    ReferenceSpec::new("127.0.0.1:0".parse::<Address>().unwrap())
}

fn start(spec: &ReferenceSpec) -> Server {
    Server::start(spec).unwrap()
}

fn with_service_time(duration_ns: u64) -> Server {
    start(&ReferenceSpec { service_time: ServiceTime::Fixed { duration_ns }, ..spec() })
}

fn tcp(server: &Server) -> SocketAddr {
    let Address::Tcp(address) = server.address() else { panic!("{}", server.address()) };
    *address
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.set_nodelay(true).unwrap();
    stream
}

/// Reads one answer of given length: status, lower-case head, body.
fn read_answer(stream: &mut TcpStream) -> (u16, String, Vec<u8>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    let status = head[9..12].parse().unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    stream.read_exact(&mut body).unwrap();
    (status, head, body)
}

fn ask(stream: &mut TcpStream, request: &[u8]) -> (u16, String, Vec<u8>) {
    stream.write_all(request).unwrap();
    read_answer(stream)
}

fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn is_closed(stream: &mut TcpStream) -> bool {
    matches!(stream.read(&mut [0]), Ok(0))
}

/// Counts once they are as expected; they are a few microseconds behind what a client sees.
fn counts_when(server: &Server, settled: impl Fn(&Counts) -> bool) -> Counts {
    for _ in 0..1_000 {
        let counts = server.counts();
        if settled(&counts) {
            return counts;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the counts did not settle: {:?}", server.counts());
}

#[test]
fn every_endpoint_is_served_on_one_connection() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    for (path, length) in [("empty", 0), ("2048", 2048), ("8192", 8192), ("32768", 32768)] {
        let request = format!("GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n");
        let (status, _, body) = ask(&mut stream, request.as_bytes());
        assert_eq!((status, body), (200, vec![b'A'; length]));
    }
    assert_eq!(ask(&mut stream, GET_PLAINTEXT).2, b"Hello, World!");
    let fibonacci = ask(&mut stream, b"GET /fibonacci/90 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(fibonacci.2, b"2880067194370816120");
    assert_eq!(server.stop().unwrap().connections_accepted, 1);
}

#[test]
fn the_twenty_six_arguments_are_counted_however_they_come() {
    let alphabet = "abcdefghijklmnopqrstuvwxyz";
    let pairs: Vec<_> =
        alphabet.chars().map(|letter| (format!("abc{letter}"), alphabet.to_owned())).collect();
    let form: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let form = form.join("&");
    let parts: Vec<_> = pairs
        .iter()
        .map(|(name, value)| {
            let disposition = format!("Content-Disposition: form-data; name=\"{name}\"");
            format!("--b0undary\r\n{disposition}\r\n\r\n{value}\r\n")
        })
        .collect();
    let multipart = parts.concat() + "--b0undary--\r\n";
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let requests = [
        format!("GET /getArgs2048?{form} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes(),
        post("/postArgs2048", "application/x-www-form-urlencoded", form.as_bytes()),
        post("/postArgsMulti2048", "multipart/form-data; boundary=b0undary", multipart.as_bytes()),
    ];
    for request in requests {
        let (status, head, body) = ask(&mut stream, &request);
        assert_eq!((status, body), (200, vec![b'A'; 2048]));
        assert!(head.contains("\r\ndecoded-bytes: 676\r\n"), "{head}");
    }
}

#[test]
fn broken_json_is_refused_and_the_connection_goes_on() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    for broken in ["{\"id\":", ""] {
        let request = post("/json", "application/json", broken.as_bytes());
        assert_eq!(ask(&mut stream, &request).0, 400);
    }
    let request = post("/json", "application/json", b"{\"id\": 1}");
    assert_eq!(ask(&mut stream, &request).2, b"{\"id\":1}");
}

#[test]
fn a_path_that_does_not_exist_is_not_found() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    assert_eq!(ask(&mut stream, b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n").0, 404);
    assert_eq!(ask(&mut stream, GET_EMPTY).0, 200);
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let requests = [GET_EMPTY, GET_PLAINTEXT, GET_32768].repeat(50).concat();
    let mut sender = stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&requests).unwrap());
    for index in 0..150 {
        assert_eq!(read_answer(&mut stream).2.len(), [0, 13, 32768][index % 3], "{index}");
    }
    sending.join().unwrap();
    assert_eq!(server.stop().unwrap().responses_sent, 150);
}

#[test]
fn a_request_may_come_a_byte_at_a_time() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let request = post("/json", "application/json", b"[1,2,3]");
    for byte in &request {
        stream.write_all(&[*byte]).unwrap();
    }
    assert_eq!(read_answer(&mut stream).2, b"[1,2,3]");
}

#[test]
fn an_answer_larger_than_the_socket_takes_is_sent_whole_once_it_is_read() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let body = format!("\"{}\"", "x".repeat(900_000));
    let requests = post("/json", "application/json", body.as_bytes()).repeat(30);
    let mut sender = stream.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(&requests).unwrap());
    counts_when(&server, |counts| counts.requests_received > counts.responses_sent);
    for _ in 0..30 {
        assert_eq!(read_answer(&mut stream).2, body.as_bytes());
    }
    sending.join().unwrap();
}

#[test]
fn connection_close_is_announced_and_done() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let request = b"GET /2048 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let (status, head, _) = ask(&mut stream, request);
    assert_eq!(status, 200);
    assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
    assert!(is_closed(&mut stream));
}

#[test]
fn an_older_client_is_served_and_closed_unless_it_asks_to_stay() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    for _ in 0..2 {
        let (status, head, _) =
            ask(&mut stream, b"GET /2048 HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
        assert_eq!(status, 200);
        assert!(head.contains("\r\nconnection: keep-alive\r\n"), "{head}");
    }
    assert_eq!(ask(&mut stream, b"GET /2048 HTTP/1.0\r\n\r\n").0, 200);
    assert!(is_closed(&mut stream));
}

#[test]
fn a_client_that_has_said_all_still_gets_its_answer() {
    let server = with_service_time(5 * MS);
    let mut stream = connect(tcp(&server));
    stream.write_all(GET_PLAINTEXT).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(read_answer(&mut stream).2, b"Hello, World!");
    assert!(is_closed(&mut stream));
    assert_eq!(counts_when(&server, |counts| counts.connections_closed == 1).responses_sent, 1);
}

#[test]
fn a_client_is_told_to_send_its_body_when_it_asks() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let head =
        "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    assert_eq!(read_answer(&mut stream).0, 100);
    assert_eq!(ask(&mut stream, b"{}").2, b"{}");
}

#[test]
fn what_is_no_request_is_refused_and_closed() {
    let server = start(&spec());
    let long = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &vec![b'x'; 200_000]].concat();
    let coded = b"POST /json HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n{}";
    let large = b"POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: 90000000\r\n\r\nbeginning";
    let cases: [(&[u8], u16); 4] =
        [(b"\x16\x03\x01\r\n\r\n", 400), (coded, 501), (large, 413), (&long, 431)];
    for (request, expected) in cases {
        let mut stream = connect(tcp(&server));
        stream.write_all(request).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let (status, head, _) = read_answer(&mut stream);
        assert_eq!(status, expected);
        assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
        assert!(is_closed(&mut stream));
    }
    let counts = server.stop().unwrap();
    assert_eq!((counts.requests_received, counts.requests_refused), (0, 4));
}

#[test]
fn a_stream_whose_number_was_passed_over_ends_the_connection() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    stream.write_all(&http2_requests("/empty", &[5, 3])).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    let mut go_away = Vec::new();
    http2::write_go_away(&mut go_away, 5, http2::ErrorCode::ProtocolError);
    assert!(received.ends_with(&go_away), "{received:?}");
}

#[test]
fn messages_before_the_close_are_echoed_before_it() {
    let server = with_service_time(20 * MS);
    let mut stream = connect(tcp(&server));
    let upgrade = b"GET /echo HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    assert_eq!(ask(&mut stream, upgrade).0, 101);
    let mut sent = Vec::new();
    for message in [b"one", b"two"] {
        websocket::write(&mut sent, websocket::Opcode::Text, true, Some([1, 2, 3, 4]), message);
    }
    websocket::write_close(&mut sent, 1000, Some([1, 2, 3, 4]));
    websocket::write(&mut sent, websocket::Opcode::Text, true, Some([1, 2, 3, 4]), b"late");
    stream.write_all(&sent).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert_eq!(received, b"\x81\x03one\x81\x03two\x88\x02\x03\xe8");
}

#[test]
fn both_ways_to_accept_serve_every_connection() {
    for acceptors in [Acceptors::Many, Acceptors::One] {
        let server = start(&ReferenceSpec { workers: 3, acceptors, ..spec() });
        let mut streams: Vec<_> = (0..60).map(|_| connect(tcp(&server))).collect();
        for stream in &mut streams {
            stream.write_all(GET_PLAINTEXT).unwrap();
        }
        for stream in &mut streams {
            assert_eq!(read_answer(stream).2, b"Hello, World!");
        }
        let counts = server.stop().unwrap();
        assert_eq!(counts.connections_accepted, 60, "{acceptors:?}");
        assert_eq!(counts.responses_sent, 60, "{acceptors:?}");
    }
}

#[test]
fn the_counts_are_the_bytes_that_went_over_the_wire() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let (_, head, body) = ask(&mut stream, GET_32768);
    drop(stream);
    let counts = counts_when(&server, |counts| counts.connections_closed == 1);
    let expected = Counts {
        connections_accepted: 1,
        connections_closed: 1,
        requests_received: 1,
        responses_sent: 1,
        received_bytes: GET_32768.len() as u64,
        sent_bytes: (head.len() + body.len()) as u64,
        ..Counts::default()
    };
    assert_eq!(counts, expected);
}

#[test]
fn an_answer_takes_its_service_time_or_longer() {
    let server = with_service_time(20 * MS);
    let mut stream = connect(tcp(&server));
    for _ in 0..3 {
        let before_ns = system::now_ns();
        assert_eq!(ask(&mut stream, GET_EMPTY).0, 200);
        assert!(system::now_ns() - before_ns >= 20 * MS);
    }
}

#[test]
fn answers_on_different_connections_do_not_wait_for_each_other() {
    // One after the other, these would take 30 s and run into the read timeout.
    let server = with_service_time(300 * MS);
    let mut streams: Vec<_> = (0..100).map(|_| connect(tcp(&server))).collect();
    for stream in &mut streams {
        stream.write_all(GET_EMPTY).unwrap();
    }
    for stream in &mut streams {
        assert_eq!(read_answer(stream).0, 200);
    }
}

#[test]
fn a_worker_that_serves_one_at_a_time_has_requests_of_all_connections_wait() {
    let service_time = ServiceTime::Fixed { duration_ns: 10 * MS };
    let server = start(&ReferenceSpec { service_time, one_at_a_time: true, ..spec() });
    let mut streams: Vec<_> = (0..20).map(|_| connect(tcp(&server))).collect();
    let before_ns = system::now_ns();
    for stream in &mut streams {
        stream.write_all(GET_EMPTY).unwrap();
    }
    for stream in &mut streams {
        assert_eq!(read_answer(stream).0, 200);
    }
    assert!(system::now_ns() - before_ns >= 20 * 10 * MS);
}

#[test]
fn requests_on_one_connection_are_served_one_after_the_other() {
    let server = with_service_time(10 * MS);
    let mut stream = connect(tcp(&server));
    let before_ns = system::now_ns();
    stream.write_all(&GET_EMPTY.repeat(5)).unwrap();
    for _ in 0..5 {
        assert_eq!(read_answer(&mut stream).0, 200);
    }
    assert!(system::now_ns() - before_ns >= 50 * MS);
}

/// The preface of HTTP/2 and a request for `path` on each of some streams.
fn http2_requests(path: &str, streams: &[u32]) -> Vec<u8> {
    let mut sent = http2::PREFACE.to_vec();
    http2::write_settings(&mut sent, &[]);
    for &stream in streams {
        let mut block = Vec::new();
        for (name, value) in [(":method", "GET"), (":scheme", "http"), (":path", path)] {
            hpack::write_field(&mut block, name.as_bytes(), value.as_bytes());
        }
        let flags = http2::END_HEADERS | http2::END_STREAM;
        let kind = http2::Kind::Headers;
        http2::Head { length: block.len(), kind, flags, stream }.write(&mut sent);
        sent.extend_from_slice(&block);
    }
    sent
}

#[test]
fn frames_of_a_head_may_be_empty_but_not_without_end() {
    let server = start(&spec());
    let mut sent = http2_requests("/plaintext", &[]);
    let whole = http2_requests("/plaintext", &[1]);
    let block = &whole[sent.len() + http2::HEAD_BYTES..];
    let (kind, flags) = (http2::Kind::Headers, http2::END_STREAM);
    http2::Head { length: 0, kind, flags, stream: 1 }.write(&mut sent);
    let goes_on = |sent: &mut Vec<u8>, flags, piece: &[u8]| {
        let kind = http2::Kind::Continuation;
        http2::Head { length: piece.len(), kind, flags, stream: 1 }.write(sent);
        sent.extend_from_slice(piece);
    };
    let mut endless = sent.clone();
    goes_on(&mut sent, 0, b"");
    goes_on(&mut sent, 0, block);
    goes_on(&mut sent, http2::END_HEADERS, b"");
    let mut stream = connect(tcp(&server));
    stream.write_all(&sent).unwrap();
    counts_when(&server, |counts| counts.responses_sent == 1);
    (0..300).for_each(|_| goes_on(&mut endless, 0, b""));
    let mut stream = connect(tcp(&server));
    stream.write_all(&endless).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    let mut go_away = Vec::new();
    http2::write_go_away(&mut go_away, 0, http2::ErrorCode::EnhanceYourCalm);
    assert!(received.ends_with(&go_away), "{received:?}");
}

#[test]
fn streams_of_a_connection_do_not_wait_for_each_other() {
    // One after the other, these would take longer than `counts_when` waits.
    let server = with_service_time(100 * MS);
    let mut stream = connect(tcp(&server));
    let numbers: Vec<_> = (0..200).map(|index| 2 * index + 1).collect();
    stream.write_all(&http2_requests("/plaintext", &numbers)).unwrap();
    counts_when(&server, |counts| counts.responses_sent == 200);
}

#[test]
fn streams_that_are_served_in_turn_wait_for_each_other() {
    let service_time = ServiceTime::Fixed { duration_ns: 20 * MS };
    let server = start(&ReferenceSpec { service_time, streams: Streams::InTurn, ..spec() });
    let mut stream = connect(tcp(&server));
    let begun_ns = system::now_ns();
    stream.write_all(&http2_requests("/32768", &[1, 3, 5, 7, 9])).unwrap();
    // The window of the connection is a byte too small for the first two bodies.
    counts_when(&server, |counts| counts.responses_sent == 1);
    let mut larger = Vec::new();
    http2::write_window_update(&mut larger, 0, 1 << 20);
    stream.write_all(&larger).unwrap();
    counts_when(&server, |counts| counts.responses_sent == 5);
    assert!(system::now_ns() - begun_ns >= 100 * MS);
}

#[test]
fn a_share_of_the_answers_takes_the_second_service_time() {
    let service_time =
        ServiceTime::Bimodal { duration_ns: 0, second_ns: 30 * MS, second_ratio: 0.5 };
    let server = start(&ReferenceSpec { service_time, seed: 1, ..spec() });
    let mut stream = connect(tcp(&server));
    let mut before_ns = system::now_ns();
    let slow = (0..40).filter(|_| {
        assert_eq!(ask(&mut stream, GET_EMPTY).0, 200);
        let now_ns = system::now_ns();
        now_ns - std::mem::replace(&mut before_ns, now_ns) >= 30 * MS
    });
    let slow = slow.count();
    assert!(slow >= 5, "{slow}");
}

#[test]
fn a_stalled_server_answers_nothing_until_the_stall_is_over() {
    let stall = Stall { duration_ns: 200 * MS, period_ns: 300 * MS };
    let server = start(&ReferenceSpec { stall: Some(stall), ..spec() });
    let mut stream = connect(tcp(&server));
    let mut stalled = 0;
    for _ in 0..20 {
        std::thread::sleep(Duration::from_millis(35));
        let asked_ns = system::now_ns() - server.zero_ns();
        assert_eq!(ask(&mut stream, GET_EMPTY).0, 200);
        let answered_ns = system::now_ns() - server.zero_ns();
        if let Some(end_ns) = stall.end_ns(asked_ns) {
            stalled += 1;
            assert!(answered_ns >= end_ns, "asked {asked_ns}, answered {answered_ns}");
        }
    }
    assert!(stalled > 0);
}

#[test]
fn stopping_closes_every_connection_and_frees_the_port() {
    for acceptors in [Acceptors::Many, Acceptors::One] {
        let server = start(&ReferenceSpec { workers: 2, acceptors, ..spec() });
        let address = tcp(&server);
        let mut streams: Vec<_> = (0..4).map(|_| connect(address)).collect();
        for stream in &mut streams {
            assert_eq!(ask(stream, GET_EMPTY).0, 200);
        }
        assert!(server.is_running());
        server.stop().unwrap();
        assert!(streams.iter_mut().all(is_closed));
        let refused = TcpStream::connect(address).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let again =
            start(&ReferenceSpec { address: address.into(), workers: 2, acceptors, ..spec() });
        assert_eq!(tcp(&again), address);
    }
}

#[test]
fn a_stalled_server_stops_all_the_same() {
    let stall = Stall { duration_ns: 3_599_000 * MS, period_ns: 3_600_000 * MS };
    let server = start(&ReferenceSpec { stall: Some(stall), ..spec() });
    let _waiting = connect(tcp(&server));
    std::thread::sleep(Duration::from_millis(1_100));
    server.stop().unwrap();
}

#[test]
fn a_port_that_is_taken_is_not_shared_with_whoever_has_it() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    let first = start(&ReferenceSpec { workers: 2, ..spec() });
    for taken in [address, tcp(&first)] {
        for acceptors in [Acceptors::Many, Acceptors::One] {
            let spec = ReferenceSpec { address: taken.into(), acceptors, ..spec() };
            let error = Server::start(&spec).err().unwrap();
            assert!(matches!(error, ReferenceError::Address { .. }), "{error}");
            assert_eq!(error.exit_code(), 3);
        }
    }
}

#[test]
fn a_unix_socket_is_served_and_its_file_goes_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    for acceptors in [Acceptors::Many, Acceptors::One] {
        let address = Address::Unix(path.clone());
        let spec = ReferenceSpec { address, workers: 2, acceptors, ..spec() };
        let server = start(&spec);
        let taken = Server::start(&spec).err().unwrap();
        assert!(matches!(taken, ReferenceError::Address { .. }), "{taken}");
        for _ in 0..4 {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(GET_EMPTY).unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            assert_eq!(&status, b"HTTP/1.1 200");
        }
        // The other server has looked whether this one is there.
        assert_eq!(server.stop().unwrap().connections_accepted, 5);
        assert!(!path.exists());
    }
}

#[test]
fn a_socket_file_that_was_left_behind_is_replaced_and_another_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let spec = ReferenceSpec { address: Address::Unix(path.clone()), ..spec() };
    drop(UnixListener::bind(&path).unwrap());
    start(&spec).stop().unwrap();
    std::fs::write(&path, "mine").unwrap();
    assert!(Server::start(&spec).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

/// The pairs that a witness wrote.
fn testimony(path: &std::path::Path) -> Vec<(u64, u64)> {
    let bytes = std::fs::read(path).unwrap();
    let number = |part: &[u8]| u64::from_le_bytes(part.try_into().unwrap());
    bytes.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect()
}

#[test]
fn a_witness_says_how_long_each_request_was_held() {
    let path = std::env::temp_dir().join(format!("plimsoll-witness-{}", std::process::id()));
    let witness = Some(path.clone());
    let service_time = ServiceTime::Fixed { duration_ns: 5 * MS };
    let server = start(&ReferenceSpec { service_time, witness, workers: 2, ..spec() });
    let began_ns = system::now_ns();
    for _ in 0..3 {
        ask(&mut connect(tcp(&server)), GET_EMPTY);
    }
    server.stop().unwrap();
    let (pairs, ended_ns) = (testimony(&path), system::now_ns());
    std::fs::remove_file(&path).unwrap();
    assert_eq!(pairs.len(), 3);
    assert!(pairs.is_sorted(), "{pairs:?}");
    for (received_ns, answered_ns) in pairs {
        assert!(began_ns <= received_ns && answered_ns <= ended_ns);
        assert!(answered_ns - received_ns >= 5 * MS);
    }
}

#[test]
fn a_service_begins_when_the_request_has_been_read() {
    let directory = tempfile::tempdir().unwrap();
    let witness = Some(directory.path().join("held"));
    let service_time = ServiceTime::Fixed { duration_ns: 20 * MS };
    let stall = Stall { duration_ns: 200 * MS, period_ns: 300 * MS };
    let server = start(&ReferenceSpec { service_time, witness, stall: Some(stall), ..spec() });
    let mut streams: Vec<_> = (0..32).map(|_| connect(tcp(&server))).collect();
    for stream in &mut streams {
        assert_eq!(ask(stream, GET_EMPTY).0, 200);
    }
    // What has come when a stall ends is read in one turn, and the last of it is read late.
    let request = post("/upload", "application/octet-stream", &vec![b'x'; 64 << 10]);
    while stall.end_ns(system::now_ns() - server.zero_ns()).is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for stream in &mut streams {
        stream.write_all(&request).unwrap();
    }
    for stream in &mut streams {
        assert_eq!(read_answer(stream).0, 200);
    }
    server.stop().unwrap();
    let held = testimony(&directory.path().join("held"));
    assert_eq!(held.len(), 64);
    assert!(held.iter().all(|(received_ns, sent_ns)| sent_ns - received_ns >= 20 * MS), "{held:?}");
}

#[test]
fn a_witness_that_cannot_write_says_so_at_the_end() {
    let witness = Some("/proc/no such file".into());
    let error = start(&ReferenceSpec { witness, ..spec() }).stop().unwrap_err();
    assert!(matches!(error, ReferenceError::Witness(_)), "{error}");
    assert_eq!(error.exit_code(), 6);
}

/// Reads until `end` has come.
fn read_until(stream: &mut TcpStream, end: &[u8]) -> Vec<u8> {
    let mut received = Vec::new();
    while !received.ends_with(end) {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        received.push(byte[0]);
    }
    received
}

#[test]
fn events_come_one_by_one_and_the_connection_goes_on() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    stream.write_all(b"GET /events/3?every=20 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let head = String::from_utf8(read_until(&mut stream, b"\r\n\r\n")).unwrap();
    assert!(head.contains("\r\nContent-Type: text/event-stream\r\n"), "{head}");
    assert!(head.ends_with("\r\nTransfer-Encoding: chunked\r\n\r\n"), "{head}");
    assert_eq!(read_until(&mut stream, b"0\n\n\r\n"), b"9\r\ndata: 0\n\n\r\n");
    assert_eq!(read_until(&mut stream, b"1\n\n\r\n"), b"9\r\ndata: 1\n\n\r\n");
    assert_eq!(read_until(&mut stream, b"0\r\n\r\n"), b"9\r\ndata: 2\n\n\r\n0\r\n\r\n");
    assert_eq!(ask(&mut stream, GET_EMPTY).0, 200);
    stream.write_all(b"HEAD /events/3 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    read_until(&mut stream, b"\r\n\r\n");
    assert_eq!(ask(&mut stream, b"GET /events/0 HTTP/1.1\r\nHost: x\r\n\r\n").0, 404);
    let counts = counts_when(&server, |counts| counts.responses_sent == 4);
    assert_eq!(counts.requests_received, 4);
}

#[test]
fn events_are_not_sent_before_they_are_due_by_either_protocol() {
    let server = start(&spec());
    let mut stream = connect(tcp(&server));
    let begun_ns = system::now_ns();
    stream.write_all(b"GET /events/4?every=30 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    read_until(&mut stream, b"0\r\n\r\n");
    assert!(system::now_ns() - begun_ns >= 90 * MS);
    let mut stream = connect(tcp(&server));
    let begun_ns = system::now_ns();
    stream.write_all(&http2_requests("/events/4?every=30", &[1])).unwrap();
    let mut last = Vec::new();
    http2::Head { length: 9, kind: http2::Kind::Data, flags: http2::END_STREAM, stream: 1 }
        .write(&mut last);
    last.extend_from_slice(b"data: 3\n\n");
    let received = read_until(&mut stream, &last);
    assert!(system::now_ns() - begun_ns >= 90 * MS);
    let count = received.windows(5).filter(|window| *window == b"data:").count();
    assert_eq!(count, 4);
}

#[test]
fn a_file_is_served_as_it_is_now_whole_in_parts_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("items.json"), "[]").unwrap();
    std::fs::create_dir(folder.path().join("static")).unwrap();
    let file = folder.path().join("static/a.js");
    std::fs::write(&file, "0123456789").unwrap();
    let server = start(&ReferenceSpec { files: Some(folder.path().into()), ..spec() });
    let mut stream = connect(tcp(&server));
    let get = |fields: &str| format!("GET /static/a.js HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    let (status, head, body) = ask(&mut stream, get("").as_bytes());
    assert_eq!((status, &body[..]), (200, &b"0123456789"[..]));
    let field = |name| head.lines().find_map(|line| line.strip_prefix(name)).unwrap().to_owned();
    let tag = field("etag: ");
    assert_eq!(field("content-type: "), "text/javascript");

    let (status, head, body) = ask(&mut stream, get("Range: bytes=2-4\r\n").as_bytes());
    assert_eq!((status, &body[..]), (206, &b"234"[..]));
    assert!(head.contains("\r\ncontent-range: bytes 2-4/10\r\n"), "{head}");
    let (status, head, body) = ask(&mut stream, get("Range: bytes=10-\r\n").as_bytes());
    assert_eq!((status, body.len()), (416, 0));
    assert!(head.contains("\r\ncontent-range: bytes */10\r\n"), "{head}");
    let (status, head, _) = ask(&mut stream, get("Range: bytes=0-0,-1\r\n").as_bytes());
    assert!(head.contains("\r\ncontent-type: multipart/byteranges; boundary="), "{head}");
    assert_eq!(status, 206);

    let since = "If-Modified-Since: Fri, 31 Dec 9999 23:59:59 GMT\r\n";
    for condition in [&format!("If-None-Match: {tag}\r\n"), since] {
        let (status, head, _) = ask(&mut stream, get(condition).as_bytes());
        assert_eq!(status, 304);
        assert!(!head.contains("content-length"), "{head}");
    }
    let ranged = get(&format!("If-Range: {tag}\r\nRange: bytes=-1\r\n"));
    assert_eq!(ask(&mut stream, ranged.as_bytes()).2, b"9");
    std::fs::write(&file, "changed").unwrap();
    assert_eq!(ask(&mut stream, ranged.as_bytes()).2, b"changed");

    let head = "HEAD /static/a.js HTTP/1.1\r\nHost: x\r\nRange: bytes=0-1\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let head = String::from_utf8(read_until(&mut stream, b"\r\n\r\n")).unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("\r\nContent-Length: 7\r\n"), "{head}");
    assert_eq!(ask(&mut stream, b"GET /static/b.js HTTP/1.1\r\nHost: x\r\n\r\n").0, 404);
    assert_eq!(ask(&mut stream, &post("/static/a.js", "text/plain", b"")).0, 405);
}
