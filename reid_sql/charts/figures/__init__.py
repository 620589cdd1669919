"""Charts as matplotlib figures: what `reid_sql.plot` offers, and the pages that commands save."""
