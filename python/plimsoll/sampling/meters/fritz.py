"""FRITZ!DECT plugs, asked by way of their FRITZ!Box.

A plug reports to its box about every two minutes, so only long loads can be measured by it.

Source:
    AVM, *AHA-HTTP-Interface* (`getswitchpower`, in mW) and *Login to the FRITZ!Box web interface*
    (`login_sid.lua?version=2`, PBKDF2).
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from xml.etree import ElementTree

from plimsoll.errors import MeterFailed
from plimsoll.sampling.meters import asking

if TYPE_CHECKING:
    from plimsoll.campaign.power import MeterAddress

LOGIN = "/login_sid.lua?version=2"
SWITCH = "/webservices/homeautoswitch.lua"
NO_SESSION = "0" * 16
_ACCOUNT = (
    "set `FRITZ_USERNAME` and `FRITZ_PASSWORD` to an account of the box that may use smart home"
)


class Fritz:
    """A plug of a FRITZ!Box, in one session."""

    interval_s = asking.INTERVAL_S

    def __init__(self, address: MeterAddress) -> None:
        """Nothing is asked yet."""
        self._address = address
        self._session = ""

    def watts(self) -> float:
        """The power that the plug reported last."""
        self._session = self._session or self._logged_in()
        query = {
            "ain": self._address.channel.replace(" ", ""),
            "switchcmd": "getswitchpower",
            "sid": self._session,
        }
        try:
            answer = asking.text(self._address, f"{SWITCH}?{urlencode(query)}").strip()
        except MeterFailed:
            self._session = ""  # a session that ended is answered with status 403
            raise
        return asking.number(int(answer) / 1000 if answer.isdecimal() else None)

    def close(self) -> None:
        """Each question has a connection of its own; the box ends sessions by itself."""

    def _logged_in(self) -> str:
        """The id of a new session."""
        name, password = os.environ.get("FRITZ_USERNAME"), os.environ.get("FRITZ_PASSWORD")
        if not password:
            raise MeterFailed("the FRITZ!Box requires a password", _ACCOUNT)
        challenge = _field(asking.text(self._address, LOGIN), "Challenge")
        form = {"username": name or "", "response": response(challenge, password)}
        answer = asking.text(self._address, LOGIN, urlencode(form))
        session = _field(answer, "SID")
        if session == NO_SESSION:
            raise MeterFailed("the FRITZ!Box refused name or password", _ACCOUNT)
        return session


def response(challenge: str, password: str) -> str:
    """The response to a challenge: PBKDF2 twice, with a salt of the box each time.

    Args:
        challenge: `2$<iterations>$<salt>$<iterations>$<salt>`.
        password: The password.

    Raises:
        MeterFailed: The challenge has another form: the box is older than FRITZ!OS 7.24.
    """
    try:
        version, count, salt, count_2, salt_2 = challenge.split("$")
        found = password.encode()
        for one, times in ((salt, count), (salt_2, count_2)):
            found = hashlib.pbkdf2_hmac("sha256", found, bytes.fromhex(one), int(times))
    except ValueError:
        version, found, salt_2 = "", b"", ""
    if version != "2":
        raise MeterFailed("this FRITZ!Box has no login by PBKDF2", "update it to FRITZ!OS 7.24")
    return f"{salt_2}${found.hex()}"


def _field(document: str, name: str) -> str:
    """The content of an element of the box's answer."""
    try:
        found = ElementTree.fromstring(document).findtext(name)  # noqa: S314 - of the user's own box
    except ElementTree.ParseError:
        found = None
    if not found:
        raise MeterFailed(f"the FRITZ!Box responded without `{name}`", "check the address")
    return found
