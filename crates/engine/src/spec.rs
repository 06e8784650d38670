//! The specification of one drive: parsed, validated, every problem reported at once.

pub mod tls;

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use plimsoll_system::Address;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::coding::Coding;
use crate::error::EngineError;
use crate::protocol::http1::following::is_origin;
use crate::protocol::http2::request::encode;
use crate::share::share;

/// Version of the format of a specification.
pub const FORMAT: u32 = 1;

/// The largest number of threads; a record has two bytes for it.
const MOST_THREADS: usize = 1024;

/// The most requests that a connection may carry at one time.
const MOST_IN_FLIGHT: usize = 1024;

/// The longest load, timeout or think time: a year; sums of a few of them fit in 64 bits.
const LONGEST_NS: u64 = 366 * 24 * 3_600 * 1_000_000_000;

/// The highest level: more connections, or arrivals per second, than any host has.
const HIGHEST_LEVEL: f64 = 10_000_000.0;

/// The most connections in the pool of the open model.
const MOST_CONNECTIONS: usize = 10_000_000;

/// The most steps of a stage: a list of them is made.
const MOST_STEPS: u32 = 1_000_000;

/// What the engine is to do.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Version of this format.
    pub format: u32,
    /// Folder that the records and `finish.json` are written to.
    pub into: PathBuf,
    /// Where the server is reached.
    pub address: Address,
    /// Value of the Host header; the engine only passes it on to errors.
    #[serde(default)]
    pub host: String,
    /// TLS between the engine and the server; none when absent.
    #[serde(default)]
    pub tls: Option<tls::Tls>,
    /// What may be sent, with weights; at least one.
    pub requests: Vec<RequestSpec>,
    /// How much, and when.
    pub load: Load,
    /// Cores to run on, one thread each; without it, `threads` threads run anywhere.
    #[serde(default)]
    pub cores: Option<Vec<usize>>,
    /// Threads that generate load, when no cores are named.
    #[serde(default = "one")]
    pub threads: usize,
    /// Seeds the choice among requests, Poisson arrivals and the sample of bodies.
    #[serde(default)]
    pub seed: u64,
    /// Least share of the responses whose body is compared in full; 0 compares none.
    #[serde(default)]
    pub body_sample_ratio: f64,
    /// The part of the load that this engine generates; all of it when absent.
    #[serde(default)]
    pub part: Option<Part>,
    /// The load's zero by the monotonic clock of this host; soon when absent or past.
    #[serde(default)]
    pub start_monotonic_ns: Option<u64>,
    /// Whether the load takes turns: it rests until it gets the length of its next one.
    #[serde(default)]
    pub in_turns: bool,
    /// Whether rows are kept; off only to measure what keeping them costs.
    #[serde(default = "yes")]
    pub record: bool,
}

/// The part of a load that one of several engines generates: as its threads, of those of all engines.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Number of its first thread among those of all engines.
    pub first: usize,
    /// Threads of all engines together.
    pub of: usize,
}

/// One kind of request.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// Its name in reports.
    pub name: String,
    /// Head and body, ready to send; in a specification as base64, or as `{"head": …, "file": …}`
    /// where the body is the content of a file.
    #[serde(deserialize_with = "from_base64_and_file")]
    pub bytes: Vec<u8>,
    /// Its share among the kinds of request.
    #[serde(default = "one_weight")]
    pub weight: f64,
    /// Its method; a response to HEAD has no body.
    #[serde(default)]
    pub method: String,
    /// HTTP/1: whether the body is sent only when the server has invited it, which the head asks for.
    #[serde(default)]
    pub expects_continue: bool,
    /// The expected response.
    #[serde(default)]
    pub expected: Expected,
}

/// The expected response.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// First and last status that is right.
    pub status: (u16, u16),
    /// Length of the body in bytes, without its codings; any when absent.
    #[serde(default)]
    pub length_bytes: Option<u64>,
    /// The body to the byte; any when absent.
    #[serde(default, deserialize_with = "from_optional_base64")]
    pub body: Option<Vec<u8>>,
    /// Whether a sample of the bodies is written down where none is given to compare with.
    #[serde(default)]
    pub is_sampled: bool,
    /// Content codings that the request accepts: bodies are decoded before they are compared. Any
    /// body is compared as it is when empty.
    #[serde(default)]
    pub codings: Vec<Coding>,
    /// The events that the body consists of; any body when absent.
    #[serde(default)]
    pub events: Option<Events>,
}

/// The events of an expected response, which is a `text/event-stream`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Events {
    /// The data of each, in their order; any, and any number above 0, when absent.
    #[serde(default)]
    pub data: Option<Vec<String>>,
    /// Pause between two in nanoseconds: one is due so many of them after the head as there are
    /// before it. Where it is 0, each may come at any time.
    #[serde(default)]
    pub every_ns: u64,
    /// Whether each is a row, and not the response.
    #[serde(default)]
    pub rows: bool,
}

impl Events {
    /// How many there are, if that is known.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        self.data.as_ref().map(|data| data.len() as u64)
    }

    /// The data of one of them, counted from 0.
    #[must_use]
    pub fn data_of(&self, number: u64) -> Option<&[u8]> {
        let number = usize::try_from(number).ok()?;
        Some(self.data.as_ref()?.get(number)?.as_bytes())
    }

    /// When one of them is due at the earliest, in nanoseconds after the request was sent.
    #[must_use]
    pub fn due_ns(&self, number: u64) -> u64 {
        self.every_ns.saturating_mul(number)
    }
}

impl Default for Expected {
    fn default() -> Self {
        Self {
            status: (200, 399),
            length_bytes: None,
            body: None,
            is_sampled: false,
            codings: Vec::new(),
            events: None,
        }
    }
}

/// Whether the load waits for responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// A number of connections; each sends its next request after the last response.
    Closed,
    /// Requests arrive on a schedule that does not depend on responses.
    Open,
}

/// What is spoken with the server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// HTTP/1.1.
    #[default]
    Http1,
    /// HTTP/2; without TLS, the server has to be known to speak it.
    Http2,
    /// WebSocket; the bytes of a request are one message, and its response is the next message.
    #[serde(rename = "websocket")]
    WebSocket(WebSocket),
}

/// Which redirects are followed: those that stay within the origin, on the same connection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// The most of one request.
    pub most: u32,
    /// Scheme, host and port of the requests: `http://127.0.0.1:8080`.
    pub origin: String,
}

/// How WebSocket is spoken.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSocket {
    /// The request that asks for it: a complete head of HTTP/1.1, to which the fields of the
    /// handshake are added.
    #[serde(deserialize_with = "from_shared_base64")]
    pub upgrade: Arc<[u8]>,
    /// What messages are sent as.
    pub message: Message,
}

/// What a message of WebSocket is sent as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// How arrivals of the open model are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// Evenly.
    #[default]
    Constant,
    /// As a Poisson process: independent of each other.
    Poisson,
}

/// What a stage is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StageKind {
    /// Before anything counts.
    WarmUp,
    /// The level changes.
    Ramp,
    /// What is summarised.
    Hold,
}

impl StageKind {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WarmUp => "warm_up",
            Self::Ramp => "ramp",
            Self::Hold => "hold",
        }
    }
}

/// A stretch of a load.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    /// What it is for.
    pub kind: StageKind,
    /// Its length in nanoseconds.
    pub duration_ns: u64,
    /// Level at its beginning: connections, or arrivals per second.
    pub start: f64,
    /// Level at its end.
    pub end: f64,
    /// Equal steps from `start` to `end`; 0 is a straight line.
    #[serde(default = "one_step")]
    pub steps: u32,
}

/// How much, and when.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Load {
    /// Whether it waits for responses.
    pub model: Model,
    /// Stages in order.
    pub stages: Vec<Stage>,
    /// Open model: how arrivals are spaced.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Open model: connections in the pool.
    #[serde(default)]
    pub connections: usize,
    /// Open model: how much later than due a request may be sent, so that one wake-up serves several.
    #[serde(default)]
    pub tolerance_ns: u64,
    /// Whether a connection carries more than one request.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// A connection is closed after this many requests.
    #[serde(default)]
    pub requests_per_connection: Option<u32>,
    /// What is spoken with the server.
    #[serde(default)]
    pub protocol: Protocol,
    /// HTTP/1 and WebSocket: requests that a connection may carry at one time.
    #[serde(default = "one")]
    pub pipeline: usize,
    /// HTTP/1: redirects that are followed; none is when absent.
    #[serde(default)]
    pub follow: Option<Follow>,
    /// HTTP/2: streams that a connection may carry at one time.
    #[serde(default = "one")]
    pub streams: usize,
    /// Closed model: pause between a response and the next request.
    #[serde(default)]
    pub think_time_ns: u64,
    /// A request, or an attempt to connect, fails after this long.
    pub timeout_ns: u64,
    /// Closed model: the load ends after this many requests.
    #[serde(default)]
    pub request_limit: Option<usize>,
}

impl Load {
    /// Length of all stages together, in nanoseconds.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.stages.iter().map(|stage| stage.duration_ns).sum()
    }

    /// The most connections requested at one time.
    #[must_use]
    pub fn peak_connections(&self) -> usize {
        match self.model {
            Model::Open => self.connections,
            Model::Closed => {
                let levels = self.stages.iter().flat_map(|stage| [stage.start, stage.end]);
                levels.map(whole).max().unwrap_or(0)
            }
        }
    }

    /// Requests after which a connection is closed, if there is such a number.
    #[must_use]
    pub fn requests_per_connection(&self) -> Option<u32> {
        if self.keep_alive { self.requests_per_connection } else { Some(1) }
    }
}

/// A level of the closed model as a number of connections.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn whole(level: f64) -> usize {
    level.max(0.0).round() as usize
}

impl Spec {
    /// Parses a specification and validates it.
    ///
    /// # Errors
    ///
    /// [`EngineError::Spec`] with every problem found.
    pub fn parse(json: &str) -> Result<Self, EngineError> {
        let spec: Self = serde_json::from_str(json)
            .map_err(|error| EngineError::Spec(vec![error.to_string()]))?;
        let problems = spec.problems();
        if problems.is_empty() { Ok(spec) } else { Err(EngineError::Spec(problems)) }
    }

    /// Number of threads that generate load.
    #[must_use]
    pub fn thread_count(&self) -> usize {
        self.cores.as_ref().map_or(self.threads, Vec::len)
    }

    /// Numbers of this engine's workers among those of all engines, and how many all have.
    #[must_use]
    pub fn workers(&self) -> (Range<usize>, usize) {
        let own = self.thread_count();
        if let Some(Part { first, of }) = self.part {
            return (first..first + own, of);
        }
        let needed = own.min(self.load.peak_connections()).max(1);
        (0..needed, needed)
    }

    /// The most connections requested of this engine at one time.
    #[must_use]
    pub fn peak_connections(&self) -> usize {
        let (own, all) = self.workers();
        own.map(|index| share(self.load.peak_connections(), index, all)).sum()
    }

    fn add_continue_problems(&self, problems: &mut Vec<String>) {
        let Load { protocol, pipeline, follow, .. } = &self.load;
        let is_asked = self.requests.iter().any(|request| request.expects_continue);
        if is_asked && (*protocol != Protocol::Http1 || *pipeline > 1 || follow.is_some()) {
            problems
                .push("`expects_continue` needs HTTP/1 without pipelining and redirects".into());
        }
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.format != FORMAT {
            problems.push(format!("`format` is {}, this engine reads {FORMAT}", self.format));
        }
        if self.requests.is_empty() || self.requests.len() > usize::from(u16::MAX) {
            problems.push("`requests` must hold between 1 and 65,535 kinds of request".into());
        }
        if self.thread_count() == 0 || self.thread_count() > MOST_THREADS {
            problems.push(format!("there must be between 1 and {MOST_THREADS} threads"));
        }
        if let Some(part) = self.part {
            part.add_problems(self.thread_count(), &self.load, &mut problems);
        }
        if !(0.0..=1.0).contains(&self.body_sample_ratio) {
            problems.push("`body_sample_ratio` must lie between 0 and 1".into());
        }
        self.requests.iter().for_each(|request| {
            request.add_problems(&mut problems);
            if self.load.protocol == Protocol::Http2 && encode(&request.bytes, "").is_none() {
                let name = &request.name;
                problems.push(format!("request `{name}` cannot be sent as HTTP/2"));
            }
        });
        self.add_continue_problems(&mut problems);
        self.load.add_problems(&mut problems);
        if let Some(tls) = &self.tls {
            tls.add_problems(&mut problems);
        }
        problems
    }
}

impl Part {
    fn add_problems(self, threads: usize, load: &Load, problems: &mut Vec<String>) {
        if self.of > usize::from(u16::MAX) || self.first.saturating_add(threads) > self.of {
            problems.push("`part` must lie within at most 65,535 threads".into());
        }
        if self.of > load.peak_connections() {
            problems.push("each thread of a load in parts needs a connection".into());
        }
    }
}

impl Load {
    fn add_follow_problems(&self, follow: &Follow, problems: &mut Vec<String>) {
        if self.protocol != Protocol::Http1 || self.pipeline > 1 || !self.keep_alive {
            problems.push(
                "`load.follow` needs HTTP/1, connections that are kept, and no pipelining".into(),
            );
        }
        if follow.most == 0 || !is_origin(&follow.origin) {
            problems.push("`load.follow` needs `most` above 0 and an origin".into());
        }
    }
}

impl RequestSpec {
    /// Whether each event of a response is a row.
    #[must_use]
    pub fn has_rows_of_events(&self) -> bool {
        self.expected.events.as_ref().is_some_and(|events| events.rows)
    }

    fn add_problems(&self, problems: &mut Vec<String>) {
        if self.bytes.is_empty() {
            problems.push(format!("request `{}` has no bytes", self.name));
        }
        if !self.weight.is_finite() || self.weight <= 0.0 {
            problems.push(format!("request `{}`: `weight` must be above 0", self.name));
        }
        if self.expected.status.0 > self.expected.status.1 {
            problems.push(format!("request `{}`: `status` ends before it begins", self.name));
        }
        if let Some(Events { every_ns, .. }) = self.expected.events {
            let Expected { body, length_bytes, is_sampled, .. } = &self.expected;
            if body.is_some() || length_bytes.is_some() || *is_sampled {
                let name = &self.name;
                problems.push(format!("request `{name}`: `events` and a body exclude each other"));
            }
            if every_ns > LONGEST_NS {
                problems.push("`every_ns` must not be longer than a year".into());
            }
        }
    }
}

impl Load {
    fn add_problems(&self, problems: &mut Vec<String>) {
        if self.stages.is_empty() {
            problems.push("`load.stages` is empty".into());
        }
        if self.timeout_ns == 0 {
            problems.push("`load.timeout_ns` must be above 0".into());
        }
        if self.requests_per_connection == Some(0) {
            problems.push("`load.requests_per_connection` must be above 0".into());
        }
        self.add_depth_problems("pipeline", self.pipeline, problems);
        self.add_depth_problems("streams", self.streams, problems);
        match &self.protocol {
            Protocol::Http1 | Protocol::WebSocket(_) if self.streams > 1 => {
                problems.push("`load.streams` needs HTTP/2".into());
            }
            Protocol::Http2 if self.pipeline > 1 => {
                problems.push("`load.pipeline` needs HTTP/1; HTTP/2 has `streams`".into());
            }
            Protocol::WebSocket(WebSocket { upgrade, .. }) if !upgrade.ends_with(b"\r\n\r\n") => {
                problems.push("`upgrade` is not the head of a request".into());
            }
            _ => {}
        }
        if let Some(follow) = &self.follow {
            self.add_follow_problems(follow, problems);
        }
        self.add_length_problems(problems);
        for (number, stage) in self.stages.iter().enumerate() {
            if stage.duration_ns == 0 {
                problems.push(format!("stage {number}: `duration_ns` must be above 0"));
            }
            if ![stage.start, stage.end].iter().all(|level| (0.0..=HIGHEST_LEVEL).contains(level)) {
                problems.push(format!("stage {number}: levels must lie between 0 and 10,000,000"));
            }
            if stage.steps > MOST_STEPS {
                problems.push(format!("stage {number}: `steps` must not be above {MOST_STEPS}"));
            }
        }
        match self.model {
            Model::Closed if self.peak_connections() == 0 => {
                problems.push("the load requests no connection at all".into());
            }
            Model::Closed if self.tolerance_ns > 0 => {
                problems.push("`tolerance_ns` belongs to the open model".into());
            }
            Model::Open if self.connections > MOST_CONNECTIONS => {
                problems.push("`load.connections` must not be above 10,000,000".into());
            }
            Model::Open if self.connections == 0 => {
                problems.push("an open load needs `connections`, the size of its pool".into());
            }
            Model::Open if self.request_limit.is_some() || self.think_time_ns > 0 => {
                problems
                    .push("`request_limit` and `think_time_ns` belong to the closed model".into());
            }
            Model::Open | Model::Closed => {}
        }
    }

    fn add_length_problems(&self, problems: &mut Vec<String>) {
        let mut lengths = self.stages.iter().map(|stage| stage.duration_ns);
        let total_ns = lengths.try_fold(0u64, u64::checked_add);
        if total_ns.is_none_or(|total_ns| total_ns > LONGEST_NS) {
            problems.push("the stages together must not last longer than a year".into());
        }
        for (key, length_ns) in [
            ("timeout_ns", self.timeout_ns),
            ("think_time_ns", self.think_time_ns),
            ("tolerance_ns", self.tolerance_ns),
        ] {
            if length_ns > LONGEST_NS {
                problems.push(format!("`load.{key}` must not be longer than a year"));
            }
        }
    }

    /// Problems of several requests in flight on one connection.
    fn add_depth_problems(&self, key: &str, depth: usize, problems: &mut Vec<String>) {
        if depth == 0 || depth > MOST_IN_FLIGHT {
            problems.push(format!("`load.{key}` must lie between 1 and {MOST_IN_FLIGHT}"));
        }
        if depth > 1 && self.requests_per_connection() == Some(1) {
            problems.push(format!("a connection of one request has no use for `{key}`"));
        }
        if depth > 1 && self.think_time_ns > 0 {
            problems.push(format!("`think_time_ns` and `{key}` exclude each other"));
        }
    }
}

fn one() -> usize {
    1
}

fn one_step() -> u32 {
    1
}

fn one_weight() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    BASE64.decode(text).map_err(serde::de::Error::custom)
}

/// Bytes of a request as a specification has them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Whole(String),
    WithFile { head: String, file: PathBuf },
}

fn from_base64_and_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Whole(text) => BASE64.decode(text).map_err(serde::de::Error::custom),
        Written::WithFile { head, file } => {
            let mut bytes = BASE64.decode(head).map_err(serde::de::Error::custom)?;
            let read = read_file(&file, &mut bytes);
            read.map_err(|error| D::Error::custom(format!("`{}`: {error}", file.display())))?;
            Ok(bytes)
        }
    }
}

/// Appends the content of a file; of devices and pipes, which may have no end, nothing is read.
fn read_file(file: &Path, bytes: &mut Vec<u8>) -> io::Result<()> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    fs::File::open(file)?.read_to_end(bytes)?;
    Ok(())
}

fn from_shared_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    from_base64(deserializer).map(Into::into)
}

fn from_optional_base64<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<u8>>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| BASE64.decode(text).map_err(serde::de::Error::custom)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"format": 1, "into": "x", "address": "127.0.0.1:80",
        "requests": [{"name": "a", "bytes": "R0VU"}],
        "load": {"model": "closed", "timeout_ns": 1,
                 "stages": [{"kind": "hold", "duration_ns": 1, "start": 3, "end": 4}]}}"#;

    #[test]
    fn a_short_specification_is_enough() {
        let spec = Spec::parse(GOOD).unwrap();
        assert_eq!(spec.requests[0].bytes, b"GET");
        assert_eq!(spec.load.peak_connections(), 4);
        assert_eq!(spec.requests[0].expected.status, (200, 399));
    }

    #[test]
    fn parts_of_several_engines_add_up_to_the_load() {
        let part = |first: usize, threads: usize| {
            let part =
                format!(r#"{{"threads": {threads}, "part": {{"first": {first}, "of": 4}}, "#);
            Spec::parse(
                &GOOD
                    .replace("\"start\": 3, \"end\": 4", "\"start\": 9, \"end\": 11")
                    .replacen('{', &part, 1),
            )
        };
        let (left, right) = (part(0, 3).unwrap(), part(3, 1).unwrap());
        assert_eq!(left.workers(), (0..3, 4));
        assert_eq!(right.workers(), (3..4, 4));
        assert_eq!((left.peak_connections(), right.peak_connections()), (9, 2));
        assert!(part(3, 2).is_err(), "beyond the last thread");
        assert!(
            Spec::parse(&GOOD.replacen('{', r#"{"part": {"first": 0, "of": 5}, "#, 1)).is_err()
        );
    }

    #[test]
    fn every_problem_is_reported_at_once() {
        let bad = GOOD
            .replace("\"format\": 1", "\"format\": 9")
            .replace("\"timeout_ns\": 1", "\"timeout_ns\": 0")
            .replace("\"duration_ns\": 1", "\"duration_ns\": 0");
        let EngineError::Spec(problems) = Spec::parse(&bad).unwrap_err() else {
            panic!("other error")
        };
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn what_no_host_can_do_is_a_problem() {
        for (good, bad) in [
            ("\"duration_ns\": 1", "\"duration_ns\": 18446744073709551615"),
            ("\"timeout_ns\": 1", "\"timeout_ns\": 18446744073709551615"),
            ("\"start\": 3", "\"start\": 1e300"),
            ("\"start\": 3", "\"start\": 3, \"steps\": 4294967295"),
            ("\"closed\"", "\"open\", \"connections\": 18446744073709551615"),
        ] {
            let error = Spec::parse(&GOOD.replace(good, bad)).unwrap_err();
            let EngineError::Spec(problems) = error else { panic!("other error") };
            assert_eq!(problems.len(), 1, "{bad}: {problems:?}");
        }
    }

    #[test]
    fn a_body_may_be_the_content_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("body");
        let text = GOOD
            .replace("\"R0VU\"", &format!(r#"{{"head": "R0VU", "file": "{}"}}"#, file.display()));
        assert!(Spec::parse(&text).unwrap_err().to_string().contains("No such file"));
        fs::create_dir(&file).unwrap();
        assert!(Spec::parse(&text).unwrap_err().to_string().contains("not a file"));
        fs::remove_dir(&file).unwrap();
        fs::write(&file, "body").unwrap();
        assert_eq!(Spec::parse(&text).unwrap().requests[0].bytes, b"GETbody");
    }

    #[test]
    fn redirects_are_followed_within_an_origin_one_request_at_a_time() {
        let follow = |more: &str, most: u32, origin: &str| {
            let load =
                format!(r#""load": {{{more} "follow": {{"most": {most}, "origin": "{origin}"}}, "#);
            Spec::parse(&GOOD.replace(r#""load": {"#, &load))
        };
        assert!(follow("", 1, "http://a:80").is_ok());
        for (more, most, origin) in [
            ("", 0, "http://a"),
            ("", 1, "http://a/b"),
            ("\"pipeline\": 2,", 1, "http://a"),
            ("\"protocol\": \"http2\",", 1, "http://a"),
            ("\"keep_alive\": false,", 1, "http://a"),
        ] {
            let error = follow(more, most, origin).unwrap_err().to_string();
            assert!(error.contains("`load.follow` needs"), "{more} {most} {origin}: {error}");
        }
    }

    #[test]
    fn an_unknown_field_is_a_problem() {
        let bad = GOOD.replace("\"into\"", "\"outof\": 1, \"into\"");
        assert!(Spec::parse(&bad).unwrap_err().to_string().contains("outof"));
    }
}
