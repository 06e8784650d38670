"""The folder of a server's fixtures."""

from __future__ import annotations

import json

from plimsoll.campaign.fixtures import Fixtures
from plimsoll.serving import fixture_files

FIXTURES = Fixtures.drawn(8)


def test_every_file_is_there_with_its_time_and_gone_in_the_end() -> None:
    with fixture_files.made(FIXTURES) as folder:
        for file in FIXTURES.files:
            path = folder.path / file.path
            assert path.read_bytes() == file.content
            assert path.stat().st_mtime == file.modified_s
        assert len(list((folder.path / "static").iterdir())) == len(FIXTURES.static)
        assert json.loads((folder.path / "items.json").read_bytes()) == list(FIXTURES.items)
        assert folder.environment == {"FILES": str(folder.path), "AUTH_KEY": FIXTURES.key}
        assert folder.path.stat().st_mode & 0o777 == 0o755
    assert not folder.path.exists()


def test_a_file_is_replaced_as_a_whole() -> None:
    file = FIXTURES.static[0]
    with fixture_files.made(FIXTURES) as folder:
        path = folder.path / file.path
        opened = path.open("rb")
        folder.write(type(file)(file.path, b"other", file.modified_s + 1))
        with opened:
            assert opened.read() == file.content
        assert path.read_bytes() == b"other"
        assert path.stat().st_mtime == file.modified_s + 1
