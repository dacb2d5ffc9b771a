#pragma once

#include <stddef.h>

// The types and numbers of libpq-fe.h (PostgreSQL 14 and later) that are used, and no others. A test compiles them beside
// the library's own header and compares numbers, sizes and places.

typedef unsigned int Oid;

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

typedef enum { CONNECTION_OK = 0, CONNECTION_BAD = 1 } ConnStatusType;

typedef enum { PQERRORS_VERBOSE = 2 } PGVerbosity;

typedef enum {
    PGRES_POLLING_FAILED = 0,
    PGRES_POLLING_READING = 1,
    PGRES_POLLING_WRITING = 2,
    PGRES_POLLING_OK = 3,
} PostgresPollingStatusType;

typedef enum {
    PGRES_COMMAND_OK = 1,
    PGRES_TUPLES_OK = 2,
    PGRES_FATAL_ERROR = 7,
    PGRES_PIPELINE_SYNC = 10,
    PGRES_PIPELINE_ABORTED = 11,
} ExecStatusType;

typedef struct pgNotify {
    char *relname;
    int be_pid;
    char *extra;
    struct pgNotify *next;
} PGnotify;

typedef struct _PQconninfoOption {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

typedef void (*PQnoticeReceiver)(void *context, const PGresult *result);

typedef int (*PQsslKeyPassHook_OpenSSL_type)(char *buffer, int size, PGconn *connection);

// Fields of an error's message, PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY.
enum { LATCHKEY_DIAG_SQLSTATE = 'C', LATCHKEY_DIAG_MESSAGE_PRIMARY = 'M' };
