//! Endings that the client's own host makes: no way, no port, no file descriptor. And what the
//! engine holds in memory while a server sends without end.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

// Other tests use the rest of these.
#[allow(dead_code)]
mod aside;
#[allow(dead_code)]
mod drive;
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use plimsoll_engine::error::EngineError;
use plimsoll_engine::outcome::Outcome;
use plimsoll_system as system;
use rustix::process::{Resource, Rlimit, setrlimit};

use drive::{ASK, Ask, Row, Seen, WAITED_MS, by_outcome, drive, drive_alone};
use hostile::{Accept, Hostile, Listen, Manner, POLITE, Script, Then, head, right};

const EINVAL: u64 = 22;
const EACCES: u64 = 13;
const EMFILE: u64 = 24;
const EADDRNOTAVAIL: u64 = 99;
const ENETUNREACH: u64 = 101;
const ECONNRESET: u64 = 104;
const ETIMEDOUT: u64 = 110;
const ECONNREFUSED: u64 = 111;
const EHOSTUNREACH: u64 = 113;

const FEW: usize = 8;

const MANY: usize = 200;

const ASK_FEW: Ask = Ask { requests: Some(FEW), ..ASK };

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn of(rows: &[Row], outcome: Outcome) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row["outcome"] == outcome as u64)
}

fn errnos<'a>(rows: impl Iterator<Item = &'a Row>) -> BTreeSet<u64> {
    rows.map(|row| row["errno"]).collect()
}

/// No attempt to connect succeeds, each fails in one way, and each costs one request.
fn assert_never_connects(seen: &Seen, outcome: Outcome, errno: u64) {
    let all = BTreeMap::from([(outcome.name(), seen.requests.len() as u64)]);
    assert_eq!(by_outcome(&seen.requests), all);
    assert_eq!(by_outcome(&seen.connections), all);
    assert_eq!(errnos(seen.requests.iter()), BTreeSet::from([errno]));
    assert_eq!(errnos(seen.connections.iter()), BTreeSet::from([errno]));
    assert_eq!((seen.finish.sent, seen.finish.opened), (0, 0));
    assert_eq!(seen.finish.refused, seen.requests.len() as u64);
}

// ---- no way -----------------------------------------------------------------------------------

#[test]
fn an_address_that_no_connection_can_lead_to_is_unreachable() {
    // A group of receivers; the kernel says so without sending anything.
    let seen = drive_alone(address("224.0.0.1:9"), &ASK_FEW);
    assert_never_connects(&seen, Outcome::ConnectUnreachable, ENETUNREACH);
}

#[test]
fn a_host_without_a_route_is_unreachable() {
    let name = "a_host_without_a_route_is_unreachable";
    if !aside::has_own_network(name, "ip route add unreachable 192.0.2.0/24") {
        return;
    }
    let seen = drive_alone(address("192.0.2.1:80"), &ASK_FEW);
    assert_never_connects(&seen, Outcome::ConnectUnreachable, EHOSTUNREACH);
    let seen = drive_alone(address("198.51.100.1:80"), &ASK_FEW);
    assert_never_connects(&seen, Outcome::ConnectUnreachable, ENETUNREACH);
}

#[test]
fn a_connect_that_is_forbidden_has_failed_in_another_way() {
    let name = "a_connect_that_is_forbidden_has_failed_in_another_way";
    let routes = "ip route add prohibit 192.0.2.0/24; ip route add blackhole 198.51.100.0/24";
    if !aside::has_own_network(name, routes) {
        return;
    }
    for (host, errno) in [("192.0.2.1:80", EACCES), ("198.51.100.1:80", EINVAL)] {
        let seen = drive_alone(address(host), &ASK_FEW);
        assert_never_connects(&seen, Outcome::ConnectFailed, errno);
    }
}

// ---- nobody takes the connection --------------------------------------------------------------

/// A server that never accepts, and whose queue is full.
fn full_queue() -> (Hostile, Vec<TcpStream>) {
    let manner = Manner { accept: Accept::Never, backlog: 1, ..POLITE };
    let server = Hostile::start(manner, |_| Script::silence());
    // The kernel takes one more than the backlog says.
    let held: Vec<_> = (0..2).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
    // A client may know of its connection before it is in the queue.
    while queued(server.address()) < held.len() {
        thread::sleep(Duration::from_millis(1));
    }
    (server, held)
}

/// Connections in the queue of a server that listens on 127.0.0.1.
fn queued(server: SocketAddr) -> usize {
    let local = format!("0100007F:{:04X}", server.port());
    let sockets = fs::read_to_string("/proc/self/net/tcp").unwrap();
    // Local and remote address, state (0A listens), and the lengths of both queues.
    let mut sockets = sockets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let found = sockets.find(|fields| fields[1] == local && fields[3] == "0A").unwrap();
    let (_, to_read) = found[4].split_once(':').unwrap();
    usize::from_str_radix(to_read, 16).unwrap()
}

#[test]
fn a_handshake_that_nobody_completes_is_timed_out() {
    let (server, held) = full_queue();
    let ask = Ask { timeout_ms: WAITED_MS, connections: FEW, ..ASK_FEW };
    let (seen, counts) = drive(server, &ask);
    drop(held);
    assert_never_connects(&seen, Outcome::ConnectTimeout, 0);
    assert_eq!(counts.accepted, 0);
}

#[test]
fn a_handshake_that_the_kernel_gives_up_is_timed_out_and_has_its_errno() {
    let name = "a_handshake_that_the_kernel_gives_up_is_timed_out_and_has_its_errno";
    if !aside::has_own_network(name, "echo 1 > /proc/sys/net/ipv4/tcp_syn_retries") {
        return;
    }
    let (server, held) = full_queue();
    let ask = Ask { timeout_ms: 25_000, connections: FEW, ..ASK_FEW };
    let (seen, _) = drive(server, &ask);
    drop(held);
    assert_never_connects(&seen, Outcome::ConnectTimeout, ETIMEDOUT);
}

#[test]
fn a_connection_reset_before_it_is_used_is_reset_during_the_handshake() {
    let name = "a_connection_reset_before_it_is_used_is_reset_during_the_handshake";
    if system::allowed_cores().unwrap().len() < 2 {
        return aside::skip(name, "the server needs a core beside the engine's");
    }
    // Many connections are opened in one turn, and the server resets the first of them meanwhile.
    // Whether it is quick enough is up to the scheduler, so it is given some chances.
    let manner = Manner { listen: Listen::Nothing, ..POLITE };
    let ask = Ask { requests: Some(640), connections: 64, ..ASK };
    let is_seen = (0..50).any(|_| {
        let server = Hostile::start(manner, |_| Script::silence().then(Then::Reset));
        let (seen, counts) = drive(server, &ask);
        assert_eq!((counts.accepted, counts.reset), (640, 640), "{counts:?}");
        let resets: Vec<_> = of(&seen.requests, Outcome::ConnectReset).collect();
        assert!(resets.iter().all(|row| row["errno"] == ECONNRESET), "{resets:?}");
        !resets.is_empty()
    });
    assert!(is_seen);
}

// ---- no port ----------------------------------------------------------------------------------

#[test]
fn when_no_port_is_left_that_is_what_is_said() {
    let name = "when_no_port_is_left_that_is_what_is_said";
    // Ports of connections that the engine closed stay taken for a minute.
    let setup = "echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse; \
                 echo 40000 40299 > /proc/sys/net/ipv4/ip_local_port_range";
    if !aside::has_own_network(name, setup) {
        return;
    }
    let ask = Ask { requests: Some(330), keep_alive: false, ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, |_| Script::send(right())), &ask);
    // The server's own port lies in the range as well.
    let ended = BTreeMap::from([("no_port", 31), ("ok", 299)]);
    assert_eq!(by_outcome(&seen.requests), ended, "{counts:?}");
    assert_eq!((counts.accepted, counts.requests), (299, 299), "{counts:?}");
    let without = [&seen.requests, &seen.connections].map(|rows| errnos(of(rows, Outcome::NoPort)));
    assert_eq!(without, [BTreeSet::from([EADDRNOTAVAIL]), BTreeSet::from([EADDRNOTAVAIL])]);
}

#[test]
fn more_connections_than_ports_are_refused_before_the_first() {
    let name = "more_connections_than_ports_are_refused_before_the_first";
    let setup = "echo 40000 40299 > /proc/sys/net/ipv4/ip_local_port_range; \
                 ip address add 192.0.2.1/32 dev lo";
    if !aside::has_own_network(name, setup) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let spec = Ask { connections: 45, ..ASK }.spec(address("192.0.2.1:80"), folder.path());
    let error = plimsoll_engine::run(&spec, |_| (), || false).unwrap_err();
    assert!(matches!(error, EngineError::Ports { connections: 45, ports: 44, .. }), "{error}");
    assert_eq!(error.exit_code(), 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn where_one_address_has_too_few_ports_several_are_used() {
    let name = "where_one_address_has_too_few_ports_several_are_used";
    if !aside::has_own_network(name, "echo 40000 40299 > /proc/sys/net/ipv4/ip_local_port_range") {
        return;
    }
    let ask = Ask { connections: 400, requests: Some(2_000), threads: 2, ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, |_| Script::send(right())), &ask);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 2_000)]));
    assert_eq!((counts.accepted, counts.requests), (400, 2_000), "{counts:?}");
    assert_eq!(counts.addresses, 400_usize.div_ceil(44), "{counts:?}");
}

#[test]
fn a_client_that_meets_itself_has_not_connected() {
    let name = "a_client_that_meets_itself_has_not_connected";
    // The one port that the kernel can choose is the one that is asked for, where nobody listens.
    if !aside::has_own_network(name, "echo 40000 40000 > /proc/sys/net/ipv4/ip_local_port_range") {
        return;
    }
    let seen = drive_alone(address("127.0.0.1:40000"), &Ask { connections: 1, ..ASK_FEW });
    assert_never_connects(&seen, Outcome::ConnectRefused, ECONNREFUSED);
}

// ---- no file descriptor -----------------------------------------------------------------------

#[test]
fn when_no_file_may_be_opened_that_is_what_is_said() {
    let name = "when_no_file_may_be_opened_that_is_what_is_said";
    let Some(server) = aside::given() else {
        let server = Hostile::start(POLITE, |_| Script::send(right()));
        let right = aside::again(name, server.address());
        let counts = server.stop();
        assert_eq!(right, format!("{} on {}", counts.requests, counts.accepted));
        assert!(0 < counts.requests && counts.requests < MANY, "{counts:?}");
        return;
    };
    setrlimit(Resource::Nofile, Rlimit { current: Some(100), maximum: Some(100) }).unwrap();
    // The engine is told that there is room for 30 connections, and finds most of it taken.
    let _taken: Vec<_> = (0..75).map(|_| File::open("/dev/null").unwrap()).collect();
    let ask = Ask { connections: 30, requests: Some(MANY), ..ASK };
    let seen = drive_alone(address(&server), &ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!(ended.keys().collect::<Vec<_>>(), [&"ok", &"too_many_files"]);
    assert_eq!(errnos(of(&seen.requests, Outcome::TooManyFiles)), BTreeSet::from([EMFILE]));
    assert_eq!(errnos(of(&seen.connections, Outcome::TooManyFiles)), BTreeSet::from([EMFILE]));
    aside::say(&format!("{} on {}", ended["ok"], seen.finish.opened));
}

// ---- a connection that breaks -----------------------------------------------------------------

#[test]
fn a_request_that_the_kernel_gives_up_is_timed_out_and_has_its_errno() {
    let name = "a_request_that_the_kernel_gives_up_is_timed_out_and_has_its_errno";
    let setup = "echo 1 > /proc/sys/net/ipv4/tcp_retries2; ip address add 192.0.2.1/32 dev lo";
    if !aside::has_own_network(name, setup) {
        return;
    }
    // The way to the server is lost between the first request and the second.
    let scripts = |_| {
        thread::spawn(|| {
            thread::sleep(Duration::from_millis(100));
            let lose = ["address", "del", "192.0.2.1/32", "dev", "lo"];
            Command::new("ip").args(lose).status().unwrap();
        });
        Script::send(right())
    };
    let server = Hostile::start_at("192.0.2.1:0", POLITE, scripts);
    let ask =
        Ask { connections: 1, requests: Some(2), think_ms: WAITED_MS, timeout_ms: 25_000, ..ASK };
    let (seen, counts) = drive(server, &ask);
    assert_eq!((counts.requests, seen.finish.sent), (1, 2), "{counts:?}");
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 1), ("timed_out_waiting", 1)]));
    assert_eq!(by_outcome(&seen.connections), BTreeMap::from([("timed_out_waiting", 1)]));
    assert_eq!(errnos(of(&seen.requests, Outcome::TimedOutWaiting)), BTreeSet::from([ETIMEDOUT]));
    assert_eq!(errnos(seen.connections.iter()), BTreeSet::from([ETIMEDOUT]));
}

// ---- memory -----------------------------------------------------------------------------------

/// What the engine may hold more than it does with a server that behaves: a head of the greatest
/// length for each of four connections, and what the allocator makes of it.
const ROOM_BYTES: u64 = 4 << 20;

const LARGE_BYTES: usize = 64 << 20;

const ENDLESS: &[&str] = &[
    "header",
    "headers",
    "empty lines",
    "interim",
    "body",
    "until close",
    "chunks",
    "one chunk",
    "extension",
    "trailer",
];

/// What a server sends, and how a request that it is the answer to ends.
fn endless(which: &str) -> (Script, Outcome) {
    let piece = |text: &str| text.repeat((1 << 20) / text.len());
    let on = |begin: Vec<u8>, text: &str| {
        Script::send(begin)
            .followed_by(Script::repeat(piece(text), LARGE_BYTES >> 20))
            .then(Then::Hang)
    };
    let chunks = || head("Transfer-Encoding: chunked\r\n");
    let answers = [
        ("nothing", Script::send(right()), Outcome::Ok),
        ("header", on(head("")[..17].to_vec(), "x"), Outcome::HeadTooLarge),
        ("headers", on(head("")[..17].to_vec(), "X-Header: aaaa\r\n"), Outcome::HeadTooLarge),
        ("empty lines", on(Vec::new(), "\r\n"), Outcome::HeadTooLarge),
        ("interim", on(Vec::new(), "HTTP/1.1 102 Wait\r\n\r\n"), Outcome::TimedOutReceiving),
        ("body", on(head("Content-Length: 1000000000000\r\n"), "x"), Outcome::TimedOutReceiving),
        ("until close", on(head(""), "x"), Outcome::TimedOutReceiving),
        ("chunks", on(chunks(), "1\r\nx\r\n"), Outcome::TimedOutReceiving),
        (
            "one chunk",
            on([chunks(), b"ffffffffffffffff\r\n".to_vec()].concat(), "x"),
            Outcome::TimedOutReceiving,
        ),
        ("extension", on([chunks(), b"1;".to_vec()].concat(), "x"), Outcome::MalformedChunk),
        (
            "trailer",
            on([chunks(), b"0\r\n".to_vec()].concat(), "T: x\r\n"),
            Outcome::MalformedChunk,
        ),
    ];
    let found = answers.into_iter().find(|(name, ..)| *name == which).unwrap();
    (found.1, found.2)
}

#[test]
fn what_the_engine_holds_does_not_grow_with_what_a_server_sends() {
    let name = "what_the_engine_holds_does_not_grow_with_what_a_server_sends";
    if let Some(given) = aside::given() {
        let (address, ask) =
            (address(&given), Ask { requests: Some(4), timeout_ms: WAITED_MS, ..ASK });
        let ask = Ask { status: (200, 399), length_bytes: None, body: None, ..ask };
        let seen = drive_alone(address, &ask);
        let ended = by_outcome(&seen.requests);
        let (outcome, _) = ended.iter().next().unwrap();
        assert_eq!(ended.len(), 1, "{ended:?}");
        return aside::say(&format!("{outcome} {}", seen.finish.peak_rss_bytes));
    }
    let drive_in_child = |which: &'static str| {
        let (script, outcome) = endless(which);
        let server = Hostile::start(POLITE, move |_| script.clone());
        let said = aside::again(name, server.address());
        let counts = server.stop();
        assert_eq!(counts.requests, 4, "{which}: {counts:?}");
        let (ended, peak_bytes) = said.split_once(' ').unwrap();
        assert_eq!(ended, outcome.name(), "{which}");
        peak_bytes.parse::<u64>().unwrap()
    };
    let usual_bytes = drive_in_child("nothing");
    for which in ENDLESS {
        let peak_bytes = drive_in_child(which);
        assert!(peak_bytes < usual_bytes + ROOM_BYTES, "{which}: {peak_bytes} {usual_bytes}");
    }
}

// ---- all of them ------------------------------------------------------------------------------

/// Linux has no way to make this happen that a test could go; `outcome.rs` tests its mapping.
const NOT_MADE: &[Outcome] = &[Outcome::IoFailed];

#[test]
fn every_outcome_is_made_to_happen_by_a_test() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tests: Vec<_> = paths.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let is_made = |outcome: &Outcome| {
        let ways = [format!("Outcome::{outcome:?}"), format!("\"{}\"", outcome.name())];
        tests.iter().any(|text| ways.iter().any(|way| text.contains(way)))
    };
    let missing: Vec<_> = Outcome::ALL.iter().filter(|&outcome| !is_made(outcome)).collect();
    assert!(missing.iter().all(|outcome| NOT_MADE.contains(outcome)), "{missing:?}");
}
