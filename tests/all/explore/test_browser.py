"""The page in a real Chromium: choose, coarsen, take away, check; by keyboard, narrow, and without script."""

import random
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

import reid_sql
from reid_sql.check.next_steps import describe_people_alone
from tests.explorations import people
from tests.explore.test_server import Client, served

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no chromium on PATH: apt-get install chromium"
)
FIGURES = re.compile(r"(?:fewer than \d+ others|learns \w+|left out): ([\d,]+)")
MIN_CONTRAST = 4.5  # WCAG 2.2, 1.4.3
CONTRASTS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const channels = (color) => {
    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (color) => {
    const [r, g, b] = channels(color).map((c) => {
      c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
    return "white";
  };
  const seen = document.querySelectorAll("p, li, td, th, label, button, select, .soft, .verdict, summary, a");
  return [...seen].filter((each) => each.textContent.trim()).map((each) => {
    const [a, b] = [light(getComputedStyle(each).color), light(behind(each))].sort((x, y) => y - x);
    return [(a + 0.05) / (b + 0.05), each.tagName + " " + each.className];
  });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    file = tmp_path_factory.mktemp("browsed") / "people.parquet"
    people(400).write_parquet(file)
    with served(file) as made:
        yield made


@contextmanager
def opened(browser: Browser, client: Client, **options: object) -> Iterator[Page]:
    """The page in a window of its own; it asks no other server, and the console stays empty."""
    context = browser.new_context(**options)  # type: ignore[arg-type] # as Playwright takes them
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on(
        "request", lambda request: said.extend([] if client.host in request.url else [request.url])
    )
    page.goto(client.server.address)
    yield page
    context.close()
    assert not said


def ready(page: Page) -> str:
    """Wait for the answer, and give what it begins with."""
    page.wait_for_timeout(100)
    page.locator("#answer:not([aria-busy])").wait_for(timeout=60_000)
    return page.locator("#answer > .verdict").first.inner_text()


def take_away(page: Page, folder: Path) -> Path:
    """Click on the policy and the release, and save both; the policy masks nothing."""
    for name in ("policy.toml", "release.parquet"):
        with page.expect_download() as waited:
            page.click(f'a[href$="{name}"]')
        waited.value.save_as(folder / waited.value.suggested_filename)
    policy = folder / "policy.toml"
    policy.write_text(policy.read_text().replace("mask_below = 10", "mask_below = 1"))
    return policy


def assert_taken_away_as_shown(page: Page, shown: str, folder: Path) -> None:
    """`check` and `risk_summary` of the files that were saved have the figures of the page."""
    checked = reid_sql.check(take_away(page, folder)).page
    assert describe_people_alone(checked) in shown
    assert checked["verdict"].upper() in shown
    (file,) = folder.glob("*.parquet")
    with duckdb.connect() as con:
        known = checked["tables"][0]["quasi_identifiers"]
        risk = reid_sql.risk_summary(con, str(file), known).df().iloc[0]
    assert checked["checks"][0]["groups"][0]["value"] == risk["k"]
    sizes = checked["tables"][0]["class_sizes"]
    assert sizes[0]["records"] == risk["unique_records"]
    small = sum(each["records"] for each in sizes if each["to"] and each["to"] < 5)
    assert FIGURES.findall(shown)[0].replace(",", "") == str(small)


def test_choose_coarsen_take_away_check(browser: Browser, client: Client, tmp_path: Path) -> None:
    with opened(browser, client) as page:
        before = ready(page)
        page.select_option("#r3", label="nobody outside can know it")
        assert ready(page) != before
        expect(page.locator("#answer")).to_contain_text("Not measured: birth")
        page.select_option("#l0", label="in bands of 10")
        coarser = ready(page)
        page.click("button[name=coarser] >> nth=0")
        assert ready(page) != coarser
        page.check("#omit")
        assert_taken_away_as_shown(page, ready(page), tmp_path)
        address = page.url
        page.click("text=Undo the last choice")
        expect(page.locator("#omit")).not_to_be_checked()
        page.goto(address)
        expect(page.locator("#omit")).to_be_checked()
        page.go_back()
        expect(page.locator("#omit")).not_to_be_checked()


def test_search_take_over_take_away_undo(browser: Browser, client: Client, tmp_path: Path) -> None:
    """The search shows how far it is; the files of the forms that are taken over have their figures."""
    with opened(browser, client) as page:
        page.select_option("#r3", label="left out of the release")
        before = ready(page)
        address = page.url
        page.click("button[name=search]")
        expect(page.locator("#progress")).not_to_be_empty()
        page.click("button[name=stop]")
        expect(page.locator("#search")).to_contain_text("The search was stopped.")
        page.focus("button[name=search]")
        page.keyboard.press("Enter")
        expect(page.locator("button[name=stop]")).to_be_focused()
        page.locator("button[name=take]").wait_for(timeout=120_000)
        assert page.url == address
        assert page.locator("#answer > .verdict").first.inner_text() == before
        page.click("button[name=take]")
        shown = ready(page)
        assert "PASS" in shown
        assert_taken_away_as_shown(page, shown, tmp_path)
        page.click("text=Undo the last choice")
        assert ready(page) == before


@pytest.mark.parametrize("script", [True, False])
def test_two_choices_side_by_side(browser: Browser, client: Client, *, script: bool) -> None:
    """Sentence and bars beside each other, below each other where it is narrow."""
    with opened(browser, client, java_script_enabled=script) as page:
        before = ready(page)
        page.click("button[name=keep]")
        page.locator(".sides").wait_for()
        page.select_option("#r3", label="nobody outside can know it")
        if not script:
            page.click("text=Count")
        page.locator("section", has_text="birth: nobody outside can know it").wait_for()
        sides = page.locator(".sides > section").all()
        assert len(sides) == 2
        assert sides[0].locator(".verdict").first.inner_text() == before
        assert sides[1].locator(".verdict").first.inner_text() != before
        assert all(each.locator("svg").count() == 2 for each in sides)
        for width, is_beside in ((1280, True), (400, False)):
            page.set_viewport_size({"width": width, "height": 800})
            boxes = [each.bounding_box() for each in sides]
            assert boxes[0] is not None
            assert boxes[1] is not None
            assert (boxes[0]["y"] == boxes[1]["y"]) == is_beside
            assert page.evaluate("document.documentElement.scrollWidth") == width
        page.click("button[name=drop]")
        expect(page.locator(".sides")).to_have_count(0)


@pytest.mark.parametrize("seed", range(6))
def test_random_choices_are_taken_away_as_shown(
    browser: Browser, client: Client, seed: int, tmp_path: Path
) -> None:
    rng = random.Random(seed)  # noqa: S311 - drawn alike
    with opened(browser, client) as page:
        page.select_option("#r1", label="others can know it")
        ready(page)
        for at in rng.sample([0, 2, 3, 4, 5], 3):
            page.select_option(f"#r{at}", index=rng.randrange(3))
            ready(page)
        for each in page.locator("select[name^=l]").all():
            each.select_option(index=rng.randrange(each.locator("option").count()))
            ready(page)
        if rng.random() < 0.5:
            page.check("#omit")
        shown = ready(page)
        if "got nobody" in shown:
            page.uncheck("#omit")
            shown = ready(page)
        assert_taken_away_as_shown(page, shown, tmp_path)


def test_by_keyboard_alone(browser: Browser, client: Client) -> None:
    """Each choice is reached by Tab, has a name, and keeps the focus while the page changes."""
    with opened(browser, client) as page:
        ready(page)
        for _ in range(12):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "l0":
                break
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        ready(page)
        expect(page.locator("#l0")).to_have_value("2")
        assert re.search(r"/\d+$", page.url)
        assert page.evaluate("document.activeElement.id") == "l0"
        for role in ("combobox", "checkbox", "spinbutton", "textbox", "button", "link"):
            for each in page.get_by_role(role).all():
                assert each.get_attribute("aria-label") or each.evaluate(
                    "each => (each.labels && each.labels.length ? each.labels[0] : each).innerText.trim()"
                )


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_narrow_and_legible(browser: Browser, client: Client, scheme: str) -> None:
    viewport = {"width": 400, "height": 800}
    with opened(browser, client, viewport=viewport, color_scheme=scheme) as page:
        ready(page)
        assert page.evaluate("document.documentElement.scrollWidth") == 400
        for each in page.locator("#choices select").all():
            box = each.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= 400
        contrasts = page.evaluate(CONTRASTS)
        assert contrasts
        assert not [each for each in contrasts if each[0] < MIN_CONTRAST]


def test_on_paper(browser: Browser, client: Client, tmp_path: Path) -> None:
    with opened(browser, client) as page:
        ready(page)
        page.emulate_media(media="print")
        expect(page.locator("#choices button:visible")).to_have_count(0)
        expect(page.locator("#answer > .verdict").first).to_be_visible()
        assert page.pdf(path=tmp_path / "page.pdf")


def test_without_script(browser: Browser, client: Client) -> None:
    with opened(browser, client, java_script_enabled=False) as page:
        before = page.locator("#answer > .verdict").first.inner_text()
        page.select_option("#r3", label="left out of the release")
        page.fill("#population", "1,000,000")
        page.click("text=Count")
        assert page.locator("#answer > .verdict").first.inner_text() != before
        expect(page.locator("#answer")).to_contain_text("In a population of 1,000,000 people")
        page.click("button[name=coarser] >> nth=0")
        expect(page.locator("#population")).to_have_value("1,000,000")
        page.click("text=Undo the last choice")
        page.click("text=Undo the last choice")
        assert page.locator("#answer > .verdict").first.inner_text() == before


@pytest.mark.parametrize("script", [True, False])
def test_the_choices_that_are_shown_are_those_that_were_counted(
    browser: Browser, client: Client, *, script: bool
) -> None:
    """Going back shows neither what was chosen later, nor what was refused; nor does loading again."""
    with opened(browser, client, java_script_enabled=script) as page:
        shown = page.locator("#answer > .verdict").first
        before, role = shown.inner_text(), page.input_value("#r0")
        page.fill("#population", "many")
        page.select_option("#r0", label="left out of the release")
        if not script:
            page.click("text=Count")
        expect(shown).to_contain_text("the people in the population must be")
        page.go_back()
        expect(shown).to_have_text(before, use_inner_text=True)
        expect(page.locator("#population")).to_have_value("")
        expect(page.locator("#r0")).to_have_value(role)
        page.fill("#population", "70")
        page.reload()
        expect(page.locator("#population")).to_have_value("")


@pytest.mark.parametrize("script", [True, False])
def test_a_column_with_a_line_break_is_coarsened(
    browser: Browser, tmp_path: Path, *, script: bool
) -> None:
    file = tmp_path / "people.parquet"
    people(200).rename({"age": "line\nbreak\r\nof age"}).write_parquet(file)
    with served(file) as client, opened(browser, client, java_script_enabled=script) as page:
        page.locator("tr", has_text="of age").locator("button[name=coarser]").click()
        expect(page.locator("#l0")).to_have_value("1")


def test_search_without_script(browser: Browser, client: Client) -> None:
    """The page loads itself again until the search has ended."""
    with opened(browser, client, java_script_enabled=False) as page:
        page.fill("#k", "6")
        page.click("button[name=search]")
        expect(page.locator("#search")).to_contain_text("Searching …")
        page.locator("button[name=take]").wait_for(timeout=120_000)
        assert not page.locator("button[name=stop]").count()
        page.click("button[name=take]")
        expect(page.locator("#answer > .verdict").first).to_contain_text("PASS")
