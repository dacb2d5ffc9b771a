import Foundation
import Testing
import TestServices

/// Sources/CLibpq says with its own words what libpq declares; here libpq's own header checks it, as in
/// `LibraryDeclarationTests`.
struct LibpqDeclarationTests {
    private static let types = "libpq_types.h"
    private static let functions = "libpq_functions.h"

    private static func headers() throws -> [String: String] {
        var headers: [String: String] = [:]
        for name in [types, functions] { headers[name] = try Repository.text("Sources/CLibpq/include/" + name) }
        return headers
    }

    /// Ours get other names where a name may be declared once, and are compared one by one.
    private static func comparison(_ types: String) -> String {
        let constants = types.matches(of: /\b((?:CONNECTION|PGRES)_[A-Z_]+) =/).map { String($0.output.1) }
        let enumerations = types.matches(of: /\} (\w+(?:Type|Status));/).map { String($0.output.1) }
        let structures = types.matches(of: /typedef struct \w+ \{([^}]*)\} (\w+);/).map { match in
            (name: String(match.output.2), members: match.output.1.matches(of: /(\w+);/).map { String($0.output.1) })
        }
        let tags = types.matches(of: /typedef struct (\w+) \{/).map { String($0.output.1) }
        let renamed = constants + enumerations + structures.map(\.name) + tags
        var lines = ["#include <libpq-fe.h>"]
        lines += renamed.map { "#define \($0) ours_\($0)" } + ["#include \"\(Self.types)\""]
        lines += renamed.map { "#undef \($0)" }
        lines += [
            "#define SAME(OURS, THEIRS) _Static_assert((OURS) == (THEIRS), #THEIRS)",
            "#define SAME_TYPE(OURS, THEIRS) _Static_assert(__builtin_types_compatible_p(OURS, THEIRS), #THEIRS)",
            "SAME(LATCHKEY_DIAG_SQLSTATE, PG_DIAG_SQLSTATE);",
            "SAME(LATCHKEY_DIAG_MESSAGE_PRIMARY, PG_DIAG_MESSAGE_PRIMARY);",
        ]
        lines += constants.map { "SAME((long)ours_\($0), (long)\($0));" }
        lines += enumerations.map { "SAME(sizeof(ours_\($0)), sizeof(\($0)));" }
        for (name, members) in structures {
            lines.append("SAME(sizeof(ours_\(name)), sizeof(\(name)));")
            for member in members where member != "next" {
                lines.append("SAME(offsetof(ours_\(name), \(member)), offsetof(\(name), \(member)));")
                lines.append(
                    "SAME_TYPE(__typeof__(((ours_\(name) *)0)->\(member)), __typeof__(((\(name) *)0)->\(member)));")
            }
        }
        return lines.joined(separator: "\n") + """

            #define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(NAME) PARAMETERS;
            #include "\(functions)"

            """
    }

    private func compile(_ headers: [String: String]) async throws -> ProgramRun {
        let directory = try TestDirectory()
        for (name, text) in headers { try directory.write(name, text) }
        let source = try directory.write("comparison.c", Self.comparison(try #require(headers[Self.types])))
        let flags = try await Program("pkg-config").run(["--cflags", "libpq"]).successful("pkg-config")
        return try await Program("gcc").run(
            ["-std=gnu17", "-fsyntax-only", "-Wall", "-Werror", "-I", directory.path, source]
                + flags.outputText.split { " \n".contains($0) }.map(String.init))
    }

    @Test func `what is declared of libpq is what its own header declares`() async throws {
        let headers = try Self.headers()
        #expect(try #require(headers[Self.functions]).matches(of: /(?m)^FUNCTION\(/).count > 30)
        let comparison = Self.comparison(try #require(headers[Self.types]))
        for part in [
            "(long)PGRES_PIPELINE_ABORTED", "(long)CONNECTION_BAD", "sizeof(PostgresPollingStatusType)",
            "offsetof(PGnotify, extra)", "offsetof(PQconninfoOption, val)",
        ] {
            #expect(comparison.contains(part))
        }
        let run = try await compile(headers)
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
        var headers = try Self.headers()
        let text = try #require(headers[file])
        try #require(text.components(separatedBy: right).count == 2, "\(right) isn't there once")
        headers[file] = text.replacingOccurrences(of: right, with: wrong)
        let run = try await compile(headers)
        #expect(run.status != 0 && run.errorText.contains("error: "), "\(wrong)")
    }
}
