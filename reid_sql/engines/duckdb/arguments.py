"""What a call is given, as expressions: the value or the refusal, and the text that stands for the value."""

from collections.abc import Container
from typing import Final

from reid_sql.engines.duckdb.qualify import qualified
from reid_sql.function import Parameter, sql_literal
from reid_sql.parameters import (
    Checked,
    Choice,
    Column,
    Columns,
    Document,
    Groups,
    Key,
    Number,
    Numbers,
    OptionalTable,
    Table,
    Texts,
    sql_text,
)

ANSWER: Final = "reid_answer"  # the text of a list: what the answer names its own columns


def literal(parameter: Parameter) -> str:
    """Spell the text in which the checked value stands as SQL spells it; NULL has its type."""
    value, domain = checked(parameter), parameter.domain
    if isinstance(domain, Groups):
        return f'reid_by_listed("{parameter.name}", {ANSWER})'
    if isinstance(domain, Columns) and domain.optional:
        return f"""CASE WHEN "{parameter.name}" IS NULL THEN 'NULL::VARCHAR[]' ELSE reid_texts({value}) END"""
    if isinstance(domain, Columns | Texts):
        return f"reid_texts({value})"
    if isinstance(domain, Number) and not domain.whole:
        return f"coalesce(({value})::VARCHAR || '::DOUBLE', 'NULL')"
    if isinstance(domain, Number | Numbers):
        return f"coalesce(({value})::VARCHAR, 'NULL')"
    return f"reid_text_or_null({value})"


def checked(parameter: Parameter) -> str:
    """Spell the parameter as an SQL expression that is the value, or the refusal."""
    domain = parameter.domain
    if isinstance(domain, Columns):
        listed = f"reid_listed({sql_literal(domain.words)}, {parameter.name})"
        return f"CASE WHEN {parameter.name} IS NOT NULL THEN {listed} END" if domain.optional else listed
    if isinstance(domain, Table):
        return f"reid_table({parameter.name})"
    if isinstance(domain, OptionalTable):
        return f"CASE WHEN {parameter.name} IS NOT NULL THEN reid_table({parameter.name}) END"
    if isinstance(domain, Column | Key):
        return f"{parameter.name}::VARCHAR"
    return domain.sql(parameter.name) if isinstance(domain, Checked | Document) else parameter.name


def checked_cell(parameter: Parameter) -> str:
    """Spell the parameter of a function of rows, of which NULL stays NULL."""
    domain = parameter.domain
    return domain.sql(parameter.name, null=True) if isinstance(domain, Number) else parameter.name


def word(name: str, domain: Choice) -> tuple[str, str]:
    """Spell the literal of a word as it was given, and the text of its refusal, which a good one has none of.

    A refusal that names the nearest word takes long to bind: as a text it is bound where it is to be said.
    """
    given = f'"{name}"::VARCHAR'
    head, tail = qualified(domain.refusal(name, "\0")).split("\0")
    said = f"{sql_text(head)} || reid_text(coalesce({given}, 'NULL')) || {sql_text(f'{tail} || ')}"
    return f"reid_text(coalesce({given}, ''))", f"CASE WHEN {domain.met(name)} THEN '' ELSE {said} END"


def checked_once(handed: Container[str], parameter: Parameter) -> str:
    """Spell the parameter for the answer; a word handed to the reduction has been checked there."""
    word = isinstance(parameter.domain, Choice) and parameter.name in handed
    return f'"{parameter.name}"::VARCHAR' if word else checked(parameter)
