//! Loads over Unix sockets: what is as over TCP, and what only they have.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use plimsoll_engine::transport::Address;

use drive::{ASK, Ask, REQUESTS, by_outcome, drive_alone};
use hostile::right;

const FEW: Ask = Ask { requests: Some(8), ..ASK };

/// Answers each request of a connection until the client is gone.
fn serve(mut client: UnixStream) {
    let mut received = Vec::new();
    let mut piece = [0; 4096];
    while let Ok(count @ 1..) = client.read(&mut piece) {
        received.extend_from_slice(&piece[..count]);
        while let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            received.drain(..end + 4);
            if client.write_all(&right()).is_err() {
                return;
            }
        }
    }
}

/// Accepts for as long as the test goes on.
fn accept_all(listener: UnixListener) {
    thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            thread::spawn(move || serve(client));
        }
    });
}

/// A socket whose queue takes one connection.
fn narrow(path: &Path) -> UnixListener {
    let listener = UnixListener::from(plimsoll_system::listen_at(path, 0).unwrap());
    listener.set_nonblocking(false).unwrap();
    listener
}

#[test]
fn a_unix_socket_carries_a_load() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    accept_all(UnixListener::bind(&path).unwrap());
    let seen = drive_alone(Address::Unix(path), &ASK);
    assert_eq!(by_outcome(&seen.requests), [("ok", REQUESTS as u64)].into());
    assert_eq!(seen.finish.opened, 4);
}

#[test]
fn a_full_listen_queue_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = narrow(&path);
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        accept_all(listener);
    });
    let seen = drive_alone(Address::Unix(path), &FEW);
    assert_eq!(by_outcome(&seen.requests), [("ok", 8)].into());
    assert!(seen.requests.iter().all(|row| row["errno"] == 0));
}

#[test]
fn a_listen_queue_that_stays_full_is_a_timeout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _listener = narrow(&path);
    let seen = drive_alone(Address::Unix(path), &Ask { timeout_ms: 100, ..FEW });
    let outcomes = by_outcome(&seen.requests);
    assert!(outcomes["connect_timeout"] > 0, "{outcomes:?}");
    let others =
        outcomes.keys().find(|name| !["connect_timeout", "timed_out_waiting"].contains(name));
    assert_eq!(others, None, "{outcomes:?}");
}

#[test]
fn a_path_where_no_server_listens_refuses() {
    let folder = tempfile::tempdir().unwrap();
    let left_behind = folder.path().join("left-behind");
    drop(UnixListener::bind(&left_behind).unwrap());
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    for (path, errno) in [(folder.path().join("none"), 2), (file, 111), (left_behind, 111)] {
        let seen = drive_alone(Address::Unix(path), &FEW);
        assert_eq!(by_outcome(&seen.requests), [("connect_refused", 8)].into());
        assert!(seen.requests.iter().all(|row| row["errno"] == errno));
    }
}
