//! Reading the rows of separated files, with the interpreter's lock released.

use plimsoll_separated::{Kind, read};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

type Wholes<'py> = (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);
type Words<'py> = (Bound<'py, PyBytes>, Vec<String>);
type Texts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// The whole rows at the beginning of a block; bytes are in the order of this machine.
#[derive(IntoPyObject)]
pub struct Rows<'py> {
    /// Bytes that they take.
    end: usize,
    /// Their number.
    count: usize,
    /// Line feeds among their bytes.
    lines: usize,
    /// Eight bytes a number, and a bit each that is set where there is one.
    wholes: Vec<Wholes<'py>>,
    /// A place of four bytes a row, and the words.
    words: Vec<Words<'py>>,
    /// Where each row's text ends, in four bytes, behind a 0; and the texts.
    texts: Vec<Texts<'py>>,
}

/// Reads the whole rows at the beginning of a block, without empty lines.
///
/// `kinds` has `whole`, `word`, `text` or `unwanted` for each column. None is returned when a row is
/// not as it should be.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)]
pub fn separated_rows<'py>(
    py: Python<'py>,
    block: &[u8],
    separator: char,
    kinds: Vec<String>,
) -> Option<Rows<'py>> {
    let separator = u8::try_from(separator).ok().filter(u8::is_ascii)?;
    let kinds: Vec<_> = kinds.iter().map(|kind| kind_of(kind)).collect();
    let rows = py.detach(|| read(block, separator, &kinds)).ok()?;
    let bytes = |bytes: &[u8]| PyBytes::new(py, bytes);
    let wholes = rows.wholes.iter().map(|column| {
        let validity = column.validity().map(|bits| bytes(&bits));
        (bytes(column.bytes()), validity)
    });
    let words = rows.words.iter().map(|column| (bytes(column.bytes()), column.known().to_vec()));
    let texts = rows.texts.iter();
    let texts = texts.map(|column| (bytes(&column.bounds()), bytes(column.text().as_bytes())));
    Some(Rows {
        end: rows.end,
        count: rows.count,
        lines: rows.lines,
        wholes: wholes.collect(),
        words: words.collect(),
        texts: texts.collect(),
    })
}

fn kind_of(name: &str) -> Kind {
    match name {
        "whole" => Kind::Whole,
        "word" => Kind::Word,
        "text" => Kind::Text,
        _ => Kind::Unwanted,
    }
}
