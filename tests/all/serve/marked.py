"""A table whose values are marked, so that one of them is recognized wherever it leaves."""

ROWS = 400
# Each value of a column that the tests mark begins so, or is such a number.
MARKS = ("MARK", "9000", "9001", "9002", "9003")
MARKED = f"""SELECT 'MARK' || (i + 1000) AS name, 20 + i % 7 AS age,
    CASE i % 2 WHEN 0 THEN 'F' ELSE 'M' END AS sex,
    900000 + i AS income, 'MARK' || (i % 3) AS disease, i // 2 AS person, 1.0 + i % 3 AS weight
    FROM range({ROWS}) AS r(i)"""
