"""The workloads of the web: fixtures, and what endpoints draw from them."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from dataclasses import replace
from email.utils import formatdate
from random import Random

import pytest

from plimsoll.campaign.endpoints import by_name, json_in, upload
from plimsoll.campaign.endpoints.auth import token
from plimsoll.campaign.fixtures import LARGEST_BYTES, SMALLEST_BYTES, Fixtures, other_content
from plimsoll.campaign.listed_items import ItemList
from plimsoll.campaign.requests import Exchange, HttpResponse
from plimsoll.serving.contract import problems

OF_FIXTURES = ("items", "static", "compress", "auth")


def said(body: bytes, status: int = 200, **headers: str) -> HttpResponse:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpResponse(status, named, body)


def coded(coding: str, length: int) -> HttpResponse:
    """A response of 198 bytes that came in a coding with another length."""
    came = said(b"[]" * 99, content_type="application/json", content_encoding=coding)
    return replace(came, coded_bytes=length)


def test_fixtures_follow_from_their_seed() -> None:
    first, other = Fixtures.drawn(1), Fixtures.drawn(2)
    Fixtures.drawn.cache_clear()
    assert Fixtures.drawn(1) == first
    assert first.items != other.items
    assert first.key != other.key
    assert {file.content for file in first.static}.isdisjoint(file.content for file in other.static)


def test_every_seed_gives_as_many_bytes() -> None:
    lengths = {
        tuple(len(file.content) for file in Fixtures.drawn(seed).static) for seed in range(5)
    }
    (only,) = lengths
    assert len(only) == 20
    assert (only[0], only[-1]) == (SMALLEST_BYTES, LARGEST_BYTES)
    assert len(Fixtures.drawn(1).key) == 32


def test_another_content_differs_in_every_way_that_a_cache_may_look_at() -> None:
    random = Random(1)
    for file in Fixtures.drawn(1).static:
        other = other_content(random, file)
        assert other.path == file.path
        assert other.content != file.content
        assert len(other.content) > len(file.content)
        assert other.modified_s > file.modified_s


@pytest.mark.parametrize("name", OF_FIXTURES)
def test_an_endpoint_of_fixtures_expects_those_of_its_server(name: str) -> None:
    first, other = (by_name(name).of_seed(seed).probes(Random(3)) for seed in (1, 2))
    assert first != other or [one.expected.check_body for one in first] != [
        one.expected.check_body for one in other
    ]
    assert by_name("2048").of_seed(1) is by_name("2048")


def test_items_are_the_first_ones_with_their_totals() -> None:
    (exchange,) = by_name("items").of_seed(5).exchanges
    records = json.loads(Fixtures.drawn(5).files[0].content)
    items = [{**one, "total": one["price"] * one["quantity"] * 7} for one in records[:25]]
    right = json.dumps({"count": 25, "items": items}).encode()
    assert problems(exchange.expected, said(right, content_type="application/json")) == []
    items[24]["total"] += 1
    wrong = json.dumps({"count": 25, "items": items}).encode()
    (problem,) = problems(exchange.expected, said(wrong, content_type="application/json"))
    assert len(problem) < 400


@pytest.mark.parametrize(("name", "shortest"), [("items", 1), ("compress", 20)])
def test_lists_under_load_are_as_long_for_every_seed(name: str, shortest: int) -> None:
    sums: set[int] = set()
    for seed in range(3):
        sent = by_name(name).sent("drawn", seed)
        counts = [int(one.request.target.removeprefix("/items/").split("?")[0]) for one in sent]
        assert (min(counts), max(counts)) == (shortest, 50)
        sums.add(sum(counts) // 1000)
    assert max(sums) - min(sums) <= 1


def test_a_compressed_body_says_so() -> None:
    (exchange,) = by_name("compress").exchanges
    check = exchange.expected.check
    assert check(coded("gzip", 20)) is None
    assert check(coded("br", 20))
    assert check(said(b"[]" * 99, content_type="application/json"))
    assert exchange.expected.codings == ("gzip",)


@pytest.mark.parametrize(
    ("stated", "codings"),
    [
        (["gzip"], ("gzip",)),
        (["X-GZIP"], ("gzip",)),
        ([" br "], ("br",)),
        (["identity, zstd"], ("zstd",)),
        (["identity"], ()),
        ([""], ()),
        (["gzip, br"], ("gzip", "br")),
        (["gzip", "gzip"], ("gzip", "gzip")),
        ([], ()),
    ],
)
def test_codings_are_read_as_the_engine_reads_them(
    stated: list[str], codings: tuple[str, ...]
) -> None:
    headers = tuple(("content-encoding", one) for one in stated)
    assert HttpResponse(200, headers, b"").codings == codings


@pytest.mark.parametrize("indent", [None, "\t", 4])
def test_lists_are_compressed_at_every_level_and_not_in_stored_blocks(
    indent: int | str | None,
) -> None:
    for seed in range(3):
        endpoint = by_name("compress").of_seed(seed)
        for one in (*endpoint.exchanges, *endpoint.probes(Random(seed))):
            if not one.expected.codings:
                continue
            length, factor = one.request.target.removeprefix("/items/").split("?m=")
            listed = ItemList(int(length), int(factor)).of(Fixtures.drawn(seed))
            body = json.dumps(listed, indent=indent).encode()
            for level in range(1, 10):
                assert one.expected.check(coded("gzip", len(gzip.compress(body, level)))) is None
            compact = json.dumps(listed, separators=(",", ":")).encode()
            found = one.expected.check(coded("gzip", len(gzip.compress(compact, 0))))
            assert "the compressed body has" in (found or "")


def test_a_token_is_that_of_the_standard() -> None:
    # The example of jwt.io, which every library of tokens verifies.
    payload = '{"sub":"1234567890","name":"John Doe","iat":1516239022}'
    signature = token("your-256-bit-secret", payload).rpartition(".")[2]
    assert signature == "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"


def test_tokens_of_probes_are_right_or_wrong_in_one_way_each() -> None:
    probes = by_name("auth").of_seed(3).probes(Random(3))
    right = [one for one in probes if one.expected.status == (200, 200)]
    refused = {one.request.name for one in probes if one.expected.status == (401, 401)}
    assert len(refused) == len(probes) - len(right) == 10
    for one in right:
        _, claims, _ = one.request.headers[0][1].removeprefix("Bearer ").split(".")
        decoded = json.loads(base64.urlsafe_b64decode(claims + "=="))
        assert decoded["sub"].encode() == one.expected.body


def test_routes_under_load_are_all_over_the_table() -> None:
    for count in (64, 2048):
        sent = by_name("route").drawn(Random(1), count)  # type: ignore[misc]
        routes = [int(one.request.target.split("/")[2]) for one in sent]
        assert len(sent) == count
        assert min(routes) < 20
        assert max(routes) > 980
        assert len(set(routes)) >= min(count, 1000) * 0.9
    assert {len(one.request.target.rpartition("/")[2]) for one in sent} == {9}


def summed(exchange: Exchange) -> int:
    return json_in.total(json.loads(exchange.request.body))


def test_documents_have_the_sum_that_is_expected() -> None:
    endpoint = by_name("json-in")
    sent = [*endpoint.sent("drawn", 1, 2), *endpoint.exchanges]
    probes = endpoint.probes(Random(1))
    right = [one for one in probes if one.expected.status == (200, 200)]
    assert all(str(summed(one)).encode() == one.expected.body for one in (*sent, *right))
    assert all(abs(summed(one)) < 2**53 for one in (*sent, *right))
    assert {len(one.request.body) for one in sent[:2]} == {json_in.LENGTH_BYTES}
    assert all(len(one.request.body) < 2**20 for one in sent)


def test_broken_documents_are_broken_near_their_end_only() -> None:
    probes = by_name("json-in").probes(Random(2))
    broken = [one.request.body for one in probes if one.expected.status == (400, 499)]
    assert len(broken) == 4
    for body in broken:
        with pytest.raises(json.JSONDecodeError) as caught:
            json.loads(body)
        assert caught.value.pos > 0.98 * len(body)


def test_uploads_under_load_differ_in_a_few_bytes_only() -> None:
    sent = by_name("upload").sent("drawn", 1)
    bodies = [one.request.body for one in sent]
    assert len({*bodies}) == len(bodies) == upload.DRAWN
    assert {len(body) for body in bodies} == {upload.LENGTH_BYTES}
    assert all(
        str(zlib.crc32(body)).encode() == one.expected.body
        for body, one in zip(bodies, sent, strict=True)
    )
    differing = sum(a != b for a, b in zip(bodies[0], bodies[1], strict=True))
    assert 0 < differing <= 16


def test_a_file_is_expected_with_its_type_and_time() -> None:
    endpoint = by_name("static").of_seed(4)
    file, exchange = Fixtures.drawn(4).static[0], endpoint.exchanges[0]
    kind, time = file.media_types[0], formatdate(file.modified_s, usegmt=True)
    check = exchange.expected.check
    assert (
        check(said(file.content, content_type=f"{kind}; charset=utf-8", last_modified=time)) is None
    )
    assert check(said(file.content, content_type="x/y", last_modified=time))
    assert check(said(file.content, content_type=kind, last_modified=formatdate(usegmt=True)))
    assert check(said(file.content, content_type=kind))
    assert exchange.expected.body == file.content
    assert len(endpoint.exchanges) == 20
