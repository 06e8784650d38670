"""Files as they lie on the disk, packed or not, read as one stream of bytes each."""

from __future__ import annotations

import bz2
import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa
from isal import igzip, isal_zlib

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake.ahead import taken_ahead

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING_BYTES = 4096
"""So much of a file is looked at to tell what it is."""

BUFFER_BYTES = 1 << 20
CHUNK_BYTES = 1 << 18
"""So much is unpacked at a time, and so much is lost at most where a file is damaged."""

CHUNKS_AHEAD = 64
"""What is unpacked while the bytes before are read."""

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_PACKED_BYTES = 1 << 16
_ENCRYPTED = 1
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_XZ, _BZIP2, _ZSTD = b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"
_DAMAGED = (
    EOFError,
    OSError,
    RuntimeError,
    isal_zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class Packed:
    """One stream of bytes in a file.

    Attributes:
        path: The file.
        member: Its name within an archive; empty where there is no archive, or one member only.
    """

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.path}:{self.member}" if self.member else str(self.path)


class Unpacked(io.RawIOBase):
    """The bytes of a packed file; knows whether it ended before its end.

    Args:
        chunks: The bytes; raises where the file is damaged.
        name: Name of the file, for messages.
        partial: Whether what comes before the damage counts as all there is.

    Attributes:
        damage: What is wrong with the file; empty when nothing is.
    """

    def __init__(self, chunks: Iterator[bytes], name: str, *, partial: bool) -> None:
        """Nothing is read yet."""
        super().__init__()
        self._chunks = chunks
        self._left = memoryview(b"")
        self._name = name
        self._partial = partial
        self.damage = ""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Fills a buffer as far as there are bytes.

        Raises:
            CampaignError: The file is damaged, and what could be read does not count.
        """
        if not self._left:
            self._left = memoryview(self._next())
        found, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)

    def _next(self) -> bytes:
        """The next bytes; empty at the end, and where the damage begins.

        Raises:
            CampaignError: The file is damaged, and what could be read does not count.
        """
        try:
            return next(self._chunks, b"")
        except _DAMAGED as error:
            self.damage = str(error) or type(error).__name__
            if not self._partial:
                raise _damaged(self._name, self.damage) from error
            return b""


def streams(path: Path, *, partial: bool) -> tuple[Packed, ...]:
    """What a file holds: itself, or the members of an archive.

    Args:
        path: The file.
        partial: Whether what a damaged archive still gives counts.

    Raises:
        CampaignError: It cannot be read, or is damaged.
    """
    if _first(path, len(_ZIP)) != _ZIP:
        return (Packed(path),)
    try:
        with zipfile.ZipFile(path) as archive:
            members = [one.filename for one in archive.infolist() if _is_content(one)]
    except _DAMAGED as error:
        if not partial:
            raise _damaged(str(path), str(error)) from error
        return (Packed(path),)
    if not members:
        raise CampaignError([Problem(str(path), "is an archive without a file", _GIVE)])
    return (Packed(path),) if len(members) == 1 else tuple(Packed(path, one) for one in members)


@contextmanager
def opened(packed: Packed, *, partial: bool) -> Generator[tuple[BinaryIO, Unpacked]]:
    """The bytes of a file, unpacked.

    Args:
        packed: The file.
        partial: Whether what comes before damage counts as all there is.

    Yields:
        The stream, and what knows of damage once the stream has ended.

    Raises:
        CampaignError: It cannot be read.
    """
    try:
        source, content = _opened(packed, partial=partial)
    except _DAMAGED as error:
        raise _damaged(packed.name, str(error)) from error
    with source, taken_ahead(content, CHUNKS_AHEAD) as chunks:
        raw = Unpacked(chunks, packed.name, partial=partial)
        yield cast("BinaryIO", io.BufferedReader(raw, BUFFER_BYTES)), raw


def _opened(packed: Packed, *, partial: bool) -> tuple[IO[bytes], Generator[bytes]]:
    """The file by how it begins, whatever it is called, and what is in it."""
    beginning = _first(packed.path, len(_XZ))
    if beginning.startswith(_ZIP):
        return _member(packed, partial=partial)
    openers = {_GZIP: igzip.open, _BZIP2: bz2.open, _XZ: lzma.open, _ZSTD: _zstandard}
    opener = next((one for sign, one in openers.items() if beginning.startswith(sign)), None)
    source = cast("io.BufferedIOBase", opener(packed.path) if opener else packed.path.open("rb"))
    return cast("IO[bytes]", source), _chunks(source)


def _zstandard(path: Path) -> Any:
    return pa.input_stream(str(path), compression="zstd")


def _member(packed: Packed, *, partial: bool) -> tuple[IO[bytes], Generator[bytes]]:
    """A member of an archive; of one whose list of members is lost, the first."""
    try:
        archive = zipfile.ZipFile(packed.path)
    except zipfile.BadZipFile:
        if not partial:
            raise
        file = packed.path.open("rb")
        return file, _salvaged(file)
    with archive:
        found = (one for one in archive.infolist() if _is_content(one))
        member = archive.getinfo(packed.member) if packed.member else next(found)
        if member.flag_bits & _ENCRYPTED:
            hint = "unpack it with its password, and give what is in it"
            raise CampaignError([Problem(packed.name, "is encrypted", hint)])
        if member.compress_type == zipfile.ZIP_DEFLATED:
            file = packed.path.open("rb")
            file.seek(member.header_offset)
            return file, _member_chunks(file, member.CRC)
        opened = archive.open(member)
        return opened, _chunks(cast("io.BufferedIOBase", opened))


def _chunks(source: io.BufferedIOBase) -> Generator[bytes]:
    while chunk := source.read1(CHUNK_BYTES):
        yield chunk


def _salvaged(file: BinaryIO) -> Generator[bytes]:
    """What can be unpacked of the first member of an archive that was cut off.

    Raises:
        EOFError: Behind it: it is not all.
    """
    yield from _member_chunks(file, None)
    raise EOFError(_CUT_OFF)


def _member_chunks(file: BinaryIO, crc: int | None) -> Generator[bytes]:
    """A member of an archive, from its header on.

    Args:
        file: The archive, where the header begins.
        crc: The check sum of what is in it; None when it is not known.

    Raises:
        EOFError: It has no end.
        zipfile.BadZipFile: The check sum is another.

    Source: PKWARE APPNOTE 4.3.7, local file header; RFC 1951.
    """
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise EOFError(_CUT_OFF)
    _, _, _, method, *_, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    file.read(name_bytes + extra_bytes)
    chunks = (
        _inflated(file)
        if method == zipfile.ZIP_DEFLATED
        else _chunks(cast("io.BufferedIOBase", file))
    )
    found = 0
    for chunk in chunks:
        found = isal_zlib.crc32(chunk, found)
        yield chunk
    if crc is not None and found != crc:
        raise zipfile.BadZipFile("its check sum (CRC) is another")


def _inflated(file: BinaryIO) -> Generator[bytes]:
    """What was deflated, up to its end.

    Raises:
        EOFError: It has none.
    """
    inflate = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS)
    while not inflate.eof:
        left = file.read(_PACKED_BYTES)
        if not left:
            raise EOFError(_CUT_OFF)
        while left and not inflate.eof:
            if found := inflate.decompress(left, CHUNK_BYTES):
                yield found
            left = inflate.unconsumed_tail


def stem(path: Path) -> str:
    """The name of a file without its endings, which say how it is packed."""
    return path.name.partition(".")[0] or path.name


def _first(path: Path, count: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except FileNotFoundError as error:
        raise CampaignError([Problem(str(path), "there is no such file", _GIVE)]) from error
    except OSError as error:
        raise CampaignError([Problem(str(path), f"cannot be read: {error.strerror}")]) from error


def _is_content(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a file that somebody put there; some systems add files of their own."""
    return not member.is_dir() and not member.filename.startswith("__MACOSX/")


def _damaged(name: str, reason: str) -> CampaignError:
    hint = "copy it again, or keep what can be read with `--partial`"
    return CampaignError([Problem(name, f"is damaged or cut off: {reason}", hint)])


_CUT_OFF = "the archive was cut off"
_GIVE = "name the file that the tool wrote"
