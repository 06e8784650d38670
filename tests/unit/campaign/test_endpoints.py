"""The endpoints of the contract."""

from __future__ import annotations

import itertools
import json
import pkgutil
from pathlib import Path
from random import Random

import pytest

from plimsoll.campaign import arguments, endpoints
from plimsoll.campaign.endpoints import ENDPOINTS, by_name, mix
from plimsoll.campaign.endpoints.args import checksum
from plimsoll.campaign.endpoints.fibonacci import fibonacci
from plimsoll.campaign.requests import HttpResponse, render
from plimsoll.serving.contract import problems

FRAMEWORKS = Path(__file__).parents[3] / "frameworks"

NAMES = (
    "empty",
    "2048",
    "8192",
    "32768",
    "getArgs2048",
    "postArgs2048",
    "postArgsMulti2048",
    "args",
    "json",
    "plaintext",
    "fibonacci",
    "ws",
    "mix",
    "db",
    "fortunes",
    "updates",
    "route",
    "items",
    "upload",
    "static",
    "compress",
    "auth",
    "json-in",
    "upstream",
    "stream",
)


def test_every_endpoint_of_the_contract_is_there_in_its_order() -> None:
    assert tuple(endpoint.name for endpoint in ENDPOINTS) == NAMES


def test_every_module_of_the_folder_is_in_the_tuple() -> None:
    modules = {module.name for module in pkgutil.iter_modules(endpoints.__path__)}
    assert {module.__name__.rpartition(".")[2] for module in endpoints.MODULES} == modules


def test_a_letter_does_not_make_the_path_of_another_endpoint() -> None:
    # The check of the contract asks for paths with another letter, which must be absent.
    targets = {one.request.target for endpoint in ENDPOINTS for one in endpoint.exchanges}
    words = {target.split("/")[1].partition("?")[0].lower() for target in targets}
    for one, other in itertools.combinations(sorted(words), 2):
        differing = sum(a != b for a, b in zip(one, other, strict=False))
        assert len(one) != len(other) or differing > 1, (one, other)


def test_an_endpoint_is_found_by_its_name() -> None:
    assert all(by_name(name).name == name for name in NAMES)
    with pytest.raises(KeyError):
        by_name("4096")


@pytest.mark.parametrize(
    ("name", "length_bytes"),
    [("empty", 0), ("2048", 2048), ("8192", 8192), ("32768", 32768), ("plaintext", 13)],
)
def test_a_constant_body_is_known_to_the_byte(name: str, length_bytes: int) -> None:
    (exchange,) = by_name(name).exchanges
    assert exchange.request.target == f"/{name}"
    assert exchange.expected.length_bytes == length_bytes == len(exchange.expected.body or b"")


@pytest.mark.parametrize("name", ["getArgs2048", "postArgs2048", "postArgsMulti2048"])
def test_under_load_the_26_values_are_the_alphabet(name: str) -> None:
    (exchange,) = by_name(name).exchanges
    sent = render(exchange.request, "h", keep_alive=True)
    assert sent.count(b"abcdefghijklmnopqrstuvwxyz") == 26
    assert all(f"abc{letter}".encode() in sent for letter in "abcdefghijklmnopqrstuvwxyz")
    said = HttpResponse(200, (("decoded-bytes", "676"),), b"A" * 2048)
    assert exchange.expected.check(said) is None
    assert exchange.expected.check(HttpResponse(200, (("decoded-bytes", "675"),), b"")) is not None


def test_the_multipart_body_under_load_is_what_its_header_says() -> None:
    request = by_name("postArgsMulti2048").exchanges[0].request
    (content_type,) = [value for name, value in request.headers if name == "Content-Type"]
    boundary = content_type.partition("boundary=")[2].encode()
    assert request.body.startswith(b"--" + boundary + b"\r\nContent-Disposition: form-data; name=")
    assert request.body.endswith(b"\r\n--" + boundary + b"--\r\n")
    assert request.body.count(b"--" + boundary) == 27


def test_the_person_under_load_is_json() -> None:
    (exchange,) = by_name("json").exchanges
    person = json.loads(exchange.request.body)
    assert set(person) == {"id", "firstName", "lastName"}
    assert exchange.expected.body is None


@pytest.mark.parametrize(
    ("body", "right"),
    [
        (b'{"lastName":"Plimsoll", "firstName":"Samuel","id":1876}', True),
        (b'{"id":1876,"firstName":"\\u0053amuel","lastName":"Plimsoll"}', True),
        (b'{"id":1876,"firstName":"Samuel"}', False),
        (b'{"id":"1876","firstName":"Samuel","lastName":"Plimsoll"}', False),
        (b'{"id":1876,"firstName":"Samuel","lastName":"Plimsoll","more":1}', False),
        (b'[{"id":1876,"firstName":"Samuel","lastName":"Plimsoll"}]', False),
        (b"true", False),
        (b"", False),
        (b"\xff", False),
    ],
)
def test_a_person_is_compared_as_json(body: bytes, right: bool) -> None:
    (exchange,) = by_name("json").exchanges
    answer = HttpResponse(200, (("content-type", "application/json"),), body)
    assert (problems(exchange.expected, answer) == []) is right


@pytest.mark.parametrize(
    ("n", "value"), [(0, 0), (1, 1), (2, 1), (3, 2), (10, 55), (90, 2880067194370816120)]
)
def test_fibonacci_numbers(n: int, value: int) -> None:
    assert fibonacci(n) == value


def test_the_fibonacci_number_under_load_has_2090_digits() -> None:
    (exchange,) = by_name("fibonacci").exchanges
    assert exchange.request.target == "/fibonacci/10000"
    assert exchange.expected.length_bytes == 2090


def test_a_mix_is_drawn_evenly_from_six_endpoints() -> None:
    exchanges = by_name("mix").exchanges
    assert [exchange.request.weight for exchange in exchanges] == [1.0] * 6
    parts = [exchange for part in mix.PARTS for exchange in by_name(part).exchanges]
    assert list(exchanges) == parts


@pytest.mark.parametrize(
    "name", ["args", "json", "fibonacci", "route", "items", "compress", "auth"]
)
def test_drawn_requests_differ_from_each_other_and_between_trials(name: str) -> None:
    first, again, other = (by_name(name).sent("drawn", seed) for seed in (1, 1, 2))
    assert [one.request for one in first] == [one.request for one in again]
    sent = {(one.request.target, one.request.headers, one.request.body) for one in first}
    assert len(sent) == 2048
    assert {one.request.name for one in first} == {name}
    assert sent != {(one.request.target, one.request.headers, one.request.body) for one in other}
    assert by_name(name).sent("fixed", 1) == by_name(name).exchanges


def test_drawn_fibonacci_numbers_are_spread_and_as_much_work_as_the_one_of_the_study() -> None:
    for seed in range(3):
        sent = by_name("fibonacci").sent("drawn", seed)
        numbers = [int(one.request.target.rpartition("/")[2]) for one in sent]
        assert min(numbers) < 8_010
        assert max(numbers) > 11_990
        assert sum(n**2 for n in numbers) / len(numbers) == pytest.approx(10_000**2, rel=0.02)
        assert sent[-1].expected.body == str(fibonacci(numbers[-1])).encode()


def test_json_of_the_load_is_wrong_when_it_comes_back_as_it_was() -> None:
    for one in by_name("json").sent("drawn", 3):
        kind = (("content-type", "application/json"),)
        again = json.dumps(json.loads(one.request.body)).encode()
        assert one.expected.check(HttpResponse(200, kind, again)) is None
        assert one.expected.check(HttpResponse(200, kind, one.request.body)) is not None


def test_a_drawn_mix_weighs_its_parts_evenly() -> None:
    weights: dict[str, float] = {}
    for one in by_name("mix").sent("drawn", 3):
        weights[one.request.name] = weights.get(one.request.name, 0) + one.request.weight
    assert weights == pytest.approx(dict.fromkeys(mix.PARTS, 1.0))
    assert len(by_name("mix").sent("drawn", 3)) == 5 + 2048


def test_the_checksum_is_that_of_the_contract() -> None:
    (exchange,) = by_name("args").exchanges
    assert exchange.expected.body == b"4197353680"
    assert checksum(tuple((name, "") for name in arguments.NAMES)) == 3200026160
    assert "4197353680" in (FRAMEWORKS / "README.md").read_text()
    assert "3200026160" in (FRAMEWORKS / "README.md").read_text()


def test_a_body_in_chunks_is_the_same_body() -> None:
    request = by_name("json").exchanges[0].request
    sent = render(request, "h", keep_alive=True, chunked=True)
    head, _, body = sent.partition(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    assert b"Content-Length" not in head
    sizes, parts = body.split(b"\r\n")[:-2:2], body.split(b"\r\n")[1:-2:2]
    assert [int(size, 16) for size in sizes] == [*map(len, parts), 0]
    assert b"".join(parts) == request.body


@pytest.mark.parametrize("name", ["postArgsMulti2048", "mix"])
def test_a_large_body_comes_in_many_chunks_below_what_servers_take(name: str) -> None:
    large = by_name(name).large
    assert large is not None
    request = large(Random(1)).request
    assert 64 * 1024 < len(request.body) < 100_000
    sent = render(request, "h", keep_alive=True, chunked=True)
    assert sent.count(b"\r\n2000\r\n") == len(request.body) // 0x2000


def test_a_mix_is_probed_as_each_of_its_parts() -> None:
    probed = {probe.request.target.partition("?")[0] for probe in by_name("mix").probes(Random(1))}
    assert probed == {f"/{part}" for part in mix.PARTS}
