"""Attacks on a synthetic table in Polars: the records of all tables are grouped together."""

from collections.abc import Sequence

import polars as pl

from reid_sql.engines.polars.frames import aliases, check_columns, null_report, unify_types, with_aliases
from reid_sql.models.synthetic.audit import DISCLOSIVE_CORRECT, EXACT_PRESENCE, NO_CONTROL, REPLICATED_UNIQUES
from reid_sql.parameters import QUASI_IDENTIFIERS
from reid_sql.reductions.synthetic import AUDITED_COLUMNS, SENSITIVE_COLUMNS
from reid_sql.sql.text import union

SIDES = ("o", "s", "h")
TABLES = ("original and synthetic", "original and holdout")


def synthetic_attacks(
    original: pl.LazyFrame,
    synthetic: pl.LazyFrame,
    qi: Sequence[str],
    sensitive: Sequence[str] | None = None,
    holdout: pl.LazyFrame | None = None,
) -> pl.LazyFrame:
    """Count the records of the original and of the holdout that each attack is right about."""
    for label, columns in ((QUASI_IDENTIFIERS, qi), (SENSITIVE_COLUMNS, sensitive)):
        if columns is not None:
            check_columns(label, columns, original)
    asked = union(qi, sensitive or [])
    names, known = aliases(asked), aliases(qi)
    frames = [original, synthetic, *([] if holdout is None else [holdout])]
    rows = [with_aliases(frame, check_columns(AUDITED_COLUMNS, asked, frame)) for frame in frames]
    own = rows[0]
    for each, name in zip(rows[1:], TABLES, strict=False):
        own = unify_types([own, each], asked, name)[0]
    rows = [own, *(unify_types([own, each], asked)[1] for each in rows[1:])]
    marked = pl.concat(
        [frame.with_columns(side=pl.lit(name)) for name, frame in zip(SIDES, rows, strict=False)]
    )
    counts = [(pl.col("side") == name).sum().cast(pl.Int64).alias(name) for name in SIDES]
    o, s, h = (pl.col(name) for name in SIDES)
    unique = marked.group_by(known).agg(counts)
    attack_rows = [
        _attack(0, REPLICATED_UNIQUES, "", unique, [((each == 1) & (s == 1)).sum() for each in (o, h)]),
        _attack(
            *(1, EXACT_PRESENCE, "", marked.group_by(names).agg(counts)),
            [each.filter(s > 0).sum() for each in (o, h)],
        ),
    ]
    for place, (column, alias) in enumerate(zip(asked[len(qi) :], names[len(qi) :], strict=True), 2):
        values = marked.group_by([*known, alias]).agg(counts)
        single = (s > 0) & (((s > 0).sum().over(known)) == 1)
        told = values.with_columns(single.alias("single"))
        hits = [each.filter(pl.col("single")).sum() for each in (o, h)]
        attack_rows.append(_attack(place, DISCLOSIVE_CORRECT, column, told, hits))
    sizes = marked.select(o=counts[0], s=counts[1], h=counts[2])
    attacks = pl.concat(attack_rows).join(sizes, how="cross")
    none = pl.lit(NO_CONTROL, dtype=pl.Int64)
    reduced = attacks.select(
        *("place", "attack", "column_name", "hits"),
        (pl.col("control_hits") if holdout is not None else none).alias("control_hits"),
        *(o.alias("originals"), s.alias("synthetics")),
        (h if holdout is not None else none).alias("controls"),
    )
    return null_report(rows[0], known, "value", reduced).sort("place")


def _attack(
    place: int, attack: str, column: str, classes: pl.LazyFrame, hits: Sequence[pl.Expr]
) -> pl.LazyFrame:
    """What an attack is right about, of the classes that it distinguishes."""
    return classes.select(
        pl.lit(place, dtype=pl.Int64).alias("place"),
        pl.lit(attack).alias("attack"),
        pl.lit(column).alias("column_name"),
        hits[0].cast(pl.Int64).alias("hits"),
        hits[1].cast(pl.Int64).alias("control_hits"),
    )
