//! HTTP/2 against servers that behave and servers that do not, with exact counts.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::needless_for_each, clippy::redundant_closure_for_method_calls)]
#![allow(clippy::naive_bytecount)]

// Another test uses the rest.
#[allow(dead_code)]
mod drive;
#[allow(dead_code, unused_imports)]
mod hostile;
mod http2_server;
mod visits;

use std::collections::BTreeMap;
use std::time::Duration;

use drive::{ASK, Ask, Seen, WAITED_MS, by_outcome, drive_alone};
use hostile::BODY;
use http2_server::{Server, Visit, block, body, frame, go_away, head, reset, right, window_update};
use plimsoll_engine::progress::Event;
use plimsoll_engine::sample::NEVER;
use plimsoll_http2::frame::{
    ACK, END_HEADERS, END_STREAM, ErrorCode, Kind, LARGEST_WINDOW_BYTES, PADDED, PRIORITY, Setting,
};

/// One connection, one stream, five requests.
const FEW: Ask = Ask { streams: Some(1), connections: 1, requests: Some(5), ..ASK };

/// One connection, four streams, forty requests.
const MANY: Ask = Ask { streams: Some(4), requests: Some(40), ..FEW };

fn drive(
    ask: &Ask,
    behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static,
) -> (Seen, http2_server::Seen) {
    let server = Server::start(behave);
    let seen = drive_alone(server.address(), ask);
    (seen, server.stop())
}

/// Drives a server that greets, and then does the same with each request.
fn answered(
    ask: &Ask,
    answer: impl Fn(&mut Visit, u32) + Send + Sync + 'static,
) -> (Seen, http2_server::Seen) {
    drive(ask, move |visit, _| {
        visit.greet(&[]);
        while let Some(stream) = visit.next_request() {
            answer(visit, stream);
        }
    })
}

/// What requests, and connections, ended with.
fn outcomes(seen: &Seen) -> (BTreeMap<&'static str, u64>, BTreeMap<&'static str, u64>) {
    (by_outcome(&seen.requests), by_outcome(&seen.connections))
}

/// Every request of [`FEW`] ends so, and costs its connection.
#[track_caller]
fn costs_the_connection(
    outcome: &'static str,
    answer: impl Fn(&mut Visit, u32) + Send + Sync + 'static,
) {
    let (seen, server) = answered(&FEW, answer);
    let each = BTreeMap::from([(outcome, 5)]);
    assert_eq!(outcomes(&seen), (each.clone(), each));
    assert_eq!((server.accepted, server.requests), (5, 5));
}

/// Every request of [`FEW`] ends so, on the same connection.
#[track_caller]
fn costs_the_stream(
    outcome: &'static str,
    answer: impl Fn(&mut Visit, u32) + Send + Sync + 'static,
) -> (Seen, http2_server::Seen) {
    let (seen, server) = answered(&FEW, answer);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([(outcome, 5)]));
    assert_eq!((server.accepted, server.requests), (1, 5));
    (seen, server)
}

/// The most requests that were in flight on a connection at one time.
fn deepest(seen: &Seen) -> usize {
    let begun = seen.requests.iter().filter(|row| row["sent_ns"] != NEVER);
    let depths = begun.map(|row| {
        let at_ns = row["sent_ns"];
        let same = seen.requests.iter().filter(|other| other["connection"] == row["connection"]);
        same.filter(|other| other["sent_ns"] <= at_ns && at_ns < other["done_ns"]).count()
    });
    depths.max().unwrap_or(0)
}

// ---- a server that behaves ----------------------------------------------------------------------

#[test]
fn as_many_streams_are_open_as_requested_and_never_more() {
    let ask = Ask { streams: Some(8), connections: 3, requests: Some(240), ..ASK };
    let (seen, server) = answered(&ask, |visit, stream| visit.respond(stream));
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 240)]));
    assert_eq!((server.accepted, server.requests), (3, 240));
    assert_eq!(deepest(&seen), 8);
    assert_eq!(seen.finish.bodies_compared, 240);
    let length = right(1).len() as u64;
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == length));
    assert!(seen.requests.iter().all(|row| row["status"] == 200));
}

#[test]
fn responses_end_in_any_order() {
    let (seen, server) = drive(&MANY, |visit, _| {
        visit.greet(&[]);
        while let Some(streams) = visit.next_requests(4) {
            streams.into_iter().rev().for_each(|stream| visit.respond(stream));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert_eq!((server.accepted, server.requests), (1, 40));
}

#[test]
fn settings_that_come_with_the_connection_are_read() {
    // Opened in one turn of the loop: the first have their settings before the last are opened.
    let ask = Ask { connections: 256, requests: Some(1024), ..MANY };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[]);
        while let Some(streams) = visit.acknowledged_requests() {
            streams.into_iter().for_each(|stream| visit.respond(stream));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 1024)]));
    assert_eq!(server.requests, 1024);
}

#[test]
fn pieces_of_responses_may_be_mixed() {
    let (seen, _) = drive(&MANY, |visit, _| {
        visit.greet(&[]);
        while let Some(streams) = visit.next_requests(4) {
            streams.iter().for_each(|&stream| visit.send(head(stream, &[])));
            for piece in BODY.chunks(50) {
                streams.iter().for_each(|&one| visit.send(frame(Kind::Data, 0, one, piece)));
            }
            streams.iter().for_each(|&stream| visit.send(body(stream, b"")));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
}

#[test]
fn a_response_may_come_byte_by_byte() {
    let ask = Ask { requests: Some(2), ..FEW };
    let (seen, _) = answered(&ask, |visit, stream| {
        right(stream).chunks(1).for_each(|byte| {
            visit.send(byte);
            std::thread::sleep(Duration::from_micros(200));
        });
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 2)]));
    let first_byte_came_early = |row: &drive::Row| {
        row["first_byte_ns"] - row["sent_ns"] < (row["done_ns"] - row["sent_ns"]) / 2
    };
    assert!(seen.requests.iter().all(first_byte_came_early));
}

#[test]
fn interim_heads_trailers_padding_and_unknown_frames_are_passed_over() {
    let (seen, server) = costs_the_stream("ok", |visit, stream| {
        let interim = block(&[(":status", "103"), ("link", "x")]);
        visit.send(frame(Kind::Headers, END_HEADERS, stream, interim));
        visit.send(frame(Kind::Unknown(77), 255, stream, b"whatever"));
        visit.send(frame(Kind::Priority, 0, stream, [0, 0, 0, 0, 9]));
        visit.send(head(stream, &[]));
        let padded = [&[4], BODY, &[0; 4]].concat();
        visit.send(frame(Kind::Data, PADDED, stream, padded));
        let trailers = block(&[("checksum", "y")]);
        visit.send(frame(Kind::Headers, END_HEADERS | END_STREAM, stream, trailers));
    });
    assert!(seen.requests.iter().all(|row| row["status"] == 200));
    assert!(server.resets.is_empty());
}

#[test]
fn a_head_may_come_in_several_frames() {
    costs_the_stream("ok", |visit, stream| {
        let block = block(&[(":status", "200"), ("x", "y")]);
        visit.send(frame(Kind::Headers, 0, stream, &block[..1]));
        visit.send(frame(Kind::Continuation, 0, stream, &block[1..3]));
        visit.send(frame(Kind::Continuation, END_HEADERS, stream, &block[3..]));
        visit.send(body(stream, BODY));
    });
}

#[test]
fn frames_of_a_head_may_be_empty() {
    costs_the_stream("ok", |visit, stream| {
        let block = block(&[(":status", "200"), ("x", "y")]);
        visit.send(frame(Kind::Headers, 0, stream, b""));
        visit.send(frame(Kind::Continuation, 0, stream, &block[..2]));
        visit.send(frame(Kind::Continuation, 0, stream, b""));
        visit.send(frame(Kind::Continuation, 0, stream, &block[2..]));
        visit.send(frame(Kind::Continuation, END_HEADERS, stream, b""));
        visit.send(body(stream, BODY));
    });
}

#[test]
fn the_head_of_a_request_is_cut_into_frames_that_the_server_takes() {
    for (field_bytes, body_bytes, continuations) in
        [(16_000, 0, 0), (16_384, 0, 1), (20_000, 100, 1), (40_000, 0, 2)]
    {
        let ask = Ask { field_bytes, request_body_bytes: body_bytes, ..MANY };
        let (seen, server) = answered(&ask, |visit, stream| visit.respond(stream));
        assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]), "{field_bytes}");
        assert_eq!((server.accepted, server.requests), (1, 40));
        assert_eq!(server.continuations, 40 * continuations, "{field_bytes}");
    }
}

#[test]
fn a_status_without_a_body_ends_with_its_head() {
    let (seen, _) = costs_the_stream("wrong_length", |visit, stream| {
        let head = block(&[(":status", "200")]);
        visit.send(frame(Kind::Headers, END_HEADERS | END_STREAM, stream, head));
    });
    assert!(seen.requests.iter().all(|row| row["body_bytes"] == 0));
}

#[test]
fn settings_need_not_be_acknowledged_and_pings_are_answered() {
    let (_, server) = costs_the_stream("ok", |visit, stream| {
        for _ in 0..200 {
            visit.send(frame(Kind::Ping, 0, 0, b"12345678"));
        }
        visit.respond(stream);
    });
    assert!(server.ping_acks >= 4 * 200, "{server:?}");
    assert_eq!(server.settings_acks, 1);
}

#[test]
fn a_server_without_a_table_gets_blocks_that_say_so_once() {
    let (seen, server) = drive(&FEW, |visit, _| {
        visit.greet(&[(Setting::HeaderTableSize, 0)]);
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
    let telling = server.block_starts.iter().filter(|&&start| start == 0x20).count();
    assert_eq!((server.block_starts.len(), telling), (5, 1));
}

#[test]
fn connections_come_and_go_with_their_level_and_no_request_is_lost() {
    let then = &[(100, 1), (100, 5), (100, 0), (100, 6), (100, 2)];
    let ask = Ask { requests: None, duration_ms: 100, connections: 6, then, ..MANY };
    for pause_ms in [0, 10] {
        let (seen, server) = answered(&ask, move |visit, stream| {
            std::thread::sleep(Duration::from_millis(pause_ms));
            visit.respond(stream);
        });
        let (requests, connections) = outcomes(&seen);
        assert!(requests.keys().all(|name| ["ok", "unfinished"].contains(name)), "{requests:?}");
        let ends = ["closed_by_driver", "still_open"];
        assert!(connections.keys().all(|name| ends.contains(name)), "{connections:?}");
        assert_eq!(connections["still_open"], 2);
        assert_eq!(server.accepted as u64, seen.finish.opened);
    }
}

// ---- how many streams, and how large the windows ------------------------------------------------

#[test]
fn a_server_that_takes_fewer_streams_gets_fewer() {
    let ask = Ask { streams: Some(8), ..MANY };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[(Setting::MaxConcurrentStreams, 2)]);
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert_eq!((server.accepted, deepest(&seen)), (1, 2));
    assert_eq!(seen.finish.fewest_streams, Some(2));
}

#[test]
fn a_server_may_take_more_streams_later() {
    let ask = Ask { streams: Some(8), ..MANY };
    let (seen, _) = drive(&ask, |visit, _| {
        visit.greet(&[(Setting::MaxConcurrentStreams, 1)]);
        for _ in 0..10 {
            let stream = visit.next_request().unwrap();
            visit.respond(stream);
        }
        visit.greet(&[(Setting::MaxConcurrentStreams, 100)]);
        while let Some(stream) = visit.next_request() {
            std::thread::sleep(Duration::from_millis(2));
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert_eq!(deepest(&seen), 8);
    assert_eq!(seen.finish.fewest_streams, Some(1));
}

/// Half a second of eight streams on each of three connections.
const WIDE: Ask = Ask { streams: Some(8), connections: 3, requests: None, duration_ms: 500, ..ASK };

/// Connections that are open at the end of a load, and the requests that these may carry.
fn open_at_the_end(
    ask: &Ask,
    behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static,
) -> (usize, u64) {
    let server = Server::start(behave);
    let folder = tempfile::tempdir().unwrap();
    let mut last = (0, 0);
    let observe = |event: &Event| {
        if let Event::Progress(progress) = event {
            last = (progress.connections_open, progress.places_open);
        }
    };
    plimsoll_engine::run(&ask.spec(server.address(), folder.path()), observe, || false).unwrap();
    server.stop();
    last
}

#[test]
fn as_many_places_are_open_as_the_server_takes_streams() {
    let taken: [(&[u32], u64); 5] = [(&[], 8), (&[2], 2), (&[2, 5], 5), (&[5, 0], 0), (&[100], 8)];
    for (settings, places) in taken {
        let open = open_at_the_end(&WIDE, move |visit, _| {
            visit.greet(&[]);
            for &streams in settings {
                visit.greet(&[(Setting::MaxConcurrentStreams, streams)]);
            }
            while let Some(stream) = visit.next_request() {
                visit.respond(stream);
            }
        });
        assert_eq!(open, (3, 3 * places), "{settings:?}");
    }
}

#[test]
fn a_connection_that_has_ended_has_no_places() {
    let open = open_at_the_end(&WIDE, |visit, number| {
        visit.greet(&[(Setting::MaxConcurrentStreams, if number < 10 { 2 } else { 5 })]);
        if number < 10 {
            visit.send(go_away(0, ErrorCode::NoError));
        }
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(open, (3, 15));
    // All wait for the end of their think time.
    let thinking = Ask { think_ms: WIDE.duration_ms, streams: Some(1), ..WIDE };
    let open = open_at_the_end(&thinking, |visit, _| {
        visit.greet(&[]);
        if let Some(stream) = visit.next_request() {
            visit.respond(stream);
            visit.close();
        }
    });
    assert_eq!(open, (0, 0));
}

#[test]
fn a_server_that_takes_no_stream_lets_requests_time_out_unsent() {
    let ask = Ask { streams: Some(2), requests: Some(2), timeout_ms: WAITED_MS, ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        // The first is sent before the settings are known.
        visit.next_request();
        visit.greet(&[(Setting::MaxConcurrentStreams, 0)]);
    });
    let ended = BTreeMap::from([("timed_out_sending", 1), ("timed_out_waiting", 1)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    assert_eq!((server.accepted, server.requests), (1, 1));
}

/// A server that takes no stream any more after the tenth request of a connection.
fn shutting(visit: &mut Visit) {
    visit.greet(&[]);
    for number in 1..=10 {
        let Some(stream) = visit.next_request() else { return };
        if number == 10 {
            visit.greet(&[(Setting::MaxConcurrentStreams, 0)]);
        }
        visit.respond(stream);
    }
}

#[test]
fn what_waits_for_a_connection_without_streams_is_sent_on_the_next_one() {
    let ask = Ask { requests: Some(30), ..FEW };
    for announces in [true, false] {
        let (seen, server) = drive(&ask, move |visit, _| {
            shutting(visit);
            std::thread::sleep(Duration::from_millis(50));
            if announces {
                visit.send(go_away(19, ErrorCode::NoError));
            }
            visit.close();
        });
        assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 30)]));
        assert_eq!((server.accepted, server.requests), (3, 30));
    }
}

#[test]
fn a_connection_without_streams_costs_a_request_and_is_replaced_after_the_timeout() {
    let ask = Ask { requests: Some(21), timeout_ms: WAITED_MS, ..FEW };
    let (seen, server) = drive(&ask, |visit, _| shutting(visit));
    let ended = BTreeMap::from([("ok", 20), ("timed_out_sending", 1)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    let ended = BTreeMap::from([("closed_by_driver", 1), ("timed_out_sending", 1)]);
    assert_eq!(by_outcome(&seen.connections), ended);
    assert_eq!((server.accepted, server.requests), (2, 20));
}

#[test]
fn a_body_goes_on_when_the_settings_open_its_window() {
    let ask = Ask { request_body_bytes: 1_000, ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[(Setting::InitialWindowSize, 0)]);
        std::thread::sleep(Duration::from_millis(20));
        visit.greet(&[(Setting::InitialWindowSize, 400)]);
        visit.greet(&[(Setting::InitialWindowSize, 1_000)]);
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
    assert_eq!((server.accepted, server.requests), (1, 5));
}

#[test]
fn large_bodies_go_through_the_windows_of_the_server() {
    let ask = Ask { request_body_bytes: 300_000, requests: Some(12), ..MANY };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[(Setting::InitialWindowSize, 1 << 20)]);
        visit.send(window_update(0, 1 << 30));
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 12)]));
    assert_eq!((server.accepted, server.requests), (1, 12));
}

#[test]
fn a_body_whose_window_stays_shut_times_out_alone() {
    let ask = Ask { request_body_bytes: 1_000, requests: Some(3), timeout_ms: WAITED_MS, ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        let Some(first) = visit.next_request() else { return };
        visit.greet(&[(Setting::InitialWindowSize, 0)]);
        visit.respond(first);
        if visit.has_come(|seen| !seen.resets.is_empty()) {
            visit.greet(&[(Setting::InitialWindowSize, 1_000)]);
        }
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    let ended = BTreeMap::from([("ok", 2), ("timed_out_sending", 1)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    assert_eq!((server.accepted, server.requests), (1, 2));
}

#[test]
fn windows_for_responses_are_given_back() {
    const LONG: usize = 20 << 20;
    let ask = Ask { requests: Some(2), length_bytes: Some(LONG), body: None, ..FEW };
    let (seen, server) = answered(&ask, |visit, stream| {
        visit.send(head(stream, &[]));
        let piece = frame(Kind::Data, 0, stream, vec![b'x'; 16_384]);
        (0..LONG / 16_384).for_each(|_| visit.send(&piece));
        visit.send(body(stream, b""));
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 2)]));
    let at_first = (1 << 30) - 65_535;
    assert!(server.window_updates >= at_first + 2 * (16 << 20), "{server:?}");
}

// ---- streams that end early ---------------------------------------------------------------------

#[test]
fn a_stream_that_is_reset_ends_alone_with_the_code() {
    let (seen, server) = answered(&MANY, |visit, stream| match stream % 10 {
        1 => visit.send(reset(stream, ErrorCode::EnhanceYourCalm)),
        _ => visit.respond(stream),
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 32), ("stream_reset", 8)]));
    assert_eq!((server.accepted, server.requests), (1, 40));
    let codes: Vec<_> =
        seen.requests.iter().map(|row| row["errno"]).filter(|&code| code > 0).collect();
    assert_eq!(codes, [11; 8]);
}

#[test]
fn a_stream_that_is_reset_within_its_response_ends_alone() {
    let (seen, _) = costs_the_stream("stream_reset", |visit, stream| {
        visit.send(head(stream, &[]));
        visit.send(frame(Kind::Data, 0, stream, b"half"));
        visit.send(reset(stream, ErrorCode::InternalError));
    });
    assert!(seen.requests.iter().all(|row| row["first_byte_ns"] != NEVER));
}

#[test]
fn a_stream_that_is_refused_has_an_outcome_of_its_own() {
    let (seen, server) = answered(&MANY, |visit, stream| match stream % 10 {
        1 => visit.send(reset(stream, ErrorCode::RefusedStream)),
        _ => visit.respond(stream),
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 32), ("stream_refused", 8)]));
    assert_eq!(server.accepted, 1);
}

#[test]
fn a_request_that_times_out_is_reset_and_the_others_go_on() {
    let ask = Ask { requests: Some(20), streams: Some(3), timeout_ms: WAITED_MS, ..FEW };
    let (seen, server) = answered(&ask, |visit, stream| {
        if stream != 7 {
            visit.respond(stream);
        }
    });
    let ended = BTreeMap::from([("ok", 19), ("timed_out_waiting", 1)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    assert_eq!((server.accepted, server.requests), (1, 20));
}

#[test]
fn requests_that_time_out_together_leave_the_others_alone() {
    let ask = Ask { requests: Some(10), timeout_ms: WAITED_MS, ..MANY };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[]);
        let Some(streams) = visit.next_requests(4) else { return };
        // Two are never responded to; those behind the others are in flight when they time out.
        std::thread::sleep(Duration::from_millis(WAITED_MS / 2));
        [streams[0], streams[3]].into_iter().for_each(|stream| visit.respond(stream));
        let Some(later) = visit.next_requests(2) else { return };
        // These take the places of those that timed out.
        let Some(last) = visit.next_requests(2) else { return };
        [later, last].concat().into_iter().for_each(|stream| visit.respond(stream));
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    let ended = BTreeMap::from([("ok", 8), ("timed_out_waiting", 2)]);
    let closed = BTreeMap::from([("closed_by_driver", 1)]);
    assert_eq!((outcomes(&seen), server.accepted), ((ended, closed), 1));
    assert_eq!(server.resets, [ErrorCode::Cancel as u32; 2]);
}

#[test]
fn what_comes_late_of_a_request_that_timed_out_is_passed_over() {
    let ask = Ask { requests: Some(3), timeout_ms: WAITED_MS, ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[]);
        // The second comes after the reset of the first.
        let Some(streams) = visit.next_requests(2) else { return };
        streams.into_iter().for_each(|stream| visit.respond(stream));
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    let ended = BTreeMap::from([("ok", 2), ("timed_out_waiting", 1)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    assert_eq!((server.accepted, server.resets), (1, vec![8]));
}

#[test]
fn a_response_before_the_end_of_the_request_ends_the_rest_of_it() {
    let ask = Ask { request_body_bytes: 1_000, requests: Some(3), ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.next_request();
        visit.greet(&[(Setting::InitialWindowSize, 0)]);
        for (stream, heads) in [(1, 1), (3, 2), (5, 3)] {
            if visit.has_come(|seen| seen.block_starts.len() == heads) {
                visit.respond(stream);
            }
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 3)]));
    // The first was sent whole before the window was known to be shut.
    assert_eq!((server.accepted, server.requests), (1, 1));
    // With the third the load is over, and the connection closed.
    assert_eq!(server.resets, [ErrorCode::NoError as u32]);
    assert_eq!(seen.finish.fewest_streams, None);
    let sent = seen.finish.sent_bytes;
    assert!((1_000..2_000).contains(&sent), "one of three bodies was sent: {sent}");
}

// ---- responses that break a rule ----------------------------------------------------------------

#[test]
fn a_length_that_is_not_the_bodys_costs_the_stream() {
    let (_, server) = costs_the_stream("http2_error", |visit, stream| {
        visit.send(head(stream, &[("content-length", "7")]));
        visit.send(body(stream, BODY));
    });
    assert!(server.resets.iter().all(|&code| code == ErrorCode::ProtocolError as u32));
}

#[test]
fn data_without_a_head_costs_the_stream() {
    costs_the_stream("http2_error", |visit, stream| visit.send(body(stream, BODY)));
}

#[test]
fn a_head_without_a_status_costs_the_stream() {
    costs_the_stream("http2_error", |visit, stream| {
        let no_status = block(&[("x", "y")]);
        visit.send(frame(Kind::Headers, END_HEADERS | END_STREAM, stream, no_status));
    });
}

#[test]
fn a_window_of_a_stream_that_overflows_costs_the_stream() {
    costs_the_stream("http2_error", |visit, stream| {
        visit.send(window_update(stream, LARGEST_WINDOW_BYTES));
    });
}

#[test]
fn a_huge_list_of_fields_costs_the_stream_and_the_table_is_kept() {
    costs_the_stream("head_too_large", |visit, stream| {
        let value = "v".repeat(3_000);
        // Added to the table, and then named again and again.
        let mut block = [&[0x88, 0x40, 1, b'n'], &[0x7f, 0xb9, 0x16][..]].concat();
        block.extend_from_slice(value.as_bytes());
        block.extend_from_slice(&[0xbe; 40]);
        visit.send(frame(Kind::Headers, END_HEADERS, stream, block));
        visit.send(body(stream, BODY));
    });
}

#[test]
fn a_window_of_the_connection_that_overflows_costs_it() {
    costs_the_connection("http2_error", |visit, _| {
        visit.send(window_update(0, LARGEST_WINDOW_BYTES));
    });
}

#[test]
fn a_frame_that_is_too_long_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(frame(Kind::Headers, END_HEADERS, stream, vec![0; 16_385]));
    });
}

#[test]
fn a_head_without_end_costs_the_connection() {
    for (piece, times) in [(&[0; 16_000][..], 10), (b"", 300)] {
        costs_the_connection("head_too_large", move |visit, stream| {
            visit.send(frame(Kind::Headers, 0, stream, [0x88]));
            for _ in 0..times {
                visit.send(frame(Kind::Continuation, 0, stream, piece));
            }
        });
    }
}

#[test]
fn frames_of_streams_that_no_one_has_begun_cost_the_connection() {
    for other in [2, 9_999] {
        costs_the_connection("http2_error", move |visit, _| visit.send(right(other)));
    }
}

#[test]
fn a_head_of_nonsense_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(frame(Kind::Headers, END_HEADERS, stream, [0xff; 8]));
    });
}

#[test]
fn a_frame_within_a_head_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(frame(Kind::Headers, 0, stream, [0x88]));
        visit.send(frame(Kind::Ping, 0, 0, b"12345678"));
    });
}

#[test]
fn a_push_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(frame(Kind::PushPromise, END_HEADERS, stream, [0, 0, 0, 2, 0x88]));
    });
}

#[test]
fn padding_longer_than_its_frame_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(head(stream, &[]));
        visit.send(frame(Kind::Data, PADDED, stream, b"\x09x"));
    });
}

#[test]
fn settings_that_cannot_be_cost_the_connection() {
    costs_the_connection("http2_error", |visit, _| {
        visit.send(frame(Kind::Settings, 0, 0, [0, 4, 0x80, 0, 0, 0]));
    });
}

#[test]
fn frames_that_no_server_may_send_cost_the_connection() {
    // On the stream of the request, or on none.
    let broken: [(Kind, u8, bool, &'static [u8]); 21] = [
        (Kind::Data, 0, false, b"x"),
        (Kind::Data, PADDED, true, b""),
        (Kind::Headers, END_HEADERS, false, &[0x88]),
        (Kind::Headers, END_HEADERS | PADDED, true, &[9, 0x88]),
        (Kind::Headers, END_HEADERS | PRIORITY, true, &[0, 0, 0, 0]),
        (Kind::Headers, END_HEADERS, true, &[0x80]),
        (Kind::Headers, END_HEADERS, true, &[0x3f, 0xe2, 0x1f]),
        (Kind::Continuation, END_HEADERS, true, &[0x88]),
        (Kind::Priority, 0, false, &[0, 0, 0, 0, 1]),
        (Kind::Priority, 0, true, &[0, 0, 0, 1]),
        (Kind::RstStream, 0, false, &[0, 0, 0, 8]),
        (Kind::RstStream, 0, true, &[0, 0, 8]),
        (Kind::Settings, 0, true, &[]),
        (Kind::Settings, 0, false, &[0, 4, 0, 0, 0]),
        (Kind::Settings, ACK, false, &[0, 4, 0, 0, 0, 1]),
        (Kind::Settings, 0, false, &[0, 2, 0, 0, 0, 1]),
        (Kind::Settings, 0, false, &[0, 5, 0, 0, 0, 1]),
        (Kind::Ping, 0, true, b"12345678"),
        (Kind::Ping, 0, false, b"1234567"),
        (Kind::WindowUpdate, 0, false, &[0, 0, 0, 0]),
        (Kind::WindowUpdate, 0, false, &[0, 0, 1]),
    ];
    for (kind, flags, is_on_stream, payload) in broken {
        costs_the_connection("http2_error", move |visit, stream| {
            visit.send(frame(kind, flags, if is_on_stream { stream } else { 0 }, payload));
        });
    }
}

#[test]
fn a_head_that_goes_on_for_another_stream_costs_the_connection() {
    costs_the_connection("http2_error", |visit, stream| {
        visit.send(frame(Kind::Headers, 0, stream, [0x88]));
        visit.send(frame(Kind::Continuation, END_HEADERS, stream + 2, [0x88]));
    });
}

#[test]
fn what_follows_the_end_of_a_stream_is_unsolicited() {
    let ask = Ask { requests: Some(4), ..FEW };
    let (seen, server) = answered(&ask, |visit, stream| {
        visit.send([right(stream), body(stream, b"more")].concat());
    });
    // The frame behind a response is read before the next request is sent.
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 4)]));
    // The last connection is closed when the last request has ended.
    let connections = BTreeMap::from([("closed_by_driver", 1), ("unsolicited", 3)]);
    assert_eq!((by_outcome(&seen.connections), server.accepted), (connections, 4));
}

// ---- connections that end -----------------------------------------------------------------------

#[test]
fn a_server_that_speaks_http1_is_told_at_once() {
    let (seen, server) = drive(&MANY, |visit, _| {
        visit.next_request();
        visit.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        visit.close();
    });
    assert_eq!(outcomes(&seen).0, BTreeMap::from([("not_http2", 40)]));
    assert_eq!(outcomes(&seen).1, BTreeMap::from([("not_http2", 10)]));
    assert_eq!(server.accepted, 10);
}

#[test]
fn another_frame_than_settings_comes_first() {
    let (seen, _) = drive(&FEW, |visit, _| {
        visit.next_request();
        visit.send(frame(Kind::Ping, 0, 0, b"12345678"));
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("not_http2", 5)]));
}

#[test]
fn a_close_before_the_settings_ends_all_that_waits_for_the_connection() {
    let (seen, server) = drive(&MANY, |visit, _| {
        visit.next_request();
        visit.close();
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("closed_waiting", 40)]));
    assert_eq!(server.accepted, 10);
}

#[test]
fn a_close_ends_every_stream_as_far_as_it_was() {
    let (seen, server) = drive(&MANY, |visit, _| {
        visit.greet(&[]);
        let Some(streams) = visit.next_requests(4) else { return };
        visit.send(head(streams[2], &[]));
        visit.send(frame(Kind::Data, 0, streams[2], b"half"));
        visit.close();
    });
    let ended = BTreeMap::from([("closed_waiting", 30), ("closed_early", 10)]);
    assert_eq!(by_outcome(&seen.requests), ended);
    assert_eq!((server.accepted, server.requests), (10, 40));
}

#[test]
fn a_server_may_announce_its_end_and_finish_what_it_has() {
    let ask = Ask { requests: Some(40), ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet(&[]);
        while let Some(stream) = visit.next_request() {
            if stream == 19 {
                visit.send(go_away(stream, ErrorCode::NoError));
            }
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert_eq!(by_outcome(&seen.connections), BTreeMap::from([("closed_as_announced", 4)]));
    assert_eq!(server.accepted, 4);
}

#[test]
fn what_a_server_that_ends_has_not_processed_is_told_apart() {
    let (seen, server) = drive(&MANY, |visit, _| {
        visit.greet(&[]);
        let Some(streams) = visit.next_requests(4) else { return };
        visit.send(go_away(streams[1], ErrorCode::NoError));
        visit.respond(streams[1]);
        visit.respond(streams[0]);
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 20), ("gone_away", 20)]));
    assert_eq!((server.accepted, server.requests), (10, 40));
}

#[test]
fn a_server_may_end_before_it_takes_any_request() {
    let (seen, server) = drive(&FEW, |visit, _| {
        visit.greet(&[]);
        visit.send(go_away(0, ErrorCode::NoError));
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("gone_away", 5)]));
    assert_eq!(server.accepted, 5);
}

#[test]
fn a_server_that_ends_with_an_error_is_told_apart() {
    let (seen, _) = drive(&FEW, |visit, _| {
        visit.greet(&[]);
        while let Some(stream) = visit.next_request() {
            visit.send(go_away(stream, ErrorCode::InternalError));
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
    assert_eq!(by_outcome(&seen.connections), BTreeMap::from([("gone_away", 5)]));
}

#[test]
fn a_server_that_never_speaks_lets_all_that_wait_time_out() {
    let ask = Ask { requests: Some(4), timeout_ms: WAITED_MS, ..MANY };
    let (seen, server) = drive(&ask, |_, _| {});
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("timed_out_waiting", 4)]));
    assert_eq!(server.accepted, 1);
}

// ---- the rest of a load -------------------------------------------------------------------------

#[test]
fn a_connection_carries_no_more_requests_than_it_may() {
    let ask = Ask { requests_per_connection: Some(5), ..MANY };
    let (seen, _) = answered(&ask, |visit, stream| visit.respond(stream));
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert!(seen.connections.iter().all(|row| row["requests"] <= 5));
}

#[test]
fn arrivals_of_the_open_model_take_streams() {
    let ask =
        Ask { rate_per_s: Some(1_000), requests: None, duration_ms: 400, connections: 2, ..MANY };
    let (seen, server) = answered(&ask, |visit, stream| {
        std::thread::sleep(Duration::from_millis(3));
        visit.respond(stream);
    });
    assert_eq!(seen.requests.len(), 400);
    assert_eq!(server.accepted, 2);
    assert!(deepest(&seen) == 4);
}

/// Arrivals at 100/s for two connections with eight streams each.
const ARRIVING: Ask = Ask {
    rate_per_s: Some(100),
    requests: None,
    duration_ms: 1_000,
    streams: Some(8),
    connections: 2,
    ..ASK
};

/// Requests that were not sent when they were due, or not answered before `within_ms` had passed.
fn late(seen: &Seen, within_ms: u64) -> usize {
    let is_late = |row: &&drive::Row| row["done_ns"] >= row["due_ns"] + within_ms * 1_000_000;
    seen.requests.iter().filter(is_late).count()
}

#[test]
fn arrivals_pass_over_a_connection_that_takes_fewer_streams_than_it_did() {
    let (seen, _) = drive(&ARRIVING, |visit, number| {
        visit.greet(&[]);
        let Some(stream) = visit.next_request() else { return };
        if number == 0 {
            // Its places were offered when it took eight streams.
            visit.greet(&[(Setting::MaxConcurrentStreams, 1)]);
            std::thread::sleep(Duration::from_millis(600));
        }
        visit.respond(stream);
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 100)]));
    // The one that it is slow with, and what a busy machine adds.
    let late = late(&seen, 300);
    assert!(late < 4, "{late}");
}

#[test]
fn arrivals_pass_over_a_connection_that_ends_with_what_it_has() {
    let (seen, server) = drive(&ARRIVING, |visit, number| {
        visit.greet(&[]);
        if number == 0 {
            let Some(streams) = visit.next_requests(3) else { return };
            visit.send(go_away(streams[2], ErrorCode::NoError));
            visit.respond(streams[0]);
            visit.respond(streams[1]);
            std::thread::sleep(Duration::from_millis(600));
            visit.respond(streams[2]);
        }
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 100)]));
    // The one that it is slow with, and what a busy machine adds.
    let late = late(&seen, 300);
    assert!(late < 4, "{late}");
    // Its places are back when it has been replaced.
    assert_eq!(server.accepted, 3);
    assert!(carried(&seen).into_iter().all(|requests| requests >= 3), "{:?}", carried(&seen));
}

/// How many requests each connection has carried.
fn carried(seen: &Seen) -> Vec<u64> {
    seen.connections.iter().map(|row| row["requests"]).collect()
}

#[test]
fn arrivals_pass_over_a_connection_that_has_its_last_request() {
    let ask = Ask { requests_per_connection: Some(10), ..ARRIVING };
    let (seen, _) = drive(&ask, |visit, number| {
        visit.greet(&[]);
        let mut requests = 0;
        while let Some(stream) = visit.next_request() {
            requests += 1;
            // The client has both before the next arrival.
            let is_last = number == 0 && requests == 10;
            std::thread::sleep(Duration::from_millis(if is_last { 400 } else { 0 }));
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 100)]));
    let late = late(&seen, 200);
    assert!(late < 4, "{late}");
    assert!(carried(&seen).into_iter().all(|requests| requests <= 10));
}

#[test]
fn arrivals_pass_over_a_connection_without_streams_until_it_is_replaced() {
    let ask = Ask { duration_ms: 2 * WAITED_MS, timeout_ms: WAITED_MS / 2, ..ARRIVING };
    let (seen, server) = drive(&ask, |visit, number| {
        if number == 0 {
            return shutting(visit);
        }
        visit.greet(&[]);
        while let Some(stream) = visit.next_request() {
            visit.respond(stream);
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 400)]));
    let late = late(&seen, 300);
    assert!(late < 4, "{late}");
    let ended = BTreeMap::from([("still_open", 2), ("timed_out_sending", 1)]);
    assert_eq!(by_outcome(&seen.connections), ended);
    assert_eq!(server.accepted, 3);
}
