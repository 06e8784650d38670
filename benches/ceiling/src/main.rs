//! A bare loop that only counts: the least that a request costs a client of this host.
//!
//! It opens its connections, sends the same request on each, and sends it again whenever as many
//! bytes have come as the first response had. It reads no response, keeps no time of a request, sets no
//! deadline, records nothing and gives up at the first error. What a load tool costs more than this
//! is the tool; what this costs is the kernel.
//!
//! `plimsoll-ceiling ADDRESS PATH CONNECTIONS SECONDS` prints `{"requests": …, "duration_s": …}`. With
//! `RATE` after it the load is an open one; with `late` after that, responses are read at arrivals only.

mod paced;

use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::time::{ClockId, clock_gettime};

use self::paced::Reading;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Sockets that one turn of the loop looks at.
const EVENTS_A_TURN: usize = 128;

/// What is read at once. A response has to fit, for a socket shows only once that there is more.
const BUFFER_BYTES: usize = 16 * 1024;

/// How long a turn waits when nothing comes, so that the end is not missed.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The options of the loop.
struct Asked {
    address: String,
    request: Vec<u8>,
    connections: usize,
    seconds: f64,
    /// Arrivals per second, and when responses are read; None for the closed model.
    paced: Option<(f64, Reading)>,
}

/// One connection and the bytes of its present response.
struct Connection {
    socket: OwnedFd,
    received_bytes: usize,
}

fn main() -> Fallible<()> {
    let asked = asked(&std::env::args().skip(1).collect::<Vec<_>>())?;
    let response_bytes = response_bytes(&asked)?;
    let mut connections = connect(&asked)?;
    let begin_s = now_s();
    let requests = match asked.paced {
        None => drive(&asked, response_bytes, &mut connections, begin_s + asked.seconds)?,
        Some(pace) => paced::drive(&asked, pace, response_bytes, &mut connections)?,
    };
    println!("{{\"requests\": {requests}, \"duration_s\": {:.6}}}", now_s() - begin_s);
    Ok(())
}

fn asked(arguments: &[String]) -> Fallible<Asked> {
    let [address, path, connections, seconds, pace @ ..] = arguments else {
        return Err("usage: plimsoll-ceiling ADDRESS PATH CONNECTIONS SECONDS [RATE [late]]".into());
    };
    let is_late = pace.get(1).is_some_and(|word| word == "late");
    let reading = if is_late { Reading::AtArrivals } else { Reading::AtOnce };
    let rate_per_s = pace.first().map(|rate| rate.parse()).transpose()?;
    let paced = rate_per_s.map(|rate_per_s| (rate_per_s, reading));
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes();
    let (connections, seconds) = (connections.parse()?, seconds.parse()?);
    Ok(Asked { address: address.clone(), request, connections, seconds, paced })
}

/// Length of a response in bytes, head and body, by one that is read in full.
fn response_bytes(asked: &Asked) -> Fallible<usize> {
    let mut stream = TcpStream::connect(&asked.address)?;
    stream.write_all(&asked.request)?;
    let (mut answer, mut buffer) = (Vec::new(), [0; BUFFER_BYTES]);
    loop {
        let count = stream.read(&mut buffer)?;
        answer.extend_from_slice(&buffer[..count]);
        match length_bytes(&answer) {
            Some(length_bytes) if length_bytes > BUFFER_BYTES => {
                return Err(format!("an answer of {length_bytes} bytes is too long").into());
            }
            Some(length_bytes) if answer.len() >= length_bytes => return Ok(length_bytes),
            _ if count == 0 => return Err("the first answer has no known length".into()),
            _ => {}
        }
    }
}

/// Length of the response that these bytes begin, once its head is complete and states it.
fn length_bytes(answer: &[u8]) -> Option<usize> {
    let head_bytes = answer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let head = std::str::from_utf8(&answer[..head_bytes]).ok()?.to_ascii_lowercase();
    let body_bytes = head.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    Some(head_bytes + body_bytes.trim().parse::<usize>().ok()?)
}

/// Opens every connection, one after the other.
fn connect(asked: &Asked) -> Fallible<Vec<Connection>> {
    let open = |_| {
        let stream = TcpStream::connect(&asked.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        Ok(Connection { socket: stream.into(), received_bytes: 0 })
    };
    (0..asked.connections).map(open).collect()
}

/// Sends requests until the end on all connections; returns how many responses came.
fn drive(
    asked: &Asked,
    response_bytes: usize,
    connections: &mut [Connection],
    end_s: f64,
) -> Fallible<u64> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let flags = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    for (index, connection) in (0..).zip(&*connections) {
        epoll::add(&epoll, &connection.socket, epoll::EventData::new_u64(index), flags)?;
        ask(connection, &asked.request)?;
    }
    let (mut events, mut buffer) = (Vec::with_capacity(EVENTS_A_TURN), vec![0; BUFFER_BYTES]);
    let mut requests = 0;
    while now_s() < end_s {
        events.clear();
        epoll::wait(&epoll, spare_capacity(&mut events), Some(&TURN))?;
        for event in &events {
            let index = usize::try_from(event.data.u64())?;
            let connection = &mut connections[index];
            if is_answered(connection, response_bytes, &mut buffer)? {
                requests += 1;
                ask(connection, &asked.request)?;
            }
        }
    }
    Ok(requests)
}

#[inline]
fn ask(connection: &Connection, request: &[u8]) -> Fallible<()> {
    let count = send(&connection.socket, request, SendFlags::NOSIGNAL)?;
    if count == request.len() { Ok(()) } else { Err("a request was sent in part".into()) }
}

/// Counts what has come; returns whether the response is complete.
#[inline]
fn is_answered(
    connection: &mut Connection,
    response_bytes: usize,
    buffer: &mut [u8],
) -> Fallible<bool> {
    match recv(&connection.socket, &mut *buffer, RecvFlags::empty()) {
        Ok((0, _)) => return Err("the server closed a connection".into()),
        Ok((count, _)) => connection.received_bytes += count,
        Err(Errno::AGAIN) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    let answered = connection.received_bytes >= response_bytes;
    if answered {
        connection.received_bytes -= response_bytes;
    }
    Ok(answered)
}

/// The monotonic clock in seconds, to the tick: that is enough for the end.
#[allow(clippy::cast_precision_loss)]
fn now_s() -> f64 {
    let time = clock_gettime(ClockId::MonotonicCoarse);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::length_bytes;

    #[test]
    fn an_answer_is_its_head_and_as_many_bytes_as_it_says() {
        assert_eq!(length_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nab"), Some(45));
    }

    #[test]
    fn the_length_is_not_known_before_the_head_is_complete() {
        assert_eq!(length_bytes(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n"), None);
        assert_eq!(length_bytes(b"HTTP/1.1 200 OK\r\n\r\n"), None);
    }
}
