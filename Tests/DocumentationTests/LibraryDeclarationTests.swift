import Foundation
import Testing
import TestServices

/// Sources/CLibsecret says with its own words what libsecret and GLib declare, so that a build needs neither. Here
/// their own headers check it: a C compiler reads both, and whatever differs is an error.
struct LibraryDeclarationTests {
    private static let types = "libsecret_types.h"
    private static let values = "libsecret_values.h"
    private static let functions = "libsecret_functions.h"

    /// Our headers, as they are or changed.
    private static func headers() throws -> [String: String] {
        var headers: [String: String] = [:]
        for name in [types, values, functions] {
            headers[name] = try Repository.text("Sources/CLibsecret/include/" + name)
        }
        return headers
    }

    /// Types and functions may be declared twice if both declarations are one. Constants and structures may not, so
    /// ours get other names here, and are compared one by one.
    private static func comparison(_ values: String) -> String {
        let constants = values.matches(of: /\b((?:G|SECRET)_[A-Z0-9_]+) =/).map { String($0.output.1) }
        let enumerations = values.matches(of: /\} (\w+);/).map { String($0.output.1) }
        let structures = values.matches(of: /struct (_\w+) \{([^}]*)\}/).map { match in
            (name: String(match.output.1), members: match.output.2.matches(of: /(\w+);/).map { String($0.output.1) })
        }
        let opaque = values.matches(of: /typedef struct latchkey_\w+ (\w+);/).map { String($0.output.1) }
        let renamed = constants + enumerations + structures.map(\.name) + opaque
        var lines = [
            "#define SECRET_API_SUBJECT_TO_CHANGE", "#include <stddef.h>", "#include <libsecret/secret.h>",
            "#include \"\(types)\"",
        ]
        lines += renamed.map { "#define \($0) ours_\($0)" } + ["#include \"\(Self.values)\""]
        lines += renamed.map { "#undef \($0)" }
        lines += [
            "#define SAME(OURS, THEIRS) _Static_assert((OURS) == (THEIRS), #THEIRS)",
            "#define SAME_TYPE(OURS, THEIRS) _Static_assert(__builtin_types_compatible_p(OURS, THEIRS), #THEIRS)",
        ]
        lines += constants.map { "SAME((long)ours_\($0), (long)\($0));" }
        lines += enumerations.map { "SAME(sizeof(ours_\($0)), sizeof(\($0)));" }
        for (name, members) in structures {
            let (ours, theirs) = ("struct ours_\(name)", "struct \(name)")
            lines.append("SAME(sizeof(\(ours)), sizeof(\(theirs)));")
            for member in members {
                lines.append("SAME(offsetof(\(ours), \(member)), offsetof(\(theirs), \(member)));")
                lines.append(
                    "SAME_TYPE(__typeof__(((\(ours) *)0)->\(member)), __typeof__(((\(theirs) *)0)->\(member)));")
            }
        }
        return lines.joined(separator: "\n") + """

            SAME(offsetof(struct latchkey_object_class, type), offsetof(GObjectClass, g_type_class.g_type));
            SAME(
                offsetof(struct latchkey_object_class, construct_properties),
                offsetof(GObjectClass, construct_properties));
            SAME(offsetof(struct latchkey_object_class, constructor), offsetof(GObjectClass, constructor));
            SAME_TYPE(latchkey_constructor, __typeof__(((GObjectClass *)0)->constructor));
            #define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS) RESULT(NAME) PARAMETERS;
            #define VARIADIC(RESULT, NAME, PARAMETERS) RESULT(NAME) PARAMETERS;
            #include "\(functions)"

            """
    }

    private func compile(_ headers: [String: String]) async throws -> ProgramRun {
        let directory = try TestDirectory()
        for (name, text) in headers { try directory.write(name, text) }
        let source = try directory.write("comparison.c", Self.comparison(try #require(headers[Self.values])))
        let flags = try await Program("pkg-config").run(["--cflags", "libsecret-1"]).successful("pkg-config")
        return try await Program("gcc").run(
            ["-std=gnu17", "-fsyntax-only", "-Wall", "-Werror", "-I", directory.path, source]
                + flags.outputText.split { " \n".contains($0) }.map(String.init))
    }

    @Test func `what is declared of libsecret and GLib is what their own headers declare`() async throws {
        let headers = try Self.headers()
        let count = try #require(headers[Self.functions]).matches(of: /(?m)^(FUNCTION|VARIADIC)\(/).count
        #expect(count > 60)
        let comparison = Self.comparison(try #require(headers[Self.values]))
        #expect(comparison.contains("(long)G_BUS_TYPE_SESSION") && comparison.contains("struct _GError, message"))
        let run = try await compile(headers)
        #expect(run.status == 0, "\(run.errorText)")
    }

    @Test(arguments: [
        // A result, a parameter's type, a parameter more and one less.
        (functions, "FUNCTION(guint32, g_variant_get_uint32", "FUNCTION(guint64, g_variant_get_uint32"),
        (functions, "g_source_unref, (GSource *source)", "g_source_unref, (GObject *source)"),
        (functions, "g_free, (gpointer memory)", "g_free, (gpointer memory, gsize count)"),
        (functions, "g_source_attach, (GSource *source, GMainContext *context)", "g_source_attach, (GSource *source)"),
        (types, "typedef gint gboolean;", "typedef char gboolean;"),
        (types, "typedef gboolean (*GSourceFunc)", "typedef void (*GSourceFunc)"),
        (types, "typedef struct _GVariant GVariant;", "typedef struct _GVariants GVariant;"),
        (values, "G_BUS_TYPE_SESSION = 2", "G_BUS_TYPE_SESSION = 1"),
        (values, "    gint code;\n    gchar *message;\n", "    gchar *message;\n    gint code;\n"),
        (values, "    guint class_size;\n", ""),
        (values, "    gpointer construct_properties;\n", ""),
        (values, "(GType type, guint count, GObjectConstructParam *parameters)", "(GType type, guint count)"),
    ])
    func `a declaration that differs from theirs is found`(
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
