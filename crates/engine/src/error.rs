//! Errors of the engine, each with what to do about it.

use std::io;

use thiserror::Error;

/// Why the engine could not generate the load.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The specification is wrong; every problem found, one a line.
    #[error("the specification is wrong: {}", .0.join("; "))]
    Spec(Vec<String>),
    /// The limit of open files is too low for the requested connections.
    #[error("{connections} connections need {needed} file descriptors, the limit is {limit}")]
    OpenFiles {
        /// Requested connections at one time.
        connections: usize,
        /// File descriptors that these and the engine need.
        needed: u64,
        /// The hard limit of this process.
        limit: u64,
    },
    /// There are not enough local ports for the requested connections.
    #[error(
        "{connections} connections need as many local ports, {address} can be reached from {ports}"
    )]
    Ports {
        /// Requested connections at one time.
        connections: usize,
        /// Where they go.
        address: String,
        /// Ports (times source addresses) there are.
        ports: usize,
        /// The same with the widest range of ports that may be set.
        widest: usize,
    },
    /// A requested core does not exist.
    #[error("core {core} is not among the cores this process may use: {allowed:?}")]
    Core {
        /// The requested core.
        core: usize,
        /// The cores there are.
        allowed: Vec<usize>,
    },
    /// The rows could not be written.
    #[error("the rows could not be written to {path}: {source}")]
    Storage {
        /// The file or folder.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The operating system refused something the loop can't do without.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A thread of the engine ended by a panic.
    #[error("a worker thread ended unexpectedly")]
    WorkerLost,
}

impl EngineError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Spec(_) => "correct what the message names".into(),
            Self::OpenFiles { needed, .. } => {
                format!("`ulimit -n {needed}`, or request fewer connections")
            }
            Self::Ports { connections, widest, .. } if connections > widest => format!(
                "at most {widest} connections, or several hosts that generate the load together"
            ),
            Self::Ports { ports, .. } => format!(
                "`sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`, or at most {ports} connections"
            ),
            Self::Core { .. } => "request existing cores; `nproc` counts them".into(),
            Self::Storage { .. } => "free some space, or write the results elsewhere".into(),
            Self::System { .. } => "look at the limits of this host with `plimsoll machine`".into(),
            Self::WorkerLost => "this is a mistake in Plimsoll; please report it".into(),
        }
    }

    /// Exit code of the engine's process: 2 the question, 3 the host, 5 the engine, 6 storage.
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Spec(_) => 2,
            Self::OpenFiles { .. } | Self::Ports { .. } | Self::Core { .. } => 3,
            Self::System { .. } | Self::WorkerLost => 5,
            Self::Storage { .. } => 6,
        }
    }
}
