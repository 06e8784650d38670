//! What a load amounts to, counted in the engine's own records before these become tables.
//!
//! Every record is looked at once, by all cores; of a response of the measurement window only its
//! times are held. Nothing is estimated: quantiles are values that were measured.

#![forbid(unsafe_code)]

mod connections;
mod requests;
mod rows;
mod times;

use std::io;
use std::path::Path;

pub use connections::Connections;
pub use requests::{Failed, Failure, Requests, Status};
pub use times::Times;

/// From which instant until before which other one, in nanoseconds since the trial's zero.
pub type Window = (u64, u64);

/// What the requests of a load amount to; nothing where there is no file of them.
///
/// # Arguments
///
/// * `folder`: where the engine's records lie.
/// * `holds`: the stretches of time that are summarised.
///
/// # Errors
///
/// [`io::Error`] when the records cannot be read, or hold an unknown outcome.
pub fn of_requests(folder: &Path, holds: &[Window]) -> io::Result<Requests> {
    let parts =
        rows::tallied(&folder.join("requests.bin"), Requests::with_room, |tally, record| {
            tally.take(record, holds)
        })?;
    Ok(parts.into_iter().reduce(Requests::joined).unwrap_or_default())
}

/// What became of the attempts to connect; nothing where there is no file of them.
///
/// # Errors
///
/// [`io::Error`] when the records cannot be read, or hold an unknown outcome.
pub fn of_connections(folder: &Path) -> io::Result<Connections> {
    let parts =
        rows::tallied(&folder.join("connections.bin"), Connections::with_room, Connections::take)?;
    Ok(parts.into_iter().reduce(Connections::joined).unwrap_or_default())
}
