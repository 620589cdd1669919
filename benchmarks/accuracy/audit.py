"""How often audit_synthetic finds copies in a synthetic table, and how often it blames a table without any.

python -m benchmarks.accuracy.audit [DRAWS [COLUMNS [SHARE ...]]]: needs adult.parquet in the folder that
REID_SQL_DATA names. In each draw its people are divided in three: those who are used, a holdout, and others.
The synthetic table is drawn from the others, or from the used ones, and a share of its records are copies of
used ones: exact, or with the age changed by a year. Attacks that look values up and those on membership are
measured.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import polars as pl

import reid_sql
from reid_sql.engines.duckdb.source import table_source
from reid_sql.models import fit_copula, rows_from_columns, sample_copula
from reid_sql.models.synthetic.attacks import AuditedAttack
from reid_sql.models.synthetic.audit import attack_by_equal_values
from reid_sql.models.synthetic.audited_tables import AuditedTables, draw_people
from reid_sql.models.synthetic.membership import attack_membership
from reid_sql.reductions.synthetic import audited_tables

FEW: Final = ["age", "education", "marital_status", "race", "sex", "native_country", "occupation"]
MANY: Final = [
    *FEW,
    "workclass",
    "relationship",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "income",
]
# of each table, by the share copied
RECORDS: Final = {0.0: 2000, 0.01: 2000, 0.05: 2000, 0.001: 10_000}
DRAWS: Final = 40
Maker = Callable[[pl.DataFrame, np.random.Generator], pl.DataFrame]


def draw_marginals(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Draw each column by itself."""
    records = people.height
    return people.select(
        people[name].gather(rng.integers(0, records, records)) for name in people.columns
    )


def draw_copula(people: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Draw records of a fitted copula, with the columns' types of the people."""
    texts = {name: people[name].cast(pl.String).to_list() for name in people.columns}
    model = fit_copula(rows_from_columns(texts))
    codes = sample_copula(model, np.arange(people.height), int(rng.integers(1, 2**31 - 1)))
    return pl.DataFrame(dict(zip(people.columns, model.texts(codes), strict=True))).cast(
        people.schema
    )


def leak(people: pl.DataFrame, synthetic: pl.DataFrame, copies: pl.DataFrame) -> pl.DataFrame:
    """Put copies in the place of the last synthetic records."""
    return pl.concat([synthetic.head(people.height - copies.height), copies])


def change(copies: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Change the age by a year."""
    shifts = pl.Series(rng.choice([-1, 1], copies.height)).cast(copies["age"].dtype)
    return copies.with_columns((pl.col("age") + shifts).alias("age"))


def make_tables(
    used: pl.DataFrame, others: pl.DataFrame, copied: float, rng: np.random.Generator
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Synthetic tables of one draw, by how they were made."""
    marginals = draw_marginals(others, rng)
    if not copied:
        yield "marginals of others", marginals
        yield "marginals of the used", draw_marginals(used, rng)
        yield "copula of others", draw_copula(others, rng)
        yield "copula of the used", draw_copula(used, rng)
        return
    copies = used[rng.choice(used.height, max(1, round(copied * used.height)), replace=False)]
    yield f"{copied:.1%} copied", leak(used, marginals, copies)
    yield f"{copied:.1%} copied and changed", leak(used, marginals, change(copies, rng))


def attack(
    used: pl.DataFrame, synthetic: pl.DataFrame, holdout: pl.DataFrame, rng: np.random.Generator
) -> list[AuditedAttack]:
    """Look equal values up, and attack membership."""
    names = used.columns
    with duckdb.connect() as con:
        reid_sql.register(con)
        for name, frame in {"used": used, "synthetic": synthetic, "holdout": holdout}.items():
            con.register(name, frame.to_arrow())
        one, other, third = map(table_source, ("used", "synthetic", "holdout"))
        query = audited_tables(one, other, names[:-1], names[-1:], third, None)
        reduced = con.sql(query).pl()
    whole = reduced.drop("records_dropped", "nulls").row(0, named=True)
    counts = ("codes", "originals", "synthetics", "controls", "people")
    arrays = {name: np.array(whole[name]) for name in counts}
    audited = AuditedTables(**(whole | arrays)).in_order()
    people = draw_people(audited, used.height, rng)
    return [*attack_by_equal_values(audited), *attack_membership(audited, people, rng, (0.0, 1.0))]


def count_found(
    columns: list[str], records: int, copied: float, draws: int
) -> tuple[dict[str, Counter[str]], dict[str, Counter[str]]]:
    """Draws in which the interval of each attack lies above 0, and in which it contains 0, by the table."""
    people = pl.read_parquet(Path(os.environ["REID_SQL_DATA"]) / "adult.parquet").select(columns)
    found: dict[str, Counter[str]] = {}
    covered: dict[str, Counter[str]] = {}
    for draw in range(draws):
        rng = np.random.default_rng([draw, round(copied * 1000), records, len(columns)])
        parts = rng.permutation(people.height)[: 3 * records].reshape(3, records)
        used, holdout, others = (people[part] for part in parts)
        for name, synthetic in make_tables(used, others, copied, rng):
            hits, contains = found.setdefault(name, Counter()), covered.setdefault(name, Counter())
            for row in attack(used, synthetic, holdout, rng):
                if row.figure.startswith("true_positives"):  # the strongest of them has a row
                    continue
                hits[row.attack] += (row.low or 0) > 0
                contains[row.attack] += (row.low or 0) <= 0 <= (row.high or 0)
    return found, covered


def main() -> None:
    """Print the share of draws in which each attack's interval lies above 0; without copies, contains 0."""
    draws, *asked = sys.argv[1:] or [str(DRAWS)]
    widths, shares = [int(each) for each in asked[:1]], [float(each) for each in asked[1:]]
    for columns in [each for each in (FEW, MANY) if not widths or len(each) in widths]:
        for copied, records in RECORDS.items():
            if shares and copied not in shares:
                continue
            for title, counts in zip(
                ("above 0:", "contains 0:"),
                count_found(columns, records, copied, int(draws)),
                strict=True,
            ):
                for name, hits in ({} if copied and title != "above 0:" else counts).items():
                    found = {attack: round(count / int(draws), 3) for attack, count in hits.items()}
                    print(
                        len(columns), "columns", records, "records", name, title, found, flush=True
                    )


if __name__ == "__main__":
    main()
