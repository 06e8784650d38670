//! Asking a server one request at a time, with the interpreter's lock released.

use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use plimsoll_engine::ask::{Connection as Asking, NoResponse as Cause};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

create_exception!(
    _engine,
    NoResponse,
    PyException,
    "No complete response came: `(kind, sentence)`; the connection is of no more use."
);

/// One connection to a server; see `plimsoll_engine::ask`.
#[pyclass]
pub struct Connection {
    asking: Asking,
}

#[pymethods]
impl Connection {
    #[new]
    fn new(py: Python<'_>, address: &str, timeout_s: f64) -> PyResult<Self> {
        let address: SocketAddr =
            address.parse().map_err(|_| PyValueError::new_err("no address and port"))?;
        let timeout = seconds(timeout_s)?;
        let opened = py.detach(|| Asking::open(address, timeout));
        Ok(Self { asking: opened? })
    }

    /// Number of the socket's file, for `TCP_INFO`.
    fn fileno(&self) -> i32 {
        self.asking.as_raw_fd()
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Sends the pieces of a request, so many seconds apart, and reads the response.
    fn ask<'py>(
        &mut self,
        py: Python<'py>,
        pieces: Vec<Vec<u8>>,
        pause_s: f64,
        is_head: bool,
        timeout_s: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (pause, timeout) = (seconds(pause_s)?, seconds(timeout_s)?);
        let response = py.detach(|| {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            self.asking.ask(&pieces, pause, is_head, timeout)
        });
        let response = response.map_err(|cause| no_response(&cause))?;
        let headers: Vec<_> =
            response.headers.iter().map(|(name, value)| (name, value.as_slice())).collect();
        let found = PyDict::new(py);
        found.set_item("status", response.status)?;
        found.set_item("headers", headers)?;
        found.set_item("body", response.body.as_slice())?;
        found.set_item("head_bytes", response.head_bytes)?;
        found.set_item("closes", response.closes)?;
        found.set_item("early", response.early)?;
        Ok(found)
    }
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| PyValueError::new_err("not a time above 0"))
}

fn no_response(cause: &Cause) -> PyErr {
    let kind = match cause {
        Cause::TimedOut => "timed_out",
        Cause::Closed => "closed",
        Cause::ClosedInHead => "closed_in_head",
        Cause::ClosedInBody => "closed_in_body",
        Cause::NotHttp(_) => "not_http",
        Cause::TooLarge => "too_large",
        Cause::Surplus(_) => "surplus",
        Cause::Broken(_) => "broken",
    };
    NoResponse::new_err((kind, cause.to_string()))
}
