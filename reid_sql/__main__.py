"""`python -m reid_sql` is the command `reid-sql`."""

import sys

from reid_sql.cli import main

sys.exit(main())
