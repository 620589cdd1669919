"""The server of the page: this machine alone, by an address with a secret, and nothing of the table in it."""

import re
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import duckdb

from reid_sql.commands.options import number
from reid_sql.engines.counted_rows import report_people
from reid_sql.errors import ReidError
from reid_sql.explore.choice import ROLES, SMALLEST_GROUP, Choice
from reid_sql.explore.exploration import Exploration
from reid_sql.explore.page import FILES, State, render_page
from reid_sql.parameters import POPULATION, Number
from reid_sql.terminal.runner import sentence

HOST: Final = "127.0.0.1"
NAMES: Final = (HOST, "localhost")
MAX_BODY: Final = 1 << 20  # bytes of a form
SECONDS: Final = 60  # in which a client sends its request
KINDS: Final = {
    "html": "text/html; charset=utf-8",
    "toml": "application/toml; charset=utf-8",
    "sql": "application/sql; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "csv": "text/csv; charset=utf-8",
}
STOPPED: Final = "Counting was stopped, as another choice was made. Load this again to count."
REFUSED: Final = "Open the address that reid-sql explore printed."
SEPARATED: Final = re.compile(r"\d{1,3}([,. '\u2009\u00a0_]\d{3})+")  # thousands


@dataclass
class Session:
    """An exploration and the choices that were made of it, by number: no address has a name or value."""

    exploration: Exploration
    states: list[State] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Begin with what is proposed."""
        self.states.append(State(0, self.exploration.proposed))

    def choose(self, form: Mapping[str, str]) -> State | None:
        """Remember a choice, and give its number; None where it is of no choice that was made here."""
        before, exploration = self.state(form.get("from", "0")), self.exploration
        if before is None:
            return None
        kept = None if "drop" in form else before.kept
        if "keep" in form:
            hidden = replace(before.choice, shows_people=False)
            kept = replace(before, kept=None, choice=hidden)
        state = replace(before, refusal="", kept=kept)
        try:
            state = replace(state, choice=read_choice(before.choice, form))
            if "search" in form:
                exploration.begin_search(state.choice)
            elif "stop" in form:
                exploration.stop_search()
            elif "take" in form and exploration.search is not None:
                state = replace(state, choice=exploration.search.take_over(state.choice))
        except ReidError as error:
            state = replace(state, refusal=str(error))
        if state == before:
            return before
        self.states.append(replace(state, number=len(self.states), previous=before.number))
        return self.states[-1]

    def page(self, state: State, nonce: str) -> str:
        """Write the page of a choice, or why nothing could be counted."""
        try:
            return render_page(self.exploration, state, nonce)
        except Exception as error:  # noqa: BLE001 - whatever it is, its words have no value of the table
            state = replace(state, refusal=_explain(error))
            return render_page(self.exploration, state, nonce)

    def file(self, state: State, name: str) -> tuple[str, bytes]:
        """A file that is taken away, by its name."""
        choice, exploration = state.choice, self.exploration
        parts: Mapping[str, Callable[[Choice], str | bytes]] = {
            "policy.toml": exploration.policy_text,
            "release.parquet": exploration.rows,
            "release.csv": partial(exploration.rows, kind="csv"),
            "release.sql": exploration.sql,
            "report.html": exploration.report,
        }
        content = parts[name](choice)
        kind = name.rpartition(".")[2]
        named = f"{exploration.release_name(choice)}.{kind}" if name.startswith("release") else name
        return named, content.encode() if isinstance(content, str) else content

    def state(self, number: str) -> State | None:
        """The choice of a number that was given here."""
        is_number = re.fullmatch(r"[0-9]{1,9}", number)
        return self.states[int(number)] if is_number and int(number) < len(self.states) else None


def _explain(error: Exception) -> str:
    return STOPPED if isinstance(error, duckdb.InterruptException) else sentence(error)


def read_choice(before: Choice, form: Mapping[str, str]) -> Choice:
    """Read what a person chose; whatever the form lacks is as before."""
    roles, levels, groups = list(before.roles), list(before.levels), list(before.groups)
    for at, _ in enumerate(before.columns):
        roles[at] = ROLES[_place(form, f"r{at}", ROLES.index(roles[at]), len(ROLES))]
        levels[at] = _place(form, f"l{at}", levels[at], 100)
        levels[at] += form.get("coarser") == str(at)
        groups[at] = form.get(f"g{at}", groups[at]).strip()
        levels[at] = 1 if groups[at] not in {"", before.groups[at]} else levels[at]
    people = form.get("population", "" if "k" in form else str(before.population or "")).strip()
    accepted = re.findall(r"^[a-z_ ]{1,60}$", form.get("accept", ""))
    return replace(
        before,
        roles=tuple(roles),
        levels=tuple(levels),
        groups=tuple(groups),
        smallest_group=_people(
            "the fewest people who look alike",
            SMALLEST_GROUP,
            form.get("k", str(before.smallest_group)).strip(),
        ),
        leaves_out="omit" in form if "k" in form else before.leaves_out,
        population=_people("the people in the population", POPULATION, people) if people else None,
        counts_all="all" in form,
        shows_people="people" in form,
        accepted=tuple(dict.fromkeys([*before.accepted, *accepted])),
    )


def _place(form: Mapping[str, str], name: str, default: int, many: int) -> int:
    text = form.get(name, str(default))
    return min(int(text), many - 1) if re.fullmatch(r"[0-9]{1,3}", text) else default


def _people(label: str, domain: Number, text: str) -> int:
    plain = re.sub(r"\D", "", text) if SEPARATED.fullmatch(text) else text
    return int(domain.check(label, number(label, plain)))


class Handler(BaseHTTPRequestHandler):
    """Answers a request of this machine's browser, and of nobody else."""

    server_version, sys_version = "reid-sql", ""
    timeout = SECONDS
    session: Session
    secret: str

    def do_GET(self) -> None:
        """Show the page of a choice, or give a file of it."""
        if not self._is_allowed(needs_origin=False):
            return
        place, _, name = self._path().partition("/")
        state = self.session.state(place or "0")
        if state is None or name not in {"", *FILES}:
            self._refuse(404)
            return
        self.session.exploration.notice_reader()
        with self.session.lock, report_people():
            if name:
                try:
                    named, content = self.session.file(state, name)
                except Exception as error:  # noqa: BLE001 - whatever it is, its words have no value of the table
                    self._reply(409, "", _explain(error).encode(), "")
                else:
                    self._reply(200, name.rpartition(".")[2], content, "", named)
            else:
                nonce = secrets.token_urlsafe(16)
                self._reply(200, "html", self.session.page(state, nonce).encode(), nonce)

    def do_POST(self) -> None:
        """Take a choice, and show the page of it by its own address."""
        if not self._is_allowed(needs_origin=True):
            return
        length = self.headers.get("Content-Length", "")
        if self._path() != "choose" or not re.fullmatch(r"[0-9]{1,7}", length):
            self._refuse(400)
            return
        if int(length) > MAX_BODY:
            self._refuse(413)
            return
        try:
            body = self.rfile.read(int(length)).decode("utf-8")
            form = dict(parse_qsl(body, keep_blank_values=True, strict_parsing=bool(body)))
            self.session.exploration.interrupt()  # nobody waits for what was counted before
            with self.session.lock:
                state = self.session.choose(form)
        except ValueError:
            state = None
        if state is None:
            self._refuse(400)
            return
        self.send_response(303)
        self.send_header("Location", f"/{self.secret}/{state.number}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _is_allowed(self, *, needs_origin: bool) -> bool:
        """Whether the request is for this server by its secret, and of its own page."""
        port = self.connection.getsockname()[1]
        hosts = {f"{name}:{port}" for name in NAMES}
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        first = urlsplit(self.path).path.removeprefix("/").partition("/")[0]
        is_ours = host in hosts and secrets.compare_digest(
            first.encode("utf-8", "replace"), self.secret.encode()
        )
        is_same = origin == f"http://{host}" or (origin is None and not needs_origin)
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        if is_ours and is_same and site in {"same-origin", "none"}:
            return True
        self._refuse(403)
        return False

    def _path(self) -> str:
        return urlsplit(self.path).path.removeprefix("/").partition("/")[2]

    def _refuse(self, status: int) -> None:
        self._reply(status, "", REFUSED.encode(), "")

    def _reply(self, status: int, kind: str, content: bytes, nonce: str, name: str = "") -> None:
        self.send_response(status)
        inline = f"'nonce-{nonce}'" if nonce else "'none'"
        rules = (
            f"default-src 'none'; style-src {inline}; script-src {inline}; connect-src 'self'; "
            "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        )
        headers: dict[str, Any] = {
            "Content-Type": KINDS.get(kind, "text/plain; charset=utf-8"),
            "Content-Length": len(content),
            "Content-Security-Policy": rules,
            "Cache-Control": "no-store",
            "Referrer-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        if name:
            headers["Content-Disposition"] = f'attachment; filename="{name}"'
        for key, value in headers.items():
            self.send_header(key, str(value))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Log nothing: an address has the secret."""


class Server(ThreadingHTTPServer):
    """A server of one exploration, on a free port of this machine."""

    daemon_threads = True

    def __init__(self, exploration: Exploration) -> None:
        """Listen; requests are answered once it serves."""
        self.secret = secrets.token_urlsafe(24)
        handler = type(
            "Handler", (Handler,), {"session": Session(exploration), "secret": self.secret}
        )
        super().__init__((HOST, 0), handler)

    @property
    def address(self) -> str:
        """The address of the page, with its secret."""
        return f"http://{HOST}:{self.server_address[1]}/{self.secret}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that went away."""
