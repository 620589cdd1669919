"""One question in PostgreSQL, by our function through Ibis or by a bare double GROUP BY.

The processor time is that of the server and its workers; the peak of memory is the client's.
"""

import os
from pathlib import Path
from typing import Any, Final

import ibis
import pyarrow.compute as pc

import reid_sql.ibis as ri
from benchmarks.speed.stopwatch import Stopwatch
from reid_sql.engines.ibis.frames import collected

QI: Final = ("age", "sex", "postcode")
BARE: Final = f"""SELECT k AS class_size, count(*) AS classes, sum(k)::BIGINT AS records
    FROM (SELECT count(*) AS k FROM people GROUP BY {", ".join(QI)}) AS sizes GROUP BY k"""
OF_TICKS: Final = slice(
    11, 15
)  # in /proc/PID/stat behind the name: own processor time, and of ended children
PARENT: Final = 1


def run(
    folder: str, function: str, options: dict[str, Any], *, ours: bool
) -> tuple[Stopwatch, dict[str, int]]:
    """Ask the server whose socket is in the folder how many records it counted."""
    connection = ibis.postgres.connect(host=folder, user="reid", database="postgres")
    people = connection.table("people")
    asked = connection.raw_sql("SELECT pg_backend_pid()")
    server = _stat(asked.fetchall()[0][0])[PARENT]
    asked.close()
    before = _cpu(int(server))
    with Stopwatch() as took:
        answer = (
            getattr(ri, function)(people, list(QI), **options) if ours else connection.sql(BARE)
        )
        table = collected(answer, "an answer")
    took.cpu_seconds = _cpu(int(server)) - before
    return took, {"records": pc.sum(table["records"]).as_py()}


def _stat(process: int) -> list[str]:
    """What the system tells of a process, behind its name; nothing where it is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _cpu(server: int) -> float:
    """Seconds of processor time of the server, of the processes that it has, and of those that ended."""
    held = [_stat(int(each.name)) for each in Path("/proc").iterdir() if each.name.isdigit()]
    children = (stat[OF_TICKS][:2] for stat in held if stat and int(stat[PARENT]) == server)
    ticks = [*_stat(server)[OF_TICKS], *(tick for child in children for tick in child)]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
