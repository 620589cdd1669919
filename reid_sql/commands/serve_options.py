"""What the command that serves answers takes."""

import argparse
from typing import Final

WORDS: Final = "answer every DuckDB client by the Quack protocol: answers leave, rows do not"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the tables, who may ask, and the limits."""
    words = "the tables: a DuckDB file, of which all are served, or CSV, Parquet or JSON files, read once"
    parser.add_argument("files", metavar="FILE", nargs="*", help=words)
    words = "serve a file under this name; repeat the option to add more"
    parser.add_argument("--table", metavar="NAME=FILE", action="append", default=[], help=words)
    parser.add_argument("--port", default="9494", help="the port of localhost (default 9494)")
    group = parser.add_mutually_exclusive_group()
    words = "let answers leave, and no rows (default)"
    group.add_argument("--answers-only", dest="rows", action="store_const", const=False, help=words)
    words = "let every client read every row"
    group.add_argument("--rows", action="store_const", const=True, default=False, help=words)
    words = (
        "the policy, TOML or JSON: its mask and its entity hold for every answer, and functions that it does "
        "not use are refused"
    )
    parser.add_argument("--policy", metavar="POLICY.toml", help=words)
    words = "with --policy: the DuckDB file of the counts that left (default beside the policy)"
    parser.add_argument("--record", metavar="FILE.duckdb", help=words)
    words = (
        'a TOML file with a token for each client, like ann = "…"; else one client has the token of the '
        "environment variable REID_SQL_TOKEN, or one that is made and shown"
    )
    parser.add_argument("--clients", metavar="FILE.toml", help=words)
    parser.add_argument("--log", metavar="FILE", help="add a line of JSON for each question, without values")
    words = "the most seconds for a question (default 60)"
    parser.add_argument("--time-limit", metavar="SECONDS", default="60", help=words)
    words = "the most memory to use for all questions, such as 2GB; more goes to disk"
    parser.add_argument("--memory-limit", metavar="SIZE", help=words)
