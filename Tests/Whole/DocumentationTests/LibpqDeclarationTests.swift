import Foundation
import Testing
import TestServices

/// Sources/CLibraries/Libpq says with its own words what libpq declares; here libpq's own header checks it, as in
/// `LibraryDeclarationTests`.
struct LibpqDeclarationTests {
    private static let types = "libpq_types.h"
    private static let functions = "libpq_functions.h"

    private let comparison: HeaderComparison

    init() throws {
        comparison = try HeaderComparison(
            package: "libpq", target: "CLibraries/Libpq", headers: [Self.types, Self.functions],
            source: { Self.source(types: $0[Self.types] ?? "") })
    }

    private static func source(types: String) -> String {
        let constants = types.matches(of: /\b((?:CONNECTION|PGRES|PQERRORS)_[A-Z_]+) =/).map { String($0.output.1) }
        let enumerations = types.matches(of: /\} (\w+(?:Type|Status|Verbosity));/).map { String($0.output.1) }
        let structures = types.matches(of: /typedef struct \w+ \{([^}]*)\} (\w+);/).map { match in
            (name: String(match.output.2), members: match.output.1.matches(of: /(\w+);/).map { String($0.output.1) })
        }
        let tags = types.matches(of: /typedef struct (\w+) \{/).map { String($0.output.1) }
        let lines =
            ["#include <libpq-fe.h>"]
            + HeaderComparison.including(
                Self.types, renaming: constants + enumerations + structures.map(\.name) + tags)
            + HeaderComparison.lines(
                constants: constants, enumerations: enumerations,
                structures: structures.map { ($0.name, $0.members.filter { $0 != "next" }) })
        return lines.joined(separator: "\n") + """

            SAME(LATCHKEY_DIAG_SQLSTATE, PG_DIAG_SQLSTATE);
            SAME(LATCHKEY_DIAG_MESSAGE_PRIMARY, PG_DIAG_MESSAGE_PRIMARY);
            #define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(NAME) PARAMETERS;
            #include "\(functions)"

            """
    }

    @Test func `our declarations of libpq agree with its own header`() async throws {
        #expect(try #require(comparison.headers[Self.functions]).matches(of: /(?m)^FUNCTION\(/).count > 30)
        for part in [
            "(long)PGRES_PIPELINE_ABORTED", "(long)CONNECTION_BAD", "sizeof(PostgresPollingStatusType)",
            "offsetof(PGnotify, extra)", "offsetof(PQconninfoOption, val)",
        ] {
            #expect(comparison.text.contains(part))
        }
        let run = try await comparison.compile()
        #expect(run.status == 0, "\(run.errorText)")
    }

    @Test(arguments: [
        (functions, "FUNCTION(int, PQisBusy", "FUNCTION(long, PQisBusy"),
        (functions, "PQntuples, (const PGresult *result)", "PQntuples, (const PGconn *result)"),
        (functions, "const char *const *values, const int *lengths", "const char *const *values, const long *lengths"),
        (types, "typedef unsigned int Oid;", "typedef unsigned long Oid;"),
        (types, "PGRES_FATAL_ERROR = 7", "PGRES_FATAL_ERROR = 6"),
        (types, "    int be_pid;\n", ""),
        (types, "    char *label;\n    char *dispchar;\n    int dispsize;", "    int dispsize;\n    char *label;"),
        (types, "LATCHKEY_DIAG_SQLSTATE = 'C'", "LATCHKEY_DIAG_SQLSTATE = 'V'"),
    ])
    func `a declaration that differs from libpq's is found`(
        _ file: String, _ right: String, _ wrong: String
    ) async throws {
        try await comparison.expectError(in: file, right, wrong)
    }
}
