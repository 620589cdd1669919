"""What a table to prepare must be: refused before a search of which no release could be judged."""

from typing import Final

from reid_sql.check.cautions import INTERRUPTIONS
from reid_sql.check.duckdb_table import DuckDBTableCounts
from reid_sql.check.masking import Mask
from reid_sql.check.policy_model import Policy, Preparing, columns_named, columns_prepared
from reid_sql.errors import OutOfDomainError, UnavailableError, UnknownNameError, suggestion
from reid_sql.parameters import quoted
from reid_sql.prepare.problem import columns_to_generalize, refuse_unsuitable
from reid_sql.reduction import REFUSAL_SEVERAL_IN_TABLE, REFUSAL_SEVERAL_VALUES
from reid_sql.terminal.runner import sentence

MAX_TARGET_VALUES: Final = 50  # of a target
MAX_CROSSED_VALUES: Final = 500  # of a column of a cross table


def refuse_table(policy: Policy, original: DuckDBTableCounts) -> None:
    """Refuse a table that cannot be prepared as the policy asks."""
    wanted, table = policy.preparing, original.table
    refuse_unsuitable(original)
    if policy.cautions == "refuse":
        _refuse_rows(policy, original)
        _refuse_unnamed_columns(policy, original)
    for name in wanted.keep:
        _refuse_missing(original, name, "policy prepare.keep must name columns")
    _refuse_target(wanted.target, original)
    shipped = {*columns_named(original.table), *wanted.keep, *columns_to_generalize(original)}
    for name in dict.fromkeys(name for pair in wanted.cross_tables for name in pair):
        _refuse_missing(original, name, "prepare.cross_tables must name columns")
        if name not in shipped:
            raise OutOfDomainError(
                f"prepare.cross_tables must name columns of the release, got '{name}'; add it to prepare.keep"
            )
        rule = "prepare.cross_tables must have columns of"
        _refuse_values(original, name, MAX_CROSSED_VALUES, rule)
    if table.entity is not None:
        _refuse_for_people(wanted, table.entity)
        _refuse_several_values(original)
    # the records of another table belong to no class of a partition
    if wanted.method == "local" and table.role_sources:
        raise UnavailableError(
            f"prepare.method = 'local' must have checks of the table alone, got {table.name} with {', '.join(table.role_sources)}; write method = 'global'"
        )


def _refuse_rows(policy: Policy, original: DuckDBTableCounts) -> None:
    """Refuse a table whose rows may not be people."""
    mask = Mask(policy.mask_below)
    if doubts := " ".join(str(mask.sentence(each)) for each in original.identifiers.values()):
        raise UnavailableError(
            f"a table to prepare must have a row for each person where cautions = 'refuse', got {original.table.name}, of which it is in doubt; {doubts}"
        )


def _refuse_unnamed_columns(policy: Policy, original: DuckDBTableCounts) -> None:
    """Refuse a list of released columns of which some single people out."""
    columns = None if original.table.released is None else original.released_columns
    prepared = columns_prepared(original.table, original.engine.columns)
    unlisted = [name for name in (columns.unlisted if columns else ()) if name in prepared]
    if unlisted and "unnamed_columns" not in policy.accept:
        raise UnavailableError(
            f"policy released must have no column that singles people out and is in no other list, got {', '.join(unlisted)}; name it in quasi_identifiers, or do not release it"
        )


def _refuse_target(column: str | None, original: DuckDBTableCounts) -> None:
    """Refuse a target that the table lacks, that is a quasi-identifier, or that has too many values."""
    if column is None:
        return
    _refuse_missing(original, column, "prepare.target must name a column")
    if column in columns_to_generalize(original):
        raise OutOfDomainError(
            f"prepare.target must not be a quasi-identifier, got '{column}'; it is generalized itself: name a column that stays unchanged"
        )
    _refuse_values(original, column, MAX_TARGET_VALUES, "prepare.target must have")


def _refuse_missing(original: DuckDBTableCounts, name: str, rule: str) -> None:
    """Refuse the name of a column that the table lacks."""
    columns = original.engine.columns
    if name not in columns:
        raise UnknownNameError(
            f"{rule} of {original.table.name}, got '{name}'; {suggestion(name, columns)}"
        )


def _refuse_values(original: DuckDBTableCounts, name: str, most: int, rule: str) -> None:
    """Refuse a column of too many values."""
    counted = f"SELECT count(DISTINCT {quoted(name)}) FROM {original.engine.whole}"
    many = int(original.engine.ask(counted)[0][0])
    if many > most:
        raise OutOfDomainError(
            f"{rule} at most {most} distinct values, got '{name}' with {many:,}; make bands of it in a view"
        )


def _refuse_for_people(wanted: Preparing, person: str) -> None:
    """Refuse what is not defined where a person has several records."""
    condition = f"where entity = '{person}'"
    if wanted.method == "local":
        raise UnavailableError(
            f"prepare.method must be 'global' {condition}, got 'local', which recodes the records of a person differently; write method = 'global'"
        )
    if wanted.loss != "entropy":
        raise UnavailableError(
            f"prepare.loss must be 'entropy' {condition}, got '{wanted.loss}', which counts records; remove the loss"
        )
    of_records = {
        "target": wanted.target,
        "cross_tables": wanted.cross_tables,
        "cells": wanted.cells,
    }
    if unsuitable := [key for key, value in of_records.items() if value]:
        raise UnavailableError(
            f"prepare must have no {unsuitable[0]} {condition}, as it counts records; make a table of one row per person, or remove the key"
        )


def _refuse_several_values(original: DuckDBTableCounts) -> None:
    """Refuse a check of people of whom a class has several values: coarser classes have them, too."""
    for check in original.table.checks:
        if check.sensitive is None or check.by:
            continue
        try:
            original.answer(check)
        except INTERRUPTIONS:
            raise
        except original.errors as error:
            why = sentence(error)
            if why in {REFUSAL_SEVERAL_VALUES, REFUSAL_SEVERAL_IN_TABLE}:
                raise UnavailableError(
                    f"{why}, or remove the check of {check.measure.name} of {check.sensitive}"
                ) from None
