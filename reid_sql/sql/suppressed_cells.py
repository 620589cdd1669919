"""SQL text that asks a Python function which cells of a table to hide, and waits for its answer."""

from collections.abc import Mapping

from reid_sql.sql.records import SUPPRESSED


def choose_hidden(figures: Mapping[str, str], protection: int) -> str:
    """Add to the cells of reid_judged, c, the number of the status of each, as `hidden`.

    The figures are codes, records and is_primary of each cell, and its sum with what that needs, if any.
    """
    numbered = ", ".join(f"{text} AS reid_{name}" for name, text in figures.items())
    counts, sums = list(figures)[:3], list(figures)[3:]
    whole = [f"list(reid_{name} ORDER BY reid_cell ASC)" for name in counts]
    whole += [f"{protection}::BIGINT", *(f"list(reid_{name} ORDER BY reid_cell ASC)" for name in sums)]
    return f"""reid_numbered AS MATERIALIZED (
          SELECT row_number() OVER () AS reid_cell, c.*, {numbered}
          FROM reid_judged AS c
        ),
        reid_begun AS MATERIALIZED (
          SELECT reid_begin('{SUPPRESSED}', {", ".join(whole)}) AS reid_number FROM reid_numbered
        ),
        reid_waited AS MATERIALIZED (
          SELECT reply
          FROM (SELECT {SUPPRESSED}(reid_number) AS reply FROM range(9223372036854775807), reid_begun)
          WHERE reply IS NOT NULL LIMIT 1
        ),
        reid_chosen AS MATERIALIZED (
          SELECT CASE WHEN struct_extract(reply, 'refusal') IS NULL THEN struct_extract(reply, 'answers')
            ELSE error(struct_extract(reply, 'refusal')) END AS chosen
          FROM reid_waited
        ),
        reid_hidden AS MATERIALIZED (
          SELECT reid_numbered.*, list_extract(chosen, reid_cell) AS hidden FROM reid_numbered, reid_chosen
        )"""
