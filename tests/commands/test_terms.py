"""Words of the field lead to the function, and what does not exist is named as such."""

import pytest

from reid_sql.commands.functions import NOT_HERE, RESEARCH, START, TERMS, group_by_tier
from reid_sql_udfs import declared
from tests.cells import each_cell
from tests.processes import command

# What a statistician looks for, by the definitions of the literature.
LEADS = {
    "prosecutor risk": "risk_summary",
    "marketer": "risk_summary",
    "journalist": "journalist_risk",
    "global risk": "risk_summary",
    "k-anonymity": "risk_summary",
    "k_anonymity": "risk_summary",
    "k-map": "journalist_risk",
    "cell suppression": "safe_table",
    "who is unique": "equivalence_class_size",
    "is anyone unique": "risk_summary",
}


@each_cell("words", LEADS)
def test_a_word_of_the_field_leads_to_the_function_first(words: str) -> None:
    for arguments in (["functions", *words.split()], ["functions", "--for", words]):
        done = command(*arguments)
        names = [line.partition("(")[0] for line in done.stdout.splitlines() if line[:1].islower()]
        assert LEADS[words] in names[:1], done.stderr


@pytest.mark.parametrize(
    "words", ["differential privacy", "delta presence", "δ-presence", "HIPAA identifiers"]
)
def test_what_does_not_exist_is_said_in_one_sentence(words: str) -> None:
    done = command("functions", words)
    assert done.returncode == 2
    assert "not here: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_terms_name_functions_that_exist() -> None:
    assert {name for names in TERMS.values() for name in names} <= set(declared())
    assert not TERMS.keys() & NOT_HERE.keys()


def test_every_function_is_in_one_tier() -> None:
    tiers = group_by_tier(declared())
    assert sorted(name for names in tiers.values() for name in names) == sorted(declared())
    assert tuple(tiers["start"]) == START
    assert {declared()[name].question for name in tiers["research"]} <= {*RESEARCH}
