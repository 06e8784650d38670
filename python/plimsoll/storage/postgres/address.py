"""The URL of a database, which is never shown with its credentials.

Nothing of an invalid URL is shown either, since a password with an unescaped character may be
anywhere in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from plimsoll.errors import InputError, Problem

SCHEMES = ("postgresql://", "postgres://")
"""How the URL of a database begins."""

_HINT = (
    "write postgresql://USER@HOST/DATABASE; keep the password in ~/.pgpass or PGPASSWORD,"
    " and a sign such as @ / : ? # in it is written as %40 %2F %3A %3F %23"
)
_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.%-]*)(?::\d*)?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^:/?#@\s]*)(?::(?P<password>[^/?#@]*))?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?:/(?P<database>[^/?#@\s]*))?(?:\?(?P<query>[^#\s]*))?"
)


@dataclass(frozen=True)
class Address:
    """The URL of a database.

    Attributes:
        url: The URL as given; contains credentials, so it is never shown.
        shown: The displayable part: user, host, port and database.
    """

    url: str = field(repr=False)
    shown: str

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of its parameters, without their values: `sslmode`."""
        query = self.url.partition("?")[2]
        names = (part.partition("=")[0] for part in query.split("&"))
        return tuple(name for name in names if re.fullmatch("[a-z_]{1,32}", name))


def is_address(text: str) -> bool:
    """Whether a text is meant as the URL of a database."""
    return text.startswith(SCHEMES)


def address(url: str) -> Address:
    """Parses a URL: `postgresql://user@host:5432/database`.

    Raises:
        InputError: It is invalid; the message repeats nothing of it.
    """
    found = _ADDRESS.fullmatch(url)
    if found is None or not _is_text(url):
        raise InputError([Problem("", "the PostgreSQL URL is invalid", _HINT)])
    user = f"{found['user']}@" if found["user"] else ""
    database = f"/{found['database']}" if found["database"] else ""
    shown = f"postgresql://{user}{found['hosts']}{database}"
    return Address(url, shown)


def _is_text(url: str) -> bool:
    """Whether percent-encoded bytes are UTF-8 without NUL."""
    try:
        return "\0" not in unquote_to_bytes(url).decode()
    except UnicodeError:
        return False
