"""What a parameter may be: one rule and one sentence, checked the same in Python and in SQL.

Each kind of parameters is a class with its own methods; here are the parameters that functions share.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from reid_sql.parameters.columns import (
    MAX_COLUMNS,
    Column,
    Columns,
    Entity,
    Groups,
    Household,
    Key,
    Values,
    list_columns,
)
from reid_sql.parameters.domain import (
    MAX_TABLES,
    Domain,
    OptionalTable,
    Table,
    Tables,
    describe_value,
    fold_case,
    is_number,
    list_text,
    order_by_name,
    plain,
    plain_number,
    quoted,
    sql_literal,
    sql_text,
)
from reid_sql.parameters.numbers import Flags, Floats, Number, Numbers
from reid_sql.parameters.tolerance import Tolerance
from reid_sql.parameters.words import Choice, Document, Labels, ModelName, Text, Texts, Weight

TextColumn = npt.NDArray[np.str_]  # a text each
NameLists = npt.NDArray[np.object_]  # a list of names each
Integers = npt.NDArray[np.int64]
Arguments = Mapping[str, Any]  # of a call, by the names of its parameters
Row = Mapping[str, Any]  # of an answer, by the names of its columns
Rows = Sequence[Row]
ColumnNames = Sequence[str]
Places = tuple[int, ...]  # of columns
MAX_PEOPLE: Final = 1e15

PROBABILITY: Final = Number(
    "a probability between 0 and 1", "pass a share, such as 0.01 for 1 %", 0.0, 1.0
)
COUNT: Final = Number(
    "a number of people of at least 1 and at most 1e+15",
    "pass the size of the population that the record is looked for in",
    1.0,
    1e15,
)
WORLD_POPULATION: Final = 8.3e9  # United Nations, World Population Prospects 2024, rounded up
POPULATION: Final = Number(  # of a document, which is about people of today
    "a number of people from 1 to 8.3e9, as many as live",
    "write how many people the table is a sample of, such as 67e6",
    1.0,
    WORLD_POPULATION,
)
THRESHOLD: Final = Number(
    "a risk between 0 and 1",
    "pass the risk above which a record counts as at risk, such as 0.2 for classes of fewer than 5",
    0.0,
    1.0,
)
SUBSET_SIZE: Final = Number(
    "a whole number of columns from 1 to 64",
    "pass how many columns to combine at most",
    1.0,
    MAX_COLUMNS,
    whole=True,
)
POINTS: Final = Number(
    "a whole number of known items from 1 to 16",
    "pass how many items of a person an attacker knows",
    1.0,
    16.0,
    whole=True,
)
SEED: Final = Number(
    "a whole number from 0 to 2147483646", "pass any such number", 0.0, 2147483646.0, whole=True
)
NullWord = Literal["value", "wildcard", "drop"]
NULL_WORDS: Final[tuple[NullWord, ...]] = ("value", "wildcard", "drop")
NULLS: Final = Choice(NULL_WORDS)
SHOWN: Final = Number(
    "a whole number from 0 to 1000000", "pass how many to show, such as 20", 0.0, 1e6, whole=True
)
VALUE_OR_DROP: Final = Choice(
    ("value", "drop"),
    refused=("wildcard",),
    reason="a NULL that matches any value puts a record into several classes, and this function does not "
    "count classes that overlap",
)
QUASI_IDENTIFIERS: Final = Columns("quasi-identifiers")
COLUMNS: Final = Columns("columns")
COLUMNS_AND_KEY: Final = Columns("columns and key")
TABLE: Final = Table()
OPTIONAL_TABLE: Final = OptionalTable()
TABLES: Final = Tables()
MODEL: Final = ModelName("the name of a fitted model", "see fitted_models() for those there are")
NEW_MODEL: Final = ModelName(
    "a name of 1 to 200 characters", "choose one by which the model will be known"
)
TOLERANCE: Final = Tolerance()
WEIGHT: Final = Weight(
    "the name of a column of survey weights", "write weight := 'column'", optional=True
)
ORDERED: Final = Texts()
RECORD: Final = Texts(of_record=True)

Probability = Annotated[npt.ArrayLike, PROBABILITY]
Count = Annotated[npt.ArrayLike, COUNT]
Populations = Annotated[
    npt.ArrayLike, Numbers(COUNT, is_one_enough=True, example="1e6 or [1000, 1e6]")
]
Threshold = Annotated[float, THRESHOLD]
SubsetSize = Annotated[int, SUBSET_SIZE]
Model = Annotated[str, MODEL]
NewModel = Annotated[str, NEW_MODEL]
Names = Annotated[list[str] | None, ORDERED]
RecordValues = Annotated[list[str | None], RECORD]
Seed = Annotated[int, SEED]
NullPolicy = Annotated[NullWord, NULLS]

__all__ = [
    "COLUMNS",
    "COLUMNS_AND_KEY",
    "COUNT",
    "MAX_COLUMNS",
    "MAX_PEOPLE",
    "MAX_TABLES",
    "MODEL",
    "NEW_MODEL",
    "NULLS",
    "NULL_WORDS",
    "OPTIONAL_TABLE",
    "ORDERED",
    "POINTS",
    "POPULATION",
    "PROBABILITY",
    "QUASI_IDENTIFIERS",
    "RECORD",
    "SEED",
    "SHOWN",
    "SUBSET_SIZE",
    "TABLE",
    "TABLES",
    "THRESHOLD",
    "TOLERANCE",
    "VALUE_OR_DROP",
    "WEIGHT",
    "WORLD_POPULATION",
    "Arguments",
    "Choice",
    "Column",
    "ColumnNames",
    "Columns",
    "Count",
    "Document",
    "Domain",
    "Entity",
    "Flags",
    "Floats",
    "Groups",
    "Household",
    "Integers",
    "Key",
    "Labels",
    "Model",
    "ModelName",
    "NameLists",
    "Names",
    "NewModel",
    "NullPolicy",
    "NullWord",
    "Number",
    "Numbers",
    "OptionalTable",
    "Places",
    "Populations",
    "Probability",
    "RecordValues",
    "Row",
    "Rows",
    "Seed",
    "SubsetSize",
    "Table",
    "Tables",
    "Text",
    "TextColumn",
    "Texts",
    "Threshold",
    "Tolerance",
    "Values",
    "Weight",
    "describe_value",
    "fold_case",
    "is_number",
    "list_columns",
    "list_text",
    "order_by_name",
    "plain",
    "plain_number",
    "quoted",
    "sql_literal",
    "sql_text",
]
