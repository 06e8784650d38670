//! A server with a thread for each connection, which does with it as a test tells it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(1);

/// The server; `Seen` is what it has seen of all clients.
pub struct Server<Seen> {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl<Seen: Clone + Default + Send + 'static> Server<Seen> {
    /// Starts; `visit` has a connection, and its number.
    pub fn start(visit: impl Fn(Caller<Seen>, usize) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let (seen, stop) =
            (Arc::new(Mutex::new(Seen::default())), Arc::new(AtomicBool::new(false)));
        let (of_all, until) = (Arc::clone(&seen), Arc::clone(&stop));
        let visit = Arc::new(visit);
        let acceptor = thread::spawn(move || {
            let mut visits = Vec::new();
            while !until.load(SeqCst) {
                let Ok((stream, _)) = listener.accept() else {
                    thread::sleep(TICK);
                    continue;
                };
                let number = visits.len();
                let caller = Caller::new(stream, Arc::clone(&of_all), Arc::clone(&until));
                let visit = Arc::clone(&visit);
                visits.push(thread::spawn(move || visit(caller, number)));
            }
            for visit in visits {
                visit.join().unwrap();
            }
        });
        Self { address, seen, stop, acceptor: Some(acceptor) }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends every connection; returns what the server has seen.
    pub fn stop(mut self) -> Seen {
        self.end();
        self.seen.lock().unwrap().clone()
    }
}

impl<Seen> Server<Seen> {
    fn end(&mut self) {
        self.stop.store(true, SeqCst);
        if let Some(acceptor) = self.acceptor.take() {
            acceptor.join().unwrap();
        }
    }
}

impl<Seen> Drop for Server<Seen> {
    fn drop(&mut self) {
        self.end();
    }
}

/// The client of one connection.
pub struct Caller<Seen> {
    stream: Option<TcpStream>,
    pub seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
}

impl<Seen> Caller<Seen> {
    fn new(stream: TcpStream, seen: Arc<Mutex<Seen>>, stop: Arc<AtomicBool>) -> Self {
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TICK)).unwrap();
        stream.set_write_timeout(Some(Duration::from_secs(10))).unwrap();
        Self { stream: Some(stream), seen, stop }
    }

    /// Sends bytes; whether the client is still there shows when something is read.
    pub fn send(&mut self, bytes: &[u8]) {
        if let Some(stream) = &mut self.stream {
            let _ = stream.write_all(bytes);
        }
    }

    /// Closes the connection in order.
    pub fn close(&mut self) {
        self.stream = None;
    }

    /// Reads more behind `input`; false when the client is gone or the test over.
    pub fn read_more(&mut self, input: &mut Vec<u8>) -> bool {
        let Some(stream) = &mut self.stream else { return false };
        let mut buffer = [0; 4096];
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    input.extend_from_slice(&buffer[..count]);
                    return true;
                }
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    if self.stop.load(SeqCst) {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
    }
}
