internal import Foundation

/// git's credential helper for libsecret, built from the source that Debian ships with git.
public struct GitCredentialLibsecret: Sendable {
    private static let source =
        "/usr/share/doc/git/contrib/credential/libsecret/git-credential-libsecret.c"

    public let program: Program
    private let session: PrivateSession

    public init(on session: PrivateSession) async throws {
        guard unsafe access(Self.source, R_OK) == 0 else {
            throw ServiceFailure(
                """
                \(Self.source) is missing: it is a part of Debian's package git, unless dpkg leaves out documentation \
                (path-exclude in /etc/dpkg/dpkg.cfg.d)
                """)
        }
        let flags = try await Program("pkg-config").run(["--cflags", "--libs", "libsecret-1", "glib-2.0"])
            .successful("pkg-config").outputText
        program = try await Program(
            Program.compile(Self.source, ["-w"] + flags.split { " \n".contains($0) }.map(String.init)))
        self.session = session
    }

    /// Runs `get`, `store` or `erase` with attributes (git-credential(1), "INPUT/OUTPUT FORMAT"), and returns those
    /// that it answers with.
    @discardableResult
    public func callAsFunction(
        _ operation: String, _ attributes: KeyValuePairs<String, String>
    ) async throws -> [String: String] {
        let lines = attributes.map { "\($0.key)=\($0.value)\n" }.joined() + "\n"
        let answer = try await program.run([operation], environment: session.environment, input: Array(lines.utf8))
            .successful("git-credential-libsecret " + operation).outputText
        let pairs = answer.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(pairs.filter { $0.count == 2 }.map { ($0[0], $0[1]) }) { $1 }
    }
}
