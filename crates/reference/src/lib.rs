//! A server with a known service time, to measure the engine against and to compare frameworks with.
//!
//! It serves the whole contract, does nothing else, and counts what it does. It sends a response one
//! service time after the complete request. Requests of one connection of HTTP/1 are served one after
//! the other; those of different connections, and of different streams of HTTP/2, do not wait for
//! each other, unless each worker serves one request at a time. A client that begins with the preface of HTTP/2 is spoken to in HTTP/2; one that asks for
//! WebSocket at `/echo` gets its messages back, one after the other. `/events/N?every=MS` is a stream
//! of N events, so many milliseconds apart. Files at `/static` are served in ranges and by condition.

#![forbid(unsafe_code)]

mod channel;
mod client;
mod clients;
mod coding;
mod contract;
mod events;
mod files;
mod given;
mod http2;
mod http2_request;
mod json_sum;
mod multipart;
mod request;
mod service;
mod service_time;
mod session;
mod tally;
mod websocket;
mod worker;

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};

use plimsoll_system as system;
pub use plimsoll_system::Address;
use rustls::ServerConfig;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use crate::channel::TlsFiles;
use crate::given::Given;
use crate::service::Service;
pub use crate::service_time::{ServiceTime, Slowdown, Stall};
pub use crate::tally::{Counts, Held};
use crate::worker::{Door, Post, Rules, Worker};

/// How new connections reach the workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptors {
    /// Every worker has a listening socket, and the kernel divides connections among them.
    #[default]
    Many,
    /// The first worker accepts every connection and deals them out in turn, itself included.
    One,
}

/// How streams of one connection of HTTP/2 are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Streams {
    /// At the same time.
    #[default]
    Together,
    /// One after the other, as requests of HTTP/1 are: a slow response delays those behind it.
    InTurn,
}

/// The requested kind of server.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReferenceSpec {
    /// Where it listens; port 0 takes a free one.
    pub address: Address,
    /// Threads that serve.
    #[serde(default = "one")]
    pub workers: usize,
    /// Cores for the workers, dealt out in turn; empty leaves that to the system.
    #[serde(default)]
    pub cores: Vec<usize>,
    /// How new connections reach the workers.
    #[serde(default)]
    pub acceptors: Acceptors,
    /// Connections that may wait to be accepted, for each listening socket.
    #[serde(default = "default_backlog")]
    pub backlog: u32,
    /// How long a response takes.
    #[serde(default)]
    pub service_time: ServiceTime,
    /// How streams of one connection of HTTP/2 are served.
    #[serde(default)]
    pub streams: Streams,
    /// Whether each worker serves one request at a time, in the order in which they come.
    #[serde(default)]
    pub one_at_a_time: bool,
    /// From when on responses take longer; none for never.
    #[serde(default)]
    pub slowdown: Option<Slowdown>,
    /// When the whole server stalls; none for never.
    #[serde(default)]
    pub stall: Option<Stall>,
    /// Chooses which requests have which service time, and the values of `/value/ID`.
    #[serde(default)]
    pub seed: u64,
    /// The folder with `items.json` and `static`; `/items` and `/static` find nothing when absent.
    #[serde(default)]
    pub files: Option<PathBuf>,
    /// The key of the tokens of `/auth`.
    #[serde(default)]
    pub key: String,
    /// Where the server writes, when it is stopped, how long it had each request: pairs of 64-bit
    /// little-endian numbers as in [`Held`], by rising instant. Nowhere when absent.
    #[serde(default)]
    pub witness: Option<PathBuf>,
    /// Serves by TLS with these files; by plain TCP when absent.
    #[serde(default)]
    pub tls: Option<TlsFiles>,
}

fn one() -> usize {
    1
}

fn default_backlog() -> u32 {
    4096
}

impl ReferenceSpec {
    /// One worker that responds at once.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self {
            address: address.into(),
            workers: one(),
            cores: Vec::new(),
            acceptors: Acceptors::default(),
            backlog: default_backlog(),
            service_time: ServiceTime::default(),
            streams: Streams::default(),
            one_at_a_time: false,
            slowdown: None,
            stall: None,
            seed: 0,
            files: None,
            key: String::new(),
            witness: None,
            tls: None,
        }
    }

    /// Reads a specification from JSON.
    ///
    /// # Errors
    ///
    /// [`ReferenceError::Spec`] when it is not JSON, lacks a field or has one that is not known.
    pub fn from_json(text: &str) -> Result<Self, ReferenceError> {
        serde_json::from_str(text).map_err(|error| ReferenceError::Spec(vec![error.to_string()]))
    }

    /// Everything that is wrong with it.
    fn problems(&self) -> Vec<String> {
        let workers = (self.workers == 0).then(|| "`workers` is 0, it must be 1 or more".into());
        let backlog = (self.backlog == 0 || i32::try_from(self.backlog).is_err())
            .then(|| format!("`backlog` is {}, it must be from 1 to {}", self.backlog, i32::MAX));
        let service_time = self.service_time.problem();
        let stall = self.stall.and_then(Stall::problem);
        let slowdown = self.slowdown.and_then(Slowdown::problem);
        [workers, backlog, service_time, slowdown, stall].into_iter().flatten().collect()
    }
}

/// Why the reference server can't start, or ended.
#[derive(Debug, Error)]
pub enum ReferenceError {
    /// The specification is wrong; every problem found.
    #[error("the specification of the reference server is wrong: {}", .0.join("; "))]
    Spec(Vec<String>),
    /// A requested core does not exist.
    #[error("core {core} is not among the cores this process may use: {allowed:?}")]
    Core {
        /// The requested core.
        core: usize,
        /// The cores there are.
        allowed: Vec<usize>,
    },
    /// It can't listen where it should.
    #[error("can't listen on {address}: {source}")]
    Address {
        /// Where it should listen.
        address: Address,
        /// Why not.
        source: io::Error,
    },
    /// The operating system refused something that a worker can't do without.
    #[error("a worker of the reference server failed: {0}")]
    Worker(io::Error),
    /// A worker ended by a panic.
    #[error("a worker of the reference server ended unexpectedly")]
    WorkerLost,
    /// Its log of requests could not be written.
    #[error("the reference server can't write what it witnessed: {0}")]
    Witness(io::Error),
}

impl ReferenceError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Spec(_) => "mend the options named",
            Self::Core { .. } => "request existing cores; `nproc` counts them",
            Self::Address { .. } => {
                "stop the program that listens there (`ss -lxtnp` names it), or take another address"
            }
            Self::Worker(_) => "look at the limits of this host with `plimsoll machine`",
            Self::WorkerLost => "this is a mistake in Plimsoll; please report it",
            Self::Witness(_) => "free some space, or name another file with `--witness`",
        }
    }

    /// Exit code of the server's process: 2 the question, 3 the host, 5 the server itself, 6 the
    /// file that it could not write.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Spec(_) => 2,
            Self::Core { .. } | Self::Address { .. } => 3,
            Self::Worker(_) | Self::WorkerLost => 5,
            Self::Witness(_) => 6,
        }
    }
}

/// A running server; dropping it stops it.
#[allow(missing_debug_implementations)]
pub struct Server {
    address: Address,
    rules: Arc<Rules>,
    posts: Vec<Arc<Post>>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    witness: Option<PathBuf>,
}

impl Server {
    /// Listens, and serves in threads of its own until it is stopped.
    ///
    /// Raises this process's limit of open files as far as it may.
    ///
    /// # Errors
    ///
    /// A specification with problems, a core that is not there, an address that is taken, or an
    /// operating system that has no threads or file descriptors left.
    pub fn start(spec: &ReferenceSpec) -> Result<Self, ReferenceError> {
        let problems = spec.problems();
        if !problems.is_empty() {
            return Err(ReferenceError::Spec(problems));
        }
        let security = spec.tls.as_ref().map(TlsFiles::config).transpose();
        let security = security.map_err(|problem| ReferenceError::Spec(vec![problem]))?;
        let given = Given::read(spec).map_err(|problem| ReferenceError::Spec(vec![problem]))?;
        check_cores(&spec.cores)?;
        let _ = system::raise_open_file_limit();
        let (address, listeners) = listen(spec)
            .map_err(|source| ReferenceError::Address { address: spec.address.clone(), source })?;
        let mut server = Self::new(spec, address, security).map_err(ReferenceError::Worker)?;
        server.spawn(spec, listeners, &Arc::new(given)).map_err(ReferenceError::Worker)?;
        Ok(server)
    }

    fn new(
        spec: &ReferenceSpec,
        address: Address,
        security: Option<Arc<ServerConfig>>,
    ) -> io::Result<Self> {
        let witness = spec.witness.clone();
        let post = || Ok(Arc::new(Post::new(witness.is_some())?));
        let posts: io::Result<_> = (0..spec.workers).map(|_| post()).collect();
        let rules = Rules {
            service: Service {
                time: spec.service_time,
                slowdown: spec.slowdown,
                stall: spec.stall,
                one_at_a_time: spec.one_at_a_time,
            },
            zero_ns: system::now_ns(),
            stop: AtomicBool::new(false),
            security,
            streams: spec.streams,
        };
        Ok(Self { address, rules: Arc::new(rules), posts: posts?, threads: Vec::new(), witness })
    }

    fn spawn(
        &mut self,
        spec: &ReferenceSpec,
        listeners: Vec<OwnedFd>,
        given: &Arc<Given>,
    ) -> io::Result<()> {
        let mut listeners = listeners.into_iter();
        for (index, post) in self.posts.iter().enumerate() {
            let dealt_to = match spec.acceptors {
                Acceptors::Many => vec![Arc::clone(post)],
                Acceptors::One => self.posts.clone(),
            };
            let door = listeners.next().map(|listener| Door::new(listener, dealt_to));
            let seed = spec.seed.wrapping_add(index as u64);
            let (rules, post) = (Arc::clone(&self.rules), Arc::clone(post));
            let given = Arc::clone(given);
            let core = spec.cores.get(index % spec.cores.len().max(1)).copied();
            let thread = thread::Builder::new().name(format!("reference-{index}"));
            self.threads.push(thread.spawn(move || {
                core.map_or(Ok(()), system::pin_thread)?;
                given.give();
                Worker::new(rules, post, door, seed)?.run()
            })?);
        }
        Ok(())
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Its start on the monotonic clock, in nanoseconds; stalls are counted from there.
    #[must_use]
    pub fn zero_ns(&self) -> u64 {
        self.rules.zero_ns
    }

    /// What it has done so far; up to a few microseconds behind what clients have seen.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut total = Counts::default();
        for post in &self.posts {
            total.add(&post.tally.counts());
        }
        total
    }

    /// Whether every worker serves; if not, [`Server::stop`] returns the reason.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.threads.iter().any(JoinHandle::is_finished)
    }

    /// Closes every connection and ends; returns what it has done.
    ///
    /// # Errors
    ///
    /// What had ended a worker before, or the file of the witness that can't be written.
    pub fn stop(mut self) -> Result<Counts, ReferenceError> {
        self.join()?;
        self.testify().map_err(ReferenceError::Witness)?;
        Ok(self.counts())
    }

    /// Writes how long each request was held.
    fn testify(&self) -> io::Result<()> {
        let Some(path) = &self.witness else { return Ok(()) };
        let mut held: Vec<Held> =
            self.posts.iter().flat_map(|post| post.tally.witness.take()).collect();
        held.sort_unstable();
        let pairs = held.iter().flat_map(|one| [one.received_ns, one.answered_ns]);
        fs::write(path, pairs.flat_map(u64::to_le_bytes).collect::<Vec<_>>())
    }

    fn join(&mut self) -> Result<(), ReferenceError> {
        self.rules.stop.store(true, Relaxed);
        for post in &self.posts {
            post.ring();
        }
        let endings: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        for ending in endings {
            ending.map_err(|_| ReferenceError::WorkerLost)?.map_err(ReferenceError::Worker)?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Who wants to know calls `stop`.
        let _ = self.join();
        if let Address::Unix(path) = &self.address {
            let _ = fs::remove_file(path);
        }
    }
}

fn check_cores(cores: &[usize]) -> Result<(), ReferenceError> {
    let allowed = system::allowed_cores().map_err(ReferenceError::Worker)?;
    match cores.iter().find(|core| !allowed.contains(core)) {
        Some(&core) => Err(ReferenceError::Core { core, allowed }),
        None => Ok(()),
    }
}

/// The listening sockets, and the address they have.
fn listen(spec: &ReferenceSpec) -> io::Result<(Address, Vec<OwnedFd>)> {
    let backlog = i32::try_from(spec.backlog).unwrap_or(i32::MAX);
    match &spec.address {
        Address::Tcp(address) => listen_on(address, spec, backlog),
        Address::Unix(path) => {
            let only = system::listen_at(path, backlog)?;
            // Workers share the one socket that a path can have.
            let more = match spec.acceptors {
                Acceptors::Many => spec.workers - 1,
                Acceptors::One => 0,
            };
            let mut listeners = vec![only];
            for _ in 0..more {
                listeners.push(listeners[0].try_clone()?);
            }
            Ok((spec.address.clone(), listeners))
        }
    }
}

fn listen_on(
    address: &SocketAddr,
    spec: &ReferenceSpec,
    backlog: i32,
) -> io::Result<(Address, Vec<OwnedFd>)> {
    // A socket that may share its port would join another server there; this one finds it taken.
    let only = system::listen(address, backlog, false)?;
    let address = system::local_address(&only)?;
    if spec.acceptors == Acceptors::One {
        return Ok((address.into(), vec![only]));
    }
    drop(only);
    let listeners: io::Result<_> =
        (0..spec.workers).map(|_| system::listen(&address, backlog, true)).collect();
    Ok((address.into(), listeners?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> ReferenceSpec {
        ReferenceSpec::new("127.0.0.1:0".parse::<Address>().unwrap())
    }

    #[test]
    fn a_specification_needs_nothing_but_an_address() {
        let read = ReferenceSpec::from_json(r#"{"address": "127.0.0.1:0"}"#).unwrap();
        assert_eq!(read, spec());
    }

    #[test]
    fn a_specification_is_the_same_after_writing_and_reading() {
        let full = ReferenceSpec {
            workers: 2,
            cores: vec![0, 1],
            acceptors: Acceptors::One,
            service_time: ServiceTime::Bimodal { duration_ns: 1, second_ns: 2, second_ratio: 0.5 },
            streams: Streams::InTurn,
            one_at_a_time: true,
            slowdown: Some(Slowdown { after_ns: 1, factor: 1.5 }),
            stall: Some(Stall { duration_ns: 1, period_ns: 5 }),
            seed: 7,
            ..spec()
        };
        let text = serde_json::to_string(&full).unwrap();
        assert_eq!(ReferenceSpec::from_json(&text).unwrap(), full);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let text = r#"{"address": "127.0.0.1:0", "worker": 2}"#;
        let error = ReferenceSpec::from_json(text).unwrap_err();
        assert!(error.to_string().contains("`worker`"), "{error}");
        assert_eq!(error.exit_code(), 2);
    }

    #[test]
    fn every_problem_is_named_at_once() {
        let wrong = ReferenceSpec {
            workers: 0,
            backlog: 0,
            slowdown: Some(Slowdown { after_ns: 0, factor: -1.0 }),
            stall: Some(Stall { duration_ns: 5, period_ns: 5 }),
            ..spec()
        };
        let Err(ReferenceError::Spec(problems)) = Server::start(&wrong) else {
            panic!("it started");
        };
        assert_eq!(problems.len(), 4, "{problems:?}");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        let wrong = ReferenceSpec { cores: vec![100_000], ..spec() };
        let error = Server::start(&wrong).err().unwrap();
        assert!(matches!(error, ReferenceError::Core { core: 100_000, .. }), "{error}");
        assert_eq!(error.exit_code(), 3);
    }
}
