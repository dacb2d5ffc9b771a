#pragma once
#include <sqlite3.h>

// sqlite3_db_config has a variable argument list, which Swift can't call. Against hostile files: no triggers, no views,
// no functions with side effects from the schema, no direct writes to it. Returns SQLITE_OK or the first refusal.
static inline int latchkey_sqlite_defend(sqlite3 *connection) {
    int status = sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (status == SQLITE_OK) status = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    if (status == SQLITE_OK) status = sqlite3_db_config(connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
    if (status == SQLITE_OK) status = sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return status;
}
