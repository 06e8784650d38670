//! A disk that stands still: what is lost under load is counted and said, and once the load is over
//! nothing is lost any more. The disk is a pipe that nobody reads.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

// Other tests use the rest of these.
#[allow(dead_code)]
mod drive;
#[allow(dead_code, unused_imports)]
mod hostile;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plimsoll_engine::progress::{EndedBy, Event, Finish};
use plimsoll_engine::sample::RequestSample;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use drive::{ASK, Ask};
use hostile::{Hostile, POLITE, Script, Then, right};

/// The rows that one worker can hold back: 64 buffers of 256 KiB.
const HELD_ROWS: usize = 64 * (256 * 1024 / RequestSample::SIZE);

/// Takes nothing until it is told to go on; then everything. How many bytes it took.
fn standing_still(path: &Path, go_on: &Arc<AtomicBool>) -> JoinHandle<u64> {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let (path, go_on) = (path.to_owned(), Arc::clone(go_on));
    thread::spawn(move || {
        let mut pipe = File::open(path).unwrap();
        while !go_on.load(SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        std::io::copy(&mut pipe, &mut std::io::sink()).unwrap()
    })
}

/// Drives with a disk that stands still until `go_on`, which `observe` may set; a load that has not
/// ended by then is interrupted. No row is written twice, and each is written or lost.
fn drive_without_disk(
    at: SocketAddr,
    ask: &Ask,
    go_on: &Arc<AtomicBool>,
    observe: impl Fn(&Event),
) -> Finish {
    let folder = tempfile::tempdir().unwrap();
    let disk = standing_still(&folder.path().join("requests.bin"), go_on);
    let spec = ask.spec(at, folder.path());
    let finish = plimsoll_engine::run(&spec, |event| observe(event), || go_on.load(SeqCst));
    let (finish, written_bytes) = (finish.unwrap(), disk.join().unwrap());
    assert_eq!(written_bytes, finish.requests_rows * RequestSample::SIZE as u64, "{finish:?}");
    let ended: u64 = finish.outcomes.values().sum();
    assert_eq!(ended, finish.requests_rows + finish.lost_rows, "{finish:?}");
    finish
}

/// A server that answers as many requests at once as it has read.
fn generous() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || answer_all(stream.unwrap()));
        }
    });
    address
}

fn answer_all(mut stream: TcpStream) {
    let (mut buffer, mut ends) = (vec![0; 1 << 16], 0);
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        // A request is four line ends and nothing after them; they may be split anywhere.
        ends += buffer[..count].iter().map(|&byte| usize::from(byte == b'\n')).sum::<usize>();
        if stream.write_all(&right().repeat(ends / 4)).is_err() {
            return;
        }
        ends %= 4;
    }
}

#[test]
fn rows_that_a_slow_disk_does_not_take_are_counted_and_said_while_the_load_goes_on() {
    let go_on = Arc::new(AtomicBool::new(false));
    let ask = Ask { requests: None, connections: 8, pipeline: 64, ..ASK };
    let finish = drive_without_disk(generous(), &ask, &go_on, |event| {
        if let Event::Progress(progress) = event {
            go_on.store(progress.lost_rows > 0, SeqCst);
        }
    });
    assert_eq!(finish.ended_by, EndedBy::Interrupt, "{finish:?}");
    assert!(finish.lost_rows > 0, "{finish:?}");
    assert!(finish.requests_rows >= HELD_ROWS as u64, "{finish:?}");
}

#[test]
fn what_was_never_sent_waits_for_a_slow_disk_when_the_load_is_over() {
    let server = Hostile::start(POLITE, |_| Script::silence().then(Then::Hang));
    let arrivals = HELD_ROWS + 50_000;
    let ask = Ask { requests: None, rate_per_s: Some(arrivals * 5), duration_ms: 200, ..ASK };
    let go_on = Arc::new(AtomicBool::new(false));
    let later = Arc::clone(&go_on);
    let alarm = thread::spawn(move || {
        thread::sleep(Duration::from_secs(3));
        later.store(true, SeqCst);
    });
    let finish = drive_without_disk(server.address(), &ask, &go_on, |_| ());
    alarm.join().unwrap();
    server.stop();
    assert_eq!(finish.lost_rows, 0, "{finish:?}");
    assert_eq!(finish.outcomes["not_sent"], arrivals as u64 - 4, "{finish:?}");
}
