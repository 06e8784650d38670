"""Pages in a real browser; where there is none, their tests are skipped, and say so."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def launched() -> Iterator[Any]:
    """A browser without windows."""
    if PROGRAM is None:
        pytest.skip("Chromium is not installed: `apt install chromium`")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=PROGRAM, args=["--no-sandbox", "--disable-gpu", "--disable-quic"]
        )
        yield browser
        browser.close()


def obstacles(page: Any) -> list[str]:
    """What axe-core calls serious or critical in a page, with the first element of each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is missing")
    return [
        f"{one['impact']}: {one['help']}: {one['nodes'][0]['html']}"
        for one in axe.Axe().run(page).response["violations"]
        if one["impact"] in ("serious", "critical")
    ]
