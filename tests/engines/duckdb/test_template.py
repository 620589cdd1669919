"""A plan as SQL text with holes: what each tag becomes, and that DuckDB writes from it what the text says."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from reid_sql.engines.duckdb.template import TemplateError, compile_file, compile_text

import reid_sql
from reid_sql.engines.duckdb.qualify import HOME

JOIN = "CREATE TEMP MACRO reid_join(items, separator) AS coalesce(array_to_string(items, separator), '')"


def written(text: str, **given: Any) -> str:
    """What the compiled text writes in DuckDB with these values."""
    names = ", ".join(f"${name} AS {name}" for name in given)
    with duckdb.connect() as con:
        con.execute(JOIN)
        con.execute("CREATE TEMP MACRO twice(word, body) AS word || body || body")
        sql = f"SELECT {compile_text(text)} FROM (SELECT {names or '1 AS one'})"
        found: str = con.execute(sql, given or None).fetchall()[0][0]
    return found


@pytest.mark.parametrize(
    ("text", "given", "expected"),
    [
        ("SELECT 1", {}, "SELECT 1"),
        ("it's \"a\" 'b  c'", {}, "it's \"a\" 'b c'"),
        ("SELECT 'two  spaces'\n  FROM   t", {}, "SELECT 'two  spaces' FROM t"),
        ("q{{ n }} + {{ n + 1 }}", {"n": 1}, "q1 + 2"),
        ("{{ CASE WHEN n = 1 THEN 'a' ELSE 'b' END }}c", {"n": 1}, "ac"),
        ("{% for c in names join ', ' %}<{{ c }}>{% endfor %}", {"names": ["a", "b"]}, "<a>, <b>"),
        ("{% for c, i in names %}{{ i }}{{ c }}{% endfor %}", {"names": ["a", "b"]}, "1a2b"),
        ("[{% for c in names join ', ' %}{{ c }}{% endfor %}]", {"names": []}, "[]"),
        (
            "{% for a in x %}{% for b in y %}{{ a }}{{ b }} {% endfor %}{% endfor %}",
            {"x": [1, 2], "y": [3]},
            "13 23 ",
        ),
        (
            "{% for a in x %}{% for a in y %}{{ a }}{% endfor %}{{ a }}{% endfor %}",
            {"x": [1], "y": [3]},
            "31",
        ),
        ("{% if n = 1 %}one{% elif n = 2 %}two{% else %}many{% endif %}", {"n": 1}, "one"),
        ("{% if n = 1 %}one{% elif n = 2 %}two{% else %}many{% endif %}", {"n": 2}, "two"),
        ("{% if n = 1 %}one{% elif n = 2 %}two{% else %}many{% endif %}", {"n": 3}, "many"),
        ("a{% if n = 1 %}b{% endif %}c", {"n": 2}, "ac"),
        ("a{% set m = n + 1 %}{{ m }}{{ m }}", {"n": 2}, "a33"),
        ("n{% set n = n + 1 %}{{ n }}", {"n": 2}, "n3"),
        ("{% set m = n %}{% set n = m + 1 %}{{ m }}{{ n }}", {"n": 2}, "23"),
        ("{% if n = 1 %}{% set m = 5 %}{{ m }}{% else %}no{% endif %}!", {"n": 1}, "5!"),
        ("{% call twice('x') %}a{{ n }}{% endcall %}", {"n": 1}, "xa1a1"),
        ("{{ n }}.{{ s['n'] }}", {"n": 1, "s": {"n": 2}}, "1.2"),
    ],
)
def test_duckdb_writes_what_the_text_says(text: str, given: dict[str, Any], expected: str) -> None:
    assert written(text, **given) == expected


def test_a_variable_captures_no_name_that_a_caller_passes() -> None:
    macros = compile_file(
        "PLAN outer_plan(tbl) AS {% for c in ['a'] %}{{ c }} of {{ tbl }}{% endfor %};\n", {}
    )
    with duckdb.connect() as con:
        con.execute(JOIN)
        con.execute(f"CREATE TEMP MACRO outer_plan{macros['outer_plan'].replace(HOME, '')}")
        assert con.execute("SELECT outer_plan(c) FROM (SELECT 'mine' AS c)").fetchall() == [("a of mine",)]


def test_a_file_holds_macros_and_plans_with_its_rooms_constants() -> None:
    text = """-- words; of the file;
MACRO half(x) AS x / ${TWO};

PLAN listed(words) AS
-- a comment
SELECT {{ words }} IN ${KINDS}, ${NAME}
;
"""
    assert compile_file(text, {"TWO": 2, "KINDS": ("a", "b"), "NAME": "it's"}) == {
        "half": "(x) AS x / 2",
        "listed": "(words) AS 'SELECT ' || words || ' IN (''a'', ''b''), ''it''''s'''",
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "PLAN p(a) AS {% for a %}{% endfor %};",
            "p must spell its tags as they are documented, got 'for a'",
        ),
        ("PLAN p(a) AS {% if a %}b;", "p must close its blocks, got no elif or else or endif"),
        ("PLAN p(a) AS {% while a %}b;", "p must have no tag but for, if, set and call, got 'while a'"),
        ("PLAN p(a) AS ${NONE};", "a constant must be one of the file's room, got 'NONE'"),
        ("SELECT 1;\n", "a file must hold MACRO and PLAN statements alone, got 'SELECT 1;'"),
        (
            "MACRO f(a) AS a + 1\n",
            "a file must hold MACRO and PLAN statements alone, got 'MACRO f(a) AS a + 1'",
        ),
    ],
)
def test_what_is_no_template_is_refused(text: str, words: str) -> None:
    with pytest.raises(TemplateError) as refused:
        compile_file(text, {})
    assert str(refused.value) == words


def test_no_name_is_said_twice() -> None:
    """Of two macros of one name the later would answer for both."""
    said = re.compile(r"^(?:PLAN|MACRO) (\w+)", re.MULTILINE)
    files = Path(reid_sql.__file__).parent.rglob("*.sql")
    names = Counter(name for file in files for name in said.findall(file.read_text(encoding="utf-8")))
    assert len(names) > 100
    assert [name for name, times in names.items() if times > 1] == []
