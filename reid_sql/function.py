"""What a function is: name, parameters, summary, source and body, and, where SQL can answer, its SQL text.

A decorator declares the function below it, and returns it unchanged. Engines bind what is declared; nothing
else lists the functions.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, TypeVar, get_origin, get_type_hints

from reid_sql.errors import UnknownParameterError
from reid_sql.parameters import (
    MODEL,
    NULLS,
    TABLE,
    VALUE_OR_DROP,
    Arguments,
    Values,
    list_text,
    sql_literal,
)
from reid_sql.parameters.outputs import (
    REQUIRED,
    Output,
    Parameter,
    choose_arguments,
    columns_of,
    merge_parameters,
    parameters_of,
)
from reid_sql.reduction import ENTITY, NULL_REPORT_COLUMNS, Argument, Needs, Reduction

Body = TypeVar("Body", bound=Callable[..., Any])


class Answer(Enum):
    """What a function answers; an engine has a method for each."""

    SCALAR = "a value for each record, from numbers"
    WINDOW = "a value for each record, counted among all records"
    MODEL_SCORE = "a value for each record, under a fitted model"
    ROW = "one row"
    ROWS = "rows"
    PER_RECORD = "a row for each record"
    REDUCTION = "the reduction itself"
    SCORED_TABLE = "the table with columns of scores"

    @property
    def of_rows(self) -> bool:
        """Whether the function belongs in a SELECT list or an expression, not in FROM."""
        return self in {Answer.SCALAR, Answer.WINDOW, Answer.MODEL_SCORE}

    @property
    def of_table(self) -> bool:
        """Whether a body, or the reduction itself, answers for a whole table or from parameters alone."""
        return self in {Answer.ROW, Answer.ROWS, Answer.PER_RECORD, Answer.REDUCTION}


class Question(Enum):
    """What users ask; lists of functions are grouped by it, in this order."""

    COLUMNS = "What is each column like?"
    CLASS_SIZES = "How many people share the same values (k-anonymity)?"
    UNIQUE_RECORDS = "Who stands out, and why?"
    IDENTIFYING_COLUMNS = "Which columns, or values, identify people?"
    SEVERAL_ROWS = "What do several rows of one person reveal?"
    DISCLOSURE = "What does a class disclose about its people?"
    POPULATION = "What is the risk in the population that the table samples?"
    MODEL_SCORES = "How does the risk of each record follow from a fitted model?"
    CORRECTNESS = "How does the share of right matches fall as the population grows?"
    FITTED_MODELS = "What else can be done with a fitted model?"
    ATTACKERS = "What about an attacker who knows only part?"
    RELEASES = "What does a release still reveal?"


# What every function of a table answers, or declares why it does not; and what to do then.
OWED: Final = {
    "entity": "pass a table with a row a person",
    "by": "ask about each group in a view of its own",
}
# What one function answers for itself, so that others refuse it and name that function.
ELSEWHERE: Final = {
    "household": "call household_risk, or take 1 - product(1 - risk) over the records of each household",
}
NO_HOUSEHOLD: Final = {
    "household": "a household's risk is that of all of its members, not of one record"
}
NO_REASON: Final = "its declaration neither has it nor gives the reason"
LACKED: Final[Mapping[Answer, Mapping[str, str]]] = {
    Answer.SCORED_TABLE: dict.fromkeys(
        OWED, "each row is scored by its own values under the model alone"
    ),
}
# How many parameters of a body an engine gives by itself, where that does not follow from a reduction.
GIVEN_BY_ENGINE: Final = {Answer.MODEL_SCORE: 1, Answer.SCORED_TABLE: 2}
FALLBACK_NOTE: Final = "the distinct records come to the client, where DuckDB answers"
# What an engine lacks of a whole shape, and why.
ABSENT: Final[Mapping[str, Mapping[Answer, str]]] = {
    "ibis": {
        Answer.SCALAR: "databases have no common way to refuse a number within a query, and a bad one would "
        "pass for an answer",
        Answer.MODEL_SCORE: "a model scores records by Python, which warehouses do not run",
        Answer.PER_RECORD: "answers for records would have to be put into a table of the warehouse, and "
        "nothing is created there",
        Answer.SCORED_TABLE: "scores would have to be put into a table of the warehouse, and nothing is "
        "created there",
    }
}


@dataclass(frozen=True)
class Function:
    """A declared function, with everything an engine, the catalogue and the documents need to know."""

    name: str
    answer: Answer
    parameters: tuple[Parameter, ...]
    columns: Mapping[str, str]
    question: Question
    source: str
    body: Callable[..., Any] = field(repr=False)
    reduction: Reduction | None = None
    duckdb: str | None = None
    # whether it stores or reads fitted models, of which each database has its own
    models: bool = False
    absences: Mapping[str, str] = field(default_factory=dict)
    # whether `entity` first makes its table one of a row per person
    one_row_per_person: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)  # why it lacks a parameter
    also: tuple[str, ...] = ()  # further names that answer alike
    needs: Needs = Needs.VALUES  # of the columns that it counts by
    body_of_groups: Callable[..., Any] | None = field(default=None, repr=False)
    # of a function of several outputs: the parameter that chooses, and the output of each of its words
    selector: str = ""
    outputs: Mapping[str, "Function"] = field(default_factory=dict)
    word: str = ""  # of an output but the first: the word that chooses it

    @property
    def key(self) -> str:
        """What is unique to an output: the function's name, and the word of an output but the first."""
        return f"{self.name}_{self.word}" if self.word else self.name

    @property
    def preset(self) -> dict[str, str]:
        """The argument by which a call of the function asks for this output."""
        return {self.selector: self.word} if self.word else {}

    @property
    def call(self) -> str:
        """How a sentence names the output."""
        return f"{self.name}({self.selector} := '{self.word}')" if self.word else self.name

    @property
    def all_outputs(self) -> tuple["Function", ...]:
        """The function's outputs, each once, the first one first; of one output, itself."""
        return tuple({each.key: each for each in self.outputs.values()}.values()) or (self,)

    def choose(self, arguments: Arguments) -> tuple["Function", dict[str, Any]]:
        """Return the output that checked arguments ask for, with its arguments; refuse those of another."""
        if not self.outputs:
            return self, dict(arguments)
        word = arguments[self.selector]
        chosen = self.outputs[word]
        rule = f"with {self.selector} := '{word}'"
        options = choose_arguments(
            self.parameters, chosen.parameters, self.selector, arguments, rule
        )
        return chosen, options

    @property
    def words(self) -> str:
        """The first sentence of the docstring."""
        return (inspect.getdoc(self.body) or "").split("\n\n", 1)[0].replace("\n", " ")

    @property
    def signature(self) -> str:
        """The call as SQL spells it."""
        shown = [
            p.name if p.default is REQUIRED else f"{p.name} := {sql_literal(p.default)}"
            for p in (self.parameters[:-1] if self.answer is Answer.WINDOW else self.parameters)
        ]
        if self.answer in {Answer.WINDOW, Answer.MODEL_SCORE}:
            shown.append("c1, …")
        return f"{self.name}({', '.join(shown)})"

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the body without the arrays of the engine; the reduction may share some."""
        of_engine = GIVEN_BY_ENGINE.get(self.answer, 1 if self.reduction else 0)
        named = list(inspect.signature(self.body).parameters)[of_engine:]
        return tuple(
            parameter for name in named for parameter in self.parameters if parameter.name == name
        )

    def body_arguments(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments of a call that the body takes besides the arrays."""
        return {parameter.name: arguments[parameter.name] for parameter in self.own_parameters}

    @property
    def columnar(self) -> bool:
        """Whether the body gives many rows as arrays, one a column, not as a list of rows."""
        listed = get_origin(get_type_hints(self.body).get("return")) is list
        return self.answer is Answer.PER_RECORD or (self.answer is Answer.ROWS and not listed)

    @property
    def answer_columns(self) -> dict[str, str]:
        """The columns of the answer that have a fixed name, with their SQL types."""
        if self.reduction is None or self.answer.of_rows:
            return dict(self.columns)
        counted = self.reduction.columns if self.answer is Answer.REDUCTION else self.columns
        return {
            **({"record": "BIGINT"} if self.answer is Answer.PER_RECORD else {}),
            **counted,
            **NULL_REPORT_COLUMNS,
        }

    @property
    def lacked(self) -> dict[str, str]:
        """The parameters that a function of a table owes or gives a reason for and lacks, with the reason."""
        named = {parameter.name for parameter in self.parameters}
        if not any(parameter.domain.is_required_table for parameter in self.parameters):
            return {}
        declared = {
            **LACKED.get(self.answer, {}),
            **(self.reduction.reasons if self.reduction else {}),
            **self.reasons,
        }
        owed = {name: declared.get(name, NO_REASON) for name in OWED if name not in named}
        return owed | {name: self.reasons[name] for name in ELSEWHERE if name in self.reasons}

    @property
    def grouped(self) -> bool:
        """Whether it can be asked for each group of a table."""
        return any(parameter.domain.role == "groups" for parameter in self.parameters)

    @property
    def needs_python(self) -> bool:
        """Whether SQL can answer it, in each of its outputs, only by a Python body."""
        if self.outputs:
            return all(each.needs_python for each in self.all_outputs)
        return self.answer not in {Answer.WINDOW, Answer.REDUCTION} and self.duckdb is None

    def absence(self, engine: str) -> str | None:
        """Why the engine lacks the function; None where it has it, if only in part."""
        if self.outputs:
            reasons = [each.absence(engine) for each in self.all_outputs]
            return None if None in reasons else reasons[0]
        reduction = self.reduction.absences if self.reduction else {}
        shape = ABSENT.get(engine, {}).get(self.answer)
        return self.absences.get(engine) or reduction.get(engine) or shape

    def uses_fallback(self, engine: str, arguments: Arguments) -> bool:
        """Whether DuckDB answers in place of the engine, from the records that the engine reads."""
        reduction = self.reduction
        return (
            reduction is not None
            and not self.absence(engine)
            and reduction.uses_fallback(engine, arguments)
        )

    def fallback_note(self, engine: str) -> str | None:
        """When the engine hands a question on, and how that is answered; None where it never does."""
        reduction = self.reduction
        # whose records DuckDB reads
        if reduction is None or self.absence(engine) or engine == "polars":
            return None
        if self.uses_fallback(engine, {}):
            return FALLBACK_NOTE
        options = [
            " or ".join([f"{p.name} {words[0]!r}", *map(repr, words[1:])]) if words else p.name
            for p in self.parameters
            if (words := reduction.fallback.get(engine, {}).get(p.name)) is not None
            if not words or {*words} <= {*getattr(p.domain, "words", ())}
        ]
        return f"with {' or '.join(options)}, {FALLBACK_NOTE}" if options else None


FUNCTIONS: Final[dict[str, Function]] = {}
# the answer, the parameters and the columns of a function
Shape = tuple[Answer, tuple[Parameter, ...], Mapping[str, str]]


def find_output(key: str, functions: Mapping[str, Function]) -> Function | None:
    """Find an output by its key: the function's name, and the word of an output but the first."""
    if key in functions:
        return functions[key].all_outputs[0]
    names = [name for name in functions if key.startswith(f"{name}_")]
    outputs = (each for name in names for each in functions[name].all_outputs)
    return next((each for each in outputs if each.key == key), None)


def output_of(key: str, functions: Mapping[str, Function]) -> Function:
    """The output of this key."""
    output = find_output(key, functions)
    if output is None:
        raise KeyError(key)
    return output


def resolve_name(name: str, functions: Mapping[str, Function]) -> str:
    """Return the name of the function that answers to this one, or the name itself."""
    return next((each.name for each in functions.values() if name in each.also), name)


def refuse_lacked(declared: Function, name: str, value: Any) -> None:  # noqa: ANN401 - whatever is passed
    """Refuse a parameter that functions of a table owe and this one lacks, with the declared reason."""
    rule = f"{declared.name} must be called without {name}, got {list_text(value)}"
    raise UnknownParameterError(f"{rule}: {declared.lacked[name]}; {(OWED | ELSEWHERE)[name]}")


def signature_of(function: Function) -> inspect.Signature:
    """Give the call's signature in Python: as in SQL, with the options by position or by name."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(p.name, kind, default=p.default) for p in function.parameters]
    return inspect.Signature(parameters)


def function(
    *, question: Question, source: str, duckdb: str | None = None, output: Output | None = None
) -> Callable[[Body], Body]:
    """Declare a row function: arrays of doubles in, an array of doubles out, NULL where an argument is.

    It is so wherever one is NULL. `duckdb` spells the body in DuckDB's own words over the parameters' names;
    they arrive as checked doubles.
    """

    def shape(body: Body, name: str) -> Shape:
        return Answer.SCALAR, parameters_of(body), {name: "DOUBLE"}

    return _declare(shape, question, source, output, duckdb=duckdb)


def window_function(
    *, reduction: Reduction, question: Question, source: str
) -> Callable[[Body], Body]:
    """Declare a function of a record's values among those of all records; the engine counts.

    The values come last; a column that identifies people may stand before them.
    """

    def shape(body: Body, name: str) -> Shape:
        parameters = (*parameters_of(body)[:-1], Parameter("columns", Values()))
        return Answer.WINDOW, parameters, {name: next(iter(reduction.columns.values()))}

    return _declare(shape, question, source, reduction=reduction)


def model_function(*, question: Question, source: str) -> Callable[[Body], Body]:
    """Declare a function of a record under a model: its cell's Estimates and numbers in, doubles out.

    The model is a fitted one, the doubles are an array. In SQL the model comes first and the record's values
    come last; a NULL among them is a value.
    """

    def shape(body: Body, name: str) -> Shape:
        parameters = (Parameter("model", MODEL), *parameters_of(body)[1:])
        return Answer.MODEL_SCORE, parameters, {name: "DOUBLE"}

    return _declare(shape, question, source, models=True)


def scored_function(*, question: Question, source: str) -> Callable[[Body], Body]:
    """Declare a table function that joins scores to a table's records, each distinct record scored once.

    The body gets the Estimates of distinct records' cells, their numbers of records, and its own parameters;
    it gives a dataclass of arrays, whose fields become columns joined to the table's.
    """

    def shape(body: Body, _: str) -> Shape:
        parameters = (Parameter("tbl", TABLE), Parameter("model", MODEL), *parameters_of(body)[2:])
        return Answer.SCORED_TABLE, parameters, columns_of(body)

    return _declare(shape, question, source, models=True)


def table_function(
    parameters: str,
    *,
    answer: Answer,
    question: Question,
    source: str,
    reduction: Reduction | None = None,
    duckdb: str | None = None,
    models: bool = False,
    absences: Mapping[str, str] | None = None,
    one_row_per_person: bool = False,
    overlapping_classes: bool = False,
    reasons: Mapping[str, str] | None = None,
    also: tuple[str, ...] = (),
    needs: Needs = Needs.VALUES,
    body_of_groups: Callable[..., Any] | None = None,
    output: Output | None = None,
) -> Callable[[Body], Body]:
    """Declare a table function: the engine reduces the table, the body answers from the reduced arrays.

    `parameters` names them in the order of SQL: arguments of the reduction, and parameters of the body.
    Without a reduction it is a function of its parameters alone. `answer` is the shape of what the body
    returns: a dataclass for one row (ROW), a list of them or, of many, one dataclass of arrays (ROWS), a
    dataclass of arrays over the distinct records, from which every record has a row with its key or 0-based
    scan position in the column `record` (PER_RECORD); the fields become the columns. With REDUCTION the
    reduction itself is the answer. `duckdb` is the answer as a SELECT list over the reduction, with $name for
    a checked parameter. `models` is true where the body keeps or finds fitted models, `absences` explains why
    an engine lacks this very function. `one_row_per_person` is true where the table is a sample of people:
    with `entity`, each person has one row. `overlapping_classes` is true where the answer is right for
    classes that overlap, as they do under nulls := 'wildcard': without it that word is refused. `reasons`
    explains by parameter why it lacks `entity` or `by`, `also` which other names it has, `needs` what it
    needs of the values, `body_of_groups` answers groups together, each as if it were alone. `output` is
    given where the function has several, of which the body answers one; `parameters` may name what chooses.
    """
    names = parameters.split(", ")
    place = names.index(output.selector) if output and output.selector in names else None

    def shape(body: Body, _: str) -> Shape:
        columns = {} if answer is Answer.REDUCTION else columns_of(body)
        chosen_by = {output.selector} if output else set()
        of_no_body = chosen_by - set(inspect.signature(body).parameters)
        listed = [name for name in names if name not in of_no_body]
        ordered = _ordered(body, listed, reduction, (ENTITY,) if one_row_per_person else ())
        if not overlapping_classes:
            ordered = tuple(
                replace(p, domain=VALUE_OR_DROP) if p.domain is NULLS else p for p in ordered
            )
        return answer, ordered, columns

    return _declare(
        shape,
        question,
        source,
        output,
        place,
        reduction=reduction,
        duckdb=duckdb,
        models=models,
        absences=absences or {},
        one_row_per_person=one_row_per_person,
        reasons=reasons or {},
        also=also,
        needs=needs,
        body_of_groups=body_of_groups,
    )


def _ordered(
    body: Callable[..., Any],
    names: list[str],
    reduction: Reduction | None,
    more: tuple[Argument, ...],
) -> tuple[Parameter, ...]:
    """The parameters in the order that SQL has them; each must be the reduction's, the body's or one more."""
    arguments = reduction.arguments if reduction else ()
    counted = {
        a.name: Parameter(
            a.name, a.domain, REQUIRED if a.default is None and not a.optional else a.default
        )
        for a in (*more, *arguments)
    }
    of_body = {p.name: p for p in parameters_of(body)[1 if reduction else 0 :]}
    declared = of_body | counted
    unasked = {
        a.name for a in arguments if a.domain.role in {"key", "household", "groups", "tolerance"}
    }
    missing = {name for name in declared if name not in names} - unasked
    if names == [""] and not declared:
        return ()
    if missing or not declared.keys() >= set(names):
        rule = f"{body.__name__} must list {sorted(declared)} in the order of SQL, got {names}"
        raise TypeError(f"{rule}; mend its declaration")
    return tuple(declared[name] for name in names)


def _declare(
    shape: Callable[[Body, str], Shape],
    question: Question,
    source: str,
    output: Output | None = None,
    place: int | None = None,
    **fields: Any,  # noqa: ANN401 - of Function
) -> Callable[[Body], Body]:
    """Declare a function of the shape that its body and its name have."""

    def declare(body: Body) -> Body:
        name = (output.of if output else "") or body.__name__
        _add(Function(name, *shape(body, name), question, source, body, **fields), output, place)
        return body

    return declare


def _add(declared: Function, output: Output | None = None, place: int | None = None) -> None:
    if output is None:
        FUNCTIONS[declared.name] = declared
        return
    if output.of:
        first = FUNCTIONS[output.of]
        further = replace(declared, selector=output.selector, word=output.words[0])
        outputs = {**first.outputs, **dict.fromkeys(output.words, further)}
    else:
        first, outputs = declared, dict.fromkeys(output.words, declared)
    merged = replace(first, selector=output.selector, outputs=outputs)
    alternatives = [each.parameters for each in merged.all_outputs]
    parameters = merge_parameters(first.parameters, alternatives, output, tuple(outputs), place)
    FUNCTIONS[first.name] = replace(merged, parameters=parameters)
