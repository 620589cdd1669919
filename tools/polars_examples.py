"""Each function called in Polars, with what it answers: the call is made of the function's own parameters."""

import doctest
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from typing import Any, Final

from reid_sql.function import Function
from tools import function_facts as facts

# What stands for a parameter that must be given; the tables and the model are made at the head of the page.
GIVEN: Final[Mapping[str, str]] = {
    "tbl": "people",
    "population_tbl": "people",
    "qi": '["age", "sex", "postcode"]',
    "columns": '["age", "sex", "postcode", "marital_status", "education", "occupation"]',
    "sensitive": '"occupation"',
    "name": '"town"',
    "model": '"town"',
    "population": "20_000",
    "populations": "[20_000]",
    "sampling_fraction": "0.1",
    "person": '"person"',
    "entity": '"person"',
    "item": '"item"',
    "scenario": '{"population": 100_000, "groups": [{"columns": ["age", "sex"], "probability": 0.5}]}',
    "sizes": "[100, 1000]",
    "correctness": "[0.99, 0.80]",
    "p": "0.01",
    "xi": "0.58",
    "n": "101",
    "entropy": "8",
    "tail": "0",
    "k": "5",
}
TABLES: Final[Mapping[str, str]] = {
    "sparse_correctness_curve": "purchases",
    "equivalence_class_people": "purchases",
    "load_copula": "saved",
}
FEW_CHOICES: Final = ("alpha=0.1", "tail=0.5")  # of so few columns, a law is fitted to the riskier half


def call(function: Function) -> str:
    """Spell the call of the function in Polars; nothing where a parameter has no stand-in."""
    given = {**GIVEN, "tbl": TABLES.get(function.name, GIVEN["tbl"])}
    needed = facts.needed(function)
    if not given.keys() >= set(needed):
        return ""
    told = [given[name] for name in needed]
    if facts.takes_a_record(function):
        told += ['"item"'] if function.name in TABLES else ['"age"', '"sex"', '"postcode"']
    if {"alpha", "tail"} <= {parameter.name for parameter in function.parameters}:
        told += FEW_CHOICES
    spelled = f"rp.{function.name}({', '.join(told)})"
    if facts.answers_a_table(function):
        in_no_order = bool(facts.columns_beside(function))
        return f"shown({spelled}{'.sort(pl.all())' if in_no_order else ''})"
    frame = given["tbl"] if facts.takes_a_record(function) else "pl"
    return f"shown({frame}.select({spelled}))"


def answered(function: Function, head: str) -> str:
    """The call and what it prints, as a session that begins like the head of the page."""
    spelled = call(function)
    printed = StringIO()
    with redirect_stdout(printed):
        exec(spelled, _begun(head))  # noqa: S102 - the call is spelled above
    return f">>> {spelled}\n{printed.getvalue()}"


@cache
def _begun(head: str) -> dict[str, Any]:
    known: dict[str, Any] = {}
    examples: Iterable[doctest.Example] = doctest.DocTestParser().get_examples(head)
    for example in examples:
        exec(example.source, known)  # noqa: S102 - the page's own lines
    return known
