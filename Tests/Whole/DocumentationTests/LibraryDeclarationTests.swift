import Foundation
import Testing
import TestServices

/// Sources/CLibraries/GLib says with its own words what libsecret and GLib declare, so that a build needs neither. Here
/// their own headers check it: a C compiler reads both, and whatever differs is an error.
struct LibraryDeclarationTests {
    private static let types = "glib_types.h"
    private static let values = "glib_values.h"
    private static let functions = "glib_functions.h"
    private static let secrets = "libsecret_functions.h"

    private let comparison: HeaderComparison

    init() throws {
        comparison = try HeaderComparison(
            package: "libsecret-1", target: "CLibraries/GLib",
            headers: [Self.types, Self.values, Self.functions, Self.secrets],
            source: { Self.source(values: $0[Self.values] ?? "") })
    }

    private static func source(values: String) -> String {
        let constants = values.matches(of: /\b((?:G|SECRET)_[A-Z0-9_]+) =/).map { String($0.output.1) }
        let enumerations = values.matches(of: /\} (\w+);/).map { String($0.output.1) }
        let structures = values.matches(of: /struct (_\w+) \{([^}]*)\}/).map { match in
            (name: String(match.output.1), members: match.output.2.matches(of: /(\w+);/).map { String($0.output.1) })
        }
        let opaque = values.matches(of: /typedef struct latchkey_\w+ (\w+);/).map { String($0.output.1) }
        let lines =
            [
                "#define SECRET_API_SUBJECT_TO_CHANGE", "#include <stddef.h>", "#include <libsecret/secret.h>",
                "#include <gio/gunixfdlist.h>", "#include \"\(types)\"",
            ]
            + HeaderComparison.including(
                Self.values, renaming: constants + enumerations + structures.map(\.name) + opaque)
            + HeaderComparison.lines(
                constants: constants, enumerations: enumerations, structures: structures, prefix: "struct ")
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
            #include "\(secrets)"

            """
    }

    @Test func `our declarations of libsecret and GLib agree with their own headers`() async throws {
        let counts = try [Self.functions, Self.secrets].map {
            try #require(comparison.headers[$0]).matches(of: /(?m)^(FUNCTION|VARIADIC)\(/).count
        }
        #expect(counts[0] > 60 && counts[1] > 10)
        #expect(comparison.text.contains("(long)G_BUS_TYPE_SESSION"))
        #expect(comparison.text.contains("struct _GError, message"))
        let run = try await comparison.compile()
        #expect(run.status == 0, "\(run.errorText)")
    }

    @Test(arguments: [
        // A result, a parameter's type, a parameter more and one less.
        (functions, "FUNCTION(guint32, g_variant_get_uint32", "FUNCTION(guint64, g_variant_get_uint32"),
        (functions, "g_source_unref, (GSource *source)", "g_source_unref, (GObject *source)"),
        (functions, "g_free, (gpointer memory)", "g_free, (gpointer memory, gsize count)"),
        (functions, "g_source_attach, (GSource *source, GMainContext *context)", "g_source_attach, (GSource *source)"),
        (secrets, "secret_value_unref, (gpointer value)", "secret_value_unref, (gsize value)"),
        (types, "typedef gint gboolean;", "typedef char gboolean;"),
        (types, "typedef gboolean (*GSourceFunc)", "typedef void (*GSourceFunc)"),
        (types, "typedef struct _GVariant GVariant;", "typedef struct _GVariants GVariant;"),
        (values, "G_BUS_TYPE_SESSION = 2", "G_BUS_TYPE_SESSION = 1"),
        (values, "    gint code;\n    gchar *message;\n", "    gchar *message;\n    gint code;\n"),
        (values, "    guint class_size;\n", ""),
        (values, "G_DBUS_MESSAGE_TYPE_SIGNAL = 4", "G_DBUS_MESSAGE_TYPE_SIGNAL = 3"),
        (values, "    gpointer construct_properties;\n", ""),
        (values, "(GType type, guint count, GObjectConstructParam *parameters)", "(GType type, guint count)"),
    ])
    func `a declaration that differs from theirs is found`(
        _ file: String, _ right: String, _ wrong: String
    ) async throws {
        try await comparison.expectError(in: file, right, wrong)
    }
}
