"""Linear programmes by HiGHS, some of which are solved again and again with other costs.

Such a solution is found from the one before it (a warm start), in a few steps of the simplex method, where a
new programme would take hundreds.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from reid_sql.models.interruption import checkpoint
from reid_sql.parameters import Flags, Floats, Integers

WHOLE: Final = 1e-6  # distance to a whole number within which a solution of HiGHS is one
# of HiGHS: the first for new programmes, the second for changed costs
DUAL_SIMPLEX, PRIMAL_SIMPLEX = 1, 4
MAX_INTEGER_NODES: Final = 500  # of the search of an integer programme


class Programme:
    """Minimize costs x values, where matrix x values is between the bounds of its rows.

    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> sum_of_two = csc_array(np.ones((1, 2)))
    >>> bounds, row_bounds = (np.zeros(2), np.full(2, 9.0)), (np.full(1, 4.0), np.full(1, 4.0))
    >>> programme = Programme(sum_of_two, bounds, row_bounds, np.array([1.0, 3.0]))
    >>> programme.solve().tolist()
    [4.0, 0.0]
    >>> programme.cost_columns([0], 5.0)
    >>> programme.solve().tolist()
    [0.0, 4.0]
    """

    def __init__(
        self,
        matrix: Any,  # noqa: ANN401 - a sparse matrix of scipy, (rows, columns)
        bounds: tuple[Floats, Floats],
        row_bounds: tuple[Floats, Floats],
        costs: Floats,
        *,
        whole: Flags | bool = False,
        nodes: int = MAX_INTEGER_NODES,
        strategy: int = DUAL_SIMPLEX,
        steps: int | None = None,
    ) -> None:
        """Pass the model once; `whole` are the columns of whole numbers.

        The search is cut off after a number of steps of the simplex method, or of nodes where any is whole.
        """
        import highspy  # noqa: PLC0415 - only tables need it
        from scipy.sparse import csc_array  # noqa: PLC0415 - see numerics/special_functions

        columns = csc_array(matrix)
        model = highspy.HighsLp()
        model.num_row_, model.num_col_ = columns.shape
        model.col_cost_ = np.asarray(costs, dtype=float)
        model.col_lower_, model.col_upper_ = (np.asarray(each, dtype=float) for each in bounds)
        model.row_lower_, model.row_upper_ = (np.asarray(each, dtype=float) for each in row_bounds)
        model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        model.a_matrix_.start_ = columns.indptr.astype(np.int32)
        model.a_matrix_.index_ = columns.indices.astype(np.int32)
        model.a_matrix_.value_ = columns.data.astype(float)
        is_mixed = bool(np.any(whole))
        if is_mixed:
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            flags = np.broadcast_to(whole, columns.shape[1])
            model.integrality_ = [kinds[int(each)] for each in flags]
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        options: dict[str, Any] = {"output_flag": False, "threads": 1}
        if is_mixed:
            options |= {"mip_max_nodes": nodes}
        else:
            options |= {"presolve": "off", "solver": "simplex", "simplex_strategy": strategy}
        if steps is not None:
            options |= {"simplex_iteration_limit": steps}
        for name, value in options.items():
            self.solver.setOptionValue(name, value)
        self.solver.passModel(model)
        self.optimal = highspy.HighsModelStatus.kOptimal
        self.infeasible = highspy.HighsModelStatus.kInfeasible
        self.unbounded = highspy.HighsModelStatus.kUnbounded

    def cost_columns(self, columns: Sequence[int] | Integers, costs: Any) -> None:  # noqa: ANN401
        """Change the costs of some columns; a number is the cost of each."""
        places = np.asarray(columns, dtype=np.int32)
        values = np.broadcast_to(np.asarray(costs, dtype=float), places.shape).copy()
        self.solver.changeColsCost(len(places), places, values)

    def bound_column(self, column: int, low: float, high: float) -> None:
        """Change the bounds of a column."""
        self.solver.changeColBounds(column, low, high)

    def solve(self) -> Floats | None:
        """The values of least cost; None if there are none, or the search is cut off."""
        checkpoint()
        self.solver.run()
        if self.solver.getModelStatus() != self.optimal:
            return None
        return np.array(self.solver.getSolution().col_value)

    def is_infeasible(self) -> bool:
        """Whether the last answer was none because no values are within the bounds."""
        return bool(self.solver.getModelStatus() == self.infeasible)

    def is_unbounded(self) -> bool:
        """Whether the last answer was none because there is no least."""
        return bool(self.solver.getModelStatus() == self.unbounded)


def is_whole(values: Floats) -> bool:
    """Whether all values are whole numbers, as near as HiGHS computes."""
    return bool((np.abs(values - np.round(values)) < WHOLE).all())
