"""Where a user finds a function: three tiers, and the words of the field that are no names here."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from reid_sql.errors import UnavailableError
from reid_sql.function import Question
from reid_sql_udfs import declared

START: Final = (  # in the order in which a table is measured
    "profile",
    "risk_summary",
    "equivalence_class_size",
    "quasi_identifiers",
    "suda_scores",
    "population_risk",
    "compare",
    "safe_table",
)
RESEARCH: Final = (Question.MODEL_SCORES, Question.CORRECTNESS, Question.FITTED_MODELS)
TIERS: Final = ("start", "more", "research")
TERMS: Final[Mapping[str, tuple[str, ...]]] = {
    "prosecutor": ("risk_summary",),
    "marketer": ("risk_summary", "journalist_risk"),
    "journalist": ("journalist_risk",),
    "k map": ("journalist_risk",),
    "global risk": ("risk_summary", "individual_risk", "population_risk"),
    "individual risk": ("individual_risk", "equivalence_class_size"),
    "k anonymity": ("risk_summary", "equivalence_class_size", "alpha_k_anonymity"),
    "k anonymous": ("risk_summary", "equivalence_class_size", "alpha_k_anonymity"),
    "cell suppression": ("safe_table", "audit_tables"),
    "small cells": ("safe_table", "audit_tables"),
    "cell key": ("safe_table",),
    "who is unique": ("equivalence_class_size", "suda_scores", "minimal_unique_subsets"),
    "is anyone unique": ("risk_summary", "population_risk"),
    "sample unique": ("risk_summary", "equivalence_class_size"),
    "population unique": ("population_risk", "population_uniqueness"),
    "special unique": ("suda_scores", "minimal_unique_subsets"),
    "membership inference": ("audit_synthetic",),
    "attribute inference": ("attribute_risk", "audit_synthetic"),
    "homogeneity": ("l_diversity", "disclosing_classes"),
    "record linkage": ("compare", "compare_releases"),
    "data utility": ("compare", "compare_columns"),
}
NOT_HERE: Final[Mapping[str, str]] = {
    "differential privacy": "reid-sql adds no noise; the page on other tools names some that do",
    "delta presence": "the nearest is journalist_risk, of an attacker who looks in a population table",
    "hipaa": "reid-sql finds no identifiers in text; profile shows columns that look like identifiers",
    "safe harbor": "reid-sql finds no identifiers in text; profile shows columns that look like identifiers",
    "pseudonym": "reid-sql replaces no identifiers; profile shows columns that look like identifiers",
    "microaggregation": "no function of SQL; in Python reid_sql.release.perturb; compare measures the result",
    "rank swapping": "no function of SQL; in Python reid_sql.release.perturb; compare measures the result",
    "pram": "no function of SQL; in Python reid_sql.release.perturb; compare measures the result",
}


def find_term(text: str) -> tuple[str, ...]:
    """Return the functions for a word of the field, the best first; refuse what reid-sql does not measure.

    >>> find_term("k-map"), find_term("marketer risk")[:1], find_term("who stands out")
    (('journalist_risk',), ('risk_summary',), ())
    """
    words = " ".join(re.findall(r"[a-z]+", text.lower().replace("δ", "delta")))
    for term, instead in NOT_HERE.items():
        if f" {term} " in f" {words} ":
            raise UnavailableError(f"NAME must be what reid-sql measures, got '{term}'; not here: {instead}")
    found = [term for term in TERMS if f" {term} " in f" {words} " or f" {term}s " in f" {words} "]
    return TERMS[max(found, key=len)] if found else ()


def tier_of(name: str) -> str:
    """Return whether a function is one to start with, one more, or one of research."""
    if name in START:
        return "start"
    return "research" if declared()[name].question in RESEARCH else "more"


def group_by_tier(names: Iterable[str]) -> dict[str, list[str]]:
    """Group functions by tier, in the order of a measurement, then of the questions."""
    known = list(names)
    questions = [*Question]
    order = sorted(known, key=lambda name: questions.index(declared()[name].question))
    groups = {tier: [name for name in order if tier_of(name) == tier] for tier in TIERS}
    groups["start"].sort(key=START.index)
    return {tier: group for tier, group in groups.items() if group}
