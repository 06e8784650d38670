//! One thread of the reference server: one poller, its clients, and the responses that wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use plimsoll_system::{self as system, Bell, Poller, Ready};
use rustix::io::Errno;
use rustls::ServerConfig;

use crate::Streams;
use crate::channel::Channel;
use crate::client::{Client, Next};
use crate::clients::Clients;
use crate::service::{Queue, Service};
use crate::tally::Tally;

const LISTENER: u64 = u64::MAX;
const BELL: u64 = u64::MAX - 1;

/// The longest wait, so that the wish to stop is seen, in nanoseconds.
const PATIENCE_NS: u64 = 100_000_000;

/// How long no connection is accepted after the system had none to give, in nanoseconds.
const CLOSED_DOOR_NS: u64 = 100_000_000;

/// Connections accepted in one turn, so that those already there are served in between.
const ACCEPTS_PER_TURN: usize = 64;

const EVENTS_PER_TURN: usize = 1024;
const SCRATCH_BYTES: usize = 64 * 1024;

/// What all workers have in common.
#[derive(Debug)]
pub(super) struct Rules {
    pub service: Service,
    /// The start of the server on the monotonic clock.
    pub zero_ns: u64,
    pub stop: AtomicBool,
    /// How connections are secured, if they are.
    pub security: Option<Arc<ServerConfig>>,
    /// How streams of one connection of HTTP/2 are served.
    pub streams: Streams,
}

/// How others reach a worker: connections handed over, and its counts.
pub(super) struct Post {
    handed_over: Mutex<Vec<OwnedFd>>,
    bell: Bell,
    pub tally: Tally,
}

impl Post {
    pub fn new(witness: bool) -> io::Result<Self> {
        let tally = Tally::new(witness);
        Ok(Self { handed_over: Mutex::default(), bell: Bell::new()?, tally })
    }

    /// Ends the wait of the worker.
    pub fn ring(&self) {
        // A bell that can't be rung costs at most the longest wait.
        let _ = self.bell.ring();
    }

    fn hand_over(&self, socket: OwnedFd) {
        self.handed_over.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
        self.ring();
    }

    fn take(&self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.handed_over.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A listening socket, and the workers that get its connections in turn.
pub(super) struct Door {
    listener: OwnedFd,
    /// Where connections go; the worker that has the door comes first.
    posts: Vec<Arc<Post>>,
    next: usize,
    closed_until_ns: Option<u64>,
}

impl Door {
    pub fn new(listener: OwnedFd, posts: Vec<Arc<Post>>) -> Self {
        Self { listener, posts, next: 0, closed_until_ns: None }
    }

    /// The worker whose turn it is; none when it is the one that has the door.
    fn deal(&mut self) -> Option<&Post> {
        let index = self.next;
        self.next = (index + 1) % self.posts.len();
        (index > 0).then(|| &*self.posts[index])
    }
}

/// One thread of the server.
pub(super) struct Worker {
    poller: Poller,
    door: Option<Door>,
    post: Arc<Post>,
    rules: Arc<Rules>,
    clients: Clients,
    /// Instant, token and stream of each response that waits, the earliest on top.
    waiting: BinaryHeap<Reverse<(u64, u64, u32)>>,
    queue: Queue,
    scratch: Vec<u8>,
}

impl Worker {
    pub fn new(
        rules: Arc<Rules>,
        post: Arc<Post>,
        door: Option<Door>,
        seed: u64,
    ) -> io::Result<Self> {
        let queue = Queue::new(rules.service, seed);
        let poller = Poller::new(EVENTS_PER_TURN)?;
        poller.add_bell(&post.bell, BELL)?;
        if let Some(door) = &door {
            poller.add_listener(&door.listener, LISTENER)?;
        }
        Ok(Self {
            poller,
            door,
            post,
            rules,
            clients: Clients::default(),
            waiting: BinaryHeap::new(),
            queue,
            scratch: vec![0; SCRATCH_BYTES],
        })
    }

    /// Serves until it must stop.
    pub fn run(mut self) -> io::Result<()> {
        // Without it waiting responses are up to 50 µs late; that is no reason not to serve.
        let _ = system::wake_precisely();
        while !self.stopping() {
            self.poller.wait(self.patience_ns())?;
            let now_ns = self.thawed_ns();
            for index in 0..self.poller.ready_count() {
                self.attend(self.poller.ready(index), now_ns)?;
            }
            self.answer_those_due();
            self.reopen_door(now_ns)?;
        }
        Ok(())
    }

    fn stopping(&self) -> bool {
        self.rules.stop.load(Relaxed)
    }

    /// How long to wait for events: until the next response is due.
    fn patience_ns(&self) -> u64 {
        match self.waiting.peek() {
            Some(Reverse((due_ns, ..))) => due_ns.saturating_sub(system::now_ns()).min(PATIENCE_NS),
            None => PATIENCE_NS,
        }
    }

    /// The present; when the server stands still, the instant at which it goes on.
    fn thawed_ns(&self) -> u64 {
        loop {
            let now_ns = system::now_ns();
            let since_start_ns = now_ns.saturating_sub(self.rules.zero_ns);
            match self.rules.service.stall.and_then(|stall| stall.end_ns(since_start_ns)) {
                Some(end_ns) if !self.stopping() => {
                    let pause_ns = (end_ns - since_start_ns).min(PATIENCE_NS);
                    std::thread::sleep(Duration::from_nanos(pause_ns));
                }
                _ => return now_ns,
            }
        }
    }

    fn attend(&mut self, ready: Ready, now_ns: u64) -> io::Result<()> {
        match ready.token {
            LISTENER => return self.accept(now_ns),
            BELL => {
                for socket in self.post.take() {
                    self.welcome(socket);
                }
            }
            token => {
                if let Some(client) = self.clients.get(token) {
                    client.notice(ready);
                    self.serve(token);
                }
            }
        }
        Ok(())
    }

    /// Takes connections off the listen queue and deals them out.
    fn accept(&mut self, now_ns: u64) -> io::Result<()> {
        for _ in 0..ACCEPTS_PER_TURN {
            let Some(door) = &mut self.door else {
                return Ok(());
            };
            match system::accept(&door.listener) {
                Ok(socket) => {
                    self.post.tally.connections_accepted.add(1);
                    match door.deal() {
                        Some(other) => other.hand_over(socket),
                        None => self.welcome(socket),
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if is_shortage(&error) => return self.close_door(now_ns),
                // The connection was gone before it was accepted.
                Err(_) => self.post.tally.accepts_failed.add(1),
            }
        }
        Ok(())
    }

    /// Stops accepting for a while; the queue would otherwise wake this thread without end.
    fn close_door(&mut self, now_ns: u64) -> io::Result<()> {
        self.post.tally.accepts_failed.add(1);
        if let Some(door) = &mut self.door {
            self.poller.remove(&door.listener)?;
            door.closed_until_ns = Some(now_ns + CLOSED_DOOR_NS);
        }
        Ok(())
    }

    fn reopen_door(&mut self, now_ns: u64) -> io::Result<()> {
        if let Some(door) = &mut self.door {
            if door.closed_until_ns.is_some_and(|until_ns| until_ns <= now_ns) {
                self.poller.add_listener(&door.listener, LISTENER)?;
                door.closed_until_ns = None;
            }
        }
        Ok(())
    }

    fn welcome(&mut self, socket: OwnedFd) {
        let Ok(channel) = Channel::new(socket, self.rules.security.as_ref()) else {
            return self.post.tally.connections_closed.add(1);
        };
        let client = Client::new(channel, self.rules.streams);
        let token = self.clients.insert(client);
        let added = self.clients.get(token).map(|client| self.poller.add(client.channel(), token));
        if !matches!(added, Some(Ok(()))) {
            self.dismiss(token);
        }
    }

    fn dismiss(&mut self, token: u64) {
        if self.clients.remove(token).is_some() {
            self.post.tally.connections_closed.add(1);
        }
    }

    fn serve(&mut self, token: u64) {
        let Some(client) = self.clients.get(token) else {
            return;
        };
        let at_once = self.queue.is_immediate();
        let zero_ns = self.rules.zero_ns;
        let next = client.go_on(at_once, &mut self.scratch, &self.post.tally);
        // Reading a long request takes its time, so the service begins by the clock after it.
        let mut take = || zero_ns + self.queue.take(system::now_ns().saturating_sub(zero_ns));
        match next {
            Next::Rest => {
                while let Some(stream) = client.next_complete() {
                    self.waiting.push(Reverse((take(), token, stream)));
                }
                while let Some((due_ns, stream)) = client.next_paused() {
                    self.waiting.push(Reverse((due_ns, token, stream)));
                }
            }
            Next::WaitUntil(due_ns) => self.waiting.push(Reverse((due_ns, token, 0))),
            Next::Wait => self.waiting.push(Reverse((take(), token, 0))),
            Next::Close => self.dismiss(token),
        }
    }

    /// Sends the responses whose service time is over.
    fn answer_those_due(&mut self) {
        let mut now_ns = 0;
        while let Some(&Reverse((due_ns, token, stream))) = self.waiting.peek() {
            if due_ns > now_ns {
                now_ns = system::now_ns();
            }
            if due_ns > now_ns {
                return;
            }
            self.waiting.pop();
            if let Some(client) = self.clients.get(token) {
                client.answer_now(stream, &self.post.tally);
                self.serve(token);
            }
        }
    }
}

/// Whether the system has nothing left to accept a connection with.
fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    Errno::from_io_error(error).is_some_and(|number| shortages.contains(&number))
}
