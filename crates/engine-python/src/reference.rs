//! Serving as the reference server, with the interpreter's lock released.

use std::time::Duration;

use plimsoll_reference::{ReferenceError, ReferenceSpec, Server};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::load::EngineFailure;

/// How often signals are looked for.
const TICK: Duration = Duration::from_millis(100);

/// Serves the contract until a signal whose Python handler raises; returns its counts as JSON.
/// An exception raised by `announce` ends it as well.
///
/// `announce` gets one line of JSON when connections are accepted: the address and the start of
/// the server on the monotonic clock.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn serve_reference(py: Python<'_>, spec_json: &str, announce: Py<PyAny>) -> PyResult<String> {
    let spec = ReferenceSpec::from_json(spec_json).map_err(|error| failure(&error))?;
    let server = Server::start(&spec).map_err(|error| failure(&error))?;
    // A signal may come as early as within `announce`.
    let mut stopped = announce.call1(py, (listening(&server),)).is_err();
    while !stopped && server.is_running() {
        py.detach(|| std::thread::sleep(TICK));
        stopped = py.check_signals().is_err();
    }
    let counts = py.detach(|| server.stop()).map_err(|error| failure(&error))?;
    Ok(serde_json::to_string(&counts).unwrap_or_default())
}

/// A certificate for some names, signed by itself, and its private key, both in PEM.
#[pyfunction]
pub fn certificate(names: Vec<String>) -> PyResult<(String, String)> {
    plimsoll_tls::self_signed(names).map_err(PyValueError::new_err)
}

fn listening(server: &Server) -> String {
    serde_json::json!({
        "event": "listening",
        "address": server.address(),
        "zero_monotonic_ns": server.zero_ns(),
    })
    .to_string()
}

fn failure(error: &ReferenceError) -> PyErr {
    EngineFailure::new_err((error.to_string(), error.hint(), error.exit_code()))
}
