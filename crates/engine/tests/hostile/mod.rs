//! A server that misbehaves on purpose, and counts truthfully what it does.
//!
//! A [`Manner`] says how it treats connections, a [`Script`] what it does with one request; both
//! are data, so a test reads as the list of what the server does.

mod script;

use std::collections::HashSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_system as system;

pub use self::script::{BODY, Script, Then, chunked, head, right};

const TICK: Duration = Duration::from_millis(1);

/// The longest a write may stand still before the server gives it up.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// When connections are taken off the listen queue.
#[derive(Clone, Copy, Debug)]
pub enum Accept {
    /// As they come.
    AtOnce,
    /// One in this time.
    Every(Duration),
    /// Never; the kernel completes handshakes all the same, until the queue is full.
    Never,
    /// There is no queue: nobody listens.
    Refuse,
}

/// How much of a request is read before its script is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listen {
    /// Head and body.
    Whole,
    /// Head and body, and an interim answer is sent in between.
    WholeOnceInvited,
    /// The head alone; the body is left in the socket.
    Head,
    /// Nothing.
    Nothing,
}

/// How the server treats its connections.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    /// When it accepts.
    pub accept: Accept,
    /// Its listen backlog.
    pub backlog: i32,
    /// What it reads.
    pub listen: Listen,
}

/// Accepts at once and reads every request.
pub const POLITE: Manner = Manner { accept: Accept::AtOnce, backlog: 1024, listen: Listen::Whole };

/// What the server has done, counted by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub accepted: usize,
    /// Addresses they came from.
    pub addresses: usize,
    /// Requests read, as far as its manner has it read them.
    pub requests: usize,
    /// Scripts played to the end of their last piece.
    pub played: usize,
    /// Scripts given up because the client was gone.
    pub given_up: usize,
    /// Connections it has reset.
    pub reset: usize,
    /// Connections on which it was the first to say that it is done.
    pub closed_first: usize,
    /// Connections whose end was seen while reading: the client had closed them.
    pub closed_by_client: usize,
}

#[derive(Debug, Default)]
struct Tally {
    scripts: AtomicUsize,
    accepted: AtomicUsize,
    addresses: Mutex<HashSet<IpAddr>>,
    requests: AtomicUsize,
    played: AtomicUsize,
    given_up: AtomicUsize,
    reset: AtomicUsize,
    closed_first: AtomicUsize,
    closed_by_client: AtomicUsize,
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, SeqCst);
}

type Scripts = dyn Fn(usize) -> Script + Send + Sync;

struct Shared {
    manner: Manner,
    scripts: Box<Scripts>,
    tally: Tally,
    stop: AtomicBool,
}

/// A running server.
pub struct Hostile {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
    /// Bound and not listening, so that the port stays taken and connects are refused.
    _bound: Option<OwnedFd>,
}

impl Hostile {
    /// Starts; `scripts` gives the script of the n-th request, counted over all connections.
    pub fn start(
        manner: Manner,
        scripts: impl Fn(usize) -> Script + Send + Sync + 'static,
    ) -> Self {
        Self::start_at("127.0.0.1:0", manner, scripts)
    }

    /// Starts at an address of this host.
    pub fn start_at(
        at: &str,
        manner: Manner,
        scripts: impl Fn(usize) -> Script + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared {
            manner,
            scripts: Box::new(scripts),
            tally: Tally::default(),
            stop: AtomicBool::new(false),
        });
        if let Accept::Refuse = manner.accept {
            let bound = bound_only();
            let address = system::local_address(&bound).unwrap();
            return Self { address, shared, acceptor: None, _bound: Some(bound) };
        }
        let listener = system::listen(&at.parse().unwrap(), manner.backlog, false).unwrap();
        let address = system::local_address(&listener).unwrap();
        let for_acceptor = Arc::clone(&shared);
        let acceptor = thread::spawn(move || accept_all(&listener.into(), &for_acceptor));
        Self { address, shared, acceptor: Some(acceptor), _bound: None }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection; returns what the server has done.
    pub fn stop(mut self) -> Counts {
        self.end();
        let tally = &self.shared.tally;
        let get = |counter: &AtomicUsize| counter.load(SeqCst);
        Counts {
            accepted: get(&tally.accepted),
            addresses: tally.addresses.lock().unwrap().len(),
            requests: get(&tally.requests),
            played: get(&tally.played),
            given_up: get(&tally.given_up),
            reset: get(&tally.reset),
            closed_first: get(&tally.closed_first),
            closed_by_client: get(&tally.closed_by_client),
        }
    }

    fn end(&mut self) {
        self.shared.stop.store(true, SeqCst);
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap();
        }
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.end();
    }
}

fn bound_only() -> OwnedFd {
    use rustix::net::{AddressFamily, SocketType, bind, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&socket, &"127.0.0.1:0".parse::<SocketAddr>().unwrap()).unwrap();
    socket
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut visits = Vec::new();
    while !shared.stop.load(SeqCst) {
        match shared.manner.accept {
            Accept::Never | Accept::Refuse => thread::sleep(TICK),
            Accept::AtOnce => visits.extend(accept_one(listener, shared)),
            Accept::Every(pause) => {
                visits.extend(accept_one(listener, shared));
                thread::sleep(pause);
            }
        }
    }
    for visit in visits {
        visit.join().unwrap();
    }
}

fn accept_one(listener: &TcpListener, shared: &Arc<Shared>) -> Option<JoinHandle<()>> {
    match listener.accept() {
        Ok((stream, peer)) => {
            count(&shared.tally.accepted);
            shared.tally.addresses.lock().unwrap().insert(peer.ip());
            let shared = Arc::clone(shared);
            Some(thread::spawn(move || Visit::new(stream, &shared).receive()))
        }
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            thread::sleep(TICK);
            None
        }
        Err(error) => panic!("accept: {error}"),
    }
}

/// One connection.
struct Visit<'a> {
    stream: TcpStream,
    shared: &'a Shared,
    /// Bytes received that belong to no request yet.
    input: Vec<u8>,
}

impl<'a> Visit<'a> {
    fn new(stream: TcpStream, shared: &'a Shared) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TICK)).unwrap();
        stream.set_write_timeout(Some(WRITE_TIMEOUT)).unwrap();
        Self { stream, shared, input: Vec::new() }
    }

    /// Plays the script of one request after the other.
    fn receive(mut self) {
        while self.await_request() {
            let number = self.shared.tally.scripts.fetch_add(1, SeqCst);
            let script = (self.shared.scripts)(number);
            if !self.play(&script) {
                count(&self.shared.tally.given_up);
                return;
            }
            count(&self.shared.tally.played);
            match script.then {
                Then::GoOn => {}
                Then::Hang => return self.hang(),
                Then::Reset => return self.reset(),
                Then::Close => return self.close(),
                Then::HalfClose => {
                    count(&self.shared.tally.closed_first);
                    self.stream.shutdown(Shutdown::Write).unwrap();
                    return self.hang();
                }
            }
        }
    }

    /// Reads until a request is there; false when the connection or the test is over.
    fn await_request(&mut self) -> bool {
        if self.shared.manner.listen == Listen::Nothing {
            return true;
        }
        let mut invited = self.shared.manner.listen != Listen::WholeOnceInvited;
        loop {
            if !invited && self.head_bytes().is_some() {
                invited = true;
                self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").unwrap();
            }
            if let Some(length) = self.request_bytes() {
                self.input.drain(..length);
                count(&self.shared.tally.requests);
                return true;
            }
            if !self.read_more() {
                return false;
            }
        }
    }

    fn head_bytes(&self) -> Option<usize> {
        self.input.windows(4).position(|end| end == b"\r\n\r\n").map(|start| start + 4)
    }

    /// Length of the request that is there, as far as the server cares to read it.
    fn request_bytes(&self) -> Option<usize> {
        let head = self.head_bytes()?;
        let text = String::from_utf8_lossy(&self.input[..head]).to_lowercase();
        let body =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
        let body = if self.shared.manner.listen == Listen::Head { 0 } else { body.unwrap_or(0) };
        (self.input.len() >= head + body).then_some(head + body)
    }

    fn read_more(&mut self) -> bool {
        // So little that a body that is not read stays in the socket.
        let mut buffer = [0; 512];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    count(&self.shared.tally.closed_by_client);
                    return false;
                }
                Ok(length) => {
                    self.input.extend_from_slice(&buffer[..length]);
                    return true;
                }
                Err(error) if is_pause(&error) => {
                    if self.shared.stop.load(SeqCst) {
                        return false;
                    }
                }
                Err(_) => {
                    count(&self.shared.tally.closed_by_client);
                    return false;
                }
            }
        }
    }

    /// Writes the pieces; false when the client was gone before the last.
    fn play(&mut self, script: &Script) -> bool {
        for piece in &script.pieces {
            if !piece.pause.is_zero() {
                thread::sleep(piece.pause);
            }
            for _ in 0..piece.times {
                if self.shared.stop.load(SeqCst) || self.stream.write_all(&piece.bytes).is_err() {
                    return false;
                }
            }
        }
        true
    }

    /// Leaves the connection open and does nothing until the client closes it.
    fn hang(mut self) {
        if matches!(self.shared.manner.listen, Listen::Whole | Listen::WholeOnceInvited) {
            while self.read_more() {}
        } else {
            // To look for the client's close would be to read.
            while !self.shared.stop.load(SeqCst) {
                thread::sleep(TICK);
            }
        }
    }

    fn reset(self) {
        count(&self.shared.tally.reset);
        system::reset(self.stream.into()).unwrap();
    }

    fn close(self) {
        count(&self.shared.tally.closed_first);
    }
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
