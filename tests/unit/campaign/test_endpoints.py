"""The endpoints of the contract."""

from __future__ import annotations

import json
import pkgutil
from random import Random

import pytest

from plimsoll.campaign import endpoints
from plimsoll.campaign.endpoints import ENDPOINTS, by_name, mix
from plimsoll.campaign.endpoints.fibonacci import fibonacci
from plimsoll.campaign.requests import Answer, render

NAMES = (
    "empty",
    "2048",
    "8192",
    "32768",
    "getArgs2048",
    "postArgs2048",
    "postArgsMulti2048",
    "json",
    "plaintext",
    "fibonacci",
    "mix",
)


def test_every_endpoint_of_the_contract_is_there_in_its_order() -> None:
    assert tuple(endpoint.name for endpoint in ENDPOINTS) == NAMES


def test_every_module_of_the_folder_is_in_the_tuple() -> None:
    modules = {module.name for module in pkgutil.iter_modules(endpoints.__path__)}
    assert {module.__name__.rpartition(".")[2] for module in endpoints.MODULES} == modules


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
    said = Answer(200, (("decoded-bytes", "676"),), b"A" * 2048)
    assert exchange.expected.check(said) is None
    assert exchange.expected.check(Answer(200, (("decoded-bytes", "675"),), b"")) is not None


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
    answer = Answer(200, (("content-type", "application/json"),), body)
    assert (exchange.expected.check(answer) is None) is right


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


def test_a_mix_is_probed_as_each_of_its_parts() -> None:
    probed = {probe.request.target.partition("?")[0] for probe in by_name("mix").probes(Random(1))}
    assert probed == {f"/{part}" for part in mix.PARTS}
