//! The door between Plimsoll's lab and what of it is written in Rust: nothing but conversions.

mod ask;
mod evidence;
mod figures;
mod load;
mod reference;
mod sent;
mod separated;

use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::sample::{BodySample, ConnectionSample, Field, RequestSample};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Layout of the records: table to `{"size": bytes, "fields": [(name, offset, kind), …]}`.
#[pyfunction]
fn record_layouts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let layouts = PyDict::new(py);
    layouts.set_item("requests", layout(py, RequestSample::SIZE, RequestSample::FIELDS)?)?;
    layouts.set_item("bodies", layout(py, BodySample::SIZE, BodySample::FIELDS)?)?;
    layouts
        .set_item("connections", layout(py, ConnectionSample::SIZE, ConnectionSample::FIELDS)?)?;
    Ok(layouts)
}

fn layout<'py>(py: Python<'py>, size: usize, fields: &[Field]) -> PyResult<Bound<'py, PyDict>> {
    let fields: Vec<_> =
        fields.iter().map(|field| (field.name, field.offset, field.kind)).collect();
    let layout = PyDict::new(py);
    layout.set_item("size", size)?;
    layout.set_item("fields", fields)?;
    Ok(layout)
}

/// Every outcome: `(code, name, meaning, group)`.
#[pyfunction]
fn outcomes() -> Vec<(u8, &'static str, &'static str, String)> {
    let rows = Outcome::ALL.iter().map(|&outcome| {
        let group = format!("{:?}", outcome.group());
        (outcome as u8, outcome.name(), outcome.meaning(), snake_case(&group))
    });
    rows.collect()
}

fn snake_case(name: &str) -> String {
    let mut text = String::with_capacity(name.len() + 2);
    for (place, letter) in name.char_indices() {
        if letter.is_ascii_uppercase() && place > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// The engine of Plimsoll.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(record_layouts, module)?)?;
    module.add_function(wrap_pyfunction!(outcomes, module)?)?;
    module.add_function(wrap_pyfunction!(figures::load_figures, module)?)?;
    module.add_function(wrap_pyfunction!(figures::request_counts, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::load_counts, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::connection_lives, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::response_shares, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::response_pace, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::median_times, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::in_flight, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::slower_than, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::still_waiting, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::times_without, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::late_ends, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::stalls, module)?)?;
    module.add_function(wrap_pyfunction!(evidence::connection_stalls, module)?)?;
    module.add_function(wrap_pyfunction!(load::run, module)?)?;
    module.add_function(wrap_pyfunction!(reference::certificate, module)?)?;
    module.add_function(wrap_pyfunction!(reference::serve_reference, module)?)?;
    module.add_function(wrap_pyfunction!(sent::sent_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(separated::separated_rows, module)?)?;
    module.add_class::<ask::Connection>()?;
    module.add_class::<figures::Histogram>()?;
    module.add_class::<figures::Times>()?;
    module.add("NoResponse", module.py().get_type::<ask::NoResponse>())?;
    module.add("EngineFailure", module.py().get_type::<load::EngineFailure>())?;
    Ok(())
}
