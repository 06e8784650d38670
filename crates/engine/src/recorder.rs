//! Per-worker buffers of records, written to disk off the loop.
//!
//! A worker fills a buffer, hands it to the one writer thread and goes on with a fresh one. When
//! the disk falls so far behind that no buffer is left, rows are counted as lost; nothing waits as
//! long as there is load.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use crate::error::EngineError;
use crate::sample::{BodySample, ConnectionSample, RequestSample};

/// Size of one buffer: large enough for few hand-overs, small enough to stay in the cache.
const BUFFER_BYTES: usize = 256 * 1024;

/// The most buffers a worker may have under way: 16 MiB, about a second of the fastest load.
const MOST_BUFFERS: usize = 64;

/// Which file a buffer belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Requests,
    Connections,
    Bodies,
}

/// The file of each [`Target`], in their order.
const FILES: [&str; 3] = ["requests.bin", "connections.bin", "bodies.bin"];

struct Filled {
    target: Target,
    bytes: Vec<u8>,
    back: SyncSender<Vec<u8>>,
}

/// The thread that writes the records of all workers.
#[derive(Debug)]
pub struct Writer {
    sender: SyncSender<Filled>,
    failure: Arc<OnceLock<io::Error>>,
    thread: JoinHandle<()>,
    folder: PathBuf,
}

impl Writer {
    /// Creates the files of records in `folder` and starts to wait for records.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] when a file can't be created, [`EngineError::System`] when the
    /// thread can't be started.
    pub fn start(folder: &Path, workers: usize) -> Result<Self, EngineError> {
        let files =
            FILES.iter().map(|name| create(&folder.join(name))).collect::<Result<Vec<_>, _>>()?;
        let (sender, receiver) = sync_channel(workers * (MOST_BUFFERS + 2));
        let failure = Arc::new(OnceLock::new());
        let seen = Arc::clone(&failure);
        let thread = std::thread::Builder::new()
            .name("plimsoll-writer".into())
            .spawn(move || write_all(&receiver, files, &seen))
            .map_err(|source| EngineError::System { what: "starting the writer thread", source })?;
        Ok(Self { sender, failure, thread, folder: folder.to_owned() })
    }

    /// A recorder for one worker.
    #[must_use]
    pub fn recorder(&self) -> Recorder {
        Recorder {
            requests: Buffer::new(Target::Requests, self.sender.clone()),
            connections: Buffer::new(Target::Connections, self.sender.clone()),
            bodies: Buffer::new(Target::Bodies, self.sender.clone()),
        }
    }

    /// Whether writing has failed; the load had better end.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    /// Waits until everything is written; all recorders must be finished by now.
    ///
    /// # Errors
    ///
    /// [`EngineError::Storage`] when something could not be written.
    pub fn finish(self) -> Result<(), EngineError> {
        drop(self.sender);
        self.thread.join().map_err(|_| EngineError::WorkerLost)?;
        match Arc::into_inner(self.failure).and_then(OnceLock::into_inner) {
            Some(source) => Err(storage(&self.folder, source)),
            None => Ok(()),
        }
    }
}

fn create(path: &Path) -> Result<File, EngineError> {
    File::create(path).map_err(|source| storage(path, source))
}

fn storage(path: &Path, source: io::Error) -> EngineError {
    EngineError::Storage { path: path.display().to_string(), source }
}

fn write_all(filled: &Receiver<Filled>, mut files: Vec<File>, failure: &OnceLock<io::Error>) {
    for mut buffer in filled {
        if failure.get().is_none() {
            if let Err(error) = files[buffer.target as usize].write_all(&buffer.bytes) {
                let _ = failure.set(error);
            }
        }
        buffer.bytes.clear();
        let _ = buffer.back.try_send(buffer.bytes);
    }
}

#[derive(Debug)]
struct Buffer {
    target: Target,
    bytes: Vec<u8>,
    sender: SyncSender<Filled>,
    back: SyncSender<Vec<u8>>,
    returned: Receiver<Vec<u8>>,
    made: usize,
    /// Whether to wait for the disk instead of losing rows.
    waits: bool,
    rows: u64,
    lost: u64,
}

impl Buffer {
    fn new(target: Target, sender: SyncSender<Filled>) -> Self {
        let (back, returned) = sync_channel(MOST_BUFFERS);
        Self {
            target,
            bytes: Vec::new(),
            sender,
            back,
            returned,
            made: 0,
            waits: false,
            rows: 0,
            lost: 0,
        }
    }

    #[inline]
    fn push(&mut self, record: &[u8]) {
        self.push_with(record, &[]);
    }

    /// Keeps a record and what follows it, both or neither.
    #[inline]
    fn push_with(&mut self, record: &[u8], following: &[u8]) {
        let length = record.len() + following.len();
        if self.bytes.len() + length > self.bytes.capacity() && !self.turn_over() {
            self.lost += 1;
            return;
        }
        self.bytes.extend_from_slice(record);
        self.bytes.extend_from_slice(following);
        self.rows += 1;
    }

    /// Hands over the full buffer and takes an empty one; false when there is none.
    fn turn_over(&mut self) -> bool {
        let fresh = self.returned.try_recv().ok().or_else(|| self.make());
        let fresh = if self.waits { fresh.or_else(|| self.returned.recv().ok()) } else { fresh };
        let Some(fresh) = fresh else { return false };
        let bytes = std::mem::replace(&mut self.bytes, fresh);
        self.hand_over(bytes);
        true
    }

    fn make(&mut self) -> Option<Vec<u8>> {
        if self.made == MOST_BUFFERS {
            return None;
        }
        self.made += 1;
        Some(Vec::with_capacity(BUFFER_BYTES))
    }

    fn hand_over(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let filled = Filled { target: self.target, bytes, back: self.back.clone() };
            let _ = self.sender.send(filled);
        }
    }
}

/// One worker's way to the disk.
#[derive(Debug)]
pub struct Recorder {
    requests: Buffer,
    connections: Buffer,
    bodies: Buffer,
}

/// What one worker has recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Rows of requests that were kept.
    pub request_rows: u64,
    /// Rows of connections that were kept.
    pub connection_rows: u64,
    /// Rows that were not, because the disk was too slow.
    pub lost_rows: u64,
}

impl Recorder {
    /// Keeps one request.
    #[inline]
    pub fn request(&mut self, sample: &RequestSample) {
        self.requests.push(&sample.to_bytes());
    }

    /// Keeps one connection.
    #[inline]
    pub fn connection(&mut self, sample: &ConnectionSample) {
        self.connections.push(&sample.to_bytes());
    }

    /// Keeps one body, if the disk is fast enough: what is a sample may be a smaller one.
    pub fn body(&mut self, sample: &BodySample, body: &[u8]) {
        self.bodies.push_with(&sample.to_bytes(), body);
    }

    /// From now on waits for the disk rather than losing rows: the load is over, and there may be
    /// many rows of what was due and never sent.
    pub fn wait_for_disk(&mut self) {
        self.requests.waits = true;
        self.connections.waits = true;
    }

    /// Rows that could not be kept so far.
    #[must_use]
    pub fn lost_rows(&self) -> u64 {
        self.requests.lost + self.connections.lost
    }

    /// Hands over what is left.
    #[must_use]
    pub fn finish(mut self) -> Recorded {
        for buffer in [&mut self.requests, &mut self.connections, &mut self.bodies] {
            let bytes = std::mem::take(&mut buffer.bytes);
            buffer.hand_over(bytes);
        }
        Recorded {
            request_rows: self.requests.rows,
            connection_rows: self.connections.rows,
            lost_rows: self.lost_rows(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(number: u64) -> RequestSample {
        RequestSample {
            due_ns: number,
            sent_ns: 0,
            first_byte_ns: 0,
            done_ns: 0,
            body_bytes: 0,
            compared: 0,
            received_bytes: 0,
            connection: 0,
            request: 0,
            status: 0,
            worker: 0,
            outcome: 0,
            errno: 0,
        }
    }

    #[test]
    fn every_row_of_every_worker_arrives_once() {
        let folder = std::env::temp_dir().join(format!("plimsoll-recorder-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let writer = Writer::start(&folder, 2).unwrap();
        let mut recorders = [writer.recorder(), writer.recorder()];
        for number in 0..50_000 {
            recorders[usize::try_from(number % 2).unwrap()].request(&sample(number));
        }
        let recorded: Vec<_> = recorders.into_iter().map(Recorder::finish).collect();
        writer.finish().unwrap();
        assert_eq!(recorded.iter().map(|recorded| recorded.request_rows).sum::<u64>(), 50_000);
        let bytes = std::fs::read(folder.join("requests.bin")).unwrap();
        let mut numbers: Vec<_> = bytes
            .chunks(RequestSample::SIZE)
            .map(|row| u64::from_le_bytes(row[..8].try_into().unwrap()))
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..50_000).collect::<Vec<_>>());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_full_disk_is_an_error_and_rows_are_not_invented() {
        let full = File::create("/dev/full").unwrap();
        let (sender, receiver) = sync_channel(4);
        let mut buffer = Buffer::new(Target::Requests, sender);
        buffer.push(&[1; 48]);
        let bytes = std::mem::take(&mut buffer.bytes);
        buffer.hand_over(bytes);
        drop(buffer);
        let failure = OnceLock::new();
        write_all(&receiver, vec![full], &failure);
        assert_eq!(failure.get().and_then(io::Error::raw_os_error), Some(28));
    }

    #[test]
    fn rows_without_a_free_buffer_are_counted_as_lost() {
        let (sender, _receiver) = sync_channel(MOST_BUFFERS + 2);
        let mut buffer = Buffer::new(Target::Requests, sender);
        let rows_a_buffer = BUFFER_BYTES / 48;
        let room = u64::try_from(rows_a_buffer * MOST_BUFFERS).unwrap();
        for _ in 0..room + 5 {
            buffer.push(&[0; 48]);
        }
        assert_eq!((buffer.rows, buffer.lost), (room, 5));
    }
}
