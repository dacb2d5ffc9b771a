// Every function of libpq that is called: its result, its name, its parameters, and their names once more. Whoever
// includes this says with FUNCTION what is made of them.

FUNCTION(PQconninfoOption *, PQconninfoParse, (const char *text, char **message), (text, message))
FUNCTION(void, PQconninfoFree, (PQconninfoOption * options), (options))

// Called by a benchmark alone: it waits without end for a server that never stops sending.
FUNCTION(PGconn *, PQconnectdbParams, (const char *const *names, const char *const *values, int expands),
    (names, values, expands))
FUNCTION(PGconn *, PQconnectStartParams, (const char *const *names, const char *const *values, int expands),
    (names, values, expands))
FUNCTION(PostgresPollingStatusType, PQconnectPoll, (PGconn * connection), (connection))
FUNCTION(void, PQfinish, (PGconn * connection), (connection))
FUNCTION(ConnStatusType, PQstatus, (const PGconn *connection), (connection))
FUNCTION(int, PQsocket, (const PGconn *connection), (connection))
FUNCTION(int, PQbackendPID, (const PGconn *connection), (connection))
FUNCTION(int, PQserverVersion, (const PGconn *connection), (connection))
FUNCTION(int, PQsslInUse, (PGconn * connection), (connection))
FUNCTION(char *, PQerrorMessage, (const PGconn *connection), (connection))
FUNCTION(char *, PQhost, (const PGconn *connection), (connection))
FUNCTION(int, PQconnectionNeedsPassword, (const PGconn *connection), (connection))
FUNCTION(PGVerbosity, PQsetErrorVerbosity, (PGconn * connection, PGVerbosity verbosity), (connection, verbosity))
FUNCTION(int, PQsetnonblocking, (PGconn * connection, int is), (connection, is))
FUNCTION(PQnoticeReceiver, PQsetNoticeReceiver, (PGconn * connection, PQnoticeReceiver receiver, void *context),
    (connection, receiver, context))
FUNCTION(void, PQsetSSLKeyPassHook_OpenSSL, (PQsslKeyPassHook_OpenSSL_type hook), (hook))
FUNCTION(int, PQdefaultSSLKeyPassHook_OpenSSL, (char *buffer, int size, PGconn *connection), (buffer, size, connection))

FUNCTION(int, PQenterPipelineMode, (PGconn * connection), (connection))
FUNCTION(int, PQpipelineSync, (PGconn * connection), (connection))
FUNCTION(int, PQsendPrepare,
    (PGconn * connection, const char *name, const char *query, int count, const Oid *types),
    (connection, name, query, count, types))
FUNCTION(int, PQsendQueryPrepared,
    (PGconn * connection, const char *name, int count, const char *const *values, const int *lengths,
        const int *formats, int result_format),
    (connection, name, count, values, lengths, formats, result_format))
FUNCTION(int, PQflush, (PGconn * connection), (connection))
FUNCTION(int, PQconsumeInput, (PGconn * connection), (connection))
FUNCTION(int, PQisBusy, (PGconn * connection), (connection))
FUNCTION(PGnotify *, PQnotifies, (PGconn * connection), (connection))
FUNCTION(void, PQfreemem, (void *memory), (memory))

FUNCTION(PGresult *, PQgetResult, (PGconn * connection), (connection))
FUNCTION(void, PQclear, (PGresult * result), (result))
FUNCTION(ExecStatusType, PQresultStatus, (const PGresult *result), (result))
FUNCTION(char *, PQresultErrorField, (const PGresult *result, int field), (result, field))
FUNCTION(int, PQntuples, (const PGresult *result), (result))
FUNCTION(int, PQnfields, (const PGresult *result), (result))
FUNCTION(int, PQgetisnull, (const PGresult *result, int row, int column), (result, row, column))
FUNCTION(char *, PQgetvalue, (const PGresult *result, int row, int column), (result, row, column))
FUNCTION(int, PQgetlength, (const PGresult *result, int row, int column), (result, row, column))
FUNCTION(char *, PQcmdStatus, (PGresult * result), (result))
FUNCTION(char *, PQcmdTuples, (PGresult * result), (result))
