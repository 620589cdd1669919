"""The page's server over a real port: whoever lacks its secret gets nothing, and names are never markup."""

import http.client
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import polars as pl
import pytest

from reid_sql.explore.page import FILES
from reid_sql.explore.server import MAX_BODY, STOPPED, Server
from tests.cells import each_cell
from tests.explorations import MARK, explored, people

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus=alert(1) x='",
    "</style><script>alert(2)</script>",
    "</title></textarea></select><svg onload=alert(3)>",
    "a&lt;b&#x3c;",
    "line\nbreak\r\nSet-Cookie: a=b",
    "{nonce} %s {0}",
    "javascript:alert(4)",
    "\u202eright to left \x1b[31m",
    "quote''; DROP TABLE x; --",
    'double "" quote',
    "r0",
    "coarser",
    "]]>--><!--",
)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: str


class Client:
    """Asks a server as a browser of this machine does, unless told otherwise."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.port = server.server_address[1]
        self.host = f"127.0.0.1:{self.port}"
        self.home = urlsplit(server.address).path

    def ask(self, method: str, path: str, body: str = "", **headers: str) -> Reply:
        given = {key.replace("_", "-"): value for key, value in headers.items()}
        sent = {"Host": self.host} | given
        if method == "POST":
            sent = {"Origin": f"http://{self.host}"} | sent
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for key, value in sent.items():
                connection.putheader(key, value)
            if body and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(body.encode())))
            connection.endheaders(body.encode() or None)
            answer = connection.getresponse()
            return Reply(answer.status, answer.msg, answer.read().decode("utf-8", "replace"))
        finally:
            connection.close()

    def choose(self, **form: str) -> Reply:
        """Make a choice, and load its page."""
        reply = self.ask("POST", f"{self.home}choose", urlencode({"from": "0", **form}))
        return self.ask("GET", reply.headers["Location"])


@contextmanager
def served(file: Path, mask: int = 1) -> Iterator[Client]:
    with explored(file, mask) as exploration, Server(exploration) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield Client(server)
        finally:
            server.shutdown()
            thread.join()


class Markup(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


FOREIGN: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("GET", "{home}", {"Host": "evil.example"}),
    ("GET", "{home}", {"Host": "127.0.0.1"}),
    ("GET", "{home}", {"Host": "127.0.0.1:1"}),
    ("GET", "{home}", {"Host": ""}),
    ("GET", "{home}", {"Origin": "http://evil.example"}),
    ("GET", "{home}", {"Origin": "null"}),
    ("GET", "{home}", {"Sec_Fetch_Site": "cross-site"}),
    ("GET", "{home}", {"Sec_Fetch_Site": "same-site"}),
    ("GET", "/", {}),
    ("GET", "/0", {}),
    ("GET", "/x{home}", {}),
    ("GET", "{home}x".replace("{home}", "{short}"), {}),
    ("GET", "//evil.example{home}", {"Host": "evil.example"}),
    ("GET", "/%2e%2e/{secret}/", {}),
    ("POST", "{home}choose", {"Origin": "http://evil.example"}),
    ("POST", "{home}choose", {"Origin": "null"}),
    ("POST", "{home}choose", {"Origin": "http://127.0.0.1"}),
    ("POST", "{home}choose", {"Sec_Fetch_Site": "cross-site"}),
    ("POST", "/choose", {}),
)


@each_cell("method, path, headers", FOREIGN)
def test_whoever_is_not_the_page_gets_nothing(
    client: Client, method: str, path: str, headers: dict[str, str]
) -> None:
    home = client.home
    asked = path.format(home=home, short=home[:-2] + "/", secret=home.strip("/"))
    reply = client.ask(method, asked, "k=5" if method == "POST" else "", **headers)
    assert reply.status == 403
    assert "people" not in reply.body
    assert home.strip("/") not in reply.body
    assert "Location" not in reply.headers


ODD = (
    ("GET", "{home}999", "", 404),
    ("GET", "{home}-1", "", 404),
    ("GET", "{home}%D9%A1", "", 404),
    ("GET", "{home}" + "9" * 5000, "", 404),
    ("GET", "{home}0/policy.toml/..", "", 404),
    ("GET", "{home}0/../../etc/passwd", "", 404),
    ("GET", "{home}0/people.parquet", "", 404),
    ("GET", "{home}choose", "", 404),
    ("POST", "{home}0", "k=5", 400),
    ("POST", "{home}choose", "", 400),
    ("POST", "{home}choose", "k", 400),
    ("POST", "{home}choose", "from=999", 400),
    ("POST", "{home}choose", "from=%00", 400),
    ("PUT", "{home}", "k=5", 501),
    ("OPTIONS", "{home}", "", 501),
    ("HEAD", "{home}", "", 501),
)


@each_cell("method, path, body, status", ODD)
def test_odd_requests_are_refused(
    client: Client, method: str, path: str, body: str, status: int
) -> None:
    assert client.ask(method, path.format(home=client.home), body).status == status


@pytest.mark.parametrize(
    ("length", "status"), [(str(MAX_BODY + 1), 413), ("-1", 400), ("1e3", 400), ("9" * 30, 400)]
)
def test_the_length_of_a_form_is_looked_at_first(client: Client, length: str, status: int) -> None:
    reply = client.ask("POST", f"{client.home}choose", "k=5", Content_Length=length)
    assert reply.status == status


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"k": "0"}, "from 1 to 1000, got 0"),
        ({"k": "<b>"}, "must be a number"),
        ({"k": "nan"}, "from 1 to 1000"),
        ({"k": "5", "population": "1e300"}, "the people in the population"),
        ({"k": "5", "population": "-3"}, "the people in the population"),
        ({f"r{at}": "1" for at in range(9)}, "got none; choose at least one"),
    ],
)
def test_a_choice_that_cannot_be_measured_is_refused_on_the_page(
    client: Client, form: dict[str, str], words: str
) -> None:
    page = client.choose(**form)
    assert page.status == 200
    assert words in page.body
    assert "<b>" not in page.body.partition("<form")[2]


def test_odd_fields_are_as_before(client: Client) -> None:
    """A role that there is none, levels beyond the last, columns that the table lacks."""
    page = client.choose(
        r0="77", l0="999", r99="1", accept="<script>", coarser="no such column", k="5"
    )
    assert page.status == 200
    assert "<script>" not in page.body.replace("<script nonce=", "")
    assert "are the only one with their" in page.body


@pytest.mark.parametrize("people_", ["100,000", "100.000", "100 000", "100000", "1e5"])
def test_a_population_is_read_as_people_write_it(client: Client, people_: str) -> None:
    assert 'value="100,000"' in client.choose(k="5", population=people_).body


def test_headers_let_nothing_else_run(client: Client) -> None:
    reply = client.ask("GET", client.home)
    policy = reply.headers["Content-Security-Policy"]
    nonces = re.findall(r"'nonce-([^']+)'", policy)
    assert len(set(nonces)) == 1
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert reply.body.count(f'nonce="{nonces[0]}"') == 2
    assert nonces[0] not in client.ask("GET", client.home).headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"] == "no-store"
    assert "http" not in re.sub(r"http://www.w3.org\S*", "", reply.body)


def test_a_page_with_a_mask_has_no_small_count(tmp_path: Path) -> None:
    people().write_parquet(tmp_path / "people.parquet")
    with served(tmp_path / "people.parquet", mask=10) as client:
        page = client.choose(r3="4", r4="4", l0="2", k="5", omit="1", population="100000")
    assert page.status == 200
    assert "are the only one with their" in page.body or "is not shown" in page.body
    said = Markup(page.body.partition("<h2>people</h2>")[0].partition('id="answer"')[2]).text
    counts = [int(each) for each in re.findall(r"(\d+)(?: of|\.)", said.replace(",", ""))]
    assert all(each == 0 or each >= 10 for each in counts), said


def test_no_value_is_in_a_page_or_an_address(client: Client) -> None:
    everything = client.choose(k="5", l0="2", l2="1", l3="3", omit="1", population="100000")
    assert MARK not in everything.body
    found = client.ask("POST", f"{client.home}choose", urlencode({"from": "0", "k": "7"}))
    assert re.fullmatch(rf"{re.escape(client.home)}\d+", found.headers["Location"])


def test_values_of_people_are_shown_where_they_are_asked_for(tmp_path: Path) -> None:
    """Those that the fewest have; not by the next choice, beside it, in the report, or with a mask."""
    people().write_parquet(tmp_path / "people.parquet")
    with served(tmp_path / "people.parquet") as client:
        shown = client.choose(r5="0", people="1").body
        assert "values of real people" in shown
        assert MARK in shown
        number = re.search('name="from" value="([0-9]+)"', shown)
        assert number is not None
        for form in ({"k": "3"}, {"keep": "1"}):
            assert MARK not in client.choose(**{"from": number[1], **form}).body
        report = client.ask("GET", f"{client.home}{number[1]}/report.html")
        assert report.status == 200
        assert MARK not in report.body
    with served(tmp_path / "people.parquet", mask=10) as client:
        masked = client.choose(r5="0", people="1").body
        assert 'name="people"' not in masked
        assert MARK not in masked


@pytest.mark.parametrize("names", [HOSTILE_NAMES[at : at + 5] for at in range(0, 15, 5)])
def test_hostile_names_are_text(tmp_path: Path, names: tuple[str, ...]) -> None:
    table = people(60)
    columns = [table[each].alias(name) for each, name in zip(table.columns, names, strict=False)]
    pl.DataFrame([*columns, table["diagnosis"]]).write_parquet(tmp_path / "people.parquet")
    with served(tmp_path / "people.parquet") as client:
        first = client.ask("GET", client.home)
        page = client.choose(r0="0", r1="0", r2="1", r3="2", r4="4", k="5")
        coarser = client.choose(**{"from": "1", "coarser": "0"})
        policy = client.ask("GET", f"{client.home}1/policy.toml")
    for reply in (first, page):
        markup = Markup(reply.body)
        tags = [tag for tag, _ in markup.elements]
        assert tags.count("script") == tags.count("style") == tags.count("form") == 1
        assert "img" not in tags
        attributes = {key for _, attrs in markup.elements for key in attrs}
        assert not {key for key in attributes if key.startswith("on")} | attributes & {"autofocus"}
        for name in names:
            assert name.split("\n")[0] in markup.text or "\x1b" in name
    # the button of the first column has its place, as a browser changes a name with a line break
    assert '<button form=choices name=coarser value="0">' in page.body
    assert re.search(
        r'name="l0" [^>]*><option value="0">[^<]*</option><option value="1" selected>', coarser.body
    )
    assert policy.status == 200
    assert "Set-Cookie" not in policy.headers


def test_two_tabs_choose_by_themselves(client: Client) -> None:
    """A choice is made of the page on which it is made, whatever another tab does."""
    first = client.choose(k="7")
    second = client.choose(k="9")
    assert 'name="k" type="number" min="1" max="1000" value="7"' in first.body
    assert 'name="k" type="number" min="1" max="1000" value="9"' in second.body


def test_what_another_tab_stops_says_so_and_is_given_again(tmp_path: Path) -> None:
    """A file that is being written, and a page: neither is said to have values that cannot be read."""
    table = people(400)
    pl.concat([table.with_columns(pl.col("age") + n % 9) for n in range(60)]).write_parquet(
        tmp_path / "people.parquet"
    )
    with served(tmp_path / "people.parquet") as client:
        session, is_done = vars(client.server.RequestHandlerClass)["session"], threading.Event()

        def stop() -> None:
            while not is_done.wait(0.002):
                session.exploration.interrupt()

        thread = threading.Thread(target=stop)
        thread.start()
        try:
            refused = [client.ask("GET", f"{client.home}0/{name}") for name in FILES]
            page = client.ask("GET", client.home)
        finally:
            is_done.set()
            thread.join()
        refused = [each for each in refused if each.status != 200]
        assert refused
        assert {each.body for each in refused} == {STOPPED}
        assert STOPPED in page.body
        for path in ("", *(f"0/{name}" for name in FILES)):
            again = client.ask("GET", client.home + path)
            assert again.status == 200
            assert STOPPED not in again.body


def test_a_browser_that_goes_away_stops_nothing(client: Client) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", client.port)
    connection.putrequest("POST", f"{client.home}choose", skip_host=True)
    connection.putheader("Host", client.host)
    connection.putheader("Content-Length", "500")
    connection.endheaders(b"k=5")
    connection.close()
    assert client.ask("GET", client.home).status == 200


def test_it_works_without_script(client: Client) -> None:
    """The form has a button, and every choice is one of its fields."""
    page = Markup(client.ask("GET", client.home).body)
    labelled = [attrs for tag, attrs in page.elements if tag == "select"]
    assert labelled
    assert all(attrs.get("aria-label") and attrs.get("name") for attrs in labelled)
    assert any(tag == "button" and not attrs.get("form") for tag, attrs in page.elements)
    undo = client.choose(k="11").body
    assert 'href="0">Undo' in undo


def test_it_listens_on_this_machine_alone(client: Client) -> None:
    assert client.server.server_address[0] == "127.0.0.1"
    assert len(client.home.strip("/")) >= 32


def test_files_are_taken_away_as_files(client: Client) -> None:
    for name in ("policy.toml", "release.parquet", "release.csv", "release.sql", "report.html"):
        reply = client.ask("GET", f"{client.home}0/{name}")
        assert reply.status == 200
        assert reply.headers["Content-Disposition"].startswith("attachment; filename=")
