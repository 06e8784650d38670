//! Several requests on one connection at a time, against servers that behave and servers that do not.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;
use std::time::Duration;

use drive::{ASK, Ask, Row, Seen, WAITED_MS, by_outcome, drive};
use hostile::{Hostile, POLITE, Script, Then, head, right};
use plimsoll_engine::sample::NEVER;

const DEPTH: usize = 8;

const PIPELINED: Ask = Ask { pipeline: DEPTH, requests: Some(240), connections: 3, ..ASK };

fn polite(script: Script) -> Hostile {
    Hostile::start(POLITE, move |_| script.clone())
}

/// The most requests that were in flight on one connection at one time.
fn deepest(seen: &Seen) -> usize {
    let mut changes: BTreeMap<u64, Vec<(u64, i64)>> = BTreeMap::new();
    for row in seen.requests.iter().filter(|row| row["sent_ns"] != NEVER) {
        let of_connection = changes.entry(row["connection"]).or_default();
        of_connection.extend([(row["sent_ns"], 1), (row["done_ns"], -1)]);
    }
    let depths = changes.into_values().map(|mut changes| {
        changes.sort_unstable();
        let running = changes.into_iter().scan(0, |depth, (_, change)| {
            *depth += change;
            Some(*depth)
        });
        running.max().unwrap_or(0)
    });
    usize::try_from(depths.max().unwrap_or(0)).unwrap()
}

fn of_connection(seen: &Seen, connection: u64) -> Vec<&Row> {
    seen.requests.iter().filter(|row| row["connection"] == connection).collect()
}

#[test]
fn as_many_requests_are_in_flight_as_the_depth_says_and_never_more() {
    let (seen, counts) = drive(polite(Script::send(right())), &PIPELINED);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 240)]));
    assert_eq!((counts.accepted, counts.requests), (3, 240));
    assert_eq!(deepest(&seen), DEPTH);
}

#[test]
fn each_answer_is_timed_apart_and_in_the_order_of_the_requests() {
    let slow = Script::silence().and(Duration::from_millis(5), right());
    let ask = Ask { connections: 1, requests: Some(40), ..PIPELINED };
    let (seen, _) = drive(polite(slow), &ask);
    let rows = of_connection(&seen, 0);
    assert_eq!(rows.len(), 40);
    assert!(rows.is_sorted_by_key(|row| row["sent_ns"]));
    let gaps = rows.windows(2).map(|pair| pair[1]["done_ns"] - pair[0]["done_ns"]);
    let apart = gaps.filter(|&gap_ns| gap_ns > 1_000_000).count();
    // A busy machine may let several come at once, but not all that are in flight.
    assert!(apart > 40 / DEPTH, "{apart}");
}

#[test]
fn large_requests_are_sent_whole_one_after_the_other() {
    let ask =
        Ask { request_body_bytes: 300_000, requests: Some(12), connections: 1, pipeline: 4, ..ASK };
    let (seen, counts) = drive(polite(Script::send(right())), &ask);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 12)]));
    assert_eq!((counts.accepted, counts.requests), (1, 12));
}

#[test]
fn a_connection_carries_no_more_requests_than_it_may() {
    let ask = Ask { requests_per_connection: Some(5), ..PIPELINED };
    let (seen, counts) = drive(polite(Script::send(right())), &ask);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 240)]));
    assert_eq!(counts.requests, 240);
    assert!(seen.connections.iter().all(|row| row["requests"] <= 5));
    assert!(counts.accepted >= 240 / 5);
}

#[test]
fn arrivals_of_the_open_model_are_pipelined_too() {
    let ask = Ask {
        rate_per_s: Some(1_000),
        requests: None,
        duration_ms: 400,
        connections: 2,
        pipeline: 4,
        ..ASK
    };
    let slow = Script::silence().and(Duration::from_millis(3), right());
    let (seen, counts) = drive(polite(slow), &ask);
    assert_eq!(seen.requests.len(), 400);
    assert_eq!(counts.accepted, 2);
    assert_eq!(deepest_begun(&seen), 4);
}

#[test]
fn arrivals_of_the_open_model_go_to_connections_in_turn() {
    let ask = Ask {
        rate_per_s: Some(100),
        requests: None,
        duration_ms: 1_000,
        connections: 4,
        pipeline: DEPTH,
        ..ASK
    };
    // The turn of a connection comes after 40 ms.
    let slow = Script::silence().and(Duration::from_millis(25), right());
    let (seen, _) = drive(polite(slow), &ask);
    let is_beside = |row: &Row, other: &Row| {
        other["connection"] == row["connection"]
            && other["sent_ns"] < row["sent_ns"]
            && row["sent_ns"] < other["done_ns"]
    };
    let shared =
        seen.requests.iter().filter(|&row| seen.requests.iter().any(|other| is_beside(row, other)));
    // A busy machine has some that were due long before.
    let shared = shared.count();
    assert!(shared < 50, "{shared} of {}", seen.requests.len());
}

/// As [`deepest`], for rows of which some have not ended.
fn deepest_begun(seen: &Seen) -> usize {
    let ended = seen.requests.iter().filter(|row| row["done_ns"] != NEVER).cloned().collect();
    deepest(&Seen {
        finish: seen.finish.clone(),
        requests: ended,
        connections: Vec::new(),
        bodies: Vec::new(),
    })
}

#[test]
fn requests_behind_one_that_times_out_are_lost_with_the_connection() {
    let hang = |number: usize| {
        if number == 4 { Script::silence().then(Then::Hang) } else { Script::send(right()) }
    };
    let ask = Ask { connections: 1, requests: Some(20), timeout_ms: WAITED_MS, pipeline: 3, ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, hang), &ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!(
        ended,
        BTreeMap::from([("ok", 17), ("timed_out_waiting", 1), ("lost_behind", 2)]),
        "{counts:?}"
    );
    assert_eq!((counts.accepted, counts.played), (2, 18));
}

#[test]
fn requests_behind_one_that_is_malformed_are_lost_with_the_connection() {
    // The first requests of a connection are sent together.
    let broken = |number: usize| {
        if number == 0 {
            Script::send(b"nonsense\r\n\r\n").then(Then::Hang)
        } else {
            Script::send(right())
        }
    };
    let ask = Ask { connections: 1, requests: Some(20), pipeline: 3, ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, broken), &ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!(
        ended,
        BTreeMap::from([("ok", 17), ("malformed_head", 1), ("lost_behind", 2)]),
        "{counts:?}"
    );
}

#[test]
fn requests_behind_an_announced_close_were_closed_upon_and_are_not_sent_again() {
    let announced = [head("Content-Length: 0\r\nConnection: close\r\n")].concat();
    let script = move |number: usize| {
        if number % 10 == 9 {
            Script::send(&announced).then(Then::Close)
        } else {
            Script::send(right())
        }
    };
    let ask = Ask { connections: 1, length_bytes: None, body: None, pipeline: 4, ..PIPELINED };
    let (seen, counts) = drive(Hostile::start(POLITE, script), &ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!(ended["ok"], counts.played as u64, "{ended:?} {counts:?}");
    assert_eq!(ended["ok"] + ended["closed_waiting"], 240, "{ended:?}");
    assert_eq!(seen.finish.sent, 240);
}

#[test]
fn a_reset_ends_everything_in_flight_once() {
    let script = |number: usize| {
        let then = if number % 10 == 9 { Then::Reset } else { Then::GoOn };
        if then == Then::Reset { Script::silence().then(then) } else { Script::send(right()) }
    };
    let (seen, counts) = drive(Hostile::start(POLITE, script), &PIPELINED);
    let ended = by_outcome(&seen.requests);
    let answered = counts.played - counts.reset;
    assert_eq!(ended["ok"], answered as u64, "{ended:?} {counts:?}");
    let reset: u64 = ["reset_waiting", "reset_sending"]
        .map(|name| ended.get(name).copied().unwrap_or(0))
        .iter()
        .sum();
    assert_eq!(ended["ok"] + reset, 240, "{ended:?}");
    assert!(reset > counts.reset as u64, "{ended:?} {counts:?}");
}

#[test]
fn what_waits_for_a_connection_that_is_refused_has_failed_with_it() {
    let refuse = hostile::Manner { accept: hostile::Accept::Refuse, ..POLITE };
    let ask = Ask { connections: 2, requests: Some(48), ..PIPELINED };
    let (seen, _) = drive(Hostile::start(refuse, |_| Script::silence()), &ask);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("connect_refused", 48)]));
    assert_eq!(seen.finish.refused, 48 / DEPTH as u64);
}
