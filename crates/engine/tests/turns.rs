//! Loads that take turns: they rest in between, with their connections open and their clock still.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

#[allow(dead_code)]
mod drive;
// Another test uses the rest.
#[allow(dead_code, unused_imports)]
mod hostile;

use std::collections::BTreeMap;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use plimsoll_engine::progress::{EndedBy, Event, Finish, Progress};
use plimsoll_engine::turns::{Order, Together};
use plimsoll_system as system;

use drive::{ASK, Ask, by_outcome};
use hostile::{Counts, Hostile, POLITE, Script, Then, right};

const MS: u64 = 1_000_000;

/// 400 ms of the closed model.
const LOAD: Ask = Ask { requests: None, duration_ms: 400, ..ASK };

/// The same for longer than any turns take.
const LONG: Ask = Ask { duration_ms: 10_000, ..LOAD };

/// A turn as it was told: when it began and ended, by the time of the load, and its counts.
struct Told {
    start_ns: u64,
    start_monotonic_ns: u64,
    progress: Progress,
}

struct Ran {
    seen: drive::Seen,
    turns: Vec<Told>,
    counts: Counts,
}

fn order(duration_ns: u64) -> Order {
    Order { duration_ns, together: None }
}

/// Gives a load turns of 100 ms with rests, so many at most. A load whose schedule is over gets an
/// empty one, by which threads that rested before its end have ended too.
fn take_turns(server: Hostile, ask: &Ask, rest: Duration, most_turns: usize) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let spec = ask.spec(server.address(), folder.path());
    let (send, orders) = channel();
    let mut send: Option<Sender<Order>> = Some(send);
    let mut turns = Vec::new();
    let mut is_over = false;
    let observe = |event: &Event| {
        if is_over {
            send = None;
        }
        if let Event::Turn { start_ns, start_monotonic_ns, progress } = event {
            if !is_over {
                turns.push(Told {
                    start_ns: *start_ns,
                    start_monotonic_ns: *start_monotonic_ns,
                    progress: progress.clone(),
                });
                std::thread::sleep(rest);
            }
            is_over |= progress.at_ns >= ask.duration_ms * MS;
        }
        if matches!(event, Event::Ready | Event::Turn { .. }) {
            if turns.len() == most_turns {
                send = None;
            }
            if let Some(send) = &send {
                send.send(order(if is_over { 0 } else { 100 * MS })).unwrap();
            }
        }
    };
    let finish = plimsoll_engine::run_in_turns(&spec, &orders, observe, || false).unwrap();
    let counts = server.stop();
    Ran { seen: drive::seen(finish, folder.path()), turns, counts }
}

fn polite(script: Script) -> Hostile {
    Hostile::start(POLITE, move |_| script.clone())
}

fn ended_by(finish: &Finish) -> EndedBy {
    finish.ended_by
}

#[test]
fn the_schedule_is_as_long_as_all_turns_together() {
    let ran = take_turns(polite(Script::send(right())), &LOAD, Duration::from_millis(150), 99);
    assert_eq!(ended_by(&ran.seen.finish), EndedBy::Schedule);
    // A turn lasts until its last response has come, so four of them are more than 400 ms.
    assert!(ran.turns.len() <= 4, "{}", ran.turns.len());
    assert!(ran.seen.finish.ended_ns >= 400 * MS);
    assert!(ran.turns.windows(2).all(|pair| pair[1].start_ns == pair[0].progress.at_ns));
    let rests = ran.turns.windows(2).map(|pair| {
        let wall = pair[1].start_monotonic_ns - pair[0].start_monotonic_ns;
        wall - (pair[1].start_ns - pair[0].start_ns)
    });
    assert!(rests.into_iter().all(|rest| rest >= 150 * MS));
}

#[test]
fn connections_stay_open_and_nothing_is_in_flight_while_a_load_rests() {
    let ran = take_turns(polite(Script::send(right())), &LONG, Duration::from_millis(30), 3);
    assert_eq!(ended_by(&ran.seen.finish), EndedBy::Interrupt);
    assert_eq!(ran.counts.accepted, LOAD.connections);
    assert_eq!(ran.turns.len(), 3);
    for turn in &ran.turns {
        assert_eq!(turn.progress.in_flight, 0);
        assert_eq!(turn.progress.connections_open, LOAD.connections);
        assert_eq!(turn.progress.places_open, LOAD.connections as u64);
        assert_eq!(turn.progress.requests_sent, turn.progress.requests_ended);
    }
    // What was begun in a turn has ended in it: no request spans a rest.
    assert_eq!(by_outcome(&ran.seen.requests).keys().copied().collect::<Vec<_>>(), ["ok"]);
    assert_eq!(ran.counts.requests as u64, ran.seen.finish.sent);
    for row in &ran.seen.requests {
        let turn = ran.turns.iter().rev().find(|turn| turn.start_ns <= row["sent_ns"]).unwrap();
        assert!(row["done_ns"] <= turn.progress.at_ns, "{row:?}");
        assert!(row["due_ns"] < turn.start_ns + 100 * MS, "{row:?}");
    }
}

#[test]
fn a_slow_response_belongs_to_the_turn_that_asked_for_it() {
    // Longer than a turn, so that each turn has one request on each connection.
    let slow = Script::silence().and(Duration::from_millis(150), right());
    let ran = take_turns(polite(slow), &LONG, Duration::from_millis(10), 2);
    assert_eq!(by_outcome(&ran.seen.requests)["ok"], 2 * LOAD.connections as u64);
    assert!(ran.turns[0].progress.at_ns >= 150 * MS);
}

#[test]
fn connections_that_a_server_closes_during_a_rest_are_replaced_and_no_request_fails() {
    // Longer than a turn, so that each turn has one request on each connection, which is closed in
    // the rest.
    let closing = Script::silence()
        .and(Duration::from_millis(150), right())
        .and(Duration::from_millis(15), "")
        .then(Then::Close);
    let ran = take_turns(polite(closing), &LONG, Duration::from_millis(500), 3);
    let each = 3 * LOAD.connections as u64;
    assert_eq!(by_outcome(&ran.seen.requests), BTreeMap::from([("ok", each)]));
    assert_eq!(ran.seen.finish.opened, each);
}

#[test]
fn arrivals_keep_their_rate_by_the_time_of_the_load() {
    let ask = Ask { rate_per_s: Some(500), ..LOAD };
    let ran = take_turns(polite(Script::send(right())), &ask, Duration::from_millis(60), 99);
    assert_eq!(ended_by(&ran.seen.finish), EndedBy::Schedule);
    let mut dues: Vec<_> = ran.seen.requests.iter().map(|row| row["due_ns"]).collect();
    dues.sort_unstable();
    // Between two turns arrivals are left out, for as long as the last responses take.
    let gaps = dues.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.clone().filter(|gap| gap.abs_diff(2 * MS) <= 1).count() >= dues.len() - 5);
    assert!(gaps.into_iter().all(|gap| gap >= 2 * MS - 1), "{dues:?}");
}

#[test]
fn no_arrival_is_due_while_a_turn_waits_for_its_last_responses() {
    let slow = Script::silence().and(Duration::from_millis(70), right());
    let open = Ask { rate_per_s: Some(200), connections: 40, ..LONG };
    let ran = take_turns(polite(slow), &open, Duration::from_millis(10), 4);
    assert!(ran.turns.iter().all(|turn| turn.progress.at_ns >= turn.start_ns + 150 * MS));
    for row in &ran.seen.requests {
        let begun = ran.turns.iter().rev().find(|turn| turn.start_ns <= row["due_ns"]).unwrap();
        assert!(row["due_ns"] <= begun.start_ns + 100 * MS, "{row:?}");
    }
    // 20 in each turn of 100 ms.
    assert!((70..=90).contains(&ran.seen.requests.len()), "{}", ran.seen.requests.len());
}

#[test]
fn several_threads_take_their_turns_together() {
    let ask = Ask { threads: 2, connections: 6, ..LOAD };
    let ran = take_turns(polite(Script::send(right())), &ask, Duration::from_millis(40), 99);
    assert_eq!(ended_by(&ran.seen.finish), EndedBy::Schedule);
    assert_eq!(ran.seen.finish.threads, 2);
    // The schedule ends requests that are in flight at its end.
    let whole = ran.turns.iter().filter(|turn| turn.progress.at_ns < 400 * MS);
    assert!(whole.into_iter().all(|turn| turn.progress.in_flight == 0));
}

#[test]
fn a_load_that_never_gets_a_turn_opens_and_sends_nothing() {
    for rate_per_s in [None, Some(500)] {
        let ask = Ask { rate_per_s, ..LOAD };
        let ran = take_turns(polite(Script::send(right())), &ask, Duration::ZERO, 0);
        assert_eq!(ended_by(&ran.seen.finish), EndedBy::Interrupt);
        assert_eq!((ran.seen.finish.opened, ran.counts.accepted), (0, 0), "{rate_per_s:?}");
        assert_eq!((ran.seen.finish.sent, ran.counts.requests), (0, 0));
    }
}

#[test]
fn a_long_turn_reports_progress_once_a_second() {
    let server = polite(Script::send(right()));
    let folder = tempfile::tempdir().unwrap();
    let ask = Ask { duration_ms: 1_300, ..LOAD };
    let spec = ask.spec(server.address(), folder.path());
    let (send, orders) = channel();
    send.send(order(2_000 * MS)).unwrap();
    let mut send = Some(send);
    let mut heard = Vec::new();
    let observe = |event: &Event| match event {
        Event::Ready => heard.push("ready"),
        Event::Started { .. } => heard.push("started"),
        Event::Progress(_) => heard.push("progress"),
        Event::Turn { .. } => {
            heard.push("turn");
            drop(send.take());
        }
    };
    let finish = plimsoll_engine::run_in_turns(&spec, &orders, observe, || false).unwrap();
    server.stop();
    assert_eq!(finish.ended_by, EndedBy::Schedule);
    // A busy machine may take several seconds.
    heard.dedup();
    assert_eq!(heard, ["ready", "started", "progress", "turn"]);
}

#[test]
fn a_turn_beside_other_engines_begins_at_its_instant_and_at_their_time_of_the_load() {
    let server = polite(Script::send(right()));
    let folder = tempfile::tempdir().unwrap();
    let spec = LOAD.spec(server.address(), folder.path());
    let (send, orders) = channel();
    let mut send = Some(send);
    let mut asked = Vec::new();
    let mut began = Vec::new();
    let observe = |event: &Event| {
        if asked.len() == 2 && matches!(event, Event::Turn { .. }) {
            send = None;
        }
        if let Event::Turn { start_ns, start_monotonic_ns, .. } = event {
            began.push((*start_ns, *start_monotonic_ns));
        }
        if let (Event::Ready | Event::Turn { .. }, Some(send)) = (event, &send) {
            // The second turn begins when all others have passed the end of the schedule.
            let start_ns = 500 * MS * asked.len() as u64;
            let begin_ns = system::now_ns() + 30 * MS;
            asked.push((start_ns, begin_ns));
            let together = Some(Together { begin_ns, start_ns });
            send.send(Order { duration_ns: 50 * MS, together }).unwrap();
        }
    };
    let finish = plimsoll_engine::run_in_turns(&spec, &orders, observe, || false).unwrap();
    server.stop();
    assert_eq!(finish.ended_by, EndedBy::Schedule);
    assert_eq!(began.len(), 2);
    for ((start_ns, began_ns), (asked_ns, begin_ns)) in began.into_iter().zip(asked) {
        assert_eq!(start_ns, asked_ns);
        assert!(began_ns >= begin_ns, "{began_ns} {begin_ns}");
    }
}
