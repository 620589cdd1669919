"""Measure which columns to leave out or make coarser to meet a policy."""

import argparse
from typing import Final

from reid_sql.commands.check import policy_options
from reid_sql.commands.options import PASSED, print_document, tell

WORDS: Final = "measure which columns to leave out or make coarser to meet a policy"


def options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    policy_options(parser)
    parser.add_argument("--single", action="store_true", help="leave out the pairs of columns: faster")


def run_command(options: argparse.Namespace) -> int:
    """Show what each change does to the checks that fail."""
    from reid_sql.check import gate  # noqa: PLC0415 - help is shown without what counts
    from reid_sql.check.advice import advise  # noqa: PLC0415 - the same
    from reid_sql.check.files import advice_columns, advice_rows  # noqa: PLC0415 - the same
    from reid_sql.check.policy_file import read_policy  # noqa: PLC0415 - the same
    from reid_sql.check.terminal import advice_page  # noqa: PLC0415 - the same

    policy = read_policy(options.policy)
    with gate.open_with_engine(None, policy, options.memory_limit, tell) as releases:
        page = advise(policy, releases, pairs=not options.single, tell=tell)
    print_document(options, page, lambda: (advice_columns(), advice_rows(page)), lambda _: advice_page(page))
    return PASSED
