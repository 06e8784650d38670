//! Streams of events: checked as one response, or each event a row; and each way to get one wrong.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;
// Another test uses the rest.
#[allow(dead_code)]
mod http2_server;
mod visits;

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_engine::progress::Event;
use plimsoll_engine::sample::NEVER;
use plimsoll_http2::frame::{ErrorCode, Kind};

use drive::{ASK, Ask, Row, Seen, WAITED_MS, by_outcome, drive, drive_alone};
use hostile::{Hostile, POLITE, Script, Then, head};
use http2_server::Server;

const MS: u64 = 1_000_000;

/// The responses to eight requests have two events.
const ASK_TWO: Ask = Ask {
    requests: Some(8),
    connections: 1,
    length_bytes: None,
    body: None,
    events: Some(r#"{"data": ["0", "1"]}"#),
    ..ASK
};

/// The same two, a fifth of a second apart.
const ASK_APART: Ask =
    Ask { events: Some(r#"{"data": ["0", "1"], "every_ns": 200000000}"#), ..ASK_TWO };

/// Each event is a row, for as long as the load lasts.
const ASK_ROWS: Ask =
    Ask { requests: None, duration_ms: 600, events: Some(r#"{"rows": true}"#), ..ASK_TWO };

const TWO: &str = "data: 0\n\ndata: 1\n\n";

fn typed(media_type: &str, body: &str) -> Vec<u8> {
    let fields = format!("Content-Type: {media_type}\r\nContent-Length: {}\r\n", body.len());
    [head(&fields), body.as_bytes().to_vec()].concat()
}

fn stream(body: &str) -> Vec<u8> {
    typed("text/event-stream", body)
}

fn endless() -> Vec<u8> {
    head("Content-Type: text/event-stream\r\n")
}

/// What a load sees of a server that treats each request alike.
fn ask(ask: &Ask, script: Script) -> Seen {
    drive(Hostile::start(POLITE, move |_| script.clone()), ask).0
}

fn all(outcome: &'static str) -> BTreeMap<&'static str, u64> {
    BTreeMap::from([(outcome, 8)])
}

#[test]
fn the_events_of_a_response_are_read_in_any_split_and_by_the_rules_of_the_standard() {
    let crlf = TWO.replace('\n', "\r\n");
    let cr = TWO.replace('\n', "\r");
    let marked = format!("\u{feff}: comment\n\nretry: 9\n\n{TWO}: end");
    let other = "event: a\ndata:0\nid: 5\n\nid\ndata:1\n\n";
    for body in [TWO, &crlf, &cr, &marked, other] {
        for length in [1, 7, 10_000] {
            let script = Script::send(stream(body)).in_pieces_of(length, Duration::ZERO);
            let seen = ask(&ASK_TWO, script);
            assert_eq!(by_outcome(&seen.requests), all("ok"), "{body:?} by {length}");
        }
    }
}

#[test]
fn what_is_no_stream_of_the_expected_events_is_wrong() {
    for (answer, outcome) in [
        (typed("text/plain", TWO), "not_events"),
        (typed("text/event-streams", TWO), "not_events"),
        (stream(""), "wrong_events"),
        (stream(": nothing\n\n"), "wrong_events"),
        (stream("data: 0\n\n"), "wrong_events"),
        (stream("data: 0\n\ndata: 1\n\ndata: 2\n\n"), "wrong_events"),
        (stream("data: 0\n\ndata: 2\n\n"), "wrong_events"),
        (stream("data: 0\ndata: 1\n\n"), "wrong_events"),
        // The server stops within an event, and ends the body as it should.
        (stream("data: 0\n\ndata: 1\n\ndata: 2"), "wrong_events"),
    ] {
        let seen = ask(&ASK_TWO, Script::send(&answer));
        assert_eq!(
            by_outcome(&seen.requests),
            all(outcome),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    let status = Ask { status: (201, 201), ..ASK_TWO };
    let seen = ask(&status, Script::send(stream(TWO)));
    assert_eq!(by_outcome(&seen.requests), all("wrong_status"));
}

#[test]
fn a_server_that_stops_within_an_event_or_never_ends_it_is_named_as_with_any_response() {
    let seen = ask(&ASK_TWO, Script::send(&stream(TWO)[..75]).then(Then::Close));
    assert_eq!(by_outcome(&seen.requests), all("closed_early"));
    let one = Ask { requests: Some(1), timeout_ms: WAITED_MS, ..ASK_TWO };
    let script = Script::send(endless()).and(Duration::ZERO, TWO).then(Then::Hang);
    let seen = ask(&one, script);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("timed_out_receiving", 1)]));
}

#[test]
fn events_that_come_early_or_are_held_back_are_wrong() {
    let pause = Duration::from_millis(200);
    let one = Ask { requests: Some(1), ..ASK_APART };
    let (first, second) = ("data: 0\n\n", "data: 1\n\n");
    let begin = || Script::send(head("Content-Type: text/event-stream\r\nContent-Length: 18\r\n"));
    for (script, outcome) in [
        (begin().and(Duration::ZERO, first).and(pause, second), "ok"),
        (begin().and(Duration::ZERO, TWO), "wrong_events"),
        (begin().and(pause, TWO), "wrong_events"),
        // Late as a whole.
        (begin().and(pause * 3, TWO), "ok"),
    ] {
        let seen = ask(&one, script);
        assert_eq!(by_outcome(&seen.requests), BTreeMap::from([(outcome, 1)]));
    }
}

/// Rows of one connection, each awaited from the end of the one before it.
fn assert_in_a_row(rows: &[Row]) {
    for pair in rows.windows(2) {
        assert_eq!(pair[0]["done_ns"], pair[1]["sent_ns"], "{pair:?}");
        assert_eq!(pair[1]["due_ns"], pair[1]["sent_ns"], "{pair:?}");
    }
}

#[test]
fn each_event_is_a_row_from_the_one_before_it() {
    let pause = Duration::from_millis(30);
    let script = Script::send(endless())
        .and(Duration::ZERO, ": comment\n\ndata: 0\n\n")
        .and(pause, "data: ")
        .and(Duration::ZERO, "1\n\n")
        .and(pause, "data: 2\n\ndata: 33\n\n")
        .then(Then::Hang);
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| script.clone()), &ASK_ROWS);
    assert_eq!((counts.requests, counts.accepted), (1, 1));
    // The fifth did not come until the end of the load.
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 4), ("unfinished", 1)]));
    assert_eq!(seen.finish.sent, 5);
    assert_in_a_row(&seen.requests);
    let rows = &seen.requests;
    let lengths: Vec<_> = rows[..4].iter().map(|row| row["body_bytes"]).collect();
    assert_eq!(lengths, [20, 9, 9, 10]);
    assert_eq!(rows[0]["received_bytes"], 20 + endless().len() as u64);
    assert_eq!(rows[1]["received_bytes"], 9);
    assert!(rows[1]["done_ns"] - rows[1]["sent_ns"] >= 29 * MS, "{rows:?}");
    assert_eq!(rows[2]["done_ns"], rows[3]["done_ns"], "they came together");
    assert!(rows.iter().all(|row| row["status"] == 200));
}

#[test]
fn the_first_byte_of_an_event_is_its_own_and_not_what_surrounds_it() {
    let (soon, pause) = (Duration::from_millis(2), Duration::from_millis(60));
    let chunked =
        || Script::send(head("Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"));
    let whole = || Script::send(endless());
    for (begin, event, behind) in [
        // The line feed of the last line end, in time and late.
        (whole(), "data: x\r\n\r\n", ""),
        (whole(), "data: x\r\n\r", "\n"),
        // The end of a chunk, and the head of the next one.
        (chunked(), "9\r\ndata: x\n\n", "\r\n"),
        (chunked(), "9\r\ndata: x\n\n\r\n", "9"),
        // Empty lines, and comments that keep the connection alive.
        (whole(), "data: x\n\n", "\n\n: comment\n\n"),
    ] {
        let mut script = begin;
        for number in 0..5 {
            // The head of the next chunk has come already.
            let bytes = if behind == "9" && number > 0 { &event[1..] } else { event };
            script = script.and(pause, bytes).and(soon, behind);
        }
        let (seen, _) = drive(
            Hostile::start(POLITE, {
                let script = script.then(Then::Hang);
                move |_| script.clone()
            }),
            &ASK_ROWS,
        );
        let rows = &seen.requests;
        assert_eq!(by_outcome(rows), BTreeMap::from([("ok", 5), ("unfinished", 1)]), "{event:?}");
        for row in &rows[1..5] {
            let waited_ns = row["first_byte_ns"] - row["sent_ns"];
            assert!(waited_ns > 50 * MS, "{event:?} {behind:?}: {row:?}");
        }
        assert_eq!(rows[5]["first_byte_ns"], NEVER, "{event:?} {behind:?}");
    }
}

#[test]
fn a_stream_that_ends_is_asked_for_again_and_has_no_row_of_its_own() {
    let script = Script::send(stream(TWO)).in_pieces_of(80, Duration::ZERO);
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| script.clone()), &ASK_ROWS);
    assert!(counts.requests > 1 && counts.accepted == 1, "{counts:?}");
    let outcomes = by_outcome(&seen.requests);
    let right = outcomes["ok"];
    let streams = counts.requests as u64;
    assert!((2 * streams - 2..=2 * streams).contains(&right), "{counts:?} {outcomes:?}");
    assert!(right + 1 >= seen.requests.len() as u64, "{outcomes:?}");
}

#[test]
#[allow(clippy::cast_precision_loss)]
fn between_the_last_event_and_the_end_of_a_stream_nothing_is_in_flight() {
    let bytes = stream(&format!("{TWO}: end"));
    let (events, end) = bytes.split_at(bytes.len() - 5);
    let script = Script::send(events).and(Duration::from_millis(50), end);
    let server = Hostile::start(POLITE, move |_| script.clone());
    let folder = tempfile::tempdir().unwrap();
    let spec = ASK_ROWS.spec(server.address(), folder.path());
    let mut by_clock_ns = 0.0;
    let observe = |event: &Event| {
        if let Event::Progress(progress) = event {
            by_clock_ns = progress.in_flight_mean * (ASK_ROWS.duration_ms * MS) as f64;
        }
    };
    let finish = plimsoll_engine::run(&spec, observe, || false).unwrap();
    server.stop();
    let seen = drive::seen(finish, folder.path());
    assert!(by_outcome(&seen.requests)["ok"] > 2, "{:?}", by_outcome(&seen.requests));
    let end_ns = ASK_ROWS.duration_ms * MS;
    let lengths = seen.requests.iter().map(|row| row["done_ns"].min(end_ns) - row["sent_ns"]);
    let by_rows_ns = lengths.sum::<u64>() as f64;
    assert!((by_clock_ns - by_rows_ns).abs() < 1e3, "{by_clock_ns} by clock, {by_rows_ns} by rows");
}

#[test]
fn what_ends_a_stream_is_the_row_of_the_event_that_was_awaited() {
    for (script, outcome) in [
        (Script::send(endless()).and(Duration::ZERO, "data: 0\n\n").then(Then::Reset), "reset"),
        (Script::send(&stream(TWO)[..80]).then(Then::Close), "closed_early"),
        (Script::send(stream("data: 0\n\ndata: 1")), "wrong_events"),
        (Script::send(stream("")), "wrong_events"),
        (Script::send(typed("text/html", TWO)), "not_events"),
    ] {
        let seen = ask(&ASK_ROWS, script);
        let outcomes = by_outcome(&seen.requests);
        let ends: u64 = outcomes
            .iter()
            .filter(|(name, _)| name.starts_with(outcome))
            .map(|(_, count)| count)
            .sum();
        let others = seen.requests.len() as u64 - ends;
        let right = outcomes.get("ok").copied().unwrap_or(0);
        assert!(ends > 0 && others <= right + 1, "{outcome}: {outcomes:?}");
    }
}

#[test]
fn the_time_limit_is_that_of_each_event() {
    // Longer than the time limit as a whole, and no event takes as long.
    let pause = Duration::from_millis(WAITED_MS / 4);
    let mut script = Script::send(endless());
    for _ in 0..6 {
        script = script.and(pause, "data: x\n\n");
    }
    let script = script.then(Then::Hang);
    let asked = Ask { timeout_ms: WAITED_MS, duration_ms: WAITED_MS * 3, ..ASK_ROWS };
    let (seen, _) = drive(Hostile::start(POLITE, move |_| script.clone()), &asked);
    let rows = &seen.requests;
    assert!(by_outcome(&rows[..6]) == BTreeMap::from([("ok", 6)]), "{:?}", by_outcome(rows));
    assert_eq!(by_outcome(&rows[6..7]), BTreeMap::from([("timed_out_receiving", 1)]));
    assert!(rows[6]["done_ns"] - rows[6]["sent_ns"] >= WAITED_MS * MS);
}

#[test]
fn an_event_without_end_costs_no_memory_and_ends_with_the_time_limit() {
    let script = Script::send([endless(), b"data: ".to_vec()].concat())
        .followed_by(Script::repeat(vec![b'x'; 1 << 16], 256))
        .then(Then::Hang);
    let asked = Ask { timeout_ms: WAITED_MS, duration_ms: WAITED_MS * 2, ..ASK_ROWS };
    let (seen, _) = drive(Hostile::start(POLITE, move |_| script.clone()), &asked);
    assert_eq!(by_outcome(&seen.requests[..1]), BTreeMap::from([("timed_out_receiving", 1)]));
}

#[test]
fn streams_of_http2_have_their_events_as_rows_too() {
    let server = Server::start(|visit, _| {
        visit.greet(&[]);
        while let Some(stream) = visit.next_request() {
            let fields = [("content-type", "text/event-stream")];
            visit.send(http2_server::head(stream, &fields));
            visit.send(http2_server::frame(Kind::Data, 0, stream, b"data: 0\n\ndata: "));
            visit.send(http2_server::frame(Kind::Data, 0, stream, b"1\n\n"));
        }
    });
    let asked = Ask { streams: Some(3), ..ASK_ROWS };
    let seen = drive_alone(server.address(), &asked);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 6), ("unfinished", 3)]));
    assert_eq!(seen.finish.sent, 9);
    assert!(seen.requests.iter().all(|row| row["sent_ns"] != NEVER && row["status"] == 200));
    server.stop();
}

#[test]
fn a_stream_that_stalls_times_out_and_the_one_before_it_goes_on() {
    let server = Server::start(|visit, _| {
        visit.greet(&[]);
        let Some(streams) = visit.next_requests(2) else { return };
        let event = |stream| http2_server::frame(Kind::Data, 0, stream, b"data: x\n\n");
        for &stream in &streams {
            visit.send(http2_server::head(stream, &[("content-type", "text/event-stream")]));
            visit.send(event(stream));
        }
        for _ in 0..8 {
            std::thread::sleep(Duration::from_millis(WAITED_MS / 4));
            visit.send(event(streams[0]));
        }
    });
    let duration_ms = WAITED_MS * 3 / 2;
    let asked = Ask { streams: Some(2), timeout_ms: WAITED_MS, duration_ms, ..ASK_ROWS };
    let seen = drive_alone(server.address(), &asked);
    let outcomes = by_outcome(&seen.requests);
    // Neither the first stream nor the request in the place of the second is over.
    assert_eq!((outcomes["timed_out_receiving"], outcomes["unfinished"]), (1, 2), "{outcomes:?}");
    assert_eq!(server.stop().resets, [ErrorCode::Cancel as u32]);
    let timed_out =
        |row: &&Row| row["done_ns"] != NEVER && row["done_ns"] - row["sent_ns"] >= WAITED_MS * MS;
    assert_eq!(seen.requests.iter().filter(timed_out).count(), 1);
}
