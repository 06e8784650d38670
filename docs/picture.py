"""Makes README's pictures: the first screens of `make demo` and of `plimsoll run line`.

`make docs` runs it for each of these reports that is there; it needs Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTH_PX, HEIGHT_PX = 1280, 900


def main(report: Path, picture: Path) -> None:
    """Writes a picture.

    Args:
        report: The HTML report.
        picture: The file to write.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("error: Chromium is not installed\nhint: `apt install chromium`")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        size = {"width": WIDTH_PX, "height": HEIGHT_PX}
        page = browser.new_page(viewport=size, color_scheme="light")  # pyright: ignore[reportArgumentType]
        page.goto(report.resolve().as_uri())
        page.locator(".chart svg.marks").first.wait_for()
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
