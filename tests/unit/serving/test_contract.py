"""The contract check, against small servers that keep the contract or break one rule of it."""

from __future__ import annotations

import itertools
import json
import re
import socket
import threading
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote_plus

import pytest

import cheating_server
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.endpoints.fibonacci import fibonacci
from plimsoll.campaign.requests import Expected, Header, HttpResponse
from plimsoll.errors import ContractBroken
from plimsoll.serving import contract, surroundings
from plimsoll.serving.asking import ServerResponse
from plimsoll.serving.contract import CheckedServer

SEED = 20261120


@dataclass(frozen=True)
class Asked:
    """What a server was asked."""

    method: str
    path: str
    query: str
    content_type: str
    body: bytes


@dataclass(frozen=True)
class Said:
    """What a server says to it."""

    status: int = 200
    body: bytes = b""
    headers: tuple[Header, ...] = ()


Behaviour = Callable[[Asked], Said]

TEXT = ("Content-Type", "text/plain; charset=utf-8")
JSON = ("Content-Type", "application/json")


FIXED = {
    "/empty": Said(),
    "/2048": Said(200, b"A" * 2048, (TEXT,)),
    "/8192": Said(200, b"A" * 8192, (TEXT,)),
    "/32768": Said(200, b"A" * 32768, (TEXT,)),
    "/plaintext": Said(200, b"Hello, World!", (TEXT,)),
}


def right(asked: Asked) -> Said:
    """Keeps the contract."""
    if asked.path in FIXED:
        return FIXED[asked.path]
    if asked.path.startswith("/fibonacci/"):
        number = fibonacci(int(asked.path.rpartition("/")[2]))
        return Said(200, str(number).encode(), (TEXT,))
    if asked.path == "/json":
        return echoed(asked.body)
    if asked.path == "/args":
        return Said(200, str(checksum(asked)).encode(), (TEXT,))
    if asked.path in ("/getArgs2048", "/postArgs2048", "/postArgsMulti2048"):
        return counted(sum(len(value) for value in values(asked)))
    return Said(404)


def checksum(asked: Asked) -> int:
    pairs = sorted(parse_qsl(asked.query, keep_blank_values=True))
    return zlib.crc32("".join(f"{value}\n" for _, value in pairs).encode())


def values(asked: Asked) -> list[bytes]:
    """The decoded arguments."""
    if asked.path == "/postArgsMulti2048":
        delimiter = f"\r\n--{asked.content_type.partition('boundary=')[2]}".encode()
        parts = (b"\r\n" + asked.body).split(delimiter)[1:-1]
        return [part.split(b"\r\n\r\n", 1)[1] for part in parts]
    text = asked.query if asked.path == "/getArgs2048" else asked.body.decode()
    return [value.encode() for _, value in parse_qsl(text, keep_blank_values=True)]


def counted(decoded_bytes: int) -> Said:
    return Said(200, b"A" * 2048, (TEXT, ("Decoded-Bytes", str(decoded_bytes))))


def echoed(body: bytes) -> Said:
    try:
        person: object = json.loads(body)
    except ValueError:
        return Said(400)
    return Said(200, json.dumps(person).encode(), (JSON,))


def but(path: str, other: Behaviour) -> Behaviour:
    """The right server, but for one path."""

    def behaviour(asked: Asked) -> Said:
        return other(asked) if asked.path == path else right(asked)

    return behaviour


class Handler(BaseHTTPRequestHandler):
    """Answers as the behaviour of its server says."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    behaviour: Behaviour = staticmethod(right)

    def do_GET(self) -> None:
        self.respond()

    def do_POST(self) -> None:
        self.respond()

    def asked(self) -> Asked:
        path, _, query = self.path.partition("?")
        chunked = self.headers.get("Transfer-Encoding") == "chunked"
        length = int(self.headers.get("Content-Length", "0"))
        body = self.chunks() if chunked else self.rfile.read(length)
        return Asked(self.command, path, query, self.headers.get("Content-Type", ""), body)

    def chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def respond(self) -> None:
        self.say(self.behaviour(self.asked()))

    def say(self, said: Said) -> None:
        self.send_response(said.status)
        for name, value in said.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said.body)))
        self.end_headers()
        self.wfile.write(said.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def serving(
    behaviour: Behaviour = right, handler: type[Handler] = Handler
) -> Generator[tuple[str, int]]:
    """A server in this process; gives its address."""
    with Server(
        ("127.0.0.1", 0), type("Own", (handler,), {"behaviour": staticmethod(behaviour)})
    ) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield "127.0.0.1", server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def failures(name: str, behaviour: Behaviour = right, **options: Any) -> list[str]:
    handler: type[Handler] = options.pop("handler", Handler)
    with serving(behaviour, handler) as address:
        return [
            str(failure)
            for failure in contract.failures(CheckedServer(address, **options), by_name(name), SEED)
        ]


@pytest.mark.parametrize("name", cheating_server.ENDPOINTS)
def test_a_right_server_keeps_the_contract(name: str) -> None:
    assert failures(name) == []


@pytest.mark.parametrize("name", ["2048", "json", "mix"])
def test_a_right_server_keeps_it_without_keep_alive(name: str) -> None:
    assert failures(name, keep_alive=False) == []


def test_an_answer_in_chunks_is_an_answer() -> None:
    class Chunked(Handler):
        def say(self, said: Said) -> None:
            self.send_response(said.status)
            for name, value in said.headers:
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            chunk = b"%x\r\n%s\r\n" % (len(said.body), said.body) if said.body else b""
            self.wfile.write(chunk + b"0\r\n\r\n")

    assert failures("32768", handler=Chunked) == []


def character_count(asked: Asked) -> Said:
    return counted(sum(len(value.decode()) for value in values(asked)))


def raw_count(asked: Asked) -> Said:
    text = asked.query or asked.body.decode()
    return counted(sum(len(pair.partition("=")[2]) for pair in text.split("&")))


def twice_decoded(asked: Asked) -> Said:
    return counted(sum(len(unquote_plus(value.decode()).encode()) for value in values(asked)))


def fixed_count(_: Asked) -> Said:
    return counted(676)


def without_line_ends(asked: Asked) -> Said:
    return counted(sum(len(value.strip(b"\r\n")) for value in values(asked)))


def uncounted(_: Asked) -> Said:
    return Said(200, b"A" * 2048, (TEXT,))


@pytest.mark.parametrize("name", ["getArgs2048", "postArgs2048", "postArgsMulti2048"])
@pytest.mark.parametrize("shortcut", [character_count, twice_decoded, fixed_count, uncounted])
def test_arguments_that_are_not_rightly_decoded_are_found(name: str, shortcut: Behaviour) -> None:
    found = failures(name, but(f"/{name}", shortcut))
    assert found
    assert all("decoded-bytes" in failure for failure in found)


@pytest.mark.parametrize("name", ["getArgs2048", "postArgs2048"])
def test_arguments_that_are_not_decoded_at_all_are_found(name: str) -> None:
    assert failures(name, but(f"/{name}", raw_count))


def test_line_ends_at_the_edges_of_a_part_belong_to_its_value() -> None:
    assert failures("postArgsMulti2048", but("/postArgsMulti2048", without_line_ends))


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (Said(200, b"A" * 2047, (TEXT,)), "the body has 2047 bytes, expected 2048"),
        (Said(200, b"A" * 2047 + b"B", (TEXT,)), "the body differs at byte 2047"),
        (Said(200, b"A" * 2048), "the header `content-type` is missing"),
        (Said(200, b"A" * 2048, (JSON,)), "`content-type` is `application/json`"),
        (Said(500, b"A" * 2048, (TEXT,)), "the status is `500`, expected `200`"),
    ],
)
def test_a_wrong_answer_is_named(said: Said, problem: str) -> None:
    found = failures("2048", but("/2048", lambda _: said))
    assert found
    assert all(problem in failure for failure in found)


def test_two_things_wrong_with_one_answer_are_both_named() -> None:
    found = failures("2048", but("/2048", lambda _: Said(200, b"A", (JSON,))))
    assert any("the body has 1 bytes" in failure for failure in found)
    assert any("`content-type`" in failure for failure in found)


def test_a_body_for_empty_is_wrong() -> None:
    assert failures("empty", but("/empty", lambda _: Said(200, b"\n")))


def test_a_rounded_fibonacci_number_is_wrong() -> None:
    def rounded(asked: Asked) -> Said:
        digits = right(asked).body
        return Said(200, digits[:17] + b"0" * (len(digits) - 17), (TEXT,))

    with serving(lambda asked: rounded(asked) if "fib" in asked.path else right(asked)) as address:
        assert contract.failures(CheckedServer(address), by_name("fibonacci"), SEED)


def test_a_path_that_does_not_exist_must_be_answered_with_404() -> None:
    def anything_goes(asked: Asked) -> Said:
        said = right(asked)
        return Said() if said.status == 404 else said

    (found,) = failures("2048", anything_goes)
    assert "the status is `200`, expected `404`" in found
    assert "an unknown path returns 404" in found


def test_paths_that_are_nearly_that_of_an_endpoint_are_asked_for() -> None:
    asked_for: list[str] = []

    def listens(asked: Asked) -> Said:
        said = right(asked)
        if said.status == 404:
            asked_for.append(asked.path)
        return said

    for seed in range(20):
        asked_for.clear()
        with serving(listens) as address:
            assert contract.failures(CheckedServer(address), by_name("2048"), seed) == ()
        absent, lengthened, altered = asked_for
        assert re.fullmatch("/absent-[0-9a-f]{16}", absent)
        assert re.fullmatch("/2048[a-z]{8}", lengthened)
        assert sum(a != b for a, b in zip(altered, "/2048", strict=True)) == 1


@pytest.mark.parametrize("status", [200, 500, 302])
def test_broken_json_must_be_refused(status: int) -> None:
    def lenient(asked: Asked) -> Said:
        said = echoed(asked.body)
        return Said(status, asked.body, (JSON,)) if said.status == 400 else said

    *broken, empty = failures("json", but("/json", lenient))
    kinds = [re.search(r"broken JSON \((.*)\) returns a status from 400", one) for one in broken]
    assert len({kind and kind[1] for kind in kinds} - {None}) == len(broken) == 10
    assert "an empty body returns a status from 400 to 499" in empty


def test_a_server_may_close_the_connection_of_a_request_that_it_refuses() -> None:
    class Closing(Handler):
        def say(self, said: Said) -> None:
            super().say(said)
            self.close_connection = said.status == 400

    assert failures("json", handler=Closing) == []


def test_a_server_that_answers_no_more_after_broken_json_is_found() -> None:
    crashed: list[bool] = []

    class Crashing(Handler):
        def respond(self) -> None:
            if crashed:
                self.close_connection = True
                return
            super().respond()

        def say(self, said: Said) -> None:
            super().say(said)
            crashed.extend([True] * (said.status == 400))

    found = failures("json", handler=Crashing)
    assert "a rejected request does not affect the next one" in found[0]


def test_json_that_is_not_decoded_is_found() -> None:
    def latin(asked: Asked) -> Said:
        said = echoed(asked.body)
        text = said.body.decode("unicode_escape", "replace").encode("latin-1", "replace")
        return Said(said.status, text, said.headers)

    assert failures("json", but("/json", latin))


def test_json_in_another_order_is_equal() -> None:
    def shuffled(asked: Asked) -> Said:
        said = echoed(asked.body)
        if said.status == 400:
            return said
        person = json.loads(said.body)
        return Said(200, json.dumps(person, sort_keys=True, indent=2).encode(), (JSON,))

    assert failures("json", but("/json", shuffled)) == []


def test_what_the_server_says_to_the_request_of_the_load_is_what_is_expected_of_it() -> None:
    with serving() as address:
        (exchange,) = contract.verify(CheckedServer(address), by_name("json"), SEED).exchanges
    said = echoed(exchange.request.body).body
    assert exchange.expected.body == said
    assert exchange.expected.length_bytes == len(said)


def test_of_a_mix_only_the_exchange_without_a_fixed_body_is_learned() -> None:
    with serving() as address:
        exchanges = contract.verify(CheckedServer(address), by_name("mix"), SEED).exchanges
    given = by_name("mix").exchanges
    assert [one.request for one in exchanges] == [one.request for one in given]
    changed = [
        one.request.name for one, other in zip(exchanges, given, strict=True) if one != other
    ]
    assert changed == ["json"]


def test_a_body_that_changes_from_answer_to_answer_is_not_expected() -> None:
    indents = iter(range(100))

    def restless(asked: Asked) -> Said:
        said = echoed(asked.body)
        return Said(said.status, said.body + b" " * next(indents), said.headers)

    with serving(but("/json", restless)) as address:
        (exchange,) = contract.verify(CheckedServer(address), by_name("json"), SEED).exchanges
    assert exchange == by_name("json").exchanges[0]


@pytest.mark.parametrize("varying", [5, 60])
def test_a_kind_of_which_one_answer_varied_is_not_learned(varying: int) -> None:
    numbers = itertools.count()

    def moody(asked: Asked) -> Said:
        said = echoed(asked.body)
        gap = b" " * (next(numbers) == varying)
        return Said(said.status, said.body + gap, said.headers)

    sent = by_name("json").sent("fixed" if varying == 5 else "drawn", SEED)
    endpoint = replace(by_name("json"), exchanges=sent)
    with serving(but("/json", moody)) as address:
        assert contract.verify(CheckedServer(address), endpoint, SEED).exchanges == sent


class Announcing(Handler):
    """Says that it closes, and does."""

    def say(self, said: Said) -> None:
        super().say(Said(said.status, said.body, (*said.headers, ("Connection", "close"))))


class Silent(Handler):
    """Closes without a word."""

    def say(self, said: Said) -> None:
        super().say(said)
        self.close_connection = True


class Old(Handler):
    protocol_version = "HTTP/1.0"


@pytest.mark.parametrize("handler", [Announcing, Silent, Old])
def test_both_of_two_requests_must_be_answered_on_one_connection(handler: type[Handler]) -> None:
    (found,) = failures("2048", handler=handler)
    assert "two requests on one connection both get a response on it" in found


@pytest.mark.parametrize("handler", [Announcing, Silent, Old])
def test_a_connection_may_close_when_the_trial_asks_for_it(handler: type[Handler]) -> None:
    assert failures("2048", handler=handler, keep_alive=False) == []


class Lying(Handler):
    """Sends other than it says."""

    said_bytes = 0
    sent = b""

    def say(self, said: Said) -> None:
        self.send_response(200)
        self.send_header(*TEXT)
        self.send_header("Content-Length", str(self.said_bytes))
        self.end_headers()
        self.wfile.write(self.sent)
        self.close_connection = True


class TooMuch(Lying):
    said_bytes = 2048
    sent = b"A" * 2050


class TooLittle(Lying):
    said_bytes = 2048
    sent = b"A" * 2000


class NotHttp(Handler):
    def say(self, said: Said) -> None:
        self.wfile.write(b"\x1b[31mhello\r\n\r\n")
        self.close_connection = True


class Nothing(Handler):
    def say(self, said: Said) -> None:
        self.close_connection = True


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        (TooMuch, "more than its length"),
        (TooLittle, "the connection was closed within the body"),
        (NotHttp, "not a valid HTTP response"),
        (Nothing, "no response: the connection was closed"),
    ],
)
def test_what_is_no_answer_is_said_to_be_none(handler: type[Handler], answer: str) -> None:
    found = failures("2048", handler=handler)
    assert found
    assert all("there is no response" in failure for failure in found)
    assert answer in found[0]


def test_words_of_a_server_cannot_move_the_cursor() -> None:
    hostile = b"\x1b[2J\x07" + b"A" * 100
    found = failures("2048", but("/2048", lambda _: Said(200, hostile, (TEXT,))))
    found += failures("2048", handler=NotHttp)
    assert found
    assert not any(re.search(r"[\x00-\x1f\x7f]", failure) for failure in found)


def test_a_server_that_does_not_answer_is_asked_only_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        address = ("127.0.0.1", deaf.getsockname()[1])
        (found,) = contract.failures(CheckedServer(address, timeout_s=0.05), by_name("mix"), SEED)
    assert found.response == "no complete response within 0.05 s"


def test_an_answer_that_only_trickles_ends_in_time() -> None:
    stop = threading.Event()

    class Trickling(Handler):
        def say(self, said: Said) -> None:
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2048\r\n\r\n")
            while not stop.wait(0.01):
                self.wfile.write(b"A")
                self.wfile.flush()

    try:
        (found,) = failures("2048", handler=Trickling, timeout_s=0.1)
    finally:
        stop.set()
    assert "no complete response within 0.1 s" in found


def test_where_nobody_listens_there_is_one_failure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = ("127.0.0.1", taken.getsockname()[1])
    (found,) = contract.failures(CheckedServer(address), by_name("mix"), SEED)
    assert "no connection" in found.response


def test_the_error_names_every_failure_with_request_answer_and_rule() -> None:
    behaviour = but("/json", lambda asked: Said(200, b"{}", (TEXT,)))
    with serving(behaviour) as address, pytest.raises(ContractBroken) as raised:
        contract.verify(CheckedServer(address), by_name("json"), SEED)
    heading, *lines = raised.value.message.splitlines()
    assert heading == "`json` breaks the contract"
    assert tuple(lines) == raised.value.failures
    assert len(lines) >= 7
    for line in lines:
        assert line.startswith("`POST /json`")
        assert "200, text/plain; charset=utf-8, 2 bytes `{}`" in line
        assert "contract: " in line
    assert raised.value.hint


def test_the_same_seed_asks_the_same() -> None:
    asked: list[list[Asked]] = [[], []]

    def noting(into: list[Asked]) -> Behaviour:
        def behaviour(one: Asked) -> Said:
            into.append(one)
            return right(one)

        return behaviour

    for into in asked:
        with serving(noting(into)) as address:
            contract.verify(CheckedServer(address), by_name("mix"), SEED)
    assert asked[0] == asked[1]


@dataclass
class Case:
    expected: Expected
    answer: HttpResponse
    problems: list[str] = field(default_factory=list[str])


@pytest.mark.parametrize(
    "case",
    [
        Case(Expected(), HttpResponse(200, (), b"anything")),
        Case(Expected(status=(200, 399)), HttpResponse(302, (), b"")),
        Case(
            Expected(status=(400, 499)),
            HttpResponse(200, (), b""),
            ["the status is `200`, expected from `400` to `499`"],
        ),
        Case(
            Expected(length_bytes=3),
            HttpResponse(200, (), b"four"),
            ["the body has 4 bytes, expected 3"],
        ),
        Case(
            Expected(body=b"abc"),
            HttpResponse(200, (), b"abd"),
            ["the body differs at byte 2: `d` instead of `c`"],
        ),
        Case(
            Expected(body=b"abc"),
            HttpResponse(200, (), b"ab"),
            ["the body differs at byte 2: nothing instead of `c`"],
        ),
    ],
)
def test_problems_of_an_answer(case: Case) -> None:
    assert contract.problems(case.expected, case.answer) == case.problems


@pytest.mark.parametrize(
    "stated",
    [
        f"Sun, 06 Nov {'9' * 20} 08:49:37 GMT",
        f"Sun, 06 Nov 1994 {'9' * 20}:49:37 GMT",
        f"Sun, 06 Nov 1994 08:49:37 +{'9' * 14}",
        f"Sun, 06 Nov {'9' * 5_000} 08:49:37 GMT",
    ],
)
def test_a_date_beyond_every_calendar_is_wrong_and_no_error(stated: str) -> None:
    response = HttpResponse(200, (("date", stated), ("content-length", "0")), b"")
    came = ServerResponse(response, 0, None, early=False, arrived_s=0.0, took_s=0.0)
    ((rule, problem),) = surroundings.problems(came, (), keep_alive=True)
    assert rule == surroundings.DATE
    assert stated in problem


@pytest.mark.parametrize(
    ("after_s", "took_s", "words"),
    [
        (9.0, 9.5, ""),  # written when the request was taken up
        (9.0, 0.1, "9 s behind"),
        (-9.0, 9.5, "9 s ahead"),
    ],
)
def test_a_date_lies_between_request_and_response(
    after_s: float, took_s: float, words: str
) -> None:
    now_s = 1_700_000_000.0
    stated = formatdate(now_s, usegmt=True)
    response = HttpResponse(200, (("date", stated), ("content-length", "0")), b"")
    came = ServerResponse(response, 0, None, early=False, arrived_s=now_s + after_s, took_s=took_s)
    found = [problem for _, problem in surroundings.problems(came, (), keep_alive=True)]
    assert len(found) == bool(words)
    assert all(words in problem for problem in found)


COMPUTED = [(0.004, 0.004)] * 30
"""Times of pairs of which both responses were computed."""


@pytest.mark.parametrize(
    ("pairs", "suspicious"),
    [
        (COMPUTED, False),
        ([(0.004, 0.0001)] * 16, True),
        ([(0.02, 0.03)] * 61 + [(0.0144, 0.0043)] * 3, False),  # a host that is busy all the time
        ([(0.02, 0.001)] * 4 + [(0.001, 0.02)] * 4 + [(0.004, 0.0001)] * 16, True),
        ([(0.004, 0.004)] * 56 + [(0.004, 0.0001)] * 8, True),  # one worker of eight keeps results
    ],
)
def test_work_that_was_kept_is_told_from_a_busy_host(
    pairs: list[tuple[float, float]], suspicious: bool
) -> None:
    assert contract.WorkTimes(pairs).are_suspicious is suspicious
