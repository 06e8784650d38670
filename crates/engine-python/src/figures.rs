//! What a load amounts to, with the interpreter's lock released.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plimsoll_engine::outcome::Outcome;
use plimsoll_figures::{Connections, CountedTimes, Failed, Failure, Kept, Requests, Window};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Times in nanoseconds, in no order.
#[pyclass(module = "plimsoll._engine")]
#[derive(Debug)]
pub struct Times(pub plimsoll_figures::Times);

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

/// Times in nanoseconds, each with how often it came: those of several hosts add up.
#[pyclass(module = "plimsoll._engine", frozen)]
#[derive(Debug)]
pub struct Histogram(plimsoll_figures::Histogram);

#[pymethods]
impl Histogram {
    /// What `to_bytes` gave.
    #[new]
    #[allow(clippy::needless_pass_by_value)]
    fn new(py: Python<'_>, packed: Vec<u8>) -> PyResult<Self> {
        let read = py.detach(|| plimsoll_figures::Histogram::from_bytes(&packed));
        read.map(Self).ok_or_else(|| PyValueError::new_err("these bytes are no histogram"))
    }

    fn __len__(&self) -> PyResult<usize> {
        usize::try_from(self.0.count()).map_err(PyValueError::new_err)
    }

    /// These and others.
    fn joined(&self, py: Python<'_>, other: &Self) -> Self {
        Self(py.detach(|| self.0.joined(&other.0)))
    }

    /// Their mean; None of none.
    fn mean(&self) -> Option<f64> {
        self.0.mean()
    }

    /// The values at some rising places in rising order, counted from 0.
    #[allow(clippy::needless_pass_by_value)]
    fn at(&self, py: Python<'_>, places: Vec<u64>) -> Vec<i64> {
        py.detach(|| self.0.at(&places))
    }

    /// Every value with its count, packed.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }
}

/// What the engine's records amount to; `T` is what times become.
#[derive(IntoPyObject)]
pub struct LoadFigures<T> {
    /// Counts of requests and connections by their columns.
    counts: BTreeMap<&'static str, u64>,
    /// Status code, complete responses, those within the window, those of these not expected.
    statuses: Vec<(u16, u64, u64, u64)>,
    /// Outcome, error number, status code, how many, those within the window, and when the first and
    /// the last ended.
    failures: Vec<(&'static str, u8, u16, u64, u64, u64, u64)>,
    /// By the name of the time.
    times: BTreeMap<&'static str, T>,
}

/// What the engine's records in a folder amount to over some stretches of time, in nanoseconds.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn load_figures(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
) -> PyResult<LoadFigures<Times>> {
    let counted = py.detach(|| {
        let requests = plimsoll_figures::of_requests(&folder, &holds)?;
        Ok::<_, std::io::Error>((requests, plimsoll_figures::of_connections(&folder)?))
    });
    let (requests, connections) = counted?;
    let mut found = figures(requests, Times);
    found.counts.append(&mut of_connections(&connections));
    found.times.insert("connect", Times(connections.connect));
    Ok(found)
}

/// What the requests in a folder amount to, as counts that add up with those of other hosts.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn request_counts(
    py: Python<'_>,
    folder: PathBuf,
    holds: Vec<Window>,
) -> PyResult<LoadFigures<Histogram>> {
    Ok(py.detach(|| {
        let requests = plimsoll_figures::of_requests(&folder, &holds)?;
        Ok::<_, std::io::Error>(figures(requests, |times: CountedTimes| {
            Histogram(times.histogram())
        }))
    })?)
}

fn of_connections(connections: &Connections) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([
        ("connections_opened", connections.opened),
        ("connections_with_response", connections.with_response),
        ("connections_refused", connections.refused),
        ("connections_lost", connections.lost),
        ("connections_peak_open", connections.peak_open()),
    ])
}

fn figures<K: Kept, T>(requests: Requests<K>, times: impl Fn(K) -> T) -> LoadFigures<T> {
    let statuses = requests.statuses();
    let failures = requests.failures.iter();
    LoadFigures {
        counts: BTreeMap::from([
            ("completed", requests.completed),
            ("ok", requests.ok),
            ("failed", requests.failed),
            ("unfinished", requests.unfinished),
            ("received_bytes", requests.received_bytes),
        ]),
        statuses: statuses
            .map(|(code, status)| (code, status.responses, status.held, status.held_wrong))
            .collect(),
        failures: failures
            .map(|(kind, failure)| {
                let name = outcome_name(kind.outcome);
                let Failed { errno, status, .. } = *kind;
                let Failure { count, held, first_ns, last_ns } = *failure;
                (name, errno, status, count, held, first_ns, last_ns)
            })
            .collect(),
        times: BTreeMap::from([
            ("response_time", times(requests.response_time)),
            ("service_time", times(requests.service_time)),
            ("first_byte", times(requests.first_byte)),
            ("lag", times(requests.lag)),
        ]),
    }
}

pub fn outcome_name(code: u8) -> &'static str {
    let known = Outcome::ALL.iter().find(|&&outcome| outcome as u8 == code);
    known.map_or("", |outcome| outcome.name())
}
