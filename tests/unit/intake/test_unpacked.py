"""Packed files, whole and cut off."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from plimsoll.errors import InputError
from plimsoll.intake import unpacked
from plimsoll.intake.unpacked import Packed

TEXT = b"".join(b"%d,%d\n" % (number, number * 7919 % 1000003) for number in range(60_000))


def zipped(path: Path, text: bytes = TEXT, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members or {"results.csv": text}).items():
            archive.writestr(name, content)


def with_zstd(path: Path, text: bytes) -> None:
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(text)


PACKERS: dict[str, Callable[[Path, bytes], object]] = {
    "plain": lambda path, text: path.write_bytes(text),
    "zip": zipped,
    "gz": lambda path, text: path.write_bytes(gzip.compress(text)),
    "bz2": lambda path, text: path.write_bytes(bz2.compress(text)),
    "xz": lambda path, text: path.write_bytes(lzma.compress(text)),
    "zst": with_zstd,
}


def read(path: Path, *, partial: bool = False) -> tuple[bytes, str]:
    (packed,) = unpacked.streams(path, partial=partial)
    with unpacked.opened(packed, partial=partial) as (stream, raw):
        return stream.read(), raw.damage


@pytest.mark.parametrize("kind", PACKERS)
def test_a_file_is_unpacked_by_how_it_begins_whatever_it_is_called(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "results.dat"
    PACKERS[kind](path, TEXT)
    assert read(path) == (TEXT, "")


@pytest.mark.parametrize("kind", [kind for kind in PACKERS if kind != "plain"])
def test_a_file_that_is_cut_off_is_an_error_and_what_can_be_read_is_kept_when_asked(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "results.dat"
    PACKERS[kind](path, TEXT)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 9 // 10])
    with pytest.raises(InputError) as refused:
        read(path)
    (problem,) = refused.value.problems
    assert "is damaged or truncated" in problem.message
    assert "`partial=True`" in problem.hint
    if kind == "bz2":  # which gives whole blocks of 900 kB only
        with pytest.raises(InputError, match="nothing of it can be read"):
            read(path, partial=True)
        return
    found, damage = read(path, partial=True)
    assert TEXT.startswith(found)
    assert damage
    assert len(found) > len(TEXT) // 2


@pytest.mark.parametrize("kind", PACKERS)
def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path, kind: str) -> None:
    plain, marked = tmp_path / "plain.dat", tmp_path / "marked.dat"
    PACKERS[kind](plain, TEXT)
    PACKERS[kind](marked, codecs.BOM_UTF8 + TEXT)
    assert read(marked) == (TEXT, "")
    (one,), (other,) = (unpacked.streams(path, partial=False) for path in (plain, marked))
    assert unpacked.repeated([one, other], partial=False) == (one, other)


BLOCK_OF_ZSTD = 1 << 17


@pytest.mark.parametrize("kind", ["zip", "gz", "xz", "zst"])
@pytest.mark.parametrize("length", [20_000, len(TEXT)])
def test_all_that_was_written_before_a_file_was_cut_off_is_read(
    tmp_path: Path, kind: str, length: int
) -> None:
    path, text = tmp_path / "results.dat", TEXT[:length]
    PACKERS[kind](path, text)
    packed = path.read_bytes()
    path.write_bytes(packed[: len(packed) * 9 // 10])
    if kind == "zst" and length < BLOCK_OF_ZSTD:  # a block is decompressed as a whole
        with pytest.raises(InputError, match="nothing of it can be read"):
            read(path, partial=True)
        return
    found, damage = read(path, partial=True)
    assert text.startswith(found)
    assert len(found) > 0.85 * length
    assert damage


def test_the_rest_of_a_file_with_a_wrong_byte_is_lost_and_not_what_came_before(
    tmp_path: Path,
) -> None:
    path = tmp_path / "results.dat"
    packed = bytearray(gzip.compress(TEXT))
    end = len(packed) - 8  # the sum
    packed[end] ^= 1
    path.write_bytes(packed)
    found, damage = read(path, partial=True)
    assert TEXT.startswith(found)
    assert len(found) > len(TEXT) - 8 * unpacked.PIECE_BYTES
    assert "checksum" in damage


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz", "zst"])
@pytest.mark.parametrize("partial", [False, True])
def test_a_file_of_which_nothing_can_be_read_is_no_empty_one(
    tmp_path: Path, kind: str, partial: bool
) -> None:
    path = tmp_path / "results.dat"
    PACKERS[kind](path, TEXT)
    path.write_bytes(path.read_bytes()[:16])
    said = "is damaged or truncated" + (", and nothing of it can be read" if partial else ":")
    with pytest.raises(InputError, match=said) as refused:
        read(path, partial=partial)
    assert "copy it again" in refused.value.problems[0].hint


def test_a_gzip_may_have_several_members_and_padding(tmp_path: Path) -> None:
    path, half = tmp_path / "results.dat", len(TEXT) // 2
    members = gzip.compress(TEXT[:half]), gzip.compress(b""), gzip.compress(TEXT[half:])
    path.write_bytes(bytes(20_000).join([*members, b""]))
    assert read(path) == (TEXT, "")
    path.write_bytes(b"".join(members) + b"no gzip")
    with pytest.raises(InputError, match="is damaged or truncated"):
        read(path)
    assert read(path, partial=True)[0] == TEXT


METHODS = {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED, "lzma": zipfile.ZIP_LZMA}


@pytest.mark.parametrize("method", METHODS)
def test_an_archive_with_a_wrong_sum_is_damaged(tmp_path: Path, method: str) -> None:
    path = tmp_path / "results.zip"
    with zipfile.ZipFile(path, "w", METHODS[method]) as archive:
        archive.writestr("results.csv", TEXT)
    assert read(path) == (TEXT, "")
    crc = zlib.crc32(TEXT)
    wrong = path.read_bytes().replace(crc.to_bytes(4, "little"), (crc ^ 1).to_bytes(4, "little"))
    path.write_bytes(wrong)
    with pytest.raises(InputError, match="CRC"):
        read(path)
    found, damage = read(path, partial=True)
    assert TEXT.startswith(found)
    assert "CRC" in damage


def test_an_archive_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.zip"
    zipped(path)
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.rindex(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match="is encrypted"):
        read(path)


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_a_file_that_is_damaged_within_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "results.dat"
    PACKERS[kind](path, TEXT)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged or truncated"):
        read(path)
    _, damage = read(path, partial=True)
    assert damage


def test_the_members_of_an_archive_are_files_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    zipped(path, **{"a.csv": b"1\n", "__MACOSX/a.csv": b"x", "b.csv": b"2\n"})
    found = unpacked.streams(path, partial=False)
    assert [one.name for one in found] == [f"{path}:a.csv", f"{path}:b.csv"]
    with unpacked.opened(found[1], partial=False) as (stream, _):
        assert stream.read() == b"2\n"


def test_an_archive_without_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.zip"
    zipped(path, **{"folder/": b""})
    with pytest.raises(InputError, match="an empty archive"):
        unpacked.streams(path, partial=False)


@pytest.mark.parametrize("partial", [False, True])
def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path, partial: bool) -> None:
    with pytest.raises(InputError, match="no such file"):
        unpacked.streams(tmp_path / "nothing.csv", partial=partial)
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        unpacked.streams(tmp_path, partial=partial)


def test_a_file_is_called_by_its_path() -> None:
    assert Packed(Path("a/b.csv")).name == "a/b.csv"


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("go-1.22.csv", "go-1.22"),
        ("go-1.22", "go-1.22"),
        ("results.csv.zip", "results"),
        ("RESULTS.CSV", "RESULTS"),
        ("rows.jtl.2", "rows.jtl.2"),
        (".csv", ".csv"),
        ("..csv", "..csv"),
    ],
)
def test_only_endings_of_logs_and_archives_are_no_part_of_a_name(name: str, stem: str) -> None:
    assert unpacked.stem(Path("folder.csv") / name) == stem
