"""Settings of a project that serves its own files by WhiteNoise, with no server before it."""

import os
from pathlib import Path

from contract.settings import *  # noqa: F403
from contract.settings import MIDDLEWARE

MIDDLEWARE = ["whitenoise.middleware.WhiteNoiseMiddleware", *MIDDLEWARE]

STATIC_ROOT = Path(os.environ.get("FILES", "/nonexistent"), "static")
STATIC_URL = "static/"
