"""A certificate for the reference server, made with `openssl`."""

from __future__ import annotations

import subprocess
from pathlib import Path

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
"""ECDSA with P-256, as most servers have it."""


def made(folder: Path) -> Path:
    """A file with a certificate for loopback, signed by itself, and its key."""
    both, certificate = folder / "server.pem", folder / "certificate.pem"
    names = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    files = ("-keyout", str(both), "-out", str(certificate))
    command = ("openssl", "req", "-x509", *KEY, "-days", "2", *names, *files)
    subprocess.run(command, check=True, capture_output=True)
    both.write_text(both.read_text("ascii") + certificate.read_text("ascii"), "ascii")
    return both
