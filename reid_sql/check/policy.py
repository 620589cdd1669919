"""Read a policy from a TOML or JSON file; every refusal names the place."""

import hashlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

from reid_sql.check.assessment import Recipient, read_assessment, read_recipients
from reid_sql.check.catalogue import MEASURES
from reid_sql.check.measure import LIMITS, Measure
from reid_sql.check.policy_model import (
    Check,
    Policy,
    TablePolicy,
    columns_counted,
    columns_released,
    list_hierarchy_files,
    read_preparing,
)
from reid_sql.check.remarks import refuse_unknown_code
from reid_sql.check.sources import (
    LONGEST_PATH,
    ROLES,
    PolicyContext,
    read_missing,
    read_role_sources,
    read_source,
    read_url,
    table_name,
)
from reid_sql.errors import OutOfDomainError, UnknownNameError, suggestion
from reid_sql.models.attacker.knowledge import SEED
from reid_sql.models.classes.sensitive import refuse_sensitive_groups
from reid_sql.parameters import NULLS, POPULATION, Choice, NullWord, Number, fold_case
from reid_sql.parameters.document import KINDS, Place, parsed, read_document, shown
from reid_sql.parameters.outputs import REQUIRED, Parameter
from reid_sql.reduction import refuse_entity
from reid_sql.sources.files import refuse_unread_format

KEYS: Final = (
    "name",
    "engine",
    "url",
    "baseline",
    "baseline_accepted_by",
    "mask_below",
    "keep_values",
    "memory_limit",
    "seed",
    "cautions",
    "accept",
    "prepare",
    "tables",
    "checks",
    "recipients",
    "assessment",
)
TABLE_KEYS: Final = (
    "name",
    "engine",
    "file",
    "files",
    "url",
    "table",
    "delimiter",
    "encoding",
    "header",
    "quote",
    "skip",
    "quasi_identifiers",
    "sensitive",
    "released",
    "left_out",
    "nulls",
    "entity",
    "missing",
    "population",
    *(f"{role}_{kind}" for role in ROLES for kind in ("file", "table")),
    "checks",
)
CHECK_KEYS: Final = (
    "measure",
    "at_most",
    "at_least",
    "no_worse",
    "by",
    "quasi_identifiers",
    "sensitive",
    "judge_by",
)
MASK: Final = Number(
    "a whole number from 1 to 1000",
    "write how few records are masked, such as 10",
    1.0,
    1000.0,
    whole=True,
)
JUDGE_BY: Final = Choice(("interval", "estimate"))
ENGINE: Final = Choice(("duckdb", "spark", "ibis"))
CAUTIONS: Final = Choice(("allow", "refuse"))
# The files that a measure with a table of this name compares with: an example by role.
COMPARED_FILES: Final = {
    "original": {"original": "people.parquet", "holdout": "others.parquet"},
    "first": {"former": "last_month.parquet"},
    "right": {"joined": "visits.parquet"},
}


def read_policy(path: str | Path, passed: Collection[str] = ()) -> Policy:
    """Read and check a policy file; refuses unknown words, and offers the nearest.

    The words may be keys, measures or others. `passed` names the tables that the caller passes.
    """
    file = Path(path)
    _refuse_missing(file)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    place, folder = read_document("policy", file, None, {})
    if hashlib.sha256(file.read_bytes()).hexdigest() != before:
        raise OutOfDomainError(
            f"policy must stay as it is while it is read, got '{path}', which changed; run the check again"
        )
    policy = _read_document(place, folder, passed)
    named = place.text("name", file.stem)
    return replace(policy, name=named, sha256=before, files=(file, *policy.files))


def read_policy_text(text: str) -> Policy:
    """Read the text of a policy that is in no file; its files are named from the current folder."""
    place = Place("policy ", parsed("policy", ".toml", text))
    policy = _read_document(place, Path(), ())
    return replace(policy, sha256=hashlib.sha256(text.encode()).hexdigest())


def _read_document(place: Place, folder: Path, passed: Collection[str]) -> Policy:
    place.only(KEYS)
    seed = int(place.number("seed", SEED, 0))
    everywhere = place.tables("checks")
    context = PolicyContext(folder, read_url(place), passed)
    named = place.tables("tables")
    recipients = read_recipients(place, [table_name(each) for each in named])
    tables = tuple(
        replace(_read_table(each, context, everywhere, recipients, seed), number=number)
        for number, each in enumerate(named, 1)
    )
    if not tables:
        raise OutOfDomainError(
            'policy must name at least one table, got none; write [[tables]] with file = "people.csv"'
        )
    _refuse_twice("tables", [table.name for table in tables])
    _refuse_twice("recipients", [each.name for each in recipients])
    _refuse_unnamed(passed, tables)
    preparing = read_preparing(
        place.table("prepare"), [c for each in tables for c in columns_counted(each)], folder
    )
    return Policy(
        name=place.text("name", "policy"),
        tables=tuple(replace(table, kept=preparing.keep) for table in tables),
        baseline=folder / place.text("baseline") if "baseline" in place.values else None,
        mask_below=_read_mask(place),
        keep_values=place.flag("keep_values"),
        memory_limit=_read_text(place, "memory_limit"),
        seed=seed,
        cautions=CAUTIONS.check(place.at("cautions"), place.text("cautions", "allow")),
        accept=_read_accepted(place),
        sha256="",
        baseline_accepted_by=_read_text(place, "baseline_accepted_by"),
        engine=_read_engine(place),
        preparing=preparing,
        recipients=recipients,
        assessment=read_assessment(place),
        files=tuple(_list_documents(place, folder)),
    )


def _refuse_missing(file: Path) -> None:
    """Refuse a policy that is no file, and offer the nearest."""
    if file.is_dir():
        raise UnknownNameError(
            f"policy must be an existing file, got the folder '{file}'; "
            f"name its policies, as in reid-sql check {file}/*.toml"
        )
    if not file.is_file():
        neighbours = sorted(other.name for kind in KINDS for other in file.parent.glob(f"*{kind}"))
        raise UnknownNameError(
            f"policy must be an existing file, got '{file}'; "
            f"{suggestion(file.name, neighbours, 'files beside it')}"
        )


def _read_engine(place: Place) -> str | None:
    """What counts, where the place says so."""
    engine = _read_text(place, "engine")
    return None if engine is None else ENGINE.check(place.at("engine"), engine)


def _read_text(place: Place, key: str) -> str | None:
    """Read a text that may be missing."""
    return place.text(key) if key in place.values else None


def _read_mask(place: Place) -> int:
    """How few records are masked: of a count below 2 that is not 0, everybody knows that it is 1."""
    mask = int(place.number("mask_below", MASK, 10))
    if mask == 2:  # noqa: PLR2004 - the one mask that hides nothing
        raise OutOfDomainError(
            f"{place.at('mask_below')} must be 1, which masks nothing, or at least 3, got 2; "
            "a masked count would be known to be 1"
        )
    return mask


def _read_accepted(place: Place) -> tuple[str, ...]:
    """Read the codes of the cautions that the policy accepts: words, as reports show them."""
    accepted = _read_distinct(place, "accept")
    for code in accepted:
        refuse_unknown_code(place.at("accept"), code)
    return accepted


def _list_documents(place: Place, folder: Path) -> list[Path]:
    """The files that the checks point to, such as scenarios, and those of hierarchies."""
    checks = [
        *place.tables("checks"),
        *place.tables("recipients"),
        *(
            check
            for key in ("tables", "recipients")
            for each in place.tables(key)
            for check in each.tables("checks")
        ),
    ]
    documents = [
        folder / value
        for check in checks
        for value in check.values.values()
        if isinstance(value, str)
    ]
    documents += list_hierarchy_files(place.table("prepare"), folder)
    return [each for each in documents if len(str(each)) < LONGEST_PATH and each.is_file()]


def _refuse_twice(words: str, names: Sequence[str]) -> None:
    for position, name in enumerate(names):
        if name in names[:position]:
            raise OutOfDomainError(
                f"policy {words} must have distinct names, got '{name}' twice; "
                "give one of them a name of its own"
            )


def _refuse_unnamed(passed: Collection[str], tables: Sequence[TablePolicy]) -> None:
    """Refuse a table that is passed under a name that the policy does not have."""
    sources = [each for table in tables for each in table.sources]
    taken = [each.passed for each in sources if each.passed is not None]
    for name in passed:
        if name not in taken:
            rule = f"tables must be named as the policy names them, got '{name}'"
            names = [table.name for table in tables]
            raise UnknownNameError(f"{rule}; {suggestion(name, names, 'tables of the policy')}")


def _read_table(
    place: Place,
    context: PolicyContext,
    everywhere: Sequence[Place],
    recipients: Sequence[Recipient],
    seed: int,
) -> TablePolicy:
    place.only(TABLE_KEYS, (key for measure in MEASURES.values() for key in measure.parameters))
    source = read_source(place, context)
    role_sources = read_role_sources(place, context, source)
    files = [path for each in (source, *role_sources.values()) for path in each.paths]
    refuse_unread_format(source.form, files, place.at)
    population = place.number("population", POPULATION) if "population" in place.values else None
    table = TablePolicy(
        name=table_name(place),
        source=source,
        quasi_identifiers=_read_distinct(place, "quasi_identifiers"),
        sensitive=_read_distinct(place, "sensitive"),
        nulls=cast("NullWord", NULLS.check(place.at("nulls"), place.text("nulls", "value"))),
        population=population,
        role_sources=role_sources,
        checks=(),
        engine=_read_engine(place),
        entity=_read_text(place, "entity"),
        missing=read_missing(place),
        released=_read_distinct(place, "released") if "released" in place.values else None,
        left_out=_read_distinct(place, "left_out"),
    )
    _refuse_left_out(place, table)
    refuse_entity(table.quasi_identifiers, table.entity, table.nulls)
    checks = (
        *(
            _read_check(each, table, context.folder, seed)
            for each in (*everywhere, *place.tables("checks"))
        ),
        *(
            _read_check(check, table, context.folder, seed, each)
            for each in recipients
            if table.name in each.tables
            for check in each.checks
        ),
    )
    if not checks:
        raise OutOfDomainError(
            f"{place.where} must have at least one check, got none; write [[tables.checks]] with measure = "
            '"k"'
        )
    return replace(table, checks=checks)


def _refuse_left_out(place: Place, table: TablePolicy) -> None:
    """Refuse a release without its quasi-identifiers, or one that is described twice."""
    if table.released is not None and table.left_out:
        raise OutOfDomainError(
            f"{place.where} must have one of the keys released and left_out, got both; "
            "all columns but those that are released are left out"
        )
    released = {fold_case(name) for name in columns_released(table, table.quasi_identifiers)}
    for name in table.quasi_identifiers:
        if fold_case(name) not in released:
            key = "left_out" if table.released is None else "released"
            raise OutOfDomainError(
                f"{place.at(key)} must leave the quasi-identifiers in the release, got none of '{name}'; "
                "remove it from quasi_identifiers, or release it"
            )


def _read_distinct(place: Place, key: str) -> tuple[str, ...]:
    names = place.texts(key)
    for position, name in enumerate(names):
        if name in names[:position]:
            raise OutOfDomainError(
                f"{place.at(key)} must be distinct, got '{name}' twice; name each column once"
            )
    return names


def _read_check(
    place: Place, table: TablePolicy, folder: Path, seed: int, recipient: Recipient | None = None
) -> Check:
    """Read a check, of a recipient with what they may know as its defaults."""
    name = place.text("measure")
    if name not in MEASURES:
        raise UnknownNameError(
            f"{place.at('measure')} must be a measure, got '{name}'; "
            f"{suggestion(name, list(MEASURES), 'measures')}"
        )
    measure = MEASURES[name].by_method(place.values.get("method"))
    parameters = measure.parameters
    place.only((*CHECK_KEYS, *parameters))
    columns = table.quasi_identifiers
    if recipient is not None:
        place = Place(place.where, recipient.defaults(parameters) | dict(place.values))
        columns = recipient.knows or columns
    read_check = Check(
        measure=measure,
        parameters={
            key: _read_parameter(place, each, table, folder, seed)
            for key, each in parameters.items()
        },
        quasi_identifiers=(_read_distinct(place, "quasi_identifiers") or columns)
        if measure.counts
        else (),
        sensitive=_read_sensitive(place, table) if measure.takes("sensitive") else None,
        limit=_read_limit(place, measure),
        no_worse=place.flag("no_worse"),
        by=_read_distinct(place, "by"),
        judge_by=JUDGE_BY.check(place.at("judge_by"), place.text("judge_by", "interval")),
        recipient=None if recipient is None else recipient.name,
    )
    _refuse_without(place, read_check, table)
    return read_check


def _refuse_without(place: Place, check: Check, table: TablePolicy) -> None:
    """Refuse a check that lacks what its measure needs."""
    measure = check.measure
    lacks_population = "population" not in table.role_sources
    for is_missing, needed, line in (
        (
            measure.counts and not check.quasi_identifiers,
            "quasi-identifiers",
            'quasi_identifiers = ["age", "sex"]',
        ),
        (measure.needs_entity and table.entity is None, "entity", 'entity = "patient_id"'),
        (
            measure.takes("population_tbl") and lacks_population,
            "a population table",
            'population_file = "register.parquet"',
        ),
    ):
        if is_missing:
            raise OutOfDomainError(
                f"{place.where} needs {needed} for the measure '{measure.name}', got none; "
                f"write {line} in the table"
            )
    _refuse_without_tables(place, check, table)
    if check.sensitive is not None:
        refuse_sensitive_groups(check.by, check.sensitive)
    if check.limit is None and not check.no_worse:
        raise OutOfDomainError(
            f"{place.where} must have a limit, got none; "
            f"write {measure.bound} = …, or no_worse = true to compare with the baseline alone"
        )


def _refuse_without_tables(place: Place, check: Check, table: TablePolicy) -> None:
    """Refuse to compare with tables that are not named, or parts of a table."""
    measure = check.measure
    named = f"for the measure '{measure.name}'"
    if measure.takes("tables") and check.by:
        raise OutOfDomainError(
            f"{place.at('by')} must not be given {named}, which audits whole tables, got {', '.join(check.by)}; "
            "leave it out"
        )
    for parameter, files in COMPARED_FILES.items():
        if not measure.takes(parameter):
            continue
        for role, file in files.items():
            if role not in table.role_sources:
                raise OutOfDomainError(
                    f"{place.where} needs {role}_file {named}, got none"
                    f'; write {role}_file = "{file}" in the table'
                )
        if check.by:
            raise OutOfDomainError(
                f"{place.at('by')} must not be given {named}, which compares whole tables, got {', '.join(check.by)}; "
                "leave it out"
            )
    if measure.takes("original") and table.nulls != "value":
        raise OutOfDomainError(
            f"{place.where} must have nulls = 'value' {named}, got '{table.nulls}'; "
            "attacks compare NULL as a value"
        )


def _read_limit(place: Place, measure: Measure) -> float | None:
    other = "at_most" if measure.at_least else "at_least"
    if other in place.values:
        side = "lower" if measure.at_least else "higher"
        raise OutOfDomainError(
            f"{place.where} must bound '{measure.name}' by {measure.bound}, as a {side} figure is the higher risk, got {other}; "
            f"write {measure.bound} = {shown(place.values[other])}"
        )
    return (
        place.number(measure.bound, LIMITS[measure.unit]) if measure.bound in place.values else None
    )


def _read_sensitive(place: Place, table: TablePolicy) -> str:
    if "sensitive" in place.values:
        return place.text("sensitive")
    if len(table.sensitive) != 1:
        raise OutOfDomainError(
            f"{place.at('sensitive')} must name the sensitive column, got none and the table has {len(table.sensitive)}; write sensitive = "
            '"…"'
        )
    return table.sensitive[0]


def _read_parameter(
    place: Place, parameter: Parameter, table: TablePolicy, folder: Path, seed: int
) -> Any:  # noqa: ANN401
    """Give the checked value of a parameter: the check's, else the table's, else the function's default."""
    name, domain = parameter.name, parameter.domain
    default = {"population": table.population, "seed": seed}.get(name, parameter.default)
    if name not in place.values and default is not REQUIRED and default is not None:
        return default
    value, where = place.values.get(name), place.at(name)
    if (
        name not in place.values
        and default is None
        and name != "population"
        and domain.form not in {"document", "number"}
    ):
        return None
    readers: dict[str, Callable[[], Any]] = {
        "document": lambda: domain.from_python(name, _resolve_path(value, folder)),
        "number": lambda: domain.from_python(where, place.number(name, domain)),
        "numbers": lambda: list(domain.from_sql(where, value) or ()),
        "names": lambda: list(_read_distinct(place, name)),
        "mapping": lambda: domain.from_python(where, value),
        "texts": lambda: domain.from_python(where, value),
        "word": lambda: domain.from_python(where, place.text(name)),
        "text": lambda: place.text(name),
    }
    return readers[domain.form]()


def _resolve_path(value: Any, folder: Path) -> Any:  # noqa: ANN401 - any value of the document
    """Give a document's source, a path as it is seen from the policy's folder."""
    return str(folder / value) if isinstance(value, str) and (folder / value).is_file() else value
