//! What a load amounts to, with the interpreter's lock released.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plimsoll_engine::outcome::Outcome;
use plimsoll_figures::{Connections, Failed, Requests, Window};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Times in nanoseconds, in no order.
#[pyclass(module = "plimsoll._engine")]
#[derive(Debug)]
pub struct Times(plimsoll_figures::Times);

#[pymethods]
impl Times {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Their mean; None of none.
    fn mean(&self) -> Option<f64> {
        self.0.mean()
    }

    /// The values at some rising places in rising order, counted from 0.
    #[allow(clippy::needless_pass_by_value)]
    fn at(&self, py: Python<'_>, places: Vec<usize>) -> Vec<i64> {
        py.detach(|| self.0.at(&places))
    }

    /// Every time, in eight bytes in the order of this machine.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        PyBytes::new_with(py, self.0.len() * size_of::<i64>(), |bytes| {
            for (room, value) in bytes.chunks_exact_mut(size_of::<i64>()).zip(self.0.values()) {
                room.copy_from_slice(&value.to_ne_bytes());
            }
            Ok(())
        })
    }
}

/// What the engine's records amount to.
#[derive(IntoPyObject)]
pub struct LoadFigures {
    /// Counts of requests and connections by their columns.
    counts: BTreeMap<&'static str, u64>,
    /// Status code, complete responses, those within the window, those of these not expected.
    statuses: Vec<(u16, u64, u64, u64)>,
    /// Outcome, error number, status code, how many, and when the first and the last ended.
    failures: Vec<(&'static str, u8, u16, u64, u64, u64)>,
    /// By the name of the time.
    times: BTreeMap<&'static str, Times>,
}

/// What the engine's records in a folder amount to over some stretches of time, in nanoseconds.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn load_figures(py: Python<'_>, folder: PathBuf, holds: Vec<Window>) -> PyResult<LoadFigures> {
    let counted = py.detach(|| {
        let requests = plimsoll_figures::of_requests(&folder, &holds)?;
        Ok::<_, std::io::Error>((requests, plimsoll_figures::of_connections(&folder)?))
    });
    let (requests, connections) = counted?;
    Ok(figures(requests, connections))
}

fn figures(requests: Requests, connections: Connections) -> LoadFigures {
    let statuses = requests.statuses();
    let failures = requests.failures.iter();
    LoadFigures {
        counts: BTreeMap::from([
            ("completed", requests.completed),
            ("ok", requests.ok),
            ("failed", requests.failed),
            ("unfinished", requests.unfinished),
            ("received_bytes", requests.received_bytes),
            ("connections_opened", connections.opened),
            ("connections_with_response", connections.with_response),
            ("connections_refused", connections.refused),
            ("connections_lost", connections.lost),
            ("connections_peak_open", connections.peak_open()),
        ]),
        statuses: statuses
            .map(|(code, status)| (code, status.responses, status.held, status.held_wrong))
            .collect(),
        failures: failures
            .map(|(kind, failure)| {
                let name = outcome_name(kind.outcome);
                let Failed { errno, status, .. } = *kind;
                (name, errno, status, failure.count, failure.first_ns, failure.last_ns)
            })
            .collect(),
        times: BTreeMap::from([
            ("response_time", Times(requests.response_time)),
            ("service_time", Times(requests.service_time)),
            ("first_byte", Times(requests.first_byte)),
            ("lag", Times(requests.lag)),
            ("connect", Times(connections.connect)),
        ]),
    }
}

pub fn outcome_name(code: u8) -> &'static str {
    let known = Outcome::ALL.iter().find(|&&outcome| outcome as u8 == code);
    known.map_or("", |outcome| outcome.name())
}
