//! Asking a server one request at a time, with the interpreter's lock released.

use std::io;
use std::os::fd::AsRawFd;
use std::time::Duration;

use plimsoll_engine::ask::{Connection as Asking, Kind, NoResponse as Cause, Response};
use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::spec::tls::Tls;
use plimsoll_engine::transport::Address;
use plimsoll_engine::transport::security::Security;
use plimsoll_tls::Failure;
use plimsoll_websocket::frame::Opcode;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::load::failure;

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
    #[pyo3(signature = (address, timeout_s, tls_json=None))]
    fn new(
        py: Python<'_>,
        address: &str,
        timeout_s: f64,
        tls_json: Option<&str>,
    ) -> PyResult<Self> {
        let address: Address = address.parse().map_err(PyValueError::new_err::<String>)?;
        let timeout = seconds(timeout_s)?;
        let security = tls_json.map(security).transpose()?;
        let opened = py.detach(|| Asking::open(&address, security.as_ref(), timeout));
        Ok(Self { asking: opened.map_err(not_connected)? })
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
        as_dict(py, &response.map_err(|cause| no_response(&cause))?)
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Sends a request by HTTP/2, given as HTTP/1, and reads the response.
    fn ask_by_http2<'py>(
        &mut self,
        py: Python<'py>,
        request: Vec<u8>,
        timeout_s: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let timeout = seconds(timeout_s)?;
        let response = py.detach(|| self.asking.ask_by_http2(&request, timeout));
        as_dict(py, &response.map_err(|cause| no_response(&cause))?)
    }

    /// Whether a response by HTTP/2 has begun that was not complete in time, or begins now.
    fn has_begun_by_http2(&mut self, py: Python<'_>, timeout_s: f64) -> PyResult<bool> {
        let timeout = seconds(timeout_s)?;
        let has_begun = py.detach(|| self.asking.has_begun_by_http2(timeout));
        has_begun.map_err(|cause| no_response(&cause))
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Asks for WebSocket; the status of the response.
    fn upgrade(&mut self, py: Python<'_>, request: Vec<u8>, timeout_s: f64) -> PyResult<u16> {
        let timeout = seconds(timeout_s)?;
        let status = py.detach(|| self.asking.upgrade(&request, timeout));
        status.map_err(|cause| no_response(&cause))
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Sends a frame of an upgraded connection.
    fn send_frame(
        &mut self,
        py: Python<'_>,
        kind: &str,
        payload: Vec<u8>,
        is_final: bool,
        timeout_s: f64,
    ) -> PyResult<()> {
        let (opcode, timeout) = (opcode(kind)?, seconds(timeout_s)?);
        let sent = py.detach(|| self.asking.send_frame(opcode, is_final, &payload, timeout));
        sent.map_err(|cause| no_response(&cause))
    }

    /// The next message or control frame of an upgraded connection: what it is, and its bytes.
    fn next_message(
        &mut self,
        py: Python<'_>,
        timeout_s: f64,
    ) -> PyResult<(&'static str, Vec<u8>)> {
        let timeout = seconds(timeout_s)?;
        let message = py.detach(|| self.asking.next_message(timeout));
        let message = message.map_err(|cause| no_response(&cause))?;
        Ok((kind_name(message.kind), message.payload))
    }

    #[allow(clippy::needless_pass_by_value)]
    /// Asks for WebSocket; the status of the response.
    fn status_of_upgrade(
        &mut self,
        py: Python<'_>,
        request: Vec<u8>,
        timeout_s: f64,
    ) -> PyResult<u16> {
        let timeout = seconds(timeout_s)?;
        let status = py.detach(|| self.asking.status_of_upgrade(&request, timeout));
        status.map_err(|cause| no_response(&cause))
    }
}

fn as_dict<'py>(py: Python<'py>, response: &Response) -> PyResult<Bound<'py, PyDict>> {
    let headers: Vec<_> =
        response.headers.iter().map(|(name, value)| (name, value.as_slice())).collect();
    let found = PyDict::new(py);
    found.set_item("status", response.status)?;
    found.set_item("headers", headers)?;
    found.set_item("body", response.body.as_slice())?;
    found.set_item("head_bytes", response.head_bytes)?;
    found.set_item("closes", response.closes)?;
    found.set_item("early", response.early)?;
    let events: Vec<_> =
        response.events.iter().map(|event| (event.data.as_slice(), event.at_ns)).collect();
    found.set_item("events", events)?;
    Ok(found)
}

fn opcode(kind: &str) -> PyResult<Opcode> {
    match kind {
        "continuation" => Ok(Opcode::Continuation),
        "text" => Ok(Opcode::Text),
        "binary" => Ok(Opcode::Binary),
        "close" => Ok(Opcode::Close),
        "ping" => Ok(Opcode::Ping),
        "pong" => Ok(Opcode::Pong),
        _ => Err(PyValueError::new_err("no kind of a frame")),
    }
}

fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Text => "text",
        Kind::Binary => "binary",
        Kind::Ping => "ping",
        Kind::Pong => "pong",
        Kind::Close => "close",
    }
}

fn seconds(seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| PyValueError::new_err("not a time above 0"))
}

/// How connections are secured, from the block `tls` of a specification.
fn security(json: &str) -> PyResult<Security> {
    let security = Tls::parse(json).and_then(|tls| Security::new(&tls));
    security.map_err(|error| failure(&error))
}

/// An `OSError`, or what was wrong with TLS by the name of the outcome under load.
fn not_connected(error: io::Error) -> PyErr {
    match Failure::within(&error) {
        None => error.into(),
        Some(found) => {
            NoResponse::new_err((Outcome::of_failed_handshake(found).name(), found.to_string()))
        }
    }
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
        Cause::NoRequest => "no_request",
        Cause::NotHttp2 => "not_http2",
        Cause::NotWebSocket(_) => "not_websocket",
        Cause::Ended(_) => "ended",
        Cause::Broken(_) => "broken",
    };
    NoResponse::new_err((kind, cause.to_string()))
}
