"""A DuckDB that has no package of reid-sql: asks a server each line of its input, and prints each answer.

`python -I client.py URL TOKEN`: a line of input is a statement as JSON, a line of output its answer or error.
"""

import json
import pathlib
import sys
import time
from importlib.util import find_spec

import duckdb

assert "reid_sql" not in sys.modules
con = duckdb.connect()
for name in ("httpfs", "quack"):
    package = find_spec(f"duckdb_extension_{name}")
    assert package
    assert package.origin
    file = next(pathlib.Path(package.origin).parent.rglob("*.duckdb_extension"))
    con.execute(f"LOAD '{file}'")
for line in sys.stdin:
    started = time.perf_counter()
    try:
        con.execute(
            "FROM quack_query($1, $2, token := $3)", [sys.argv[1], json.loads(line), sys.argv[2]]
        )
        answer = {"columns": [each[0] for each in con.description], "rows": con.fetchall()}
    except duckdb.Error as error:
        answer = {"error": str(error).split("\n\nLINE")[0].removeprefix("Invalid Input Error: ")}
    answer["seconds"] = time.perf_counter() - started
    sys.stdout.write(json.dumps(answer, default=str) + "\n")
    sys.stdout.flush()
