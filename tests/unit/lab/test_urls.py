"""URLs as they are typed."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.lab import urls


@pytest.mark.parametrize(
    ("text", "server", "target"),
    [
        ("http://127.0.0.1:8080/a?b=c%20d", "127.0.0.1:8080", "/a?b=c%20d"),
        ("localhost", "localhost", "/"),
        ("localhost:8080/ä", "localhost:8080", "/%C3%A4"),
        (":8080/a", "127.0.0.1:8080", "/a"),
        ("[::1]:80/", "[::1]:80", "/"),
    ],
)
def test_what_is_left_out_of_a_url_is_added(text: str, server: str, target: str) -> None:
    url = urls.parts(text)
    assert (url.scheme, url.netloc, urls.target(url)) == ("http", server, target)


def test_a_port_of_tls_is_443_unless_it_is_given() -> None:
    assert urls.address(urls.parts("https://127.0.0.1/")) == "127.0.0.1:443"
    urls.require_one_server([urls.parts("https://h"), urls.parts("https://h:443/x")])
    with pytest.raises(InputError, match="two servers"):
        urls.require_one_server([urls.parts("http://h:81"), urls.parts("https://h:81")])


@pytest.mark.parametrize(
    "same", [("localhost/a", "LOCALHOST:80/b"), ("http://h:81", "h:81/x", "h:81/x")]
)
def test_urls_of_one_server_go_together(same: tuple[str, ...]) -> None:
    urls.require_one_server([urls.parts(text) for text in same])


@pytest.mark.parametrize(
    "others", [("localhost:80", "localhost:81"), ("h/a", "h/b", "g/c"), ("127.0.0.1", "localhost")]
)
def test_urls_of_two_servers_are_refused_in_one_sentence(others: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as error:
        urls.require_one_server([urls.parts(text) for text in others])
    (problem,) = error.value.problems
    assert "the URLs are on two servers" in problem.message
    assert problem.hint


def test_an_address_is_numbers() -> None:
    assert urls.address(urls.parts("127.0.0.1/x")) == "127.0.0.1:80"
    assert urls.address(urls.parts("[::1]:8080")) == "[::1]:8080"


@pytest.mark.parametrize(
    "text", ["18080", "2130706433:18060", "0x7f.1:18060", "127.1:80", "010.0.0.1"]
)
def test_a_number_is_no_host_though_systems_take_it_for_an_address(text: str) -> None:
    with pytest.raises(InputError, match="not a host name"):
        urls.parts(text)


@pytest.mark.parametrize("text", ["127.0.0.1:80", ":18080", "[::1]:80", "host1:80", "1.example:80"])
def test_addresses_as_people_write_them_are_taken(text: str) -> None:
    assert urls.parts(text).hostname
