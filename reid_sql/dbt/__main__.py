"""Say where the dbt package of generic tests lies, for the `local:` of packages.yml."""

from reid_sql.dbt import PACKAGE

if __name__ == "__main__":
    print(PACKAGE)  # noqa: T201
