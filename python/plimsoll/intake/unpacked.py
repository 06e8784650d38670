"""Reads files, compressed or not, as one stream of bytes each."""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

import pyarrow as pa
from isal import isal_zlib

from plimsoll import texts
from plimsoll.errors import InputError, Problem
from plimsoll.intake.ahead import taken_ahead

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING_BYTES = 4096
"""Length of the beginning that identifies a file."""

BUFFER_BYTES = 1 << 20
CHUNK_BYTES = 1 << 18
"""Bytes passed on at a time."""

PIECE_BYTES = 1 << 14
"""Bytes given to a decompressor, or asked of it, at a time; at damage, what they hold is lost."""

CHUNKS_AHEAD = 64
"""Chunks decompressed ahead."""

_MARK = codecs.BOM_UTF8
"""The byte order mark that editors and spreadsheets write before UTF-8; no tool does."""

_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED = 1
_ZIP, _GZIP = b"PK\x03\x04", b"\x1f\x8b"
_XZ, _BZIP2, _ZSTD = b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd"
_DEFLATE, _GZIP_MEMBER = -isal_zlib.MAX_WBITS, 16 + isal_zlib.MAX_WBITS
"""Forms of a deflated stream: without header and sum, and with those of gzip."""

_SUFFIXES = re.compile(
    r"(?<=[^.])(\.(csv|tsv|jtl|xml|json|jsonl|ndjson|log|txt|dat|data|out|zip|gz|zst|xz|bz2))+$",
    re.IGNORECASE,
)
"""Endings that say how a log is written and packed; others are part of its name."""

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
        member: Its name within an archive; empty without an archive, or if it has only one member.
    """

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """Its name in messages."""
        return texts.line(f"{self.path}:{self.member}" if self.member else str(self.path))


class Unpacked(io.RawIOBase):
    """The decompressed bytes of a file, which detects damage.

    Args:
        chunks: The bytes; raises at damage.
        name: Name of the file, for messages.
        partial: Whether to read the part before damage instead of raising.

    Attributes:
        damage: The damage in words; empty if there is none.
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
            InputError: The file is damaged, and `partial` is not set.
        """
        if not self._left:
            self._left = memoryview(self._next())
        found, self._left = self._left[: len(buffer)], self._left[len(buffer) :]
        buffer[: len(found)] = found
        return len(found)

    def _next(self) -> bytes:
        """The next bytes; empty at the end, and at damage.

        Raises:
            InputError: The file is damaged, and `partial` is not set.
        """
        try:
            return next(self._chunks, b"")
        except _DAMAGED as error:
            self.damage = str(error) or type(error).__name__
            if not self._partial:
                raise _damaged(self._name, self.damage) from error
            return b""


def is_packed(path: Path) -> bool:
    """Whether a file is an archive, or compressed.

    Raises:
        InputError: It cannot be read.
    """
    return _first(path, len(_XZ)).startswith((_ZIP, _GZIP, *_OPENERS))


def streams(path: Path, *, partial: bool) -> tuple[Packed, ...]:
    """The streams of a file: itself, or the members of an archive.

    Args:
        path: The file.
        partial: Whether to read the readable part of a damaged archive.

    Raises:
        InputError: It cannot be read, or is damaged.
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
        raise InputError([Problem(str(path), "is an empty archive", _GIVE)])
    return (Packed(path),) if len(members) == 1 else tuple(Packed(path, one) for one in members)


@contextmanager
def opened(packed: Packed, *, partial: bool) -> Generator[tuple[BinaryIO, Unpacked]]:
    """The decompressed bytes of a file.

    Args:
        packed: The file.
        partial: Whether to read the part before damage instead of raising.

    Yields:
        The stream, without a byte order mark, and the object with its `damage` at the end of the
        stream.

    Raises:
        InputError: It cannot be read, nothing before its damage can be, or it is not text.
    """
    try:
        source, content = _opened(packed, partial=partial)
    except _DAMAGED as error:
        raise _damaged(packed.name, str(error)) from error
    with source, taken_ahead(content, CHUNKS_AHEAD) as chunks:
        raw = Unpacked(chunks, packed.name, partial=partial)
        stream = io.BufferedReader(raw, BUFFER_BYTES)
        beginning = stream.peek(len(_MARK))
        if raw.damage and not beginning:
            raise _unreadable(packed.name, raw.damage)
        _require_utf8(beginning, packed)
        if beginning.startswith(_MARK):
            stream.read(len(_MARK))
        yield cast("BinaryIO", stream), raw


def _opened(packed: Packed, *, partial: bool) -> tuple[IO[bytes], Generator[bytes]]:
    """The file and its content, by its beginning, whatever its name."""
    beginning = _first(packed.path, len(_XZ))
    if beginning.startswith(_ZIP):
        return _member(packed, partial=partial)
    if beginning.startswith(_GZIP):
        source = packed.path.open("rb")
        return source, _gathered(_gunzipped(source))
    opener = next((one for sign, one in _OPENERS.items() if beginning.startswith(sign)), None)
    if opener is None:
        source = packed.path.open("rb")
        return source, _chunks(source)
    unpacking = opener(packed.path)
    return unpacking, _gathered(_pieces(unpacking))


def _require_utf8(beginning: bytes, packed: Packed) -> None:
    """Refuses a file with a byte order mark of UTF-16.

    Raises:
        InputError: It has one; no tool writes its log in UTF-16.
    """
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        hint = "save it as UTF-8: `iconv -f UTF-16 -t UTF-8`"
        raise InputError([Problem(packed.name, "is UTF-16", hint)])


def _zstandard(path: Path) -> Any:
    return pa.input_stream(str(path), compression="zstd")


_OPENERS: dict[bytes, Callable[[Path], Any]] = {
    _BZIP2: bz2.open, _XZ: lzma.open, _ZSTD: _zstandard
}  # fmt: skip
"""How a file with each beginning is decompressed, other than a zip or gzip."""


def _member(packed: Packed, *, partial: bool) -> tuple[IO[bytes], Generator[bytes]]:
    """A member of an archive; the first one if the list of members is lost."""
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
            hint = "decrypt it, and give its contents"
            raise InputError([Problem(packed.name, "is encrypted", hint)])
        if member.compress_type == zipfile.ZIP_DEFLATED:
            file = packed.path.open("rb")
            file.seek(member.header_offset)
            return file, _member_chunks(file, member.CRC)
        opened = archive.open(member)
        return opened, _gathered(_pieces(opened))


def _chunks(source: io.BufferedIOBase) -> Generator[bytes]:
    while chunk := source.read1(CHUNK_BYTES):
        yield chunk


def _gathered(pieces: Iterable[bytes]) -> Generator[bytes]:
    """Pieces as chunks; those before damage come before its exception.

    Raises:
        OSError: The pieces are damaged, or one of the other exceptions of `_DAMAGED`.
    """
    waiting: list[bytes] = []
    size = 0
    try:
        for piece in pieces:
            waiting.append(piece)
            size += len(piece)
            if size >= CHUNK_BYTES:
                yield b"".join(waiting)
                waiting, size = [], 0
    except _DAMAGED:
        if waiting:
            yield b"".join(waiting)
        raise
    if waiting:
        yield b"".join(waiting)


def _gunzipped(file: BinaryIO) -> Generator[bytes]:
    """The members of a gzip, one after the other; zeros behind them are padding.

    Raises:
        EOFError: It is truncated.
        isal_zlib.error: It is damaged.

    Source: RFC 1952.
    """
    left = b""
    while left or (left := file.read(PIECE_BYTES)):
        left = left.lstrip(b"\0")
        if left:
            left = yield from _inflated(file, left, _GZIP_MEMBER)


def _pieces(source: Any) -> Generator[bytes]:
    """What a decompressor of Python or of Arrow makes of its file."""
    while piece := source.read1(PIECE_BYTES):
        yield piece


def _salvaged(file: BinaryIO) -> Generator[bytes]:
    """The readable part of the first member of a truncated archive.

    Raises:
        EOFError: At its end, since it is incomplete.
    """
    yield from _member_chunks(file, None)
    raise EOFError(_CUT_OFF)


def _member_chunks(file: BinaryIO, crc: int | None) -> Generator[bytes]:
    """A member of an archive, from its header on.

    Args:
        file: The archive, at the header.
        crc: The checksum of its content; None if unknown.

    Raises:
        EOFError: It is truncated.
        zipfile.BadZipFile: The checksum does not match.

    Source: PKWARE APPNOTE 4.3.7, local file header; RFC 1951.
    """
    header = file.read(_LOCAL_HEADER.size)
    if len(header) < _LOCAL_HEADER.size:
        raise EOFError(_CUT_OFF)
    _, _, _, method, *_, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(header)
    file.read(name_bytes + extra_bytes)
    chunks = (
        _gathered(_inflated(file, b"", _DEFLATE))
        if method == zipfile.ZIP_DEFLATED
        else _chunks(cast("io.BufferedIOBase", file))
    )
    found = 0
    for chunk in chunks:
        found = isal_zlib.crc32(chunk, found)
        yield chunk
    if crc is not None and found != crc:
        raise zipfile.BadZipFile("its checksum (CRC) does not match")


def _inflated(file: BinaryIO, left: bytes, form: int) -> Generator[bytes, None, bytes]:
    """A deflated stream up to its end.

    Args:
        file: The file, after what is left.
        left: The beginning of the stream; may be empty.
        form: What surrounds it, as the window bits of zlib.

    Returns:
        What was read behind it.

    Raises:
        EOFError: It is truncated.
        isal_zlib.error: It is damaged.
    """
    inflate = isal_zlib.decompressobj(form)
    while not inflate.eof:
        left = left or file.read(PIECE_BYTES)
        if not left:
            raise EOFError(_CUT_OFF)
        if found := inflate.decompress(left, CHUNK_BYTES):
            yield found
        left = inflate.unconsumed_tail
    return inflate.unused_data


def repeated(packed: Iterable[Packed], *, partial: bool) -> tuple[Packed, Packed] | None:
    """The first two streams with the same content, compressed or not; None without any.

    Args:
        packed: The streams; only those that begin alike are read further.
        partial: Whether to read the readable part of a damaged file.

    Raises:
        InputError: One of them cannot be read.
    """
    alike: dict[bytes, list[Packed]] = {}
    for one in packed:
        with opened(one, partial=partial) as (stream, _):
            beginning = stream.read(BEGINNING_BYTES)
        earlier = alike.setdefault(beginning, [])
        for other in earlier:
            if _are_same(other, one, partial=partial):
                return other, one
        earlier.append(one)
    return None


def _are_same(one: Packed, other: Packed, *, partial: bool) -> bool:
    with opened(one, partial=partial) as (left, _), opened(other, partial=partial) as (right, _):
        while (found := left.read(BUFFER_BYTES)) == right.read(BUFFER_BYTES):
            if not found:
                return True
    return False


def stem(path: Path) -> str:
    """The name of a file without endings of logs and archives: `go-1.22` of `go-1.22.csv.gz`."""
    return _SUFFIXES.sub("", path.name)


def _first(path: Path, count: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(count)
    except FileNotFoundError as error:
        raise InputError([Problem(str(path), "no such file", _GIVE)]) from error
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise InputError([Problem(str(path), message, _GIVE)]) from error


def _is_content(member: zipfile.ZipInfo) -> bool:
    """Whether a member is a real file; some systems add their own files."""
    return not member.is_dir() and not member.filename.startswith("__MACOSX/")


def _damaged(name: str, reason: str) -> InputError:
    hint = "copy it again, or import the readable part with `partial=True`"
    return InputError([Problem(name, f"is damaged or truncated: {reason}", hint)])


def _unreadable(name: str, reason: str) -> InputError:
    message = f"is damaged or truncated, and nothing of it can be read: {reason}"
    return InputError([Problem(name, message, "copy it again, or give an undamaged file")])


_CUT_OFF = "its compressed data ends too early"
_GIVE = "give the file that the tool wrote"
