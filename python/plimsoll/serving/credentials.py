"""Credentials: the certificate of a server for one start of it, signed by itself, and its key."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import _engine
from plimsoll.errors import StorageError
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Generator


@dataclass(frozen=True)
class Credentials:
    """Files of PEM by which a server proves who it is.

    Attributes:
        certificate: Its certificate: ECDSA with P-256, as most servers of the web have it.
        key: The private key to it, in PKCS #8; None on other hosts than the server's.
    """

    certificate: Path
    key: Path | None


@contextmanager
def made(host: str) -> Generator[Credentials]:
    """Credentials for as long as a server runs.

    Args:
        host: Address that the certificate is for; it is for `localhost` besides.

    Yields:
        The files, which nobody but their owner can read.

    Raises:
        StorageError: They cannot be written.
    """
    certificate, key = _engine.certificate([host, "localhost"])
    with ExitStack() as closing:
        try:
            folder = closing.enter_context(scratch.folder())
        except OSError as error:
            message = f"the certificate of the server cannot be written: {error.strerror}"
            raise StorageError(message, "free space in the folder for temporary files") from error
        files = folder / "certificate.pem", folder / "key.pem"
        for path, text in zip(files, (certificate, key), strict=True):
            path.write_text(text, "ascii")
        yield Credentials(*files)
