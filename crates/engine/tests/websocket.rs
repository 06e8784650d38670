//! WebSocket against servers that behave and servers that do not, with exact counts.

// Functions outside of `#[test]` are tests too here.
#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::needless_for_each)]

// Another test uses the rest.
#[allow(dead_code)]
mod drive;
#[allow(dead_code, unused_imports)]
mod hostile;
mod visits;
mod websocket_server;

use std::collections::{BTreeMap, BTreeSet};

use drive::{ASK, Ask, Row, Seen, by_outcome, drive_alone};
use hostile::BODY;
use plimsoll_engine::sample::NEVER;
use plimsoll_engine::spec::{Expected, RequestSpec};
use plimsoll_websocket::frame::{NORMAL, Opcode, PROTOCOL_ERROR};
use websocket_server::{Server, Visit, close, echo, frame, switching};

/// One connection, five messages, one at a time.
const FEW: Ask = Ask { websocket: true, connections: 1, requests: Some(5), status: (0, 0), ..ASK };

/// Attempts that fail wait longer and longer: no more of them than needed.
const REFUSED: Ask = Ask { requests: Some(3), ..FEW };

fn drive(
    ask: &Ask,
    behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static,
) -> (Seen, websocket_server::Seen) {
    let server = Server::start(behave);
    let seen = drive_alone(server.address(), ask);
    (seen, server.stop())
}

/// Drives a server that upgrades, and then does the same with each message.
fn answered(
    ask: &Ask,
    answer: impl Fn(&mut Visit, Vec<u8>) + Send + Sync + 'static,
) -> (Seen, websocket_server::Seen) {
    drive(ask, move |visit, _| {
        if visit.greet() {
            while let Some(message) = visit.next_message() {
                answer(visit, message);
            }
        }
    })
}

/// What requests, and connections, ended with.
fn outcomes(seen: &Seen) -> (BTreeMap<&'static str, u64>, BTreeMap<&'static str, u64>) {
    (by_outcome(&seen.requests), by_outcome(&seen.connections))
}

/// Every message of [`FEW`] ends so, and costs its connection, which the driver closes with `code`.
#[track_caller]
fn costs_the_connection(
    outcome: &'static str,
    code: Option<u16>,
    answer: impl Fn(&mut Visit, Vec<u8>) + Send + Sync + 'static,
) -> Seen {
    let (seen, server) = answered(&FEW, answer);
    let each = BTreeMap::from([(outcome, 5)]);
    assert_eq!(outcomes(&seen), (each.clone(), each));
    assert_eq!((server.accepted, server.upgrades, server.messages), (5, 5, 5));
    assert_eq!(server.closes, code.map_or(vec![], |code| vec![code; 5]));
    seen
}

/// Every message of [`FEW`] ends so, on the same connection.
#[track_caller]
fn costs_the_message(
    outcome: &'static str,
    answer: impl Fn(&mut Visit, Vec<u8>) + Send + Sync + 'static,
) -> (Seen, websocket_server::Seen) {
    let (seen, server) = answered(&FEW, answer);
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([(outcome, 5)]));
    assert_eq!((server.accepted, server.messages), (1, 5));
    assert_eq!(server.closes, [NORMAL]);
    (seen, server)
}

/// No connection of [`REFUSED`] is upgraded, and each message fails as its connection does.
#[track_caller]
fn is_not_upgraded(
    outcome: &'static str,
    behave: impl Fn(&mut Visit, usize) + Send + Sync + 'static,
) -> Seen {
    let (seen, server) = drive(&REFUSED, behave);
    let each = BTreeMap::from([(outcome, 3)]);
    assert_eq!(outcomes(&seen), (each.clone(), each));
    assert_eq!((server.accepted, server.messages), (3, 0));
    let is_only_connected = |row: &Row| row["tcp_connected_ns"] != NEVER;
    assert!(seen.connections.iter().all(is_only_connected));
    assert_eq!(seen.finish.refused, 3);
    seen
}

// ---- a server that behaves ----------------------------------------------------------------------

#[test]
fn every_message_is_a_row_with_four_instants() {
    let ask = Ask { connections: 3, requests: Some(240), ..FEW };
    let (seen, server) = answered(&ask, |visit, message| visit.send(echo(&message)));
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 240)]));
    assert_eq!((server.accepted, server.upgrades, server.messages), (3, 3, 240));
    assert_eq!(server.closes, [NORMAL; 3]);
    assert_eq!(seen.finish.bodies_compared, 240);
    let length = echo(BODY).len() as u64;
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == length));
    assert!(seen.requests.iter().all(|row| row["status"] == 0));
    assert!(seen.connections.iter().all(|row| row["tcp_connected_ns"] < row["connected_ns"]));
    // Drawn for each frame: two in 240 are alike with a probability of 1 in 150,000.
    assert_eq!(server.masks.iter().collect::<BTreeSet<_>>().len(), 240);
}

#[test]
fn several_messages_are_in_flight_on_a_connection() {
    let ask = Ask { pipeline: 4, requests: Some(40), ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet();
        while let Some(messages) = visit.next_messages(4) {
            let echoes: Vec<_> = messages.iter().map(|message| echo(message)).collect();
            visit.send(echoes.concat());
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 40)]));
    assert_eq!((server.accepted, server.messages), (1, 40));
}

#[test]
fn arrivals_of_the_open_model_are_messages() {
    let ask = Ask { rate_per_s: Some(500), duration_ms: 200, requests: None, ..FEW };
    let (seen, server) = answered(&ask, |visit, message| visit.send(echo(&message)));
    let ok = by_outcome(&seen.requests)["ok"];
    // The last one may be unfinished.
    let messages = server.messages as u64;
    assert!(server.accepted == 1 && ok > 0 && (ok..=ok + 1).contains(&messages), "{server:?}");
}

#[test]
fn a_connection_may_carry_one_message_only() {
    let ask = Ask { keep_alive: false, ..FEW };
    let (seen, server) = answered(&ask, |visit, message| visit.send(echo(&message)));
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
    assert_eq!((server.accepted, server.messages), (5, 5));
    assert_eq!(server.closes, [NORMAL; 5]);
}

#[test]
fn an_echo_may_come_byte_by_byte_and_in_fragments_with_pings_between() {
    let pieces = || {
        let (first, rest) = BODY.split_at(10);
        [
            frame(Opcode::Text, false, first),
            frame(Opcode::Continuation, false, b""),
            frame(Opcode::Continuation, true, rest),
        ]
    };
    let (seen, server) = costs_the_message("ok", move |visit, _| {
        let [first, empty, last] = pieces();
        let ping = frame(Opcode::Ping, true, b"still there?");
        let unasked = frame(Opcode::Pong, true, b"whatever");
        [first, ping, empty, unasked, last].concat().chunks(1).for_each(|byte| visit.send(byte));
    });
    assert_eq!(server.pongs, vec![b"still there?".to_vec(); 5]);
    // Pings and pongs are not of the message.
    let length = pieces().concat().len() as u64;
    assert!(seen.requests.iter().all(|row| row["received_bytes"] == length));
}

#[test]
fn large_messages_go_both_ways() {
    let ask = Ask { pipeline: 3, requests: Some(12), body: None, length_bytes: None, ..FEW };
    let long = vec![b'x'; 300_000];
    let (seen, server) = answered(&ask, move |visit, message| {
        assert_eq!(message, BODY);
        visit.send(echo(&long));
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 12)]));
    assert_eq!((server.accepted, server.messages), (1, 12));
    assert!(seen.requests.iter().all(|row| row["body_bytes"] == 300_000));
}

#[test]
fn messages_may_come_with_the_upgrade() {
    // The greeting is in one piece with the response; the driver has asked for none.
    let (seen, _) = drive(&FEW, |visit, _| {
        let Some(accept) = visit.asked() else { return };
        let ping = frame(Opcode::Ping, true, b"first");
        visit.send([switching(&accept).into_bytes(), ping].concat());
        while let Some(message) = visit.next_message() {
            visit.send(echo(&message));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
}

// ---- upgrades that fail -------------------------------------------------------------------------

#[test]
fn another_status_refuses_the_upgrade_and_is_recorded() {
    for status in [200, 404, 426] {
        let seen = is_not_upgraded("upgrade_refused", move |visit, _| {
            visit.asked();
            visit.send(format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n"));
        });
        assert!(seen.requests.iter().all(|row| row["status"] == status));
        assert!(seen.requests.iter().all(|row| row["sent_ns"] == NEVER));
    }
}

#[test]
fn a_101_with_a_wrong_accept_is_none() {
    is_not_upgraded("upgrade_invalid", |visit, _| {
        visit.asked();
        visit.send(switching("AAAAAAAAAAAAAAAAAAAAAAAAAAA="));
    });
}

#[test]
fn a_101_without_upgrade_is_none() {
    is_not_upgraded("upgrade_invalid", |visit, _| {
        let accept = visit.asked().unwrap_or_default();
        visit.send(switching(&accept).replace("Upgrade: websocket\r\n", ""));
    });
}

#[test]
fn what_is_not_http_is_no_upgrade() {
    is_not_upgraded("upgrade_invalid", |visit, _| {
        visit.asked();
        visit.send("220 mail.example ESMTP\r\n");
    });
}

#[test]
fn a_connection_that_is_closed_within_the_upgrade_has_failed() {
    is_not_upgraded("upgrade_closed", |visit, number| {
        visit.asked();
        if number > 0 {
            visit.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: webs");
        }
        visit.close();
    });
}

#[test]
fn an_upgrade_takes_no_longer_than_the_timeout() {
    let ask = Ask { timeout_ms: 100, ..REFUSED };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.asked();
        visit.send("HTTP/1.1 101 Switching Protocols\r\n");
    });
    let each = BTreeMap::from([("upgrade_timeout", 3)]);
    assert_eq!(outcomes(&seen), (each.clone(), each));
    assert_eq!(server.messages, 0);
}

// ---- servers that break the protocol ------------------------------------------------------------

#[test]
fn frames_that_a_receiver_must_refuse_cost_the_connection() {
    let masked = || {
        let mut out = Vec::new();
        plimsoll_websocket::frame::write(&mut out, Opcode::Binary, true, Some([1; 4]), BODY);
        out
    };
    let broken: [Vec<u8>; 8] = [
        masked(),
        vec![0xC2, 0],
        vec![0x83, 0],
        [&[0x89, 126, 0, 126][..], &[0; 126]].concat(),
        vec![0x09, 0],
        vec![0x82, 126, 0, 1, b'x'],
        vec![0x80, 0],
        [frame(Opcode::Text, false, b"a"), frame(Opcode::Text, true, b"b")].concat(),
    ];
    for bytes in broken {
        costs_the_connection("websocket_error", Some(PROTOCOL_ERROR), move |visit, _| {
            visit.send(&bytes);
        });
    }
}

#[test]
fn text_that_is_not_utf8_costs_the_connection() {
    costs_the_connection("websocket_error", Some(1007), |visit, _| {
        visit.send(frame(Opcode::Text, false, b"\xC3"));
        visit.send(frame(Opcode::Continuation, true, b"\xC3"));
    });
    costs_the_connection("websocket_error", Some(1007), |visit, _| {
        visit.send(frame(Opcode::Text, true, b"\xE2\x82"));
    });
}

#[test]
fn a_close_frame_has_its_code_as_the_status() {
    for code in [1001, 1011, 4321] {
        let seen = costs_the_connection("close_received", Some(code), move |visit, _| {
            visit.send(close(code));
        });
        assert!(seen.requests.iter().all(|row| row["status"] == u64::from(code)));
    }
}

#[test]
fn a_close_frame_ends_all_that_is_in_flight() {
    let ask = Ask { pipeline: 4, requests: Some(8), ..FEW };
    let (seen, server) = drive(&ask, |visit, _| {
        visit.greet();
        if visit.next_messages(4).is_some() {
            visit.send(close(1001));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("close_received", 8)]));
    assert_eq!((server.accepted, server.closes), (2, vec![1001; 2]));
}

#[test]
fn a_close_frame_within_an_unfinished_message_is_one() {
    costs_the_connection("close_received", Some(1001), |visit, message| {
        visit.send(frame(Opcode::Binary, false, &message[..5]));
        visit.send(close(1001));
    });
}

#[test]
fn a_close_frame_between_messages_costs_none_of_them() {
    let ask = Ask { think_ms: 20, ..FEW };
    let (seen, server) = answered(&ask, |visit, message| {
        visit.send([echo(&message), close(1001)].concat());
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("ok", 5)]));
    assert_eq!(by_outcome(&seen.connections).get("close_received"), Some(&5));
    assert_eq!(server.accepted, 5);
}

#[test]
fn a_connection_may_end_without_a_close_frame() {
    costs_the_connection("closed_waiting", None, |visit, _| visit.close());
    costs_the_connection("closed_early", None, |visit, message| {
        visit.send(frame(Opcode::Binary, false, &message[..5]));
        visit.close();
    });
}

#[test]
fn endless_fragments_last_as_long_as_the_timeout() {
    let ask = Ask { requests: Some(2), timeout_ms: 100, ..FEW };
    let (seen, server) = answered(&ask, |visit, _| {
        visit.send(frame(Opcode::Binary, false, b"x"));
        for _ in 0..10_000 {
            visit.send(frame(Opcode::Continuation, false, b"x"));
        }
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("timed_out_receiving", 2)]));
    assert_eq!(server.accepted, 2);
}

#[test]
fn silence_lasts_as_long_as_the_timeout() {
    let ask = Ask { requests: Some(2), timeout_ms: 100, ..FEW };
    let (seen, server) = answered(&ask, |visit, _| {
        // Not a response, however often it comes.
        (0..100).for_each(|_| visit.send(frame(Opcode::Ping, true, b"")));
    });
    assert_eq!(by_outcome(&seen.requests), BTreeMap::from([("timed_out_waiting", 2)]));
    assert_eq!((server.accepted, server.messages), (2, 2));
}

// ---- echoes that are none -----------------------------------------------------------------------

#[test]
fn an_echo_that_differs_is_wrong() {
    costs_the_message("wrong_body", |visit, mut message| {
        message[7] ^= 1;
        visit.send(echo(&message));
    });
    costs_the_message("wrong_length", |visit, message| visit.send(echo(&message[1..])));
}

#[test]
fn echoes_in_another_order_are_wrong() {
    let (first, second) = (BODY.to_vec(), BODY.to_ascii_uppercase());
    let server = Server::start(|visit, _| {
        visit.greet();
        while let Some(mut messages) = visit.next_messages(2) {
            messages.reverse();
            messages.iter().for_each(|message| visit.send(echo(message)));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let ask = Ask { pipeline: 2, requests: Some(200), ..FEW };
    let mut spec = ask.spec(server.address(), folder.path());
    let kind = |bytes: &Vec<u8>| RequestSpec {
        name: String::new(),
        bytes: bytes.clone(),
        weight: 1.0,
        method: String::new(),
        expects_continue: false,
        expected: Expected { status: (0, 0), body: Some(bytes.clone()), ..Expected::default() },
    };
    spec.requests = vec![kind(&first), kind(&second)];
    let finish = plimsoll_engine::run(&spec, |_| (), || false).unwrap();
    let seen = drive::seen(finish, folder.path());
    server.stop();
    // Two of a pair are different or alike.
    let pairs = seen.requests.chunks_exact(2);
    let swapped = 2 * pairs.filter(|pair| pair[0]["request"] != pair[1]["request"]).count() as u64;
    assert!(swapped > 0 && swapped < 200);
    let ended = BTreeMap::from([("ok", 200 - swapped), ("wrong_body", swapped)]);
    assert_eq!(by_outcome(&seen.requests), ended);
}

#[test]
fn a_message_that_no_one_has_asked_for_costs_the_connection() {
    let (seen, server) = drive(&FEW, |visit, number| {
        let Some(accept) = visit.asked() else { return };
        let welcome = if number == 0 { echo(b"welcome") } else { vec![] };
        visit.send([switching(&accept).into_bytes(), welcome].concat());
        while let Some(message) = visit.next_message() {
            visit.send(echo(&message));
        }
    });
    let of_requests = BTreeMap::from([("ok", 4), ("unsolicited", 1)]);
    let of_connections = BTreeMap::from([("closed_by_driver", 1), ("unsolicited", 1)]);
    assert_eq!(outcomes(&seen), (of_requests, of_connections));
    assert_eq!((server.accepted, server.messages), (2, 4));
}

#[test]
fn a_connection_that_ends_with_its_upgrade_has_failed_and_the_next_one_waits() {
    let masked = vec![0x82, 0x80, 1, 2, 3, 4];
    for (sent, outcome, status) in [
        (close(1013), "close_received", 1013),
        (echo(b"welcome"), "unsolicited", 0),
        (masked, "websocket_error", 0),
    ] {
        let (seen, server) = drive(&REFUSED, move |visit, _| {
            let Some(accept) = visit.asked() else { return };
            visit.send([switching(&accept).as_bytes(), &sent].concat());
        });
        let each = BTreeMap::from([(outcome, 3)]);
        assert_eq!(outcomes(&seen), (each.clone(), each));
        assert_eq!((server.accepted, server.messages), (3, 0));
        assert_eq!((seen.finish.opened, seen.finish.refused), (3, 0));
        assert!(seen.requests.iter().all(|row| row["status"] == status));
        assert!(seen.requests.iter().all(|row| row["sent_ns"] == NEVER));
        let pauses_ns: Vec<_> = seen
            .connections
            .windows(2)
            .map(|pair| pair[1]["due_ns"] - pair[0]["closed_ns"])
            .collect();
        assert!(pauses_ns[0] >= 1_000_000 && pauses_ns[1] >= 2_000_000, "{pauses_ns:?}");
    }
}

// ---- connections that come and go -----------------------------------------------------------------

/// Six levels of connections, up and down.
const CHANGING: Ask = Ask {
    requests: None,
    connections: 6,
    duration_ms: 100,
    then: &[(100, 1), (100, 5), (100, 0), (100, 6), (100, 2)],
    ..FEW
};

#[test]
fn connections_come_and_go_with_their_level_and_no_message_is_lost() {
    for (pause_ms, pipeline) in [(0, 1), (20, 1), (20, 4)] {
        let ask = Ask { pipeline, ..CHANGING };
        let (seen, server) = answered(&ask, move |visit, message| {
            std::thread::sleep(std::time::Duration::from_millis(pause_ms));
            visit.send(echo(&message));
        });
        let (requests, connections) = outcomes(&seen);
        assert!(requests.keys().all(|name| ["ok", "unfinished"].contains(name)), "{requests:?}");
        let ends = ["closed_by_driver", "still_open"];
        assert!(connections.keys().all(|name| ends.contains(name)), "{connections:?}");
        assert_eq!(connections["still_open"], 2);
        assert_eq!(server.accepted as u64, seen.finish.opened);
        // What is in flight at the end may not have been read by the server.
        let unfinished = requests.get("unfinished").copied().unwrap_or(0);
        let sent = seen.finish.sent;
        let messages = server.messages as u64;
        assert!((sent - unfinished..=sent).contains(&messages), "{server:?}");
        // Each connection that was given up has been told so.
        assert_eq!(server.closes.len() as u64, seen.finish.opened, "{:?}", server.closes);
        assert!(server.closes.iter().all(|&code| code == NORMAL), "{:?}", server.closes);
    }
}

#[test]
fn servers_that_close_while_the_level_changes_cost_what_was_in_flight_alone() {
    let (seen, server) = drive(&CHANGING, |visit, _| {
        if !visit.greet() {
            return;
        }
        for _ in 0..7 {
            let Some(message) = visit.next_message() else { return };
            std::thread::sleep(std::time::Duration::from_millis(3));
            visit.send(echo(&message));
        }
        visit.send(close(1001));
    });
    let (requests, connections) = outcomes(&seen);
    let known = ["ok", "unfinished", "close_received"];
    assert!(requests.keys().all(|name| known.contains(name)), "{requests:?}");
    let known = ["closed_by_driver", "still_open", "close_received"];
    assert!(connections.keys().all(|name| known.contains(name)), "{connections:?}");
    assert!(connections["close_received"] > 3, "{connections:?}");
    assert_eq!(server.accepted as u64, seen.finish.opened);
    // The server reads no more after its close, so each connection costs one message at most.
    let lost = requests.get("close_received").copied().unwrap_or(0);
    assert!(lost <= connections["close_received"], "{requests:?} {connections:?}");
}
