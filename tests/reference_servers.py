"""Reference servers as processes of their own, by plain TCP or TLS."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def reference(*options: str) -> Iterator[str]:
    """Host and port of a reference server."""
    with reference_process(*options) as (address, _):
        yield address


@contextmanager
def reference_process(*options: str) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Host and port of a reference server, and its process."""
    command = (sys.executable, "-m", "plimsoll.reference", "--port", "0", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["address"], process
        finally:
            process.terminate()
            process.communicate(timeout=20)


def certificate(folder: Path) -> tuple[str, str]:
    """Files of a certificate for loopback, and of its key; skips the test without openssl."""
    pem, key = str(folder / "right.pem"), str(folder / "right.key")
    command = [
        *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"),
        *("-days", "3650", "-keyout", key, "-out", pem),
    ]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return pem, key
