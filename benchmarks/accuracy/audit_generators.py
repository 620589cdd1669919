"""What audit_synthetic finds in tables of two real generators, made from half of the demo's people.

python -m benchmarks.accuracy.audit_generators: needs `pip install metasyn DataSynthesizer`. metasyn draws
each column by itself; DataSynthesizer draws from a Bayesian network in which a column has two parents,
without noise.
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import polars as pl

import reid_sql.polars as rp

COLUMNS: Final = ("age", "sex", "postcode", "education", "occupation", "diagnosis")
SENSITIVE: Final = ["occupation", "diagnosis"]
SHOWN: Final = ("inference", "sure_inference", "strongest_inference", "strongest_membership")
Halves = tuple[pl.DataFrame, pl.DataFrame]


def divide_people() -> Halves:
    """Divide the demo's people at random: those who are used, and the holdout. Postcodes begin with a P."""
    people = rp.demo_people().collect().select(COLUMNS).sample(fraction=1, shuffle=True, seed=1)
    people = people.with_columns(("P" + pl.col("postcode")).alias("postcode"))
    half = people.height // 2
    return people[:half], people[half:]


def make_by_metasyn(used: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Draw each column from a distribution that is fitted to it."""
    from metasyn import MetaFrame  # noqa: PLC0415 - no part of the project

    texts = [name for name, kind in used.schema.items() if kind == pl.String]
    frame = MetaFrame.fit_dataframe(used.with_columns(pl.col(texts).cast(pl.Categorical)))
    made: pl.DataFrame = frame.synthesize(used.height, seed=seed)
    return made.with_columns(pl.col(texts).cast(pl.String)).cast(used.schema)


def make_by_datasynthesizer(used: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Draw records from a Bayesian network of the columns."""
    from DataSynthesizer.DataDescriber import DataDescriber  # noqa: PLC0415
    from DataSynthesizer.DataGenerator import DataGenerator  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        files = [str(Path(folder) / name) for name in ("used.csv", "network.json", "made.csv")]
        used.write_csv(files[0])
        describer = DataDescriber(category_threshold=used.height)
        describer.describe_dataset_in_correlated_attribute_mode(
            files[0],
            epsilon=0,
            k=2,
            attribute_to_is_categorical=dict.fromkeys(used.columns, True),
            attribute_to_is_candidate_key=dict.fromkeys(used.columns, False),
            seed=seed,
        )
        describer.save_dataset_description_to_file(files[1])
        generator = DataGenerator()
        generator.generate_dataset_in_correlated_attribute_mode(used.height, files[1], seed=seed)
        generator.save_synthetic_data(files[2])
        return pl.read_csv(files[2], schema_overrides=dict(used.schema)).select(used.columns)


def audit(used: pl.DataFrame, made: pl.DataFrame, holdout: pl.DataFrame) -> pl.DataFrame:
    """Attack the table, by four quasi-identifiers and two sensitive columns."""
    known = [name for name in COLUMNS if name not in SENSITIVE]
    return rp.audit_synthetic(used, made, known, sensitive=SENSITIVE, holdout=holdout).collect()


MAKERS: Final[Mapping[str, Callable[[pl.DataFrame, int], pl.DataFrame]]] = {
    "metasyn": make_by_metasyn,
    "DataSynthesizer": make_by_datasynthesizer,
}


def main() -> None:
    """Print the figures of a few attacks on a table of each generator."""
    used, holdout = divide_people()
    for name, make in MAKERS.items():
        attacks = audit(used, make(used, 0), holdout).filter(pl.col("attack").is_in(SHOWN))
        for row in attacks.iter_rows(named=True):
            if row["attack"] != "inference" or row["column_name"] in SENSITIVE:
                figures = [row[key] for key in ("original", "holdout", "excess", "low", "high")]
                rounded = [None if each is None else round(each, 3) for each in figures]
                print(
                    name,
                    row["attack"],
                    row["column_name"],
                    row["figure"],
                    *rounded,
                    row["status"],
                    flush=True,
                )


if __name__ == "__main__":
    main()
