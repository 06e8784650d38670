//! What was written is read, and what is not as it should be is refused.

#![allow(clippy::unwrap_used)]

use plimsoll_separated::Kind::{Text, Unwanted, Whole, Word};
use plimsoll_separated::{Irregular, Kind, Rows, Words, read};
use proptest::prelude::*;

fn comma(block: &str, kinds: &[Kind]) -> Result<Rows, Irregular> {
    read(block.as_bytes(), b',', kinds)
}

fn numbers(rows: &Rows, column: usize) -> Vec<Option<i64>> {
    let column = &rows.wholes[column];
    let bits = column.validity();
    let eights = column.bytes().chunks_exact(8).enumerate();
    let numbers = eights.map(|(row, bytes)| {
        let number = i64::from_ne_bytes(bytes.try_into().unwrap());
        let is_there = bits.as_ref().is_none_or(|bits| bits[row / 8] >> (row % 8) & 1 == 1);
        is_there.then_some(number)
    });
    numbers.collect()
}

fn places(words: &Words) -> Vec<usize> {
    let fours = words.bytes().chunks_exact(4);
    fours.map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap()).try_into().unwrap()).collect()
}

fn words(rows: &Rows, column: usize) -> Vec<&str> {
    let column = &rows.words[column];
    places(column).into_iter().map(|place| column.known()[place].as_str()).collect()
}

fn texts(rows: &Rows, column: usize) -> Vec<&str> {
    let column = &rows.texts[column];
    let bounds = column.bounds();
    let fours = bounds.chunks_exact(4).map(|bytes| i32::from_ne_bytes(bytes.try_into().unwrap()));
    let bounds: Vec<usize> = fours.map(|bound| bound.try_into().unwrap()).collect();
    bounds.windows(2).map(|ends| &column.text()[ends[0]..ends[1]]).collect()
}

#[test]
fn columns_come_by_their_kind_in_the_order_of_the_file() {
    let rows = comma("1,a,x,2\n3,b,y,4\n", &[Whole, Word, Unwanted, Whole]).unwrap();
    assert_eq!((rows.end, rows.count, rows.lines), (16, 2, 2));
    assert_eq!(numbers(&rows, 0), [Some(1), Some(3)]);
    assert_eq!(numbers(&rows, 1), [Some(2), Some(4)]);
    assert_eq!(words(&rows, 0), ["a", "b"]);
}

#[test]
fn a_word_is_kept_once() {
    let rows = comma("a\nb\na\na\nab\nb\n", &[Word]).unwrap();
    assert_eq!(rows.words[0].known(), ["a", "b", "ab"]);
    assert_eq!(words(&rows, 0), ["a", "b", "a", "a", "ab", "b"]);
}

#[test]
fn a_number_may_be_missing_and_may_stand_in_quotes() {
    let rows = comma("1,\n,\"22\"\n\"\",3\n", &[Whole, Whole]).unwrap();
    assert_eq!(numbers(&rows, 0), [Some(1), None, None]);
    assert_eq!(numbers(&rows, 1), [None, Some(22), Some(3)]);
}

#[test]
fn a_value_in_quotes_may_hold_separators_line_ends_and_quotes() {
    let rows = comma("\"a,b\",1\r\n\"c\r\nd\",2\r\n\"e\"\"f\"\"\",3\r\n\"\",4\r\n", &[Word, Whole]);
    let rows = rows.unwrap();
    assert_eq!(words(&rows, 0), ["a,b", "c\r\nd", "e\"f\"", ""]);
    assert_eq!((rows.count, rows.lines), (4, 5));
}

#[test]
fn a_quote_within_a_bare_value_is_a_sign_like_any_other() {
    let rows = comma("5\" disk,a\"\n", &[Word, Text]).unwrap();
    assert_eq!((words(&rows, 0), texts(&rows, 0)), (vec!["5\" disk"], vec!["a\""]));
}

#[test]
fn empty_lines_are_no_rows() {
    let rows = comma("\n1\n\r\n\n2\n\n", &[Whole]).unwrap();
    assert_eq!((rows.end, rows.count, rows.lines), (9, 2, 6));
}

#[test]
fn a_block_may_end_anywhere() {
    let block = "12,\"a\"\"b\",c\r\n13,\"a\"\"b\",c\r\n";
    let first = block.find('\n').unwrap() + 1;
    for end in 0..block.len() {
        let rows = comma(&block[..end], &[Whole, Word, Text]).unwrap();
        let whole = usize::from(end >= first);
        assert_eq!((rows.end, rows.count), (whole * first, whole), "{:?}", &block[..end]);
        assert_eq!(numbers(&rows, 0).len(), whole);
        assert_eq!(words(&rows, 0).len(), whole);
        assert_eq!(texts(&rows, 0).len(), whole);
    }
}

#[test]
fn what_is_not_as_it_should_be_is_refused() {
    let refused = [
        "1,a,b\n",                 // too many
        "1\n",                     // too few
        "x,a\n",                   // no number
        "-1,a\n",                  // below 0
        "1.5,a\n",                 // not whole
        " 1,a\n",                  // no number either
        "1000000000000000000,a\n", // greater than 18 digits hold
        "1,\"a\"b\n",              // a quote that ends too early
        "1,a\rb\n",                // a return that ends no line
    ];
    for block in refused {
        let read = comma(&format!("7,good\n{block}"), &[Whole, Word]);
        assert_eq!(read.err(), Some(Irregular), "{block:?}");
    }
    assert_eq!(read(b"\xff\n", b',', &[Word]).err(), Some(Irregular));
    assert_eq!(read(b"\xff\n", b',', &[Text]).err(), Some(Irregular));
    assert!(read(b"\xff\n", b',', &[Unwanted]).is_ok());
    assert_eq!(comma("1\n", &[]).err(), Some(Irregular));
}

fn written(value: &str, separator: char, in_quotes: bool) -> String {
    let needs = value.starts_with('"') || value.contains(['\r', '\n', separator]);
    if in_quotes || needs {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        rows in prop::collection::vec(
            ("[ab\",;\r\n\u{e9}]{0,3}", "[ab\",;\r\n]{0,2}", prop::option::of(0_i64..1000), any::<[bool; 3]>()),
            0..40,
        ),
        separator in prop::sample::select(vec![',', ';', '\t']),
        ending in prop::sample::select(vec!["\n", "\r\n"]),
    ) {
        let mut block = String::new();
        for (word, other, number, in_quotes) in &rows {
            let number = number.map(|number| number.to_string()).unwrap_or_default();
            let values = [word, other, &number, word];
            let values = values.iter().zip(in_quotes.iter().chain([&true]));
            let values: Vec<_> = values.map(|(value, &q)| written(value, separator, q)).collect();
            block += &values.join(&separator.to_string());
            block += ending;
        }
        let found = read(block.as_bytes(), separator as u8, &[Word, Unwanted, Whole, Text]).unwrap();
        prop_assert_eq!((found.end, found.count), (block.len(), rows.len()));
        prop_assert_eq!(found.lines, block.matches('\n').count());
        let expected: Vec<_> = rows.iter().map(|row| row.0.as_str()).collect();
        prop_assert_eq!(words(&found, 0), expected.clone());
        prop_assert_eq!(texts(&found, 0), expected);
        prop_assert_eq!(numbers(&found, 0), rows.iter().map(|row| row.2).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        block in prop::collection::vec(
            prop::sample::select(b"0019a\",,,\n\n\r\xc3\xa9".to_vec()), 0..120,
        ),
    ) {
        if let Ok(rows) = read(&block, b',', &[Whole, Word, Text, Unwanted]) {
            prop_assert!(rows.end <= block.len());
            prop_assert_eq!(numbers(&rows, 0).len(), rows.count);
            prop_assert_eq!(words(&rows, 0).len(), rows.count);
            prop_assert_eq!(texts(&rows, 0).len(), rows.count);
        }
    }
}
