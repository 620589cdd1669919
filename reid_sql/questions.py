"""The functions by the question that they answer, and by who asks, for the command and for the pages."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

# The first question whose pattern is the start of a function's name has the function.
QUESTIONS: Final = {
    "What is each column like?": "profile",
    "How many people share the same values?": "risk_|class_|equiv(?!alence_class_size)|journal|house|demo",
    "Who stands out, and why?": "equiv|suda|minimal|column_|qar_contr|unicity_people",
    "Which columns, or values, identify people?": "attr|quasi|unsafe|qar",
    "What do several rows of one person reveal?": "unicity|sparse|matching",
    "What does a class disclose about its people?": "l_div|t_close|alpha|beta|delta",
    "What is the risk in the population that the table samples?": "population|individual|loglinear|valid",
    "How does the risk of each record follow from a fitted model?": "fit_|score_|uniq|cell|corr.*_kappa",
    "How does the share of right matches fall as the population grows?": "pyc|correctness",
    "What else can be done with a fitted copula?": "copula|load|sample",
    "What about an attacker who knows only part?": "adversary",
    "What does a release still reveal?": "compare|audit",
}
# What each user asks first.
USERS: Final[Mapping[str, tuple[str, ...]]] = {
    "analyst": ("profile", "risk_summary", "equivalence_class_size", "suda_scores", "quasi_identifiers"),
    "pipeline": ("risk_summary", "class_size_histogram", "equivalence_class_size", "compare"),
    "officer": ("population_risk", "risk_summary", "t_closeness", "adversary_summary", "validate_risk"),
}
STOP_WORDS: Final = frozenset(
    ["the", "and", "are", "who", "what", "how", "does", "this", "that", "with", "which", "for"]
)
MIN_STEM: Final = 4


def group_by_question(names: Iterable[str]) -> dict[str, list[str]]:
    """Group functions by the question that they answer, in the order of the questions.

    >>> group_by_question(["compare", "profile"])
    {'What is each column like?': ['profile'], 'What does a release still reveal?': ['compare']}
    """
    left = list(names)
    groups: dict[str, list[str]] = {}
    for question, pattern in QUESTIONS.items():
        found = [name for name in left if re.match(pattern, name)]
        left = [name for name in left if name not in found]
        groups |= {question: found} if found else {}
    if left:
        raise LookupError(f"QUESTIONS has no question for {', '.join(left)}")
    return groups


def answer_question(text: str, names: Iterable[str]) -> list[str]:
    """Name the functions for a user, or for the question that shares most words with the text.

    >>> answer_question("who stands out", ["profile", "suda_scores"])
    ['suda_scores']
    >>> answer_question("officer", ["profile", "risk_summary"])
    ['risk_summary']
    """
    known = list(names)
    if text.lower() in USERS:
        return [name for name in USERS[text.lower()] if name in known]
    asked = _stems(text)
    groups = group_by_question(known)
    shared = {question: len(asked & _stems(question)) for question in groups}
    best = max(shared.values(), default=0)
    return [name for question, own in groups.items() if best and shared[question] == best for name in own]


def _stems(text: str) -> set[str]:
    """Words without endings and without those that every question has."""
    words = set(re.findall(r"\w{3,}", text.lower())) - STOP_WORDS
    return {word[: max(MIN_STEM, len(word) - 2)] for word in words}
