//! Putting on load, with the interpreter's lock released.

use std::sync::mpsc::{Receiver, channel};

use plimsoll_engine::error::EngineError;
use plimsoll_engine::progress::Event;
use plimsoll_engine::spec::Spec;
use plimsoll_engine::turns::Order;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _engine,
    EngineFailure,
    PyException,
    "The engine could not do what was asked: `(message, hint, exit code)`."
);

/// Puts on the load of a specification; returns the content of `finish.json`.
///
/// A load that takes turns reads the order to each from stdin, a line each (`Order::parse`). It ends
/// early when stdin does.
///
/// `observe` gets each event as a line of JSON. A signal whose Python handler raises ends the load
/// early and cleanly, and so does an exception raised by `observe`.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn run(py: Python<'_>, spec_json: &str, observe: Py<PyAny>) -> PyResult<String> {
    let finish = py.detach(|| {
        let spec = Spec::parse(spec_json)?;
        let stop = std::cell::Cell::new(false);
        let tell = |event: &Event| {
            let line = serde_json::to_string(event).unwrap_or_default();
            let told = Python::attach(|py| observe.call1(py, (line,)).map(drop));
            stop.set(stop.get() || told.is_err());
        };
        let interrupted = || {
            stop.set(stop.get() || Python::attach(|py| py.check_signals().is_err()));
            stop.get()
        };
        if spec.in_turns {
            plimsoll_engine::run_in_turns(&spec, &orders_from_stdin(), tell, interrupted)
        } else {
            plimsoll_engine::run(&spec, tell, interrupted)
        }
    });
    let finish = finish.map_err(|error| failure(&error))?;
    Ok(serde_json::to_string(&finish).unwrap_or_default())
}

/// Orders to take turns as stdin brings them; a line that is none ends them.
fn orders_from_stdin() -> Receiver<Order> {
    let (send, orders) = channel();
    std::thread::spawn(move || {
        let lines = std::io::stdin().lines().map_while(Result::ok);
        for order in lines.map_while(|line| Order::parse(&line)) {
            if send.send(order).is_err() {
                return;
            }
        }
    });
    orders
}

/// An error of the engine for Python.
pub fn failure(error: &EngineError) -> PyErr {
    EngineFailure::new_err((error.to_string(), error.hint(), error.exit_code()))
}
