"""Columns of what nobody should learn about a person, health and money, by their names or their values.

They are proposed as sensitive and not as quasi-identifiers; only their owner knows what others can know.
"""

import re
import tomllib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from reid_sql.models.columns.marked_numbers import CURRENCY, SIGN
from reid_sql.models.columns.spelling import normal_form, words_of_name

_FILE: Final[dict[str, dict[str, list[str]]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text("utf-8")
)
HEALTH, MONEY, DISEASES = (
    tuple(dict.fromkeys(chain.from_iterable(_FILE[kind].values())))
    for kind in ("health", "money", "diseases")
)
MIN_ANYWHERE: Final = 6  # letters of a part that may stand anywhere in a name
ICD: Final = re.compile(r"[A-TV-Z][0-9][0-9AB]([.][0-9A-Z]{1,4})?")  # ICD-10, as WHO writes it
BETWEEN_CODES: Final = re.compile(r"\s*[,;|/]\s*|\s+")
MIN_ICD: Final = 3  # values, as E10 is also a road
MIN_SHARE: Final = 0.5  # of the values are diseases, or amounts
AMOUNT: Final = re.compile(rf"{CURRENCY}\s?-?\d[\d.,' ]*|-?\d[\d.,' ]*\s?{CURRENCY}\.?")
REASON_MONEY: Final = "the name is one of an amount"
REASONS: Final = {(*HEALTH, *DISEASES): "the name is one of health", MONEY: REASON_MONEY}
OF_DISEASES: Final = "the values are diseases"
OF_AMOUNTS: Final = "the values are amounts of money"


def reason_by_name(name: str) -> str | None:
    """Say why a column is proposed as sensitive, by its name; None if it is not.

    >>> reason_by_name("Hauptdiagnose_2"), reason_by_name("monthlyIncome"), reason_by_name("costume")
    ('the name is one of health', 'the name is one of an amount', None)
    >>> reason_by_name("total €")
    'the name is one of an amount'
    """
    if re.search(SIGN, name):
        return REASON_MONEY
    words = words_of_name(name)
    for parts, reason in REASONS.items():
        if any(
            part == word or (len(part) >= MIN_ANYWHERE and part in word)
            for word in words
            for part in parts
        ):
            return reason
    return None


def reason_by_values(values: Sequence[str]) -> str | None:
    """Say why a column is proposed as sensitive, by some of its values; None if it is not.

    >>> reason_by_values(["flu", "HIV", "other"]), reason_by_values(["E10.1", "I21", "C50; E11"])
    ('the values are diseases', 'the values are diseases')
    >>> reason_by_values(["1.250,00 €", "80 €"]), reason_by_values(["north", "south"])
    ('the values are amounts of money', None)
    """
    coded = sum(all(map(ICD.fullmatch, BETWEEN_CODES.split(value))) for value in values)
    named = sum(
        bool({*normal_form(value).split(), normal_form(value)} & {*DISEASES}) for value in values
    )
    enough = max(1.0, MIN_SHARE * len(values))
    if sum(bool(AMOUNT.fullmatch(value.strip())) for value in values) >= enough:
        return OF_AMOUNTS
    return OF_DISEASES if named >= enough or (coded >= MIN_ICD and coded >= enough) else None
