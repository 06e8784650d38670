//! Loads of every shape against servers that count: what ends by the schedule, what the open model
//! makes of a server that fails, and connections that are replaced on purpose.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use plimsoll_engine::progress::{EndedBy, Finish};
use plimsoll_engine::sample::NEVER;

use drive::{ASK, Ask, REQUESTS, Row, by_outcome, drive, drive_alone};
use hostile::{Accept, BODY, Counts, Hostile, Manner, POLITE, Script, Then, head, right};

/// Ends by the schedule, soon.
const BRIEFLY: Ask = Ask { requests: None, duration_ms: 400, ..ASK };

/// 200 arrivals at equal distances.
const OPEN: Ask = Ask { rate_per_s: Some(500), ..BRIEFLY };

const ARRIVALS: u64 = 200;

fn polite(script: Script) -> Hostile {
    Hostile::start(POLITE, move |_| script.clone())
}

fn outcomes<const N: usize>(expected: [(&'static str, u64); N]) -> BTreeMap<&'static str, u64> {
    BTreeMap::from(expected)
}

fn with_errno(rows: &[Row]) -> usize {
    rows.iter().filter(|row| row["errno"] != 0).count()
}

// ---- the closed model -------------------------------------------------------------------------

#[test]
fn what_has_not_ended_with_the_load_is_unfinished() {
    let (seen, counts) = drive(polite(Script::silence().then(Then::Hang)), &BRIEFLY);
    assert_eq!(by_outcome(&seen.requests), outcomes([("unfinished", 4)]));
    assert_eq!(by_outcome(&seen.connections), outcomes([("still_open", 4)]));
    assert_eq!((counts.accepted, counts.requests), (4, 4), "{counts:?}");
    assert!(seen.connections.iter().all(|row| row["closed_ns"] == NEVER));
}

#[test]
fn what_the_kernel_has_not_sent_of_a_request_is_counted() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let load = thread::spawn(move || {
        let body_bytes = 32 << 20;
        let ask = Ask { connections: 1, request_body_bytes: body_bytes, ..BRIEFLY };
        drive_alone(address, &ask).finish
    });
    let (mut server, _) = listener.accept().unwrap();
    let finish = load.join().unwrap();
    let mut received = Vec::new();
    server.read_to_end(&mut received).unwrap();
    // The kernel goes on when there is room at last.
    assert_eq!(finish.sent_bytes, received.len() as u64);
    assert!((1..finish.sent_bytes).contains(&finish.unsent_bytes), "{}", finish.unsent_bytes);
}

/// Puts load on a server that never responds, and interrupts it after 10 looks.
fn interrupt(ask: &Ask) -> Finish {
    let server = polite(Script::silence().then(Then::Hang));
    let folder = tempfile::tempdir().unwrap();
    let spec = ask.spec(server.address(), folder.path());
    let mut looks = 0;
    let interrupted = || {
        looks += 1;
        looks > 10
    };
    let finish = plimsoll_engine::run(&spec, |_| (), interrupted).unwrap();
    server.stop();
    assert_eq!(finish.ended_by, EndedBy::Interrupt);
    assert!(finish.ended_ns < spec.load.duration_ns() / 2, "{finish:?}");
    finish
}

#[test]
fn a_load_that_is_interrupted_ends_then() {
    let finish = interrupt(&Ask { requests: None, ..ASK });
    assert_eq!(finish.outcomes, outcomes([("unfinished", 4)]));
}

#[test]
fn what_has_begun_to_arrive_is_unfinished_all_the_same() {
    let (seen, counts) = drive(polite(Script::send(&right()[..50]).then(Then::Hang)), &BRIEFLY);
    assert_eq!(by_outcome(&seen.requests), outcomes([("unfinished", 4)]));
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == 50));
    assert_eq!((counts.requests, counts.played), (4, 4), "{counts:?}");
}

#[test]
fn what_was_sent_by_the_end_the_server_has_received() {
    let (seen, counts) = drive(polite(Script::send(right())), &BRIEFLY);
    assert_eq!(counts.requests as u64, seen.finish.sent, "{counts:?}");
    let ended = by_outcome(&seen.requests);
    let unfinished = ended.get("unfinished").copied().unwrap_or(0);
    assert_eq!(ended["ok"] + unfinished, counts.requests as u64);
    assert!(unfinished <= 4, "{ended:?}");
    assert_eq!((counts.accepted, seen.finish.opened), (4, 4));
}

#[test]
fn what_ends_after_the_load_is_unfinished_and_nothing_is_due_then() {
    let end_ns = 30_000_000;
    let ask = Ask { requests: None, duration_ms: 30, connections: 200, threads: 1, ..ASK };
    for _ in 0..5 {
        let (seen, _) = drive(polite(Script::send(right())), &ask);
        let late = |name: &'static str| {
            let instants = seen.requests.iter().map(move |row| row[name]);
            instants.filter(|&at_ns| at_ns >= end_ns && at_ns != NEVER).count()
        };
        assert_eq!(late("done_ns"), 0);
        assert_eq!(late("due_ns"), 0);
        let ended = by_outcome(&seen.requests);
        let is_known = |name: &&str| ["ok", "unfinished", "cancelled"].contains(name);
        assert!(ended.keys().all(is_known), "{ended:?}");
    }
}

#[test]
fn what_waits_for_its_connection_when_the_load_ends_is_cancelled() {
    let manner = Manner { accept: Accept::Never, backlog: 1, ..POLITE };
    let ask = Ask { connections: 30, ..BRIEFLY };
    let (seen, _) = drive(Hostile::start(manner, |_| Script::silence()), &ask);
    let ended = by_outcome(&seen.requests);
    assert!(ended.keys().all(|name| ["unfinished", "cancelled"].contains(name)), "{ended:?}");
    assert_eq!(ended.values().sum::<u64>(), 30);
    assert!(ended["cancelled"] > 0, "{ended:?}");
}

#[test]
fn without_keep_alive_no_request_has_failed_because_the_load_ended() {
    let ask = Ask { keep_alive: false, duration_ms: 50, connections: 16, ..BRIEFLY };
    let outcomes = |_| drive(polite(Script::send(right())), &ask).0.finish.outcomes;
    let ended: Vec<_> = (0..10).map(outcomes).collect();
    let names = ["ok", "unfinished", "cancelled"];
    assert!(ended.iter().flat_map(BTreeMap::keys).all(|name| names.contains(name)), "{ended:?}");
    assert!(ended.iter().any(|ended| ended.contains_key("cancelled")), "{ended:?}");
}

#[test]
fn arrivals_that_an_interrupt_finds_waiting_are_cancelled() {
    let finish = interrupt(&Ask { duration_ms: 10_000, ..OPEN });
    let names: Vec<_> = finish.outcomes.keys().copied().collect();
    assert_eq!(names, ["cancelled", "unfinished"], "{finish:?}");
}

#[test]
fn a_lost_connection_is_opened_again_so_that_the_concurrency_holds() {
    let scripts = |number: usize| match number {
        0..40 => Script::silence().then(Then::Reset),
        _ => Script::silence().then(Then::Hang),
    };
    let (seen, counts) = drive(Hostile::start(POLITE, scripts), &BRIEFLY);
    assert_eq!(by_outcome(&seen.requests), outcomes([("reset_waiting", 40), ("unfinished", 4)]));
    assert_eq!(by_outcome(&seen.connections), outcomes([("reset_waiting", 40), ("still_open", 4)]));
    assert_eq!((counts.accepted, counts.reset), (44, 40), "{counts:?}");
    assert_eq!(with_errno(&seen.requests), 40);
}

#[test]
fn without_keep_alive_every_request_has_a_connection_of_its_own() {
    let closing =
        [head(&format!("Connection: close\r\nContent-Length: {}\r\n", BODY.len())), BODY.to_vec()];
    let scripts = [
        (Script::send(closing.concat()).then(Then::Close), "closed_as_announced"),
        (Script::send(right()), "closed_by_driver"),
    ];
    for (script, end) in scripts {
        let (seen, counts) = drive(polite(script), &Ask { keep_alive: false, ..ASK });
        assert_eq!(by_outcome(&seen.requests), outcomes([("ok", REQUESTS as u64)]));
        assert_eq!(by_outcome(&seen.connections), outcomes([(end, REQUESTS as u64)]));
        assert_eq!((counts.accepted, counts.requests), (REQUESTS, REQUESTS), "{counts:?}");
    }
}

#[test]
fn a_connection_is_replaced_after_as_many_requests_as_asked() {
    let ask = Ask { connections: 1, requests_per_connection: Some(5), ..ASK };
    let (seen, counts) = drive(polite(Script::send(right())), &ask);
    assert_eq!(by_outcome(&seen.requests), outcomes([("ok", 40)]));
    assert_eq!((counts.accepted, counts.requests), (8, 40), "{counts:?}");
    assert!(seen.connections.iter().all(|row| row["requests"] == 5));
}

#[test]
fn the_counts_of_several_threads_add_up() {
    let ask = Ask { requests: Some(301), connections: 7, threads: 3, ..ASK };
    let scripts = |number: usize| match number % 3 {
        0 => Script::silence().then(Then::Reset),
        _ => Script::send(right()),
    };
    let (seen, counts) = drive(Hostile::start(POLITE, scripts), &ask);
    assert_eq!(by_outcome(&seen.requests), outcomes([("ok", 200), ("reset_waiting", 101)]));
    assert_eq!((counts.requests, counts.reset), (301, 101), "{counts:?}");
    assert_eq!(counts.accepted as u64, seen.finish.opened);
}

#[test]
fn connections_that_are_no_longer_asked_for_are_closed_when_their_answer_has_come() {
    let ask = Ask { connections: 8, duration_ms: 200, then: &[(200, 2), (200, 5)], ..BRIEFLY };
    let script = Script::silence().and(Duration::from_millis(5), right());
    let (seen, counts) = drive(polite(script), &ask);
    let connections = by_outcome(&seen.connections);
    assert_eq!(connections, outcomes([("closed_by_driver", 6), ("still_open", 5)]));
    assert_eq!((counts.accepted, seen.finish.opened), (11, 11), "{counts:?}");
    let ended = by_outcome(&seen.requests);
    assert!(ended.keys().all(|name| ["ok", "unfinished"].contains(name)), "{ended:?}");
}

#[test]
fn connections_come_and_go_with_their_level_and_no_request_is_lost() {
    let levels: &[(u64, usize)] =
        &[(100, 1), (100, 6), (100, 0), (100, 8), (100, 3), (60, 8), (100, 0), (100, 2)];
    for pause_ms in [0, 15, 130] {
        for (threads, pipeline) in [(1, 1), (3, 1), (1, 4)] {
            let ask = Ask {
                connections: 8,
                duration_ms: 100,
                then: levels,
                threads,
                pipeline,
                ..BRIEFLY
            };
            let script = Script::silence().and(Duration::from_millis(pause_ms), right());
            let (seen, counts) = drive(polite(script), &ask);
            let told = format!("{pause_ms} {threads} {pipeline} {counts:?} {:?}", seen.finish);
            let ended = by_outcome(&seen.requests);
            assert!(ended.keys().all(|name| ["ok", "unfinished"].contains(name)), "{told}");
            let ends = by_outcome(&seen.connections);
            assert!(
                ends.keys().all(|name| ["closed_by_driver", "still_open"].contains(name)),
                "{told}"
            );
            // A slow response may keep one longer that is no longer asked for.
            assert!(ends["still_open"] >= 2, "{told}");
            assert_eq!(counts.accepted as u64, seen.finish.opened, "{told}");
            // What is in flight at the end may not have been read by the server.
            let unfinished = ended.get("unfinished").copied().unwrap_or(0);
            let sent = seen.finish.sent;
            assert!((sent - unfinished..=sent).contains(&(counts.requests as u64)), "{told}");
            // Levels of 0 begin at 300 and 660 ms. A request may be due later by 40 ms, and by what
            // the engine itself was late.
            let late_ns = 40_000_000 + seen.finish.longest_pause_ns;
            let is_due = |row: &Row, from_ms: u64, until_ms: u64| {
                (from_ms * 1_000_000 + late_ns..until_ms * 1_000_000).contains(&row["due_ns"])
            };
            let at_rest = |row: &&Row| is_due(row, 300, 400) || is_due(row, 660, 760);
            assert_eq!(seen.requests.iter().filter(at_rest).count(), 0, "{told}");
        }
    }
}

#[test]
fn think_time_is_kept_when_a_connection_is_given_up_and_asked_for_again() {
    let ask = Ask {
        connections: 1,
        think_ms: 300,
        duration_ms: 100,
        then: &[(50, 0), (1_000, 1)],
        ..BRIEFLY
    };
    let (seen, counts) = drive(polite(Script::send(right())), &ask);
    // Due at 0, and at 150, 450, 750 and 1,050 ms.
    assert!(seen.requests.len() <= 5, "{:?}", seen.requests);
    assert_eq!(counts.accepted, 2);
}

#[test]
fn a_body_without_end_does_not_keep_the_others_from_being_served() {
    let scripts = |number: usize| match number {
        0 => Script::send(head("Content-Length: 1000000000000\r\n"))
            .followed_by(Script::repeat(vec![b'x'; 1 << 20], 1 << 20)),
        _ => Script::send(right()),
    };
    let ask = Ask { duration_ms: 1_000, ..BRIEFLY };
    let (seen, counts) = drive(Hostile::start(POLITE, scripts), &ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!((counts.accepted, counts.given_up), (4, 1), "{ended:?} {counts:?}");
    assert!(ended.keys().all(|name| ["ok", "unfinished"].contains(name)), "{ended:?}");
    assert!(ended["ok"] > 3, "{ended:?}");
}

// ---- the open model ---------------------------------------------------------------------------

/// Every arrival of the schedule is a row, whatever becomes of it.
fn drive_open(server: Hostile, ask: &Ask) -> (BTreeMap<&'static str, u64>, drive::Seen, Counts) {
    let (seen, counts) = drive(server, ask);
    let ended = by_outcome(&seen.requests);
    assert_eq!(ended.values().sum::<u64>(), ARRIVALS, "{ended:?} {counts:?}");
    (ended, seen, counts)
}

#[test]
fn every_arrival_is_sent_to_a_server_that_behaves() {
    // A while without any, so that a server on a busy machine catches up.
    let ask = Ask { then: &[(2_000, 0)], ..OPEN };
    let (ended, seen, counts) = drive_open(polite(Script::send(right())), &ask);
    assert_eq!(counts.requests as u64, seen.finish.sent);
    assert_eq!((counts.accepted, seen.finish.opened), (4, 4));
    assert_eq!(ended, outcomes([("ok", ARRIVALS)]));
}

#[test]
fn arrivals_that_find_no_free_connection_wait_and_are_not_forgotten() {
    let (ended, seen, counts) = drive_open(polite(Script::silence().then(Then::Hang)), &OPEN);
    assert_eq!(ended, outcomes([("not_sent", ARRIVALS - 4), ("unfinished", 4)]));
    assert_eq!((counts.accepted, counts.requests), (4, 4), "{counts:?}");
    let dues: Vec<_> = seen.requests.iter().map(|row| row["due_ns"]).collect();
    assert!(dues.iter().all(|&due_ns| due_ns < 400_000_000));
    assert_eq!(dues.iter().collect::<std::collections::BTreeSet<_>>().len(), dues.len());
}

#[test]
fn arrivals_to_a_frozen_server_keep_their_due_instants() {
    let scripts = |number: usize| match number {
        20..24 => Script::silence().and(Duration::from_millis(150), right()),
        _ => Script::send(right()),
    };
    let (ended, seen, _) = drive_open(Hostile::start(POLITE, scripts), &OPEN);
    assert!(ended["ok"] > 24, "{ended:?}");
    let mut dues: Vec<_> = seen.requests.iter().map(|row| row["due_ns"]).collect();
    dues.sort_unstable();
    let apart: Vec<_> = dues.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(apart.iter().all(|&apart_ns| apart_ns.abs_diff(2_000_000) <= 1), "{apart:?}");
}

#[test]
fn arrivals_when_nobody_listens_are_refused_or_not_sent() {
    let manner = Manner { accept: Accept::Refuse, ..POLITE };
    let (ended, seen, _) = drive_open(Hostile::start(manner, |_| Script::silence()), &OPEN);
    let possible = ["connect_refused", "not_sent", "cancelled"];
    assert!(ended.keys().all(|name| possible.contains(name)), "{ended:?}");
    assert!(ended["connect_refused"] > 0, "{ended:?}");
    assert_eq!((seen.finish.sent, seen.finish.opened), (0, 0));
    let refused = by_outcome(&seen.connections);
    assert_eq!(refused.keys().collect::<Vec<_>>(), [&"connect_refused"]);
}

/// 40 arrivals, apart enough for the server to act in between, and a while without any.
const SELDOM: Ask =
    Ask { rate_per_s: Some(20), duration_ms: 2_000, then: &[(300, 0)], connections: 2, ..OPEN };

#[test]
fn a_pool_whose_idle_connections_are_closed_opens_new_ones() {
    for then in [Then::Close, Then::Reset] {
        let script = Script::send(right()).and(Duration::from_millis(3), "").then(then);
        let (seen, counts) = drive(polite(script), &SELDOM);
        let ended = by_outcome(&seen.requests);
        assert_eq!(ended.values().sum::<u64>(), 40);
        assert_eq!(ended["ok"], counts.played as u64, "{ended:?} {counts:?}");
        assert!(by_outcome(&seen.connections)["closed_idle"] > 0);
        assert_eq!(counts.accepted as u64, seen.finish.opened);
    }
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_connection_and_no_request() {
    let script = Script::send(right()).and(Duration::from_millis(3), right()).then(Then::Hang);
    let (seen, counts) = drive(polite(script), &SELDOM);
    assert_eq!(by_outcome(&seen.requests), outcomes([("ok", 40)]));
    assert_eq!(by_outcome(&seen.connections)["unsolicited"], 40);
    assert_eq!(counts.played, 40);
}

#[test]
fn a_server_may_close_an_idle_connection_with_a_response() {
    let goodbye = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let script = Script::send(right()).and(Duration::from_millis(3), goodbye).then(Then::Close);
    let (seen, counts) = drive(polite(script), &SELDOM);
    assert_eq!(by_outcome(&seen.requests), outcomes([("ok", 40)]));
    let mut ends = by_outcome(&seen.connections);
    // On a busy machine the end of the stream may come with the response.
    let idle = ends.remove("closed_idle").unwrap_or(0);
    assert!(idle < 20, "{idle}");
    assert_eq!(ends, outcomes([("closed_as_announced", 40 - idle)]));
    assert_eq!(counts.played, 40);
}
