"""`python -m reid_sql` is the command `reid-sql`."""

import sys

from reid_sql.cli import main

if __name__ == "__main__":
    sys.exit(main())
