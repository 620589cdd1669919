/* The functions that need no Python, for DuckDB's stable C API: LOAD makes them in a database in memory, reid.
 *
 * tools/extension.py writes script.inc: the bytes of the script that `reid-sql sql` prints, without its names for
 * one connection, which would be those of the connection here. One file loads in every DuckDB from 1.5 on.
 */
#define DUCKDB_EXTENSION_NAME reid
#include "duckdb_extension.h"

DUCKDB_EXTENSION_EXTERN

static const char script[] = {
#include "script.inc"
};

DUCKDB_EXTENSION_ENTRYPOINT(duckdb_connection connection, duckdb_extension_info info,
                            struct duckdb_extension_access *access) {
	duckdb_result result;
	bool is_made = duckdb_query(connection, script, &result) == DuckDBSuccess;
	if (!is_made) {
		access->set_error(info, duckdb_result_error(&result));
	}
	duckdb_destroy_result(&result);
	return is_made;
}
