"""The address of a database, and how it is shown: never with what opens it.

Nothing of an address that cannot be understood is shown either, for a password with an unescaped
sign may stand anywhere in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from plimsoll.errors import CampaignError, Problem

SCHEMES = ("postgresql://", "postgres://")
"""How an address of a database begins."""

SECRETS = ("password", "sslpassword", "sslkey", "passfile", "scram_client_key", "scram_server_key")
"""Parameters of an address whose values are nobody's business.

Source:
    PostgreSQL documentation, libpq, parameter key words.
"""

MASK = "***"

_HINT = (
    "write postgresql://USER@HOST/DATABASE; the password best stands in ~/.pgpass or PGPASSWORD,"
    " and a sign such as @ / : ? # in it is written as %40 %2F %3A %3F %23"
)
_HOST = r"(?:\[[0-9A-Fa-f:.%]+\]|[\w.%-]*)(?::\d*)?"
_ADDRESS = re.compile(
    rf"postgres(?:ql)?://(?:(?P<user>[^:/?#@\s]*)(?::(?P<password>[^/?#@]*))?@)?"
    rf"(?P<hosts>{_HOST}(?:,{_HOST})*)(?:/(?P<database>[^/?#@\s]*))?(?:\?(?P<query>[^#\s]*))?"
)


@dataclass(frozen=True)
class Address:
    """Where a database is.

    Attributes:
        url: The address as it was typed; holds credentials, so it is never shown.
        shown: The address as it may be shown: user, host, port and database.
        secrets: What must not appear anywhere, as typed and as it is meant.
    """

    url: str = field(repr=False)
    shown: str
    secrets: tuple[str, ...] = field(repr=False)

    def masked(self, text: str) -> str:
        """A text without any credential of the address."""
        for secret in self.secrets:
            text = text.replace(secret, MASK)
        return text


def is_address(text: str) -> bool:
    """Whether a text is meant as the address of a database."""
    return text.startswith(SCHEMES)


def address(url: str) -> Address:
    """An address as it is typed: `postgresql://user@host:5432/database`.

    Raises:
        CampaignError: It is none; nothing of it is repeated.
    """
    found = _ADDRESS.fullmatch(url)
    if found is None:
        raise CampaignError([Problem("", "this is no address of a PostgreSQL database", _HINT)])
    user = f"{found['user']}@" if found["user"] else ""
    database = f"/{found['database']}" if found["database"] else ""
    shown = f"postgresql://{user}{found['hosts']}{database}"
    return Address(url, shown, _secrets(found["password"], found["query"]))


def _secrets(password: str | None, query: str | None) -> tuple[str, ...]:
    """Longest first, so that none is left in parts where one holds another."""
    given = [password or ""]
    given += [value for key, value in parse_qsl(query or "") if key in SECRETS]
    forms = {form for secret in given for form in (secret, unquote(secret)) if form}
    return tuple(sorted(forms, key=len, reverse=True))
