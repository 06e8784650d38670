"""Property tests do not judge how long an example takes: the machine may be shared."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("plimsoll", deadline=None)
settings.load_profile("plimsoll")
