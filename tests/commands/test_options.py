import re
import shlex

import pytest

from reid_sql.commands.options import names, numbers
from reid_sql.commands.parser import COMMANDS, parser
from reid_sql.errors import OutOfDomainError
from reid_sql.parameters import plain
from reid_sql_udfs import declared
from tests import processes
from tests.cells import each_cell

PEOPLE = "reid_sql/demo/people.csv"


def test_a_comma_stands_between_numbers_or_thousands() -> None:
    assert numbers("--population", ["67,000,000"]) == [67e6]
    assert numbers("--population", ["67,000"]) == [67e3]
    assert numbers("--population", ["1e5,67e6"]) == [1e5, 67e6]
    assert numbers("--population", ["1000,100000"]) == [1e3, 1e5]
    assert numbers("--population", ["1e5", "67,000,000"]) == [1e5, 67e6]


@pytest.mark.parametrize("text", ["100,200", "1,234,567"])
def test_a_comma_that_may_be_both_is_refused(text: str) -> None:
    with pytest.raises(
        OutOfDomainError, match="must show whether a comma separates numbers or thousands"
    ):
        numbers("--population", [text])


@pytest.mark.parametrize("text", ["", "x", "1e5,", "67,,000"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(OutOfDomainError, match="--population must be a number, got"):
        numbers("--population", [text])


def test_names_by_comma_may_be_quoted() -> None:
    assert names("the columns", 'age, "name, first",sex') == ["age", "name, first", "sex"]


@pytest.mark.parametrize("text", ["age\nsex", '"age', "age\rsex"])
def test_names_that_are_no_line_are_refused(text: str) -> None:
    with pytest.raises(OutOfDomainError, match="must be one line of names by comma"):
        names("the columns", text)


def test_columns_given_again_are_added() -> None:
    given = parser().parse_args(["risk", PEOPLE, "--qi", "age", "--qi", "sex,postcode"])
    assert given.columns == ["age", "sex,postcode"]


VALUED = {
    "risk": (
        *("--threshold", "--nulls", "--stand-out", "--table", "--memory-limit", "--k", "--plot"),
        *("--methods", "--scenario"),
    ),
    "compare": ("--key", "--other-table", "--other-qi", "--sensitive", "--targets"),
    "audit": ("--holdout", "--count", "--status", "--people"),
    "check": ("--html", "--junit", "--json-report", "--baseline", "--engine", "--time-limit"),
    "query": ("--database",),
}


@pytest.mark.parametrize("command", VALUED)
def test_an_option_given_twice_is_refused(command: str) -> None:
    for option in VALUED[command]:
        with pytest.raises(
            OutOfDomainError, match=f"{option} must be given once, got '1' and '2'; omit one"
        ):
            parser().parse_args([command, "FILE", option, "1", option, "2"])


def test_no_option_with_a_value_takes_the_last_of_two_in_silence() -> None:
    commands = next(action for action in parser()._actions if action.choices)  # noqa: SLF001 - no public list
    for command in dict(commands.choices or {}).values():
        for action in command._actions:  # noqa: SLF001 - no public list
            plain = type(action).__name__ in {
                "Once",
                "_AppendAction",
                "_StoreTrueAction",
                "_StoreConstAction",
                "BooleanOptionalAction",
                "_HelpAction",
            }
            assert plain, (command.prog, action.option_strings)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (["risk", PEOPLE, "--qi", "age", "--treshold", "0.1"], "--threshold"),
        (["check", "policy.toml", "--fromat", "csv"], "--format"),
        (["prepare", "policy.toml", "--dialekt", "spark"], "--dialect"),
    ],
)
def test_a_misspelt_option_is_refused_by_its_command_which_knows_the_near_one(
    call: list[str], meant: str
) -> None:
    with pytest.raises(
        OutOfDomainError, match=f"reid-sql {call[0]} cannot .* did you mean '{meant}'"
    ):
        parser().parse_args(call)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            ["risk", PEOPLE, "--qi", "age", "--format", "xml"],
            "'xml'; the choices are table, json, csv",
        ),
        (["completion", "bsh"], "argument SHELL: invalid choice: 'bsh'; did you mean 'bash'?"),
        (["ris"], "argument COMMAND: invalid choice: 'ris'; did you mean 'risk'?"),
        (["query", "-c", "SELECT 1"], "-c; the options are --help, --database, --plot, --format,"),
    ],
)
def test_what_cannot_be_chosen_is_refused_with_what_can(call: list[str], message: str) -> None:
    with pytest.raises(OutOfDomainError) as refused:
        parser().parse_args(call)
    assert message in str(refused.value)


@each_cell(
    "call, message",
    [
        (
            ["risk", PEOPLE, "--qi", "age", "--k", "7"],
            "--k must come with --population, got 7 alone",
        ),
        (
            ["risk", PEOPLE, "--qi", "age", "--methods", "bound"],
            "--methods must come with --validate, got bound alone",
        ),
        (
            ["risk", PEOPLE, "--qi", "age", "--model", "people"],
            "--model must come with --scenario, got people alone",
        ),
        (
            ["risk", PEOPLE, "--qi", "age", "--validate", "0.1", "--tolerance", "age=1"],
            "--tolerance must not be given with --validate, got both; omit one",
        ),
        (
            ["risk", PEOPLE, "--qi", "age", "--scenario", "s.toml"],
            "--qi must not be given with --scenario, got both; omit one",
        ),
        (
            ["compare", PEOPLE, PEOPLE, "--qi", "age", "--sensitive", "sex"],
            "--sensitive must not be given with --as release, got both; omit one",
        ),
        (
            ["compare", PEOPLE, PEOPLE, "--qi", "age", "--as", "later", "--plot", "p.svg"],
            "--plot must not be given with --as later, got both; omit one",
        ),
        (
            ["compare", PEOPLE, PEOPLE, "--qi", "age", "--as", "join", "--key", "sex"],
            "--as join must come with --key and --other-qi, got not both",
        ),
        (
            ["compare", PEOPLE, PEOPLE, PEOPLE, "--qi", "age"],
            "OTHER must be one table, got 2; pass one, or --as later",
        ),
        (
            ["audit", PEOPLE, "--holdout", PEOPLE],
            "--holdout must not be given with published tables, which have no --qi",
        ),
        (
            ["audit", PEOPLE, PEOPLE, "--qi", "age", "--k", "3"],
            "--k must not be given with --qi, got both; omit one",
        ),
        (
            ["audit", PEOPLE, "--qi", "age"],
            "--qi must come with one synthetic table, got 0 beside the original",
        ),
        (
            ["check", "docs/people_release.toml", "--time-limit", "9"],
            "--time-limit must come with --prepare, got 9 alone",
        ),
    ],
)
def test_an_option_that_would_count_for_nothing_is_refused(call: list[str], message: str) -> None:
    done = processes.command(*call)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


FUNCTIONS = {
    "risk": "risk_summary",
    "compare": "compare",
    "audit": "audit_tables",
    "safe": "safe_table",
}


@pytest.mark.parametrize("command", FUNCTIONS)
def test_the_help_states_the_defaults_of_the_function(command: str) -> None:
    commands = next(action for action in parser()._actions if action.choices)  # noqa: SLF001 - no public list
    stated = {
        action.dest: shown[1]
        for action in dict(commands.choices or {})[command]._actions  # noqa: SLF001 - no public list
        if (shown := re.search(r"\(default ([\d.]+)\)", action.help or ""))
    }
    defaults = {each.name: each.default for each in declared()[FUNCTIONS[command]].parameters}
    known = {name: text for name, text in stated.items() if name in defaults}
    assert known
    assert known == {name: plain(defaults[name]) for name in known}


@each_cell("name", COMMANDS)
def test_the_help_of_a_command_says_what_it_does_and_ends_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args([name, "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert COMMANDS[name].help[1:] in shown
    assert shown.endswith(f"example: reid-sql {name} {COMMANDS[name].example}")
    call = [name, *shlex.split(COMMANDS[name].example.partition(" > ")[0])]
    assert parser().parse_args(call).command is COMMANDS[name]
