//! The engine driven against a server that counts, and what must hold whatever that server does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::progress::{EndedBy, Finish};
use plimsoll_engine::sample::{ConnectionSample, Field, NEVER, NO_CONNECTION, RequestSample};
use plimsoll_engine::spec::Spec;
use plimsoll_engine::transport::Address;
use serde_json::{Value, json};

use crate::hostile::{BODY, Counts, Hostile};

pub const REQUESTS: usize = 40;

/// A timeout that a test waits for: what a server does at once is done long before, however busy
/// the machine is.
// Not every test uses it.
#[allow(dead_code)]
pub const WAITED_MS: u64 = 2_000;

/// What the engine is asked to do.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // switches of a load, each on its own
pub struct Ask {
    /// The load ends after so many requests; none lets it run for `duration_ms`.
    pub requests: Option<usize>,
    pub duration_ms: u64,
    /// Stages after the first: duration in milliseconds, and level.
    pub then: &'static [(u64, usize)],
    pub connections: usize,
    /// Arrivals per second of the open model; none is the closed one.
    pub rate_per_s: Option<usize>,
    pub threads: usize,
    pub keep_alive: bool,
    pub requests_per_connection: Option<u32>,
    pub timeout_ms: u64,
    pub think_ms: u64,
    /// Requests that a connection may carry at one time.
    pub pipeline: usize,
    /// Whether HTTP/2 is spoken, with so many streams.
    pub streams: Option<usize>,
    /// Whether WebSocket is spoken; requests are then messages of [`BODY`].
    pub websocket: bool,
    pub request_body_bytes: usize,
    /// Bytes of a field of the request that nobody reads.
    pub field_bytes: usize,
    /// Whether the body is sent only when it is invited.
    pub expects_continue: bool,
    pub status: (u16, u16),
    pub length_bytes: Option<usize>,
    pub body: Option<&'static [u8]>,
    pub body_sample_ratio: f64,
    pub is_sampled: bool,
    /// Content codings that are accepted.
    pub codings: &'static [&'static str],
    /// The events that are expected, as a specification has them.
    pub events: Option<&'static str>,
    /// Redirects that are followed within the origin `http://server`.
    pub follow: Option<u32>,
}

pub const ASK: Ask = Ask {
    requests: Some(REQUESTS),
    duration_ms: 25_000,
    then: &[],
    connections: 4,
    rate_per_s: None,
    threads: 1,
    keep_alive: true,
    requests_per_connection: None,
    timeout_ms: 10_000,
    think_ms: 0,
    pipeline: 1,
    streams: None,
    websocket: false,
    request_body_bytes: 0,
    field_bytes: 0,
    expects_continue: false,
    status: (200, 200),
    length_bytes: Some(BODY.len()),
    body: Some(BODY),
    body_sample_ratio: 1.0,
    is_sampled: false,
    codings: &[],
    events: None,
    follow: None,
};

impl Ask {
    fn request(&self) -> Vec<u8> {
        if self.websocket {
            return BODY.to_vec();
        }
        let length = self.request_body_bytes;
        let connection = if self.keep_alive { "" } else { "Connection: close\r\n" };
        let expect = if self.expects_continue { "Expect: 100-continue\r\n" } else { "" };
        let field = match self.field_bytes {
            0 => String::new(),
            length => format!("X-Field: {}\r\n", "~".repeat(length)),
        };
        let fields = format!("{connection}{expect}{field}Content-Length: {length}\r\n");
        let mut request = format!("POST /2048 HTTP/1.1\r\nHost: x\r\n{fields}\r\n").into_bytes();
        request.resize(request.len() + length, b'x');
        request
    }

    fn protocol(&self) -> Value {
        let upgrade = BASE64.encode("GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
        match self.streams {
            Some(_) => "http2".into(),
            None if self.websocket => {
                json!({"websocket": {"upgrade": upgrade, "message": "binary"}})
            }
            None => "http1".into(),
        }
    }

    fn stages(&self) -> Value {
        let first = (self.duration_ms, self.rate_per_s.unwrap_or(self.connections));
        let stages = [&[first], self.then].concat().into_iter().map(|(duration_ms, level)| {
            let duration_ns = duration_ms * 1_000_000;
            json!({"kind": "hold", "start": level, "end": level, "duration_ns": duration_ns})
        });
        stages.collect()
    }

    // Not every test uses it.
    #[allow(dead_code)]
    pub fn spec(&self, address: impl Into<Address>, into: &Path) -> Spec {
        self.spec_by(&address.into(), into, &Value::Null)
    }

    /// With the block `tls` of a specification.
    pub fn spec_by(&self, address: &Address, into: &Path, tls: &Value) -> Spec {
        let text = json!({
            "format": 1, "into": into, "tls": tls, "address": address, "host": address,
            "requests": [{
                "name": "2048", "method": "POST", "bytes": BASE64.encode(self.request()),
                "expects_continue": self.expects_continue,
                "expected": {
                    "status": [self.status.0, self.status.1],
                    "length_bytes": self.length_bytes,
                    "body": self.body.map_or(Value::Null, |body| BASE64.encode(body).into()),
                    "is_sampled": self.is_sampled,
                    "codings": self.codings,
                    "events": self.events.map(|text| serde_json::from_str::<Value>(text).unwrap()),
                },
            }],
            "load": {
                "model": if self.rate_per_s.is_some() { "open" } else { "closed" },
                "stages": self.stages(),
                "connections": self.connections,
                "keep_alive": self.keep_alive,
                "requests_per_connection": self.requests_per_connection,
                "timeout_ns": self.timeout_ms * 1_000_000,
                "think_time_ns": self.think_ms * 1_000_000,
                "request_limit": self.requests,
                "pipeline": self.pipeline,
                "follow": self.follow.map(|most| json!({"most": most, "origin": "http://server"})),
                "protocol": self.protocol(),
                "streams": self.streams.unwrap_or(1),
            },
            "threads": self.threads, "seed": 1, "body_sample_ratio": self.body_sample_ratio,
        });
        Spec::parse(&text.to_string()).unwrap()
    }
}

/// A row by the names of its fields.
pub type Row = BTreeMap<&'static str, u64>;

/// What the engine says afterwards.
pub struct Seen {
    pub finish: Finish,
    pub requests: Vec<Row>,
    pub connections: Vec<Row>,
    /// The file of bodies that were written down.
    // Not every test looks at it.
    #[allow(dead_code)]
    pub bodies: Vec<u8>,
}

/// Rows by the name of their outcome.
pub fn by_outcome(rows: &[Row]) -> BTreeMap<&'static str, u64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let outcome = Outcome::ALL.iter().find(|outcome| **outcome as u64 == row["outcome"]);
        *counts.entry(outcome.unwrap().name()).or_default() += 1;
    }
    counts
}

/// Drives a server, stops it, and checks what must hold whatever it does.
// Not every test uses it.
#[allow(dead_code)]
pub fn drive(server: Hostile, ask: &Ask) -> (Seen, Counts) {
    let seen = drive_at(&server.address().into(), ask, &Value::Null);
    let counts = server.stop();
    check(&seen, ask, &format!("{counts:?}"));
    (seen, counts)
}

/// Drives whatever is at an address, and checks what must hold whatever that is.
// Not every test uses it.
#[allow(dead_code)]
pub fn drive_alone(address: impl Into<Address>, ask: &Ask) -> Seen {
    drive_by(address, ask, &Value::Null)
}

/// The same with the block `tls` of a specification.
pub fn drive_by(address: impl Into<Address>, ask: &Ask, tls: &Value) -> Seen {
    let seen = drive_at(&address.into(), ask, tls);
    check(&seen, ask, "");
    seen
}

fn drive_at(address: &Address, ask: &Ask, tls: &Value) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let spec = ask.spec_by(address, folder.path(), tls);
    let finish = plimsoll_engine::run(&spec, |_| (), || false).unwrap();
    seen(finish, folder.path())
}

/// What a load has left in its folder.
pub fn seen(finish: Finish, folder: &Path) -> Seen {
    let file = |name| folder.join(name);
    let requests = rows(&file("requests.bin"), RequestSample::SIZE, RequestSample::FIELDS);
    let connections =
        rows(&file("connections.bin"), ConnectionSample::SIZE, ConnectionSample::FIELDS);
    let bodies = std::fs::read(file("bodies.bin")).unwrap();
    Seen { finish, requests, connections, bodies }
}

fn check(seen: &Seen, ask: &Ask, counts: &str) {
    let told = format!("{:?}\n{:?}\n{counts}", seen.finish, by_outcome(&seen.connections));
    check_ending(&seen.finish, ask, &told);
    check_conservation(seen, &told);
    check_instants(seen, &told);
    check_connections(seen, &told);
}

fn rows(path: &Path, size: usize, fields: &'static [Field]) -> Vec<Row> {
    let value = |record: &[u8], field: &Field| {
        let width = field.kind[1..].parse::<usize>().unwrap() / 8;
        let bytes = &record[field.offset..field.offset + width];
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    };
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len() % size, 0);
    let row = |record| fields.iter().map(|field| (field.name, value(record, field))).collect();
    bytes.chunks_exact(size).map(row).collect()
}

/// The load ended as it was asked to, and with as many requests.
fn check_ending(finish: &Finish, ask: &Ask, told: &str) {
    match ask.requests {
        Some(limit) => {
            assert_eq!(finish.ended_by, EndedBy::RequestLimit, "{told}");
            assert_eq!(finish.requests_rows, limit as u64, "{told}");
        }
        None => assert_eq!(finish.ended_by, EndedBy::Schedule, "{told}"),
    }
}

/// Every request is one row with one outcome, and no row is lost.
fn check_conservation(seen: &Seen, told: &str) {
    let finish = &seen.finish;
    assert_eq!(finish.requests_rows, seen.requests.len() as u64, "{told}");
    assert_eq!(finish.connections_rows, seen.connections.len() as u64, "{told}");
    assert_eq!(finish.lost_rows, 0, "{told}");
    assert_eq!(finish.outcomes, by_outcome(&seen.requests), "{told}");
    let sent = seen.requests.iter().filter(|row| row["sent_ns"] != NEVER).count();
    assert_eq!(finish.sent, sent as u64, "{told}");
}

/// Instants come in order, and what ended has an end.
fn check_instants(seen: &Seen, told: &str) {
    let unsent = [Outcome::NotSent, Outcome::Cancelled].map(|outcome| outcome as u64);
    for row in &seen.requests {
        let names = ["due_ns", "sent_ns", "first_byte_ns", "done_ns"];
        let there = names.map(|name| row[name]).into_iter().filter(|&at_ns| at_ns != NEVER);
        assert!(there.is_sorted(), "{row:?}\n{told}");
        let is_unsent = unsent.contains(&row["outcome"]);
        let is_open = is_unsent || row["outcome"] == Outcome::Unfinished as u64;
        assert_eq!(row["done_ns"] == NEVER, is_open, "{row:?}\n{told}");
        assert!(!is_unsent || row["sent_ns"] == NEVER, "{row:?}\n{told}");
        assert_eq!(row["first_byte_ns"] == NEVER, row["received_bytes"] == 0, "{row:?}\n{told}");
    }
}

/// Connections add up to the requests they carried, and each attempt is one row.
fn check_connections(seen: &Seen, told: &str) {
    let opened = seen.connections.iter().filter(|row| row["connected_ns"] != NEVER).count();
    assert_eq!(seen.finish.opened, opened as u64, "{told}");
    let carried: u64 = seen.connections.iter().map(|row| row["requests"]).sum();
    assert_eq!(carried, seen.finish.sent, "{told}");
    let answered: u64 = seen.connections.iter().map(|row| row["responses"]).sum();
    let first_bytes = seen.requests.iter().filter(|row| row["first_byte_ns"] != NEVER).count();
    assert_eq!(answered, first_bytes as u64, "{told}");
    let attempt = |row: &Row| (row["worker"], row["connection"]);
    let attempts: BTreeSet<_> = seen.connections.iter().map(attempt).collect();
    assert_eq!(attempts.len(), seen.connections.len(), "{told}");
    let with_connection =
        seen.requests.iter().filter(|row| row["connection"] != u64::from(NO_CONNECTION));
    assert!(with_connection.map(attempt).all(|attempt| attempts.contains(&attempt)), "{told}");
    let failed = seen
        .connections
        .iter()
        .filter(|row| row["connected_ns"] == NEVER && row["outcome"] != Outcome::Unfinished as u64);
    assert_eq!(seen.finish.refused, failed.count() as u64, "{told}");
}
