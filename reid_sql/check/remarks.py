"""Sentences about a table as they are measured: their numbers are counts, which only a mask may show."""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from reid_sql import models
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.attacker.adversary import STATUS_BLANK
from reid_sql.models.classes.disclosure import STATUS_UNCOVERED
from reid_sql.models.columns.identifiers import RepeatedColumn, write_name
from reid_sql.models.columns.missing_value_codes import (
    STRUCTURAL_CODES,
    describe_spelling,
    list_codes,
)
from reid_sql.models.columns.nobodies import (
    IdentifierCounts,
    alike_words,
    code_words,
    count_nobodies,
    count_of_values,
    find_nobody_codes,
    heavy_words,
)
from reid_sql.models.columns.units import UNIT_PERSON, UNIT_VALUE
from reid_sql.models.people.diagnostics import STATUS_CHECK
from reid_sql.models.population.individual_risk import STATUS_LIGHT_WEIGHTS
from reid_sql.parameters import Row
from reid_sql.parameters.document import toml_key, toml_text, toml_texts
from reid_sql.reduction import REFUSAL_UNIDENTIFIED
from reid_sql.sources.formats import SKIPPED_RECORDS
from reid_sql.sources.other_programs import AS_DECLARED, MERGED_MISSING, OTHER_SHEETS

STATUS_WITHHELD_CHECK: Final = (
    "predictive_check: the model expects other class sizes than the records have"
)
# Statuses that limit no figure and need no remedy.
INFORMATIVE_CODES: Final = frozenset(
    ["determined", "counted", "tested_interval", "rare_values", AS_DECLARED]
)
REPEATED_IDENTIFIER: Final = "repeated_identifier"  # rows may not be people
# {} is a count of records
COUNTED_STATUSES: Final = (STATUS_BLANK, STATUS_UNCOVERED, STATUS_LIGHT_WEIGHTS)


CAUTION_UNSEEN_CODES: Final = "keep_values keeps the values of {} in the warehouse, so no one looked for missing-value codes in them"
SPLIT: Final = "\x01"  # where a sentence has a count


@dataclass(frozen=True)
class Count:
    """A count in a sentence, and what it counts, in the plural and of one.

    The `summands` are counts that a reader may see elsewhere, or work out from it: those that it adds up, and
    the records that it leaves out. `column` is the one whose values are counted.
    """

    number: int
    words: str
    singular: str = ""
    summands: tuple[int, ...] = ()
    column: str | None = None


@dataclass(frozen=True)
class Remark:
    """A sentence in parts, of which each is text without a count, or a count; `code` names the caution.

    The `remedy` is a line for the table's policy, which resolves the caution if it is right.
    """

    parts: tuple[str | Count, ...]
    code: str = ""
    remedy: str = ""


class RefusedTableError(OutOfDomainError):
    """A table that is refused, by a sentence with counts, which a mask may show; its text has none."""

    def __init__(self, words: str, sentence: Remark) -> None:
        """Remember the sentence."""
        super().__init__(words)
        self.sentence = sentence


def remark(*parts: str | Count, code: str = "", remedy: str = "") -> Remark:
    """Put a remark together."""
    return Remark(parts, code, remedy)


def declare_missing(column: str, codes: Sequence[str]) -> str:
    """Write the line of a policy that declares the codes of a column to mean missing.

    >>> declare_missing("age", ["97", "98"])
    'missing.age = ["97", "98"]'
    """
    return f"missing.{toml_key(column)} = {toml_texts(codes)}"


def codes_of_status(status: str) -> list[str]:
    """Return the code of each of the statuses of a row.

    >>> codes_of_status("determined: a determines b, so b adds nothing; few_records: fewer than 100 records")
    ['determined', 'few_records']
    """
    return [each.partition(": ")[0] for each in status.split("; ")]


def remark_of_status(text: str) -> Remark:
    """Find the counts of a status that counts records: the text between the beginning and end of its own.

    >>> remark_of_status("not_covered: 3 records match fewer people in the population table, so the table's "
    ...                  "count decides").parts[1]
    Count(number=3, words='records', singular='', summands=(), column=None)
    """
    parts: tuple[str | Count, ...] = (text,)
    for status in COUNTED_STATUSES:
        before, after = status.split("{} records")
        parts = tuple(part for each in parts for part in _split(each, before, after))
    return Remark(parts)


def withhold_shares(text: str) -> str:
    """Return a status without the shares of the records that it gives, from which few of them would follow.

    >>> withhold_shares("sampled: x; predictive_check: 0.45 % of records are in classes below 2")
    'sampled: x; predictive_check: the model expects other class sizes than the records have'
    """
    code = STATUS_CHECK.partition("{}")[0]
    notes = text.split("; ")
    return "; ".join(STATUS_WITHHELD_CHECK if note.startswith(code) else note for note in notes)


def _split(part: str | Count, before: str, after: str) -> Iterator[str | Count]:
    """Yield a part as it is, or the text before a count, the count of records, and the text after it."""
    if isinstance(part, Count) or before not in part:
        yield part
        return
    start, _, rest = part.partition(before)
    number, _, end = rest.partition(" records" + after)
    if not number.replace(",", "").isdigit():
        yield part
        return
    yield from (start + before, Count(int(number.replace(",", "")), "records"), after + end)


def missing_value_remarks(profiled: Iterable[Row]) -> dict[str, Remark]:
    """Return, for each column with missing-value codes, the remark on how many records have one.

    The records without a code are what is left of the table: where they are few, their number follows.
    """
    remarks = {}
    for row in profiled:
        if not row["sentinels"]:
            continue
        name = row["column_name"]
        counts = [int(each) for each in row["sentinel_records"]]
        rest = int(row["records"]) - sum(counts)
        counted = Count(sum(counts), "records have", "record has", (*counts, rest), name.lower())
        listed = list_codes(row["sentinels"])
        looks = f" {listed} in {name}, which looks like a missing-value code and counts as a value"
        codes = [code for code in row["sentinels"] if code not in STRUCTURAL_CODES]
        remedy = declare_missing(name, codes) if codes else ""
        remarks[name] = remark(counted, looks, code="missing_codes", remedy=remedy)
    return remarks


def unseen_codes_remark(columns: Iterable[str]) -> Remark:
    """Return the remark on columns whose values no one looked at, as the policy keeps them."""
    return remark(CAUTION_UNSEEN_CODES.format(", ".join(columns)), code="missing_codes")


def missing_sensitive_remark(row: Row) -> Remark | None:
    """Return the remark on the records without a sensitive value, which counts as one more value."""
    records, name = int(row["records"]), row["column_name"]
    lacking = round(row["missing"] * records)
    if not lacking:
        return None
    counted = Count(lacking, "records have", "record has", (records - lacking,), name.lower())
    words = f" no value of {name}, which counts as a sensitive value of its own"
    return remark(counted, words, code="missing_sensitive")


def unused_code_remark(column: str, code: str, values: Sequence[str]) -> Remark:
    """Return the remark on a declared code that no record has; `values` are written like it."""
    how = describe_spelling(code, values)
    advice = f"only {how}: write it as the table does" if how else "so remove it or correct it"
    words = f"the code {toml_text(code)} that the policy declares missing occurs in no record of {column}"
    return remark(f"{words}, {advice}", code="unused_code")


def unidentified_remark(column: str, missing: int, rows: int) -> Remark:
    """Return the refusal of rows without a value in the column that identifies people."""
    before, after = REFUSAL_UNIDENTIFIED.format("entity", column, SPLIT, "", column).split(SPLIT)
    after = after.removeprefix(" of  rows")
    return remark(before, Count(missing, "rows", "row", (rows - missing,)), after)


def nobody_remarks(
    column: str, counts: IdentifierCounts, rows: int, unit: str = UNIT_PERSON
) -> list[Remark]:
    """Return the cautions on values of a column of people or households that may stand for nobody."""
    remarks, nobodies, codes = [], count_nobodies(counts.sizes), find_nobody_codes(counts)
    if unit == UNIT_VALUE:
        nobodies, codes = 0, []
    if nobodies:
        heavy = sum(sorted(counts.sizes, reverse=True)[:nobodies])
        counted = Count(heavy, "rows", "row", (rows - heavy,))
        words = f", {heavy_words(nobodies, unit)}"
        remarks.append(
            remark(f"{count_of_values(nobodies, column)} ", counted, words, code="nobody")
        )
    if codes:
        sizes = [size for _, size in codes]
        counted = Count(
            sum(sizes), "rows have", "row has", (*sizes, rows - sum(sizes)), column.lower()
        )
        remarks.append(remark(counted, f" {code_words(column, codes, unit)}", code="nobody"))
    if counts.alike:
        counted = Count(counts.alike, "values equal", "value equals", column=column.lower())
        remarks.append(remark(counted, f" {alike_words(column, unit)}", code="written_alike"))
    return remarks


def name_rows(codes: Iterable[str]) -> str:
    """Name what rows are: people, but where the code of a caution says that people may have several."""
    return "records" if REPEATED_IDENTIFIER in codes else "people"


def identifier_remark(
    of: str, column: RepeatedColumn, records: int | None, *, named: bool
) -> Remark:
    """Return the caution on a column that is named like an identifier and repeats.

    The rows without a value are the rest of the table's records, where these are known. A column of the table
    that has nearly all values may be `named` as that of people.
    """
    name, values, filled = column.name, column.values, column.filled
    can_count = named and column.identifies_all
    advice = (
        f"count them with entity = {write_name('entity =', name)}"
        if can_count
        else "pass a row of each"
    )
    rest = () if records is None else (records - filled,)
    return remark(
        f"{of}Column '{name}' looks like an identifier and repeats (",
        Count(values, "values", "value", column=name.lower()),
        " in ",
        Count(filled, "rows", "row", rest, name.lower()),
        f"): if it identifies people, {advice}.",
        code=REPEATED_IDENTIFIER,
        remedy=f"entity = {toml_text(name)}" if can_count else "",
    )


# The codes of cautions: those of the gate itself, and of each status that a function returns.

OF_THE_GATE: Final = (
    AS_DECLARED,
    MERGED_MISSING,
    "blank_records",
    "columns_not_covered",
    "fewer_choices",
    "met_by_any_table",
    "missing_codes",
    "missing_sensitive",
    "nobody",
    "other_policy",
    OTHER_SHEETS,
    "population_of_groups",
    "records_dropped",
    REPEATED_IDENTIFIER,
    "repeated_rows",
    SKIPPED_RECORDS,
    "small_groups",
    "small_population",
    "uncounted_identifier",
    "unclear_name",
    "unnamed_columns",
    "unused_code",
    "view",
    "written_alike",
)
CODE: Final = re.compile(r"((?:by )?[a-z][a-z0-9_]*): ")


def refuse_unknown_code(where: str, code: str) -> None:
    """Refuse a code that no caution has: a policy would accept nothing by it."""
    codes = OF_THE_GATE if code in OF_THE_GATE else codes_of_cautions()
    if code not in codes:
        raise UnknownNameError(
            f"{where} must be codes of cautions, got '{code}'; {suggestion(code, codes, 'codes')}"
        )


def without_codes(text: str) -> str:
    """Leave out the codes before sentences: the person who decides reads no words of programs."""
    return CODE.sub(lambda part: "" if part[1] in codes_of_cautions() else part[0], text)


@cache
def codes_of_cautions() -> tuple[str, ...]:
    """All codes that a caution may have: those of the gate, and of each status of the models."""
    codes = set(OF_THE_GATE)
    for _, module, _ in pkgutil.walk_packages(models.__path__, f"{models.__name__}."):
        for constant, value in vars(importlib.import_module(module)).items():
            is_status = constant.startswith("STATUS_") and isinstance(value, str)
            if is_status and (match := CODE.match(value)):
                codes.add(match[1])
    return tuple(sorted(codes))
