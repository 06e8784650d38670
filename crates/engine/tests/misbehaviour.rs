//! Every way a server can misbehave has one documented outcome, and the engine's counts are the
//! server's own, exactly: nothing is counted twice, nothing is forgotten, no failure is a success.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]

mod drive;
mod hostile;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use plimsoll_engine::outcome::Outcome;
use plimsoll_engine::sample::{BodySample, Comparison, NO_BYTES};

use drive::{ASK, Ask, REQUESTS, Row, Seen, WAITED_MS, by_outcome, drive};
use hostile::{Accept, BODY, Counts, Hostile, Listen, Manner, POLITE, Script, Then};
use hostile::{chunked, head, right};

const ECONNREFUSED: u64 = 111;
const ECONNRESET: u64 = 104;

/// Only status and framing are looked at.
const ASK_ANYTHING: Ask = Ask { status: (200, 399), length_bytes: None, body: None, ..ASK };

const FEW: usize = 8;

/// For servers that let each request run into its timeout.
const ASK_IMPATIENTLY: Ask =
    Ask { requests: Some(FEW), connections: FEW, timeout_ms: WAITED_MS, ..ASK };

/// For servers that do something between two requests of a connection.
const ASK_SELDOM: Ask = Ask { requests: Some(FEW), think_ms: 1_000, ..ASK };

/// All requests end in one way, all connections in one way, with the same errno.
fn assert_all_end(seen: &Seen, request: Outcome, connection: Outcome, errno: u64) {
    let requests = BTreeMap::from([(request.name(), seen.requests.len() as u64)]);
    let connections = BTreeMap::from([(connection.name(), seen.connections.len() as u64)]);
    assert_eq!(by_outcome(&seen.requests), requests);
    assert_eq!(by_outcome(&seen.connections), connections);
    let errnos: BTreeSet<_> = seen.requests.iter().map(|row| row["errno"]).collect();
    assert_eq!(errnos, BTreeSet::from([errno]));
}

/// A script for every request; each of them ends in `outcome` and takes its connection with it.
fn loses_each_connection(
    ask: &Ask,
    script: Script,
    outcome: Outcome,
    errno: u64,
) -> (Seen, Counts) {
    let server = Hostile::start(POLITE, move |_| script.clone());
    let (seen, counts) = drive(server, ask);
    assert_all_end(&seen, outcome, outcome, errno);
    assert_eq!(counts.requests, seen.requests.len(), "{counts:?}");
    assert_eq!(counts.accepted, seen.requests.len(), "{counts:?}");
    assert_eq!(seen.connections.len(), seen.requests.len());
    (seen, counts)
}

/// A script for every request; each of them ends in `outcome`, and the connections stay.
fn keeps_connections(
    ask: &Ask,
    scripts: impl Fn(usize) -> Script + Send + Sync + 'static,
    outcome: Outcome,
) -> Seen {
    let (seen, counts) = drive(Hostile::start(POLITE, scripts), ask);
    assert_all_end(&seen, outcome, Outcome::ClosedByDriver, 0);
    assert_eq!(
        (counts.requests, counts.played),
        (seen.requests.len(), seen.requests.len()),
        "{counts:?}"
    );
    assert_eq!(counts.accepted, ask.connections, "{counts:?}");
    assert_eq!(counts.closed_by_client, ask.connections, "{counts:?}");
    seen
}

/// A script for every request; each of them is right, and ends its connection in `connection`.
fn replaces_connections(
    ask: &Ask,
    script: Script,
    request: Outcome,
    connection: Outcome,
) -> Counts {
    let server = Hostile::start(POLITE, move |_| script.clone());
    let (seen, counts) = drive(server, ask);
    assert_all_end(&seen, request, connection, 0);
    assert_eq!(
        (counts.requests, counts.played),
        (seen.requests.len(), seen.requests.len()),
        "{counts:?}"
    );
    assert_eq!(counts.accepted, seen.requests.len(), "{counts:?}");
    counts
}

fn half(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() / 2]
}

fn head_and_half_a_body() -> Vec<u8> {
    [head(&format!("Content-Length: {}\r\n", BODY.len())), half(BODY).to_vec()].concat()
}

fn whole_head() -> Vec<u8> {
    head(&format!("Content-Length: {}\r\n", BODY.len()))
}

fn within_head() -> &'static [u8] {
    b"HTTP/1.1 200 OK\r\nContent-Le"
}

const MS: Duration = Duration::from_millis(1);

// ---- the control ------------------------------------------------------------------------------

#[test]
fn a_server_that_behaves_is_right() {
    let seen = keeps_connections(&ASK, |_| Script::send(right()), Outcome::Ok);
    assert_eq!(seen.finish.bodies_compared, REQUESTS as u64);
    assert!(seen.requests.iter().all(|row| row["status"] == 200));
    assert!(seen.requests.iter().all(|row| row["body_bytes"] == BODY.len() as u64));
    assert!(seen.requests.iter().all(|row| row["compared"] == Comparison::Compared as u64));
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == right().len() as u64));
}

#[test]
fn of_long_bodies_the_first_are_compared_and_then_a_sample() {
    const LONG: &[u8] = &[b'x'; 1 << 20];
    const MANY: usize = 2_500;
    let answer = [head("Content-Length: 1048576\r\n"), LONG.to_vec()].concat();
    let ask = Ask { requests: Some(MANY), length_bytes: None, body: Some(LONG), ..ASK };
    let (seen, _) = drive(
        Hostile::start(POLITE, move |_| Script::send(answer.clone())),
        &Ask { body_sample_ratio: 0.01, threads: 2, ..ask },
    );
    let compared = |row: &&Row| row["compared"] == Comparison::Compared as u64;
    let number = seen.requests.iter().filter(compared).count();
    // Of 500 answers behind the first 2,000 one in a hundred is drawn: 5, and never 30.
    assert!((2_000..2_030).contains(&number), "{number}");
    assert_eq!(seen.finish.bodies_compared, number as u64);
    assert!(seen.requests.iter().all(|row| row["compared"] <= Comparison::Compared as u64));
}

#[test]
fn where_no_body_is_expected_or_it_never_came_to_it_none_was_compared() {
    let wrong_length = Ask { length_bytes: Some(7), ..ASK };
    for (ask, outcome) in [(ASK_ANYTHING, Outcome::Ok), (wrong_length, Outcome::WrongLength)] {
        let seen = keeps_connections(&ask, |_| Script::send(right()), outcome);
        assert_eq!(seen.finish.bodies_compared, 0);
        let none = u64::from(Comparison::NotExpected as u32);
        assert!(seen.requests.iter().all(|row| row["compared"] == none));
        assert!(seen.requests.iter().all(|row| row["body_bytes"] == BODY.len() as u64));
    }
    let cut = Script::send(head_and_half_a_body()).then(Then::Close);
    let (seen, _) = loses_each_connection(&ASK, cut, Outcome::ClosedEarly, 0);
    assert!(seen.requests.iter().all(|row| row["body_bytes"] == u64::from(NO_BYTES)));
}

#[test]
fn a_sample_of_bodies_is_written_down_where_none_is_expected_and_all_are_asked_for() {
    let sampled = Ask { is_sampled: true, ..ASK_ANYTHING };
    let chunked =
        [head("Transfer-Encoding: chunked\r\n"), b"2\r\nab\r\n1\r\nc\r\n0\r\n\r\n".to_vec()]
            .concat();
    for (answer, body) in [(right(), BODY), (chunked, &b"abc"[..])] {
        let ask = Ask { length_bytes: None, threads: 2, ..sampled };
        let seen = keeps_connections(&ask, move |_| Script::send(answer.clone()), Outcome::Ok);
        let size = BodySample::SIZE + body.len();
        assert_eq!(seen.bodies.len(), REQUESTS * size);
        assert!(seen.bodies.chunks(size).all(|chunk| &chunk[BodySample::SIZE..] == body));
        let none = u64::from(Comparison::NotExpected as u32);
        assert!(seen.requests.iter().all(|row| row["compared"] == none));
    }
    let with_a_body = Ask { is_sampled: true, ..ASK };
    let compares_none = Ask { body_sample_ratio: 0.0, ..sampled };
    let wrong = Ask { status: (201, 201), ..sampled };
    for (ask, outcome) in [
        (with_a_body, Outcome::Ok),
        (compares_none, Outcome::Ok),
        (ASK_ANYTHING, Outcome::Ok),
        (wrong, Outcome::WrongStatus),
    ] {
        let seen = keeps_connections(&ask, |_| Script::send(right()), outcome);
        assert!(seen.bodies.is_empty());
    }
}

// ---- connecting -------------------------------------------------------------------------------

#[test]
fn nobody_listens() {
    let manner = Manner { accept: Accept::Refuse, ..POLITE };
    let (seen, counts) = drive(Hostile::start(manner, |_| Script::silence()), &ASK);
    assert_all_end(&seen, Outcome::ConnectRefused, Outcome::ConnectRefused, ECONNREFUSED);
    assert_eq!((seen.finish.sent, seen.finish.opened), (0, 0));
    assert_eq!(seen.finish.refused, REQUESTS as u64);
    assert_eq!(counts, Counts::default());
}

#[test]
fn a_server_that_never_accepts_has_opened_and_not_answered() {
    let manner = Manner { accept: Accept::Never, ..POLITE };
    let (seen, counts) = drive(Hostile::start(manner, |_| Script::silence()), &ASK_IMPATIENTLY);
    assert_all_end(&seen, Outcome::TimedOutWaiting, Outcome::TimedOutWaiting, 0);
    assert_eq!(seen.finish.opened, FEW as u64);
    assert_eq!(counts, Counts::default());
}

#[test]
fn a_full_queue_of_a_server_that_never_accepts_lets_requests_time_out() {
    let manner = Manner { accept: Accept::Never, backlog: 16, ..POLITE };
    let ask = Ask { requests: Some(60), connections: 60, ..ASK_IMPATIENTLY };
    let (seen, counts) = drive(Hostile::start(manner, |_| Script::silence()), &ask);
    // Who gets into the queue, and who only believes so, is up to the kernel.
    let waited = ["connect_timeout", "timed_out_waiting"];
    assert!(by_outcome(&seen.requests).keys().all(|name| waited.contains(name)));
    assert!(seen.finish.opened >= 16, "{:?}", seen.finish);
    assert_eq!(counts.accepted, 0);
}

#[test]
fn a_short_queue_that_is_emptied_slowly_serves_everybody_in_the_end() {
    let manner = Manner { accept: Accept::Every(Duration::from_millis(10)), backlog: 16, ..POLITE };
    let ask = Ask { requests: Some(60), connections: 60, ..ASK };
    let (seen, counts) = drive(Hostile::start(manner, |_| Script::send(right())), &ask);
    assert_all_end(&seen, Outcome::Ok, Outcome::ClosedByDriver, 0);
    assert_eq!((counts.accepted, counts.played), (60, 60), "{counts:?}");
    assert_eq!(seen.finish.opened, 60);
}

#[test]
fn a_connection_reset_on_accept_is_lost_before_its_answer() {
    let manner = Manner { listen: Listen::Nothing, ..POLITE };
    let (seen, counts) =
        drive(Hostile::start(manner, |_| Script::silence().then(Then::Reset)), &ASK);
    // The reset may come before, while or after the request is sent.
    let lost = ["connect_reset", "reset_sending", "reset_waiting"];
    let outcomes = by_outcome(&seen.requests);
    assert!(outcomes.keys().all(|name| lost.contains(name)), "{outcomes:?}");
    assert_eq!(outcomes, by_outcome(&seen.connections));
    assert!(seen.requests.iter().all(|row| row["errno"] != 0));
    assert_eq!((counts.accepted, counts.reset), (REQUESTS, REQUESTS), "{counts:?}");
}

// ---- reset ------------------------------------------------------------------------------------

#[test]
fn reset_while_the_request_is_sent() {
    let manner = Manner { listen: Listen::Nothing, ..POLITE };
    let ask = Ask { requests: Some(FEW), request_body_bytes: 8 << 20, ..ASK };
    let script = Script::silence().and(50 * MS, "").then(Then::Reset);
    let (seen, counts) = drive(Hostile::start(manner, move |_| script.clone()), &ask);
    assert_all_end(&seen, Outcome::ResetSending, Outcome::ResetSending, ECONNRESET);
    assert_eq!((counts.accepted, counts.reset), (FEW, FEW), "{counts:?}");
}

#[test]
fn reset_before_the_head() {
    let script = Script::silence().then(Then::Reset);
    let (_, counts) = loses_each_connection(&ASK, script, Outcome::ResetWaiting, ECONNRESET);
    assert_eq!(counts.reset, REQUESTS);
}

#[test]
fn reset_within_the_head() {
    let script = Script::send(within_head()).then(Then::Reset);
    loses_each_connection(&ASK, script, Outcome::ResetReceiving, ECONNRESET);
}

#[test]
fn reset_after_the_head() {
    let script = Script::send(whole_head()).then(Then::Reset);
    let (seen, _) = loses_each_connection(&ASK, script, Outcome::ResetReceiving, ECONNRESET);
    assert!(seen.requests.iter().all(|row| row["status"] == 200));
}

#[test]
fn reset_within_the_body() {
    let script = Script::send(head_and_half_a_body()).then(Then::Reset);
    loses_each_connection(&ASK, script, Outcome::ResetReceiving, ECONNRESET);
}

#[test]
fn reset_within_the_body_a_while_later() {
    let script = Script::send(head_and_half_a_body()).and(5 * MS, "x").then(Then::Reset);
    loses_each_connection(&ASK, script, Outcome::ResetReceiving, ECONNRESET);
}

#[test]
fn reset_within_a_body_that_only_the_close_ends() {
    let script = Script::send(head("")).and(MS, half(BODY)).then(Then::Reset);
    loses_each_connection(&ASK_ANYTHING, script, Outcome::ResetReceiving, ECONNRESET);
}

#[test]
fn a_reset_after_the_answer_costs_at_most_the_next_request() {
    let server = Hostile::start(POLITE, |_| Script::send(right()).then(Then::Reset));
    let (seen, counts) = drive(server, &ASK);
    let outcomes = by_outcome(&seen.requests);
    assert_eq!(outcomes["ok"], counts.played as u64, "{outcomes:?} {counts:?}");
    let possible = ["ok", "reset_sending", "reset_waiting"];
    assert!(outcomes.keys().all(|name| possible.contains(name)), "{outcomes:?}");
    assert_eq!(counts.reset as u64, seen.finish.opened);
}

#[test]
fn a_reset_of_an_idle_connection_costs_no_request() {
    let server =
        Hostile::start(POLITE, |_| Script::send(right()).and(10 * MS, "").then(Then::Reset));
    let (seen, counts) = drive(server, &ASK_SELDOM);
    assert_all_end(&seen, Outcome::Ok, Outcome::ClosedIdle, 0);
    assert!(seen.connections.iter().all(|row| row["errno"] == ECONNRESET));
    assert_eq!((counts.accepted, counts.reset), (FEW, FEW), "{counts:?}");
}

// ---- close ------------------------------------------------------------------------------------

#[test]
fn closed_before_the_first_byte() {
    let script = Script::silence().then(Then::Close);
    let (_, counts) = loses_each_connection(&ASK, script, Outcome::ClosedWaiting, 0);
    assert_eq!(counts.closed_first, REQUESTS);
}

#[test]
fn closed_for_sending_before_the_first_byte() {
    let script = Script::silence().then(Then::HalfClose);
    loses_each_connection(&ASK, script, Outcome::ClosedWaiting, 0);
}

#[test]
fn closed_for_sending_while_the_request_is_sent() {
    let manner = Manner { listen: Listen::Nothing, ..POLITE };
    let ask = Ask { requests: Some(FEW), request_body_bytes: 8 << 20, ..ASK };
    let script = Script::silence().and(50 * MS, "").then(Then::HalfClose);
    let (seen, counts) = drive(Hostile::start(manner, move |_| script.clone()), &ask);
    assert_all_end(&seen, Outcome::ClosedWaiting, Outcome::ClosedWaiting, 0);
    assert_eq!((counts.accepted, counts.closed_first), (FEW, FEW), "{counts:?}");
}

#[test]
fn closed_within_the_head() {
    let script = Script::send(within_head()).then(Then::Close);
    loses_each_connection(&ASK, script, Outcome::ClosedEarly, 0);
}

#[test]
fn closed_within_the_body() {
    let script = Script::send(head_and_half_a_body()).then(Then::Close);
    loses_each_connection(&ASK, script, Outcome::ClosedEarly, 0);
}

#[test]
fn closed_for_sending_within_the_body() {
    let script = Script::send(head_and_half_a_body()).and(5 * MS, "x").then(Then::HalfClose);
    loses_each_connection(&ASK, script, Outcome::ClosedEarly, 0);
}

#[test]
fn closed_within_a_chunked_body() {
    let answer = chunked(50);
    let script = Script::send(half(&answer)).then(Then::Close);
    loses_each_connection(&ASK, script, Outcome::ClosedEarly, 0);
}

#[test]
fn closed_before_the_last_chunk() {
    let answer = chunked(50);
    let script = Script::send(&answer[..answer.len() - b"0\r\n\r\n".len()]).then(Then::Close);
    loses_each_connection(&ASK, script, Outcome::ClosedEarly, 0);
}

#[test]
fn a_close_after_the_answer_costs_at_most_the_next_request() {
    let server = Hostile::start(POLITE, |_| Script::send(right()).then(Then::Close));
    let (seen, counts) = drive(server, &ASK);
    let outcomes = by_outcome(&seen.requests);
    assert_eq!(outcomes["ok"], counts.played as u64, "{outcomes:?} {counts:?}");
    let possible = ["ok", "closed_waiting", "reset_sending", "reset_waiting"];
    assert!(outcomes.keys().all(|name| possible.contains(name)), "{outcomes:?}");
    assert_eq!(counts.closed_first as u64, seen.finish.opened);
}

#[test]
fn a_close_of_an_idle_connection_costs_no_request() {
    for then in [Then::Close, Then::HalfClose] {
        let script = Script::send(right()).and(10 * MS, "").then(then);
        let counts = replaces_connections(&ASK_SELDOM, script, Outcome::Ok, Outcome::ClosedIdle);
        assert_eq!(counts.closed_first, FEW);
    }
}

#[test]
fn an_announced_close_costs_nothing() {
    let answer =
        [head(&format!("Connection: close\r\nContent-Length: {}\r\n", BODY.len())), BODY.to_vec()];
    for then in [Then::Close, Then::Hang] {
        let script = Script::send(answer.concat()).then(then);
        replaces_connections(&ASK, script, Outcome::Ok, Outcome::ClosedAsAnnounced);
    }
}

#[test]
fn a_close_announced_among_other_wishes_is_announced() {
    let wishes = ["keep-alive, close", "close\r\nConnection: keep-alive", "x\r\nConnection: Close"];
    for wish in wishes {
        let headers = format!("Connection: {wish}\r\nContent-Length: {}\r\n", BODY.len());
        let script = Script::send([head(&headers), BODY.to_vec()].concat()).then(Then::Hang);
        replaces_connections(&ASK, script, Outcome::Ok, Outcome::ClosedAsAnnounced);
    }
}

#[test]
fn a_body_may_end_with_the_connection() {
    let answer = [head(""), BODY.to_vec()].concat();
    let scripts = [
        Script::send(&answer).then(Then::Close),
        Script::send(&answer).in_pieces_of(37, MS).then(Then::Close),
        Script::send(&answer).and(5 * MS, "").then(Then::HalfClose),
    ];
    for script in scripts {
        replaces_connections(&ASK, script, Outcome::Ok, Outcome::ClosedAsAnnounced);
    }
}

#[test]
fn an_older_server_closes_after_each_answer() {
    let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n", BODY.len());
    let script = Script::send([head.as_bytes(), BODY].concat()).then(Then::Close);
    replaces_connections(&ASK, script, Outcome::Ok, Outcome::ClosedAsAnnounced);
    let script = Script::send([b"HTTP/1.0 200 OK\r\n\r\n".as_slice(), BODY].concat());
    let script = script.then(Then::Close);
    replaces_connections(&ASK, script, Outcome::Ok, Outcome::ClosedAsAnnounced);
}

#[test]
fn an_older_server_may_keep_the_connection() {
    let head = format!(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: {}\r\n\r\n",
        BODY.len()
    );
    let answer = [head.as_bytes(), BODY].concat();
    keeps_connections(&ASK, move |_| Script::send(&answer), Outcome::Ok);
}

// ---- lengths ----------------------------------------------------------------------------------

#[test]
fn a_length_that_is_too_short_is_wrong_and_leaves_bytes_nobody_asked_for() {
    let answer = [head(&format!("Content-Length: {}\r\n", BODY.len() - 5)), BODY.to_vec()].concat();
    let script = Script::send(answer).then(Then::Hang);
    replaces_connections(&ASK, script, Outcome::WrongLength, Outcome::Unsolicited);
}

#[test]
fn a_length_that_is_too_long_is_waited_for() {
    let answer = [head(&format!("Content-Length: {}\r\n", BODY.len() + 5)), BODY.to_vec()].concat();
    let script = Script::send(answer).then(Then::Hang);
    loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::TimedOutReceiving, 0);
}

#[test]
fn a_length_that_is_too_long_before_a_close_is_a_cut_answer() {
    let answer = [head(&format!("Content-Length: {}\r\n", BODY.len() + 5)), BODY.to_vec()].concat();
    loses_each_connection(&ASK, Script::send(answer).then(Then::Close), Outcome::ClosedEarly, 0);
}

#[test]
fn a_body_of_another_length_is_wrong_and_the_connection_goes_on() {
    let body = &BODY[1..];
    let answer = [head(&format!("Content-Length: {}\r\n", body.len())), body.to_vec()].concat();
    keeps_connections(&ASK, move |_| Script::send(&answer), Outcome::WrongLength);
}

#[test]
fn no_content_has_no_body_with_and_without_a_length() {
    for headers in
        ["", "Content-Length: 0\r\n", "Content-Length: 7\r\n", "Transfer-Encoding: chunked\r\n"]
    {
        for status in ["204 No Content", "304 Not Modified"] {
            let answer = format!("HTTP/1.1 {status}\r\n{headers}\r\n");
            let ask = Ask { length_bytes: Some(0), ..ASK_ANYTHING };
            keeps_connections(&ask, move |_| Script::send(&answer), Outcome::Ok);
        }
    }
}

// ---- other answers than expected --------------------------------------------------------------

#[test]
fn another_status_is_wrong() {
    let answer = format!("HTTP/1.1 503 Busy\r\nContent-Length: {}\r\n\r\n", BODY.len());
    let answer = [answer.as_bytes(), BODY].concat();
    let seen = keeps_connections(&ASK, move |_| Script::send(&answer), Outcome::WrongStatus);
    assert!(seen.requests.iter().all(|row| row["status"] == 503));
}

#[test]
fn another_body_of_the_same_length_is_wrong() {
    for wrong in [0, BODY.len() / 2, BODY.len() - 1] {
        let mut answer = right();
        let start = answer.len() - BODY.len();
        answer[start + wrong] ^= 1;
        keeps_connections(&ASK, move |_| Script::send(&answer), Outcome::WrongBody);
    }
}

#[test]
fn a_wrong_answer_among_right_ones_is_counted_once() {
    let scripts = |number: usize| {
        let mut answer = right();
        if number % 10 == 3 {
            let last = answer.len() - 1;
            answer[last] ^= 1;
        }
        Script::send(answer)
    };
    let (seen, _) = drive(Hostile::start(POLITE, scripts), &ASK);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 36), ("wrong_body", 4)]));
}

// ---- right answers in unusual form ------------------------------------------------------------

#[test]
fn an_answer_may_come_a_byte_at_a_time() {
    let ask = Ask { requests: Some(8), ..ASK };
    for answer in [right(), chunked(11)] {
        let scripts = move |_| Script::send(&answer).in_pieces_of(1, Duration::ZERO);
        keeps_connections(&ask, scripts, Outcome::Ok);
    }
}

#[test]
fn an_answer_of_known_length_may_be_split_anywhere() {
    split_everywhere(right());
}

#[test]
fn a_chunked_answer_may_be_split_anywhere() {
    split_everywhere(chunked(16));
}

#[test]
fn chunks_may_have_extensions_and_trailers() {
    let mut answer = head("Transfer-Encoding: chunked\r\n");
    answer.extend_from_slice(format!("{:X} ;a=\"b\";c\r\n", BODY.len()).as_bytes());
    answer.extend_from_slice(BODY);
    answer.extend_from_slice(b"\r\n000;last\r\nChecked: yes\r\nBy: nobody\r\n\r\n");
    split_everywhere(answer);
}

#[test]
fn answers_may_be_preceded_by_others_of_the_interim() {
    let early = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let answer = [b"HTTP/1.1 100 Continue\r\n\r\n".as_slice(), early, early, &right()].concat();
    split_everywhere(answer);
}

#[test]
fn an_interim_answer_does_not_end_the_sending_of_the_request() {
    let manner = Manner { listen: Listen::WholeOnceInvited, ..POLITE };
    let ask = Ask { requests: Some(FEW), request_body_bytes: 8 << 20, ..ASK };
    let (seen, counts) = drive(Hostile::start(manner, |_| Script::send(right())), &ask);
    assert_all_end(&seen, Outcome::Ok, Outcome::ClosedByDriver, 0);
    assert_eq!((counts.requests, counts.accepted), (FEW, ask.connections), "{counts:?}");
}

/// Every split of an answer into two writes, one request each.
fn split_everywhere(answer: Vec<u8>) {
    let ask = Ask { requests: Some(answer.len() - 1), ..ASK };
    let scripts = move |number: usize| {
        let (first, second) = answer.split_at(number + 1);
        Script::send(first).and(MS, second)
    };
    let seen = keeps_connections(&ask, scripts, Outcome::Ok);
    assert!(seen.requests.iter().all(|row| row["status"] == 200));
}

// ---- standing still ---------------------------------------------------------------------------

#[test]
fn a_server_that_freezes_before_its_answer() {
    let script = Script::silence().then(Then::Hang);
    let (_, counts) = loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::TimedOutWaiting, 0);
    assert_eq!(counts.closed_by_client, FEW);
}

#[test]
fn a_server_that_freezes_within_the_head() {
    let script = Script::send(within_head()).then(Then::Hang);
    loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::TimedOutReceiving, 0);
}

#[test]
fn a_server_that_freezes_within_the_body() {
    let script = Script::send(head_and_half_a_body()).then(Then::Hang);
    loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::TimedOutReceiving, 0);
}

#[test]
fn a_server_that_drips_is_timed_out_all_the_same() {
    let script = Script::send(right()).in_pieces_of(1, 20 * MS).then(Then::Hang);
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| script.clone()), &ASK_IMPATIENTLY);
    assert_all_end(&seen, Outcome::TimedOutReceiving, Outcome::TimedOutReceiving, 0);
    assert_eq!((counts.requests, counts.played), (FEW, 0), "{counts:?}");
}

#[test]
fn a_server_that_freezes_while_the_request_is_sent() {
    let manner = Manner { listen: Listen::Nothing, ..POLITE };
    let ask = Ask { requests: Some(4), request_body_bytes: 8 << 20, ..ASK_IMPATIENTLY };
    let server = Hostile::start(manner, |_| Script::silence().then(Then::Hang));
    let (seen, counts) = drive(server, &ask);
    assert_all_end(&seen, Outcome::TimedOutSending, Outcome::TimedOutSending, 0);
    assert_eq!((counts.accepted, seen.finish.opened), (4, 4));
}

#[test]
fn a_freeze_that_ends_in_time_costs_no_request() {
    let scripts = |number: usize| match number {
        10..14 => Script::silence().and(300 * MS, right()),
        _ => Script::send(right()),
    };
    let seen = keeps_connections(&ASK, scripts, Outcome::Ok);
    let long = seen.requests.iter().filter(|row| row["done_ns"] - row["sent_ns"] >= 300_000_000);
    assert_eq!(long.count(), 4);
}

// ---- what is not HTTP -------------------------------------------------------------------------

#[test]
fn a_head_without_end_is_too_large() {
    let script = Script::send(&head("")[..17])
        .followed_by(Script::repeat("X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n", 1 << 20))
        .then(Then::Hang);
    endless(script);
}

#[test]
fn a_header_without_end_is_too_large() {
    let script = Script::send("HTTP/1.1 200 OK\r\nX: ")
        .followed_by(Script::repeat([b'a'; 100], 1 << 20))
        .then(Then::Hang);
    endless(script);
}

#[test]
fn interim_answers_without_end_are_timed_out() {
    let script = Script::repeat("HTTP/1.1 102 Processing\r\n\r\n".repeat(1_000), 1 << 20);
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| script.clone()), &ASK_IMPATIENTLY);
    assert_all_end(&seen, Outcome::TimedOutReceiving, Outcome::TimedOutReceiving, 0);
    assert_eq!((counts.requests, counts.given_up), (FEW, FEW), "{counts:?}");
}

#[test]
fn too_many_headers_are_too_large_a_head() {
    let script = Script::send(head(&"X: x\r\n".repeat(129))).then(Then::Hang);
    loses_each_connection(&ASK, script, Outcome::HeadTooLarge, 0);
}

/// The engine leaves long before the server has sent its 100 MB.
fn endless(script: Script) {
    let ask = Ask { requests: Some(8), ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, move |_| script.clone()), &ask);
    assert_all_end(&seen, Outcome::HeadTooLarge, Outcome::HeadTooLarge, 0);
    assert_eq!((counts.requests, counts.given_up, counts.played), (8, 8, 0), "{counts:?}");
}

#[test]
fn a_malformed_head() {
    let heads = [
        "SSH-2.0-OpenSSH_9.2\r\n\r\n".into(),
        "HTTP/1.1 abc OK\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n".into(),
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n".into(),
        format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: {}\r\n\r\n", BODY.len()),
    ];
    for head in heads {
        let script = Script::send(head).then(Then::Hang);
        loses_each_connection(&ASK, script, Outcome::MalformedHead, 0);
    }
}

#[test]
fn a_malformed_head_is_the_same_in_pieces() {
    for then in [Then::Hang, Then::Close] {
        let script = Script::send("HOLA\r\n").in_pieces_of(1, MS).then(then);
        loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::MalformedHead, 0);
    }
}

#[test]
fn a_malformed_chunk() {
    let bodies = ["x\r\n", "5\r\nabcdefg\r\n", "\r\n", "-1\r\n", "11112222333344445\r\n"];
    for body in bodies {
        let answer = [head("Transfer-Encoding: chunked\r\n"), body.as_bytes().to_vec()].concat();
        let script = Script::send(answer).then(Then::Hang);
        loses_each_connection(&ASK_IMPATIENTLY, script, Outcome::MalformedChunk, 0);
    }
}

#[test]
fn what_surrounds_chunks_is_bounded() {
    let endings = ["0;extension=", "0\r\nTrailer: ", "0\r\nTrailer: a\r\nTrailer: ", "1\r\nx\r"];
    for (ending, filling) in endings.iter().flat_map(|ending| [(ending, "a"), (ending, "\r")]) {
        let begin = [&head("Transfer-Encoding: chunked\r\n"), ending.as_bytes()].concat();
        let script = Script::send(begin)
            .followed_by(Script::repeat(filling.repeat(1_000), 300))
            .then(Then::Hang);
        let ask = Ask { requests: Some(4), ..ASK };
        let (seen, _) = drive(Hostile::start(POLITE, move |_| script.clone()), &ask);
        let ended = by_outcome(&seen.requests);
        assert_eq!(ended, BTreeMap::from([("malformed_chunk", 4)]), "{ending:?} {filling:?}");
    }
}

// ---- more than was asked for ------------------------------------------------------------------

#[test]
fn two_answers_at_once_are_one_answer_and_bytes_nobody_asked_for() {
    let script = Script::send([right(), right()].concat()).then(Then::Hang);
    replaces_connections(&ASK, script, Outcome::Ok, Outcome::Unsolicited);
}

#[test]
fn an_answer_on_an_idle_connection_was_asked_for_by_nobody() {
    let script = Script::send(right()).and(10 * MS, right()).then(Then::Hang);
    replaces_connections(&ASK_SELDOM, script, Outcome::Ok, Outcome::Unsolicited);
}

#[test]
fn an_answer_before_the_whole_request_ends_the_connection() {
    // What is left of the request would otherwise be taken for the next one.
    let manner = Manner { listen: Listen::Head, ..POLITE };
    let ask = Ask { requests: Some(8), request_body_bytes: 8 << 20, ..ASK };
    let server = Hostile::start(manner, |_| Script::send(right()).then(Then::Hang));
    let (seen, counts) = drive(server, &ask);
    assert_all_end(&seen, Outcome::Ok, Outcome::ClosedByDriver, 0);
    assert_eq!((counts.accepted, counts.played), (8, 8), "{counts:?}");
}

// ---- all at once ------------------------------------------------------------------------------

#[test]
fn a_server_of_many_moods_is_counted_mood_by_mood() {
    let scripts = |number: usize| match number % 5 {
        0 => Script::silence().then(Then::Reset),
        1 => Script::send(head_and_half_a_body()).then(Then::Close),
        2 => Script::send([right(), right()].concat()).then(Then::Hang),
        3 => Script::send([head("Transfer-Encoding: chunked\r\n"), b"x".to_vec()].concat())
            .then(Then::Hang),
        _ => Script::send(right()),
    };
    let ask = Ask { requests: Some(500), connections: 16, ..ASK };
    let (seen, counts) = drive(Hostile::start(POLITE, scripts), &ask);
    let expected = BTreeMap::from([
        ("closed_early", 100),
        ("malformed_chunk", 100),
        ("ok", 200),
        ("reset_waiting", 100),
    ]);
    assert_eq!(by_outcome(&seen.requests), expected);
    assert_eq!((counts.requests, counts.played), (500, 500), "{counts:?}");
    assert_eq!(counts.accepted as u64, seen.finish.opened);
    let connections = by_outcome(&seen.connections);
    assert_eq!(connections["unsolicited"], 100);
    assert_eq!(connections["reset_waiting"], 100);
}
