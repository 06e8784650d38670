"""`GET /auth`: a token is verified, and its subject returned."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import string
from functools import partial
from typing import TYPE_CHECKING

from plimsoll.campaign.fixtures import Fixtures
from plimsoll.campaign.requests import (
    CACHE_NOT_EXCLUDED,
    Endpoint,
    Exchange,
    Expected,
    Header,
    Request,
    of_type,
)

if TYPE_CHECKING:
    from random import Random

_EXPIRES_S = 4_000_000_000
"""When tokens expire at the earliest, in seconds since 1970: in the year 2096."""

_EXPIRED_S = 1_600_000_000
"""From 2020 to 2023, with the spread: longer ago than any tolerance for clocks that differ."""

_SPREAD_S = 99_999_999
_SUBJECT_CHARACTERS = 24
_HS256 = '{"alg":"HS256","typ":"JWT"}'
_NONE = b'{"alg":"none","typ":"JWT"}'
_HASHES = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}
_UNAUTHORISED = Expected(status=(401, 401))


def token(key: str, payload: str, header: str = _HS256, algorithm: str = "HS256") -> str:
    """A signed token.

    Args:
        key: The key.
        payload: Its claims, as JSON.
        header: Its header, as JSON.
        algorithm: What it is signed by, whatever its header says.

    Source:
        RFC 7515, section 5.1, and RFC 7518, section 3.2.
    """
    signed = f"{_encoded(header.encode())}.{_encoded(payload.encode())}"
    signature = hmac.digest(key.encode(), signed.encode(), _HASHES[algorithm])
    return f"{signed}.{_encoded(signature)}"


def _encoded(content: bytes) -> str:
    """Base64url without padding; RFC 7515, section 2."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _claims(random: Random, subject: str, expires_s: int = _EXPIRES_S) -> str:
    expires_s += random.randint(0, _SPREAD_S)
    return json.dumps({"sub": subject, "exp": expires_s}, separators=(",", ":"))


def _subject(random: Random) -> str:
    characters = string.ascii_letters + string.digits
    return "".join(random.choices(characters, k=_SUBJECT_CHARACTERS))


def _bearer(bearer: str) -> tuple[Header, ...]:
    return (("Authorization", f"Bearer {bearer}"),)


def _exchange(key: str, subject: str, payload: str) -> Exchange:
    body = subject.encode()
    return Exchange(
        Request("auth", "GET", "/auth", _bearer(token(key, payload))),
        Expected(length_bytes=len(body), body=body, check=of_type("text/plain")),
    )


def _refused(name: str, bearer: str) -> Exchange:
    return Exchange(Request(name, "GET", "/auth", _bearer(bearer)), _UNAUTHORISED)


def _probes(fixtures: Fixtures, random: Random) -> tuple[Exchange, ...]:
    return (*_accepted(fixtures.key, random), *_all_refused(fixtures.key, random))


def _accepted(key: str, random: Random) -> tuple[Exchange, ...]:
    """A plain token, and two in whose claims only a JSON decoder finds the subject."""
    plain, nested, escaped = (_subject(random) for _ in range(3))
    inner = _claims(random, _subject(random))
    within = f'{{"act":{inner},\n "exp" : {_EXPIRES_S} ,"sub" : "{nested}"}}'
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in escaped)
    return (
        _exchange(key, plain, _claims(random, plain)),
        _exchange(key, nested, within),
        _exchange(key, escaped, f'{{"sub":"{spelled}","exp":{_EXPIRES_S}}}'),
    )


def _all_refused(key: str, random: Random) -> tuple[Exchange, ...]:
    """Tokens that must not be accepted."""
    subject = _subject(random)
    claims = _claims(random, subject)
    right = token(key, claims)
    head, _, signature = right.split(".")
    other_claims = _encoded(_claims(random, _subject(random)).encode())
    none = f"{_encoded(_NONE)}.{_encoded(claims.encode())}."
    without_end = json.dumps({"sub": subject})
    return (
        Exchange(Request("no token", "GET", "/auth"), _UNAUTHORISED),
        _refused("what is no token", _subject(random)),
        _refused("a token with a wrong signature", token(key[::-1], claims)),
        _refused("a token with another subject", f"{head}.{other_claims}.{signature}"),
        _refused("a token without signature", f"{right.rpartition('.')[0]}."),
        _refused("a token that expired", token(key, _claims(random, subject, _EXPIRED_S))),
        _refused("a token that never expires", token(key, without_end)),
        _refused("a token with `alg: none`", none),
        *(
            _refused(
                f"a token signed by {algorithm}",
                token(key, claims, f'{{"alg":"{algorithm}","typ":"JWT"}}', algorithm),
            )
            for algorithm in ("HS384", "HS512")
        ),
    )


def _drawn(fixtures: Fixtures, random: Random, count: int) -> tuple[Exchange, ...]:
    """Subjects of equal length."""
    subjects = [_subject(random) for _ in range(count)]
    return tuple(_exchange(fixtures.key, one, _claims(random, one)) for one in subjects)


def _with(fixtures: Fixtures) -> Endpoint:
    subject = "abcdefghijklmnopqrstuvwx"
    payload = f'{{"sub":"{subject}","exp":{_EXPIRES_S}}}'
    return Endpoint(
        name="auth",
        summary="`GET /auth` with `Authorization: Bearer …` verifies a JSON Web Token (HS256, key "
        "`$AUTH_KEY`, `exp` required); 200, `text/plain`, its subject; 401 without a valid token",
        exchanges=(_exchange(fixtures.key, subject, payload),),
        probes=partial(_probes, fixtures),
        drawn=partial(_drawn, fixtures),
        not_proven=CACHE_NOT_EXCLUDED,
        with_fixtures=_with,
    )


ENDPOINTS = (_with(Fixtures.drawn(0)),)
"""`auth`."""
