"""The measures of what is made from a table of people: synthetic tables, aggregates, repeated releases."""

from typing import Final

from reid_sql.check.measure import (
    Measure,
    count_cells,
    count_rules,
    figure_of,
    people_of_cells,
    people_of_revealed,
    strongest,
)
from reid_sql.function import Parameter
from reid_sql.models.synthetic.membership import MEMBERSHIP
from reid_sql.models.tables.audit import BELOW_K, PUBLISHED, RECOVERED, SEVERAL_TABLES
from reid_sql.parameters import Column
from reid_sql.reductions.tables import DOMINANCE_RULE
from reid_sql.sql.cells import DOMINANCE, FEW_PEOPLE, P_PERCENT

# What a synthetic table gives away of the people it was made from, in excess of people who were not used.
SYNTHETIC: Final = tuple(
    Measure(
        name,
        words,
        "audit_synthetic",
        "excess",
        of_records=True,
        interval=True,
        unused=() if name == "disclosive_correct" else ("sensitive",),
        pick=strongest(*attacks),
    )
    for name, words, attacks in (
        (
            "replicated_uniques",
            "excess share of unique people whose values are in the synthetic table once",
            ("replicated_uniques",),
        ),
        (
            "disclosive_correct",
            "excess share of people whose sensitive value their synthetic class gives away",
            ("disclosive_correct",),
        ),
        (
            "singling_out",
            "excess share of predicates from the synthetic table that single out one person",
            ("singling_out_univariate", "singling_out_multivariate"),
        ),
        ("linkability", "excess share of people whose two halves are linked", ("linkability",)),
        (
            "attribute_inference",
            "excess share of right guesses of a column, at worst",
            ("inference",),
        ),
        (
            "membership_advantage",
            "excess of an attack on who is among the people it was made from, at worst",
            MEMBERSHIP,
        ),
    )
)

# Who can be followed from the release before this one.
RELEASES: Final = (
    Measure(
        "people_followed",
        "people who are the only one of their kind in the former release and in this one",
        "compare_releases",
        "value",
        "count",
        of_records=True,
        unused=("sensitive",),
        pick=figure_of("followed"),
        of_uniques=True,
    ),
)

# What a table of aggregates gives away: of one that is counted, and of published ones together.
CELLS: Final = tuple(
    Measure(
        name,
        words,
        "safe_table",
        "cells",
        "count",
        unused=unused,
        own=own,
        pick=count_rules(*rules),
        cells=people_of_cells,
    )
    for name, words, rules, unused, own in (
        (
            "cells_below_k",
            "cells of a table by the quasi-identifiers, or its totals, with fewer than k people",
            (FEW_PEOPLE,),
            ("value", "p_percent", "suppress", "protection", "zeros"),
            (),
        ),
        (
            "dominated_cells",
            "cells in which the largest contributors to a value can be estimated",
            (DOMINANCE, P_PERCENT),
            ("k", "suppress", "protection", "zeros"),
            (Parameter("value", Column("value")), Parameter("dominance", DOMINANCE_RULE, [1.0, 0.5])),
        ),
    )
)
PUBLISHED_TABLES: Final = tuple(
    Measure(
        name,
        words,
        "audit_tables",
        "cells",
        "count",
        unused=("columns", "entity"),
        pick=count_cells(column, *found),
        cells=people_of_revealed,
    )
    for name, words, column, found in (
        (
            "published_below_k",
            "cells of published tables that show fewer than k people",
            "finding",
            (PUBLISHED,),
        ),
        (
            "recoverable_cells",
            "hidden cells of published tables, and groups between them, that are known, or known below k",
            "finding",
            (RECOVERED, BELOW_K),
        ),
        (
            "recovered_by_difference",
            "the same, where it takes several of the tables",
            "revealed_by",
            (SEVERAL_TABLES,),
        ),
    )
)
