"""The report in a real browser, light, dark and on paper: nothing is missing."""

import re
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.check.test_html import *

CHROMIUM = next(
    (
        path
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (path := shutil.which(name))
    ),
    None,
)
QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
]
browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here (.ci/run installs it)")
SIZE = (900, 2400)


def corner(png: bytes) -> bytes:
    """The first pixel: whatever the filter of the first row, it stands there as it is."""
    width, _, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert (width, depth, kind) == (SIZE[0], 8, 2)
    place, packed = 8, b""
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place : place + 8])
        packed += png[place + 8 : place + 8 + length] if name == b"IDAT" else b""
        place += 12 + length
    return zlib.decompress(packed)[1:4]


def browse(report: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    assert CHROMIUM is not None
    call = [CHROMIUM, *QUIET, f"--user-data-dir={folder / 'profile'}", *options, report.as_uri()]
    return subprocess.run(call, capture_output=True, check=True, timeout=120)


@browser
def test_a_browser_shows_the_whole_page_and_nothing_is_blocked(
    report: Path, tmp_path: Path
) -> None:
    done = browse(report, tmp_path, "--enable-logging=stderr", "--dump-dom")
    assert done.stdout.count(b"<svg") == 3
    assert done.stdout.split()[-1] == b"</body></html>"
    assert b"Content Security Policy" not in done.stderr


@browser
@pytest.mark.parametrize(
    ("scheme", "paper"), [("1", b"\xff\xff\xff"), ("0", b"\x14\x17\x1b")], ids=["light", "dark"]
)
def test_a_browser_paints_it_light_and_dark(
    report: Path, tmp_path: Path, scheme: str, paper: bytes
) -> None:
    picture = tmp_path / "shot.png"
    size = f"--window-size={SIZE[0]},{SIZE[1]}"
    browse(
        report,
        tmp_path,
        size,
        f"--blink-settings=preferredColorScheme={scheme}",
        f"--screenshot={picture}",
    )
    assert corner(picture.read_bytes()) == paper
    assert picture.stat().st_size > 100_000  # an empty page packs to a few kilobytes


@browser
def test_a_browser_prints_it(report: Path, tmp_path: Path) -> None:
    browse(report, tmp_path, f"--print-to-pdf={tmp_path / 'r.pdf'}")
    pdf = (tmp_path / "r.pdf").read_bytes()
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 8
