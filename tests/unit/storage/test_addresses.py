"""Addresses of databases: understood, and never shown with what opens them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import InputError
from plimsoll.storage.postgres.address import address, is_address

PASSWORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="*"), min_size=3, max_size=20
)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://lab@host/db", "postgresql://lab@host/db"),
        ("postgres://lab@host/db", "postgresql://lab@host/db"),
        ("postgresql://lab:secret@host:5433/db", "postgresql://lab@host:5433/db"),
        ("postgresql://lab:sec%2Fret@h1:1,h2:2/db", "postgresql://lab@h1:1,h2:2/db"),
        ("postgresql://lab:secret@[::1]:5433/db", "postgresql://lab@[::1]:5433/db"),
        ("postgresql:///db?host=/run/postgresql&password=secret", "postgresql:///db"),
        ("postgresql://:secret@/", "postgresql://"),
        ("postgresql://", "postgresql://"),
    ],
)
def test_an_address_is_shown_without_what_opens_it(url: str, shown: str) -> None:
    found = address(url)
    assert found.shown == shown
    assert found.url == url
    assert "sec" not in f"{found} {found!r} {found.shown}"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://lab:sec/ret@host/db",
        "postgresql://lab:sec@ret@host/db",
        "postgresql://lab:sec#ret@host/db",
        "postgresql://lab:sec?ret@host/db",
        "postgresql://lab:sec ret",
        "postgresql://host:secret/db",
        "mysql://lab:secret@host/db",
        "lab:secret@host/db",
        "",
    ],
)
def test_of_what_cannot_be_understood_nothing_is_repeated(url: str) -> None:
    with pytest.raises(InputError) as caught:
        address(url)
    (problem,) = caught.value.problems
    said = f"{problem} {problem.hint}"
    assert "sec" not in said
    assert "%40" in problem.hint


@given(PASSWORDS)
def test_a_password_is_in_nothing_that_is_shown(password: str) -> None:
    quoted = "".join(f"%{byte:02X}" for byte in password.encode())
    found = address(f"postgresql://lab:{quoted}@host/db?sslpassword={quoted}")
    assert found.shown == "postgresql://lab@host/db"
    assert repr(found) == repr(address("postgresql://lab@host/db"))


@pytest.mark.parametrize("escape", ["%ff", "%00", "%C3"])
def test_what_is_no_text_is_no_address(escape: str) -> None:
    with pytest.raises(InputError):
        address(f"postgresql://lab:{escape}@host/db")


def test_an_address_is_known_by_its_beginning() -> None:
    assert is_address("postgresql://host/db")
    assert is_address("postgres://host/db")
    assert not is_address("results/postgresql")
    assert not is_address("")
