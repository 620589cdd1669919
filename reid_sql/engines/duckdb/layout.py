"""A planned query, laid out for reading: a line for each clause, an indent for each query inside another."""

import re
from typing import Final

TOKEN: Final = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\s+|\w+|\|\||::|:=|<=|>=|<>|//|.""", re.DOTALL)
CLAUSES: Final = {
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "ORDER",
    "UNION",
    "LIMIT",
    "WINDOW",
    "WITH",
    "JOIN",
    "LEFT",
}
CLAUSES_OF_TWO: Final = {("DISTINCT", "FROM"), ("LEFT", "JOIN"), ("ASOF", "LEFT"), ("DESCRIBE", "FROM")}
QUERY: Final = {"SELECT", "FROM", "WITH"}
CONNECTIVES: Final = {"WHEN", "ELSE", "AND", "OR"}
LONG: Final = 72  # a line is broken at the next comma
LONGER: Final = 90  # or at the next connective


def laid_out(sql: str) -> str:
    """The query with its white space made anew; what is in quotes stays as it is.

    >>> print(laid_out("SELECT a FROM (SELECT b AS a FROM t WHERE b > 1)"))
    SELECT a
    FROM (
      SELECT b AS a
      FROM t
      WHERE b > 1
    )
    """
    parts = TOKEN.findall(sql.strip())
    places = [place for place, part in enumerate(parts) if not part.isspace()]
    words = ["", *(parts[place] for place in places), "", ""]
    layout = _Layout()
    for at, place in enumerate(places, 1):
        spaced = place > 0 and parts[place - 1].isspace()
        layout.put(words[at], words[at - 1], (words[at + 1], words[at + 2]), spaced=spaced)
    return "\n".join(line.rstrip() for line in layout.lines)


class _Layout:
    def __init__(self) -> None:
        self.lines = [""]
        self.inside: list[bool] = []  # of each open parenthesis, whether it holds a query

    def put(self, word: str, before: str, after: tuple[str, str], *, spaced: bool) -> None:
        """Add one word to the last line, or to a new one."""
        if (word == ")" and self.inside and self.inside.pop()) or (
            before and before != "(" and self._starts_clause(word, before, after)
        ):
            self._line()
        elif self._is_long(word, before):
            self._line(more="  ")
        elif spaced and self.lines[-1].strip() and before != "(" and word not in {")", ","}:
            self.lines[-1] += " "
        self.lines[-1] += word
        if word == "(":
            self.inside.append(after[0] in QUERY)
            if after[0] in QUERY:
                self._line()

    def _starts_clause(self, word: str, before: str, after: tuple[str, str]) -> bool:
        if self.inside and not self.inside[-1]:
            return False
        named = before == "," and after[0] == "AS" and after[1] in {"(", "MATERIALIZED"}  # WITH a, b AS (…)
        return named or (word in CLAUSES and (before, word) not in CLAUSES_OF_TWO)

    def _is_long(self, word: str, before: str) -> bool:
        at_query = not self.inside or self.inside[-1]
        length = len(self.lines[-1])
        return (before == "," and at_query and length > LONG) or (word in CONNECTIVES and length > LONGER)

    def _line(self, more: str = "") -> None:
        self.lines[-1] = self.lines[-1].rstrip()
        self.lines.append("  " * sum(self.inside) + more)
