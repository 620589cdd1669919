"""A starter policy and a starter scenario for a file, from the profile of its columns."""

import re
import shlex
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from reid_sql.check.remarks import declare_missing
from reid_sql.errors import OutOfDomainError
from reid_sql.models.columns import column_profile as kinds
from reid_sql.models.columns.direct_identifiers import CONTACT, NAME
from reid_sql.models.columns.identifiers import names_a_person
from reid_sql.models.columns.missing_value_codes import STRUCTURAL_CODES
from reid_sql.models.columns.sensitive_columns import REASON_MONEY, reason_by_name
from reid_sql.parameters import MAX_COLUMNS, Rows
from reid_sql.parameters.document import toml_text, toml_texts
from reid_sql.sources.column_roles import (
    ENTITY,
    HOUSEHOLD,
    IDENTIFIER,
    QUASI_IDENTIFIER,
    SENSITIVE,
    UNKNOWN,
    VAGUE,
    Labels,
    Role,
    find_roles,
)
from reid_sql.sources.remote import VARIABLE, is_connection, masked
from reid_sql.terminal.control_characters import escape_control_characters

KNOWABLE: Final = (
    kinds.CATEGORY,
    kinds.CODE,
    kinds.DATE,
    kinds.UNREAD_DATE,
    kinds.NUMBER,
)  # what others may know about a person
POLICY: Final = """# A starter policy. Check the table against it: reid-sql check {policy}
# reid-sql proposes columns from their values; only you know what others can know. Review each line.
cautions = "refuse"     # a result that comes with a caution is not judged
"""
TABLE: Final = """
[[tables]]
{source}
# Columns whose values others can know about a person. Remove a column only if nobody outside can know it.
{known}quasi_identifiers = {quasi_identifiers}
{entity}{missing}
# Columns that nobody should learn about a person, such as a diagnosis. If others can know one, move it up.
{sensitive}
# The number of people that the table is a sample of. Its check is at the end.
{population}
{omitted}
[[tables.checks]]
measure = "k"
at_least = 5            # each person shares these values with at least four others

[[tables.checks]]
measure = "average_risk"
at_most = 0.05          # the expected share of people that an attacker identifies
{diversity}{household}
{estimate}
"""
UNREAD: Final = """
# Not in this policy, so that no check measures them:
{}"""
DIVERSITY: Final = """
[[tables.checks]]
measure = "l_diversity"
sensitive = {0}
at_least = 2            # whoever finds the class of a person does not learn this
"""
NO_ANSWER: Final = """
# People have several values of {0}, so that this check has no answer by entity.
# Pass a table with one value a person, or remove it: then no check measures this column."""
HOUSEHOLD_CHECK: Final = """
[[tables.checks]]
measure = "household_average_risk"
household = {0}
at_most = 0.05          # the chance that a member of a person's household is identified
"""
SCENARIO: Final = """# A starter scenario: what an attacker may know. Measure it:
#     reid-sql risk {file} --scenario {scenario}
# Each probability is a placeholder: replace it by what you know about your attackers.
name = "starter"
# The people among whom the attacker looks; those of the table alone are the worst case.
population = {people}

{groups}"""
GROUP: Final = """[[groups]]
columns = [{column}]
probability = 0.5       # the chance that the attacker knows this column of a person
"""
COUNT_PEOPLE: Final = """# Column {0} identifies people: each person counts once.
entity = {0}"""
PERHAPS_ENTITY: Final = """# Column {0} looks like an identifier and repeats: only you know whether of people.
# entity = {0}"""
SEVERAL_VALUES: Final = """
# If people have several values of a sensitive column, its check of l_diversity has no answer by entity."""
INCOMPLETE_ENTITY: Final = """# Column {0} looks like the identifier of a person, but some rows lack a value.
# Name these rows in a view and count people by it, or pass a row of each person.
# entity = "person_id\""""
MISSING: Final = """
# Values that look like codes for "missing". If a line is right, remove its #. If all of them are real values,
# write accept = ["missing_codes"] at the top instead.
{}"""
MISSING_SENSITIVE: Final = """# Of a sensitive column, write accept = ["missing_sensitive"] at the top, too.
{}"""
NO_ENTITY: Final = """# The column that identifies a person, if a person can have several rows.
# entity = "person_id\""""
LEFT_OUT: Final = """# Columns that no check measures, and that the release must lack:
{}left_out = {}
"""
POPULATION: Final = "# population = 67_000_000"
ESTIMATE: Final = (
    "[[tables.checks]]",
    'measure = "population_correctness"   # the chance that a match names the right person; needs population',
    "at_most = 0.05",
)
CONTACTS: Final = "the values are contacts"
UNMEASURED: Final = "not measured"
LOOKS: Final = "; by its name and values: "
OMITTED: Final = Role(IDENTIFIER, "identifiers, names, contacts and free text")
KNOWN: Final = Role(QUASI_IDENTIFIER, "others can know it")
PROPOSED: Final = {  # by the kind of a column
    **dict.fromkeys((kinds.IDENTIFIER, kinds.FREE_TEXT, NAME, CONTACT), OMITTED),
    **dict.fromkeys(KNOWABLE, KNOWN),
    kinds.OTHER: Role(UNMEASURED, "values of several parts: split them into columns"),
    kinds.WEIGHT: Role(UNMEASURED, "survey weights"),
}
PEOPLE: Final = Role(ENTITY, "it looks like the identifier of a person and repeats")
UNPROFILED: Final = Role(UNMEASURED, "more values than come from a warehouse")
BEYOND: Final = Role(UNMEASURED, f"beyond the {MAX_COLUMNS} columns that tell most people apart")
PATTERN: Final = frozenset("*?[")
# options that are keys of a policy
SOURCES: Final = ("table", "encoding", "delimiter", "quote", "header", "skip")


def source_of(options: Namespace) -> dict[str, str]:
    """Return the keys of a policy that name the table of a command."""
    named = {"file": options.file}
    if options.files:  # a pattern is no name
        named = {"files": options.file, "name": stem_of(options.file)}
    return named | {key: value for key in SOURCES if (value := getattr(options, key)) is not None}


def source_lines(source: Mapping[str, str]) -> str:
    """Write the lines of a policy on where its table is."""
    if "," in (skip := source.get("skip", "")):
        source = {**source, "skip": f"[{skip}]"}
    return "\n".join(
        f"{key} = {value if key in {'header', 'skip'} else toml_text(value)}"
        for key, value in source.items()
    )


def stem_of(file: str) -> str:
    """Return what the documents of a file, a folder, a pattern or a connection are called."""
    name = Path(file.partition("*")[0] if PATTERN & {*file} else file).stem
    if is_connection(file):
        name = Path(
            file.removeprefix(VARIABLE).partition("?")[0].rstrip("/").rpartition("/")[2]
        ).stem
    elif Path(file).is_dir():
        name = Path(file).resolve().name
    return re.sub(r"\W+", "_", name).strip("_") or "table"


@dataclass(frozen=True)
class Starter:
    """What is proposed for a file: the columns that others can know, and the documents."""

    rows: Rows  # of its profile
    source: Mapping[str, str]  # keys of a table of the policy, such as its file
    population: float | None = None
    by_values: Mapping[str, str] = field(default_factory=dict)  # columns: what their values are
    unprofiled: Sequence[str] = ()  # columns whose values are too many to come from a warehouse
    labels: Labels = ()  # what people wrote about columns
    several: Mapping[str, Sequence[str]] = field(
        default_factory=dict
    )  # of a column of people, if counted

    @property
    def name(self) -> str:
        """What the policy calls the table."""
        source = self.source
        file = source.get("files") or source.get("file") or ""
        return source.get("name") or source.get("table") or Path(file).stem

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """The role of each column that has one, as it is written down or looks, and why."""
        roles = self._propose_roles()
        columns = [*(row["column_name"] for row in self.rows), *self.unprofiled]
        for name, (word, reason) in find_roles(self.labels, columns).items():
            looks = roles.get(name, Role(word, ""))
            # an identifier that repeats identifies people
            agrees = word == looks.word or (word == IDENTIFIER and looks is PEOPLE)
            roles[name] = Role(
                looks.word if agrees or word in VAGUE else word,
                reason if agrees else f"{reason}{LOOKS}{looks.reason}",
            )
        known = [name for name, role in roles.items() if role.word == QUASI_IDENTIFIER]
        apart = {row["column_name"]: row["separation"] or 0.0 for row in self.rows}
        known.sort(key=lambda name: (roles[name] is KNOWN, -apart.get(name, 0.0)))
        return roles | dict.fromkeys(known[MAX_COLUMNS:], BEYOND)

    def _propose_roles(self) -> dict[str, Role]:
        """Propose the role of each column by its name and its values alone."""
        roles = dict.fromkeys(self.unprofiled, UNPROFILED)
        for row in self.rows:
            name = row["column_name"]
            role = PROPOSED.get(kinds.kind_of_advice(row, 1))
            reason = reason_by_name(name) or self.by_values.get(name)
            if row["looks_like"] == kinds.DATE and reason == REASON_MONEY:
                reason = None  # "fecha de ingreso" is a day of admission, "ingreso" an income
            if self.by_values.get(name) == CONTACTS:
                role = OMITTED
            elif reason and (role is KNOWN or row["looks_like"] == kinds.CONSTANT):
                # who is known to be in the table is known to have a constant
                role = Role(SENSITIVE, reason)
            elif row["looks_like"] == kinds.REPEATED_IDENTIFIER and PEOPLE not in roles.values():
                # one that some rows lack would count these as one person, one of hospitals the hospitals
                role = PEOPLE if names_a_person(name) and name not in self._incomplete else None
            if role is not None:
                roles[name] = role
        return roles

    def _names(self, *words: str) -> list[str]:
        return [name for name, role in self.roles.items() if role.word in words]

    def reasons(self, *words: str) -> dict[str, list[str]]:
        """The columns of these roles by the reason, but for what is proposed of many."""
        return group_names(
            {
                name: role.reason
                for name, role in self.roles.items()
                if role.word in words and role not in (KNOWN, PEOPLE)
            }
        )

    def _comments(self, *words: str) -> str:
        return _comments(self.reasons(*words))

    @property
    def quasi_identifiers(self) -> list[str]:
        """The columns that others can know about a person; of very many those that tell most people apart."""
        return self._names(QUASI_IDENTIFIER)

    @property
    def commands(self) -> tuple[str, str]:
        """The commands that write the starter policy, and the release that meets it."""
        stem = stem_of(next(iter(self.source.values())))
        prepare = ("prepare", f"{stem}.policy.toml", "--release", f"{stem}_released.parquet")
        init = ("init", *self._file_options())
        return shlex.join(["reid-sql", *init]), shlex.join(["reid-sql", *prepare])

    def _file_options(self) -> list[str]:
        """Write how a command names the table, without the password of a connection."""
        (kind, file), *options = self.source.items()
        words = [masked(file, file), *(["--files"] if kind == "files" else [])]
        for key, value in options:
            words += [f"--{key}", value] if key in SOURCES else []
        return words

    @property
    def sensitive(self) -> dict[str, str]:
        """The columns that nobody should learn about a person, and why they are taken for such."""
        return {name: self.roles[name].reason for name in self._names(SENSITIVE)}

    @property
    def _people(self) -> list[str]:
        """The columns of people: as they are written down, or else as proposed."""
        return sorted(self._names(ENTITY), key=lambda name: self.roles[name] is PEOPLE)

    @property
    def entity(self) -> str | None:
        """The column of people, if every row has a value."""
        return next((name for name in self._people[:1] if name not in self._incomplete), None)

    @property
    def _incomplete(self) -> set[str]:
        """The columns of which some rows lack a value."""
        return {row["column_name"] for row in self.rows if row["missing"] or row["sentinels"]}

    @property
    def _entity_lines(self) -> str:
        """The lines of the policy on the column of people."""
        reasons, kind = self._comments(ENTITY), kinds.REPEATED_IDENTIFIER
        is_known = self.entity in self.several
        several = SEVERAL_VALUES if self.sensitive and not is_known else ""
        if self.entity is not None:
            return reasons + COUNT_PEOPLE.format(toml_text(self.entity)) + several
        repeated = [row["column_name"] for row in self.rows if row["looks_like"] == kind]
        candidates = self._people[:1] or repeated
        if not candidates:
            return NO_ENTITY
        incomplete = self._incomplete
        name = max(candidates, key=lambda each: (each not in incomplete, names_a_person(each)))
        if name in incomplete:
            return reasons + INCOMPLETE_ENTITY.format(toml_text(name))
        return PERHAPS_ENTITY.format(toml_text(name)) + several

    @property
    def omitted(self) -> list[str]:
        """Identifiers, names of people, contacts and free text."""
        return self._names(IDENTIFIER)

    def refuse_unknown(self) -> None:
        """Refuse a file of which nobody outside could know a column."""
        if not self.quasi_identifiers:
            profile = shlex.join(["reid-sql", "profile", *self._file_options()])
            raise OutOfDomainError(
                f"FILE must have a column that others can know about a person, got none that looks like one; see {profile}"
            )

    def policy(self, path: str) -> str:
        """Write the policy of this table alone, which lies at the path."""
        return write_policy(path, [self])

    def table(self) -> str:
        """Write the table of a policy, with its checks."""
        sensitive = self._names(SENSITIVE)
        several = self.several.get(self.entity or "", ())
        homes = [] if self.entity else self._names(HOUSEHOLD)  # no measure counts both
        left = self._names(IDENTIFIER, UNMEASURED)
        reasons = self._comments(IDENTIFIER, UNMEASURED)
        has_population = self.population is not None
        return TABLE.format(
            source=source_lines(self.source),
            known=self._comments(QUASI_IDENTIFIER, UNKNOWN),
            quasi_identifiers=toml_texts(self.quasi_identifiers),
            sensitive=f"{self._comments(SENSITIVE)}{'' if sensitive else '# '}sensitive = {toml_texts(sensitive or ['diagnosis'])}",
            diversity="".join(
                ((NO_ANSWER if name in several else "") + DIVERSITY).format(toml_text(name))
                for name in sensitive
            ),
            household=self._comments(HOUSEHOLD)
            + "".join(HOUSEHOLD_CHECK.format(toml_text(name)) for name in homes),
            omitted=LEFT_OUT.format(reasons, toml_texts(left)) if left else "",
            entity=self._entity_lines,
            missing=self._missing_lines,
            population=f"population = {self.population:_.0f}" if has_population else POPULATION,
            estimate="\n".join(ESTIMATE if has_population else [f"# {line}" for line in ESTIMATE]),
        )

    @property
    def _missing_lines(self) -> str:
        """The lines of the policy on values that may stand for missing ones."""
        lines = {}
        for row in self.rows:
            codes = [each for each in row["sentinels"] if each not in STRUCTURAL_CODES]
            if codes:
                lines[row["column_name"]] = f"# {declare_missing(row['column_name'], codes)}"
        listed = "\n".join(lines.values())
        if not {*lines}.isdisjoint(self.sensitive):
            listed = MISSING_SENSITIVE.format(listed)
        return MISSING.format(listed) if lines else ""

    def scenario(self, path: str) -> str:
        """Write the scenario, which lies at the path."""
        groups = "\n".join(GROUP.format(column=toml_text(name)) for name in self.quasi_identifiers)
        file = next(iter(self.source.values()))
        people = self.rows[0]["records"]
        return SCENARIO.format(file=toml_text(file), scenario=path, people=people, groups=groups)


def group_names(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """List each reason once, with the names of what it is the reason for."""
    names: dict[str, list[str]] = {}
    for name, why in reasons.items():
        names.setdefault(why, []).append(name)
    return names


def _comments(names: Mapping[str, Sequence[str]]) -> str:
    """Write a comment of one line for each reason: a line break must not go on as a key of the policy."""
    lines = (f"{', '.join(each)}: {why}." for why, each in names.items())
    return "".join(f"#     {escape_control_characters(line)}\n" for line in lines)


def write_policy(
    path: str, starters: Sequence[Starter], unread: Mapping[str, str] | None = None
) -> str:
    """Write the policy of some tables, which lies at the path; `unread` are those without one, and why."""
    lines = _comments(group_names(unread or {}))
    omitted = UNREAD.format(lines) if lines else ""
    return POLICY.format(policy=path) + omitted + "".join(each.table() for each in starters)
