import Foundation
import Testing
import TestServices

/// What our headers declare of a library with words of our own, beside what its own header declares: a C compiler reads
/// both, and whatever differs is an error.
///
/// Types and functions may be declared twice if both declarations are one. Constants and structures may not, so ours get
/// other names here, and are compared one by one.
struct HeaderComparison {
    /// Of `pkg-config`.
    let package: String
    /// Our headers, by name.
    var headers: [String: String]
    /// What the compiler reads, of these headers.
    let source: @Sendable (_ headers: [String: String]) -> String

    init(
        package: String, target: String, headers names: [String],
        source: @escaping @Sendable (_ headers: [String: String]) -> String
    ) throws {
        self.package = package
        self.source = source
        headers = [:]
        for name in names { headers[name] = try Repository.text("Sources/\(target)/include/\(name)") }
    }

    var text: String { source(headers) }

    /// What the compiler says of them as they are.
    func compile() async throws -> ProgramRun {
        let directory = try TestDirectory()
        for (name, text) in headers { try directory.write(name, text) }
        let source = try directory.write("comparison.c", text)
        let flags = try await Program("pkg-config").run(["--cflags", package]).successful("pkg-config")
        return try await Program("gcc").run(
            ["-std=gnu17", "-fsyntax-only", "-Wall", "-Werror", "-I", directory.path, source]
                + flags.outputText.split { " \n".contains($0) }.map(String.init))
    }

    /// What it says when one of them declares something else.
    func expectError(in file: String, _ right: String, _ wrong: String) async throws {
        let text = try #require(headers[file])
        try #require(text.components(separatedBy: right).count == 2, "\(right) isn't there once")
        var changed = self
        changed.headers[file] = text.replacingOccurrences(of: right, with: wrong)
        let run = try await changed.compile()
        #expect(run.status != 0 && run.errorText.contains("error: "), "\(wrong)")
    }

    /// Our constants, enumerations and the members of our structures, each beside the library's.
    ///
    /// - Parameter prefix: what C writes before a structure's name, which `ours_` stands behind.
    static func lines(
        constants: [String], enumerations: [String], structures: [(name: String, members: [String])],
        prefix: String = ""
    ) -> [String] {
        var lines = [
            "#define SAME(OURS, THEIRS) _Static_assert((OURS) == (THEIRS), #THEIRS)",
            "#define SAME_TYPE(OURS, THEIRS) _Static_assert(__builtin_types_compatible_p(OURS, THEIRS), #THEIRS)",
        ]
        lines += constants.map { "SAME((long)ours_\($0), (long)\($0));" }
        lines += enumerations.map { "SAME(sizeof(ours_\($0)), sizeof(\($0)));" }
        for (name, members) in structures {
            let (ours, theirs) = ("\(prefix)ours_\(name)", "\(prefix)\(name)")
            lines.append("SAME(sizeof(\(ours)), sizeof(\(theirs)));")
            for member in members {
                lines.append("SAME(offsetof(\(ours), \(member)), offsetof(\(theirs), \(member)));")
                lines.append(
                    "SAME_TYPE(__typeof__(((\(ours) *)0)->\(member)), __typeof__(((\(theirs) *)0)->\(member)));")
            }
        }
        return lines
    }

    /// Reads our header with other names for what may be declared only once.
    static func including(_ header: String, renaming names: [String]) -> [String] {
        names.map { "#define \($0) ours_\($0)" } + ["#include \"\(header)\""] + names.map { "#undef \($0)" }
    }
}
