//! The records of a file, a part of them for each thread.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::thread;

use plimsoll_engine::outcome::Outcome;

/// Records that are read at a time, so that they are still in the cache when they are counted.
const AT_A_TIME: usize = 4096;

/// The least number of records for which a thread is worth its start.
const LEAST_A_THREAD: usize = 1 << 16;

/// Takes in every record of a file; returns the tally of each thread, in the order of the file.
///
/// `new` makes a tally with room for a number of records. There is none where there is no file.
pub fn tallied<T: Send, const SIZE: usize>(
    path: &Path,
    new: impl Fn(usize) -> T + Sync,
    take: impl Fn(&mut T, &[u8; SIZE]) -> io::Result<()> + Sync,
) -> io::Result<Vec<T>> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        file => file?,
    };
    let rows = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)? / SIZE;
    let tallied = |part: Range<usize>| {
        let mut tally = new(part.len());
        each(&file, part, |record| take(&mut tally, record))?;
        Ok(tally)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = parts(rows).map(|part| scope.spawn(|| tallied(part))).collect();
        let ended = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread was lost")))
        });
        ended.collect()
    })
}

/// Which records each thread takes.
fn parts(rows: usize) -> impl Iterator<Item = Range<usize>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = (rows / LEAST_A_THREAD).clamp(1, cores);
    let rows_a_thread = rows.div_ceil(threads).max(1);
    (0..rows).step_by(rows_a_thread).map(move |first| first..rows.min(first + rows_a_thread))
}

fn each<const SIZE: usize>(
    file: &File,
    part: Range<usize>,
    mut take: impl FnMut(&[u8; SIZE]) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; AT_A_TIME.min(part.len()) * SIZE];
    for first in part.clone().step_by(AT_A_TIME) {
        let rows = AT_A_TIME.min(part.end - first);
        let bytes = &mut buffer[..rows * SIZE];
        file.read_exact_at(bytes, (first * SIZE) as u64)?;
        for record in bytes.chunks_exact(SIZE).filter_map(|record| record.try_into().ok()) {
            take(record)?;
        }
    }
    Ok(())
}

/// What of an outcome is counted.
#[derive(Clone, Copy, Debug)]
pub struct OfOutcomes<T: Copy>([Option<T>; 256]);

impl<T: Copy> OfOutcomes<T> {
    /// What `of` says of each outcome.
    pub fn new(of: impl Fn(Outcome) -> T) -> Self {
        let mut known = [None; 256];
        for &outcome in Outcome::ALL {
            known[outcome as usize] = Some(of(outcome));
        }
        Self(known)
    }

    /// What is said of the outcome with a code.
    ///
    /// # Errors
    ///
    /// [`io::Error`] when there is no such outcome.
    #[inline]
    pub fn of(&self, code: u8) -> io::Result<T> {
        self.0[usize::from(code)].ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidData, format!("a record has the outcome {code}"))
        })
    }
}
