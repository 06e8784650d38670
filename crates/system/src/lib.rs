//! The operating system: clocks, sockets, readiness, cores and limits, over `rustix`.
//!
//! This is the only crate that reads a clock and the only one that may hold `unsafe`.

mod address;
mod cache;
mod clock;
mod host;
mod poller;
mod socket;

pub use crate::address::Address;
pub use crate::cache::prefetch;
pub use crate::clock::{now_ns, process_cpu_s, wall_clock_ns};
pub use crate::host::{
    allowed_cores, local_port_range, peak_rss_bytes, pin_thread, raise_open_file_limit,
    wake_precisely,
};
pub use crate::poller::{Bell, Poller, Ready, wait_for};
pub use crate::socket::{
    accept, connect, connect_result, finish_sending, listen, listen_at, local_address, receive,
    reset, send, unsent_bytes,
};
