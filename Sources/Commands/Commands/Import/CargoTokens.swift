internal import LatchkeyJSON

/// The tokens in cargo's `credentials.toml`, where its provider `cargo:token` keeps them.
///
/// A token has the service `cargo:INDEX-URL` and the account `token`, as in cargo's requests to credential providers.
/// Cargo's configuration contains the index of a registry.
package enum CargoTokens {
    private static let program: StaticString = "cargo"
    /// How cargo names crates.io to a provider, though it reads another index.
    private static let cratesIO = "https://github.com/rust-lang/crates.io-index"
    private static let account = "token"

    /// Reads the file, and `config.toml` beside it.
    ///
    /// Throws `ImportError` and what memory throws.
    ///
    /// - Parameter index: the index that the environment names for a registry.
    package static func read(
        _ path: String, index: @escaping @Sendable (String) -> String?
    ) async throws -> CredentialImport {
        let folder = PrivateDirectory.containing(path)
        return try await CredentialImport.reading(path, of: program) { content in
            let indexes = try indexes(folder)
            var result = try CredentialImport()
            var cuts: [Range<Int>]? = []
            content.withExposedBytes { bytes in
                bytes.forEachLine { line, number in
                    if line.hasComment("#", assigning: "token", by: "=") {
                        result.skip("line \(number), a comment with a token")
                    }
                }
            }
            for entry in try strings(content) {
                let option = entry.path.last { $0 != "[]" }
                guard option == "token" || option == "secret-key" else { continue }
                let registry: String
                switch entry.path.count {
                case 2 where entry.path[0] == "registry": registry = "crates-io"
                case 3 where entry.path[0] == "registries": registry = entry.path[1]
                default:
                    let path = LogMessage.entry(entry.path.joined(separator: "."))
                    result.skip("\(path), which isn't a token of cargo's")
                    continue
                }
                let name = LogMessage.entry(registry)
                // A key that signs is never sent.
                guard option == "token" else {
                    result.skip("\(name), whose key isn't a token")
                    continue
                }
                // If the environment has an index for the registry, cargo takes that.
                let place = registry == "crates-io" ? cratesIO : index(registry) ?? indexes[registry]
                guard let place else {
                    result.skip("\(name), whose index isn't in cargo's configuration")
                    continue
                }
                guard let place = asCargoSaysIt(place) else {
                    result.skip("\(name), whose index has an address that cargo writes in another way")
                    continue
                }
                guard let token = content.withExposedBytes({ TOMLStrings.decoded($0, entry.value) }) else {
                    result.skip(name)
                    continue
                }
                try await result.add(
                    service: "cargo:\(place)", account: account, label: "cargo: \(registry)",
                    secret: token, name: name)
                if let lines = entry.lines { cuts?.append(lines) } else { cuts = nil }
            }
            guard let cuts else { return (result, .byHand) }
            return (result, cuts.isEmpty && result.skippedCount == 0 ? nil : .cuts(cuts))
        }
    }

    private static func strings(
        _ content: borrowing Secret<MessageBody>, under roots: Set<String>? = nil
    ) throws(ImportError) -> [TOMLStrings.Entry] {
        try content.withExposedBytes { (bytes) throws(ImportError) in
            try mapError(
                { (error: TOMLStrings.Malformed) in
                    ImportError(problem: .malformed(line: error.line), program: program)
                }, of: TOMLStrings(bytes, under: roots).entries)
        }
    }

    /// The indexes of the registries in cargo's configuration; none where there is none.
    private static func indexes(_ folder: String) throws(ImportError) -> [String: String] {
        var indexes: [String: String] = [:]
        // cargo takes the older name first.
        for ending in ["", ".toml"] {
            let content = try nilIf(
                { (error: ImportError) in error.isAbsence || error.problem == .notAFile },
                of: ForeignFile.read("\(folder)/config\(ending)", of: program))
            guard let content else { continue }
            for entry in try strings(content, under: ["registries"])
            where entry.path.count == 3 && entry.path[2] == "index" {
                let index = content.withExposedBytes { TOMLStrings.decoded($0, entry.value, as: MessageBody.self) }
                indexes[entry.path[1]] = index?.withExposedBytes { $0.publicText() }
            }
            break
        }
        return indexes
    }

    /// An index's URL as cargo passes it to providers. If the URL Standard knows the scheme, the host is in lower case,
    /// the scheme's default port is left out, and there is a path. `nil` if the standard changes more, such as `..` or
    /// a space.
    private static func asCargoSaysIt(_ index: String) -> String? {
        guard let mark = index.firstRange(of: "://") else { return index }
        let segments = index.lowercased().replacing("%2e", with: ".").split(separator: "/")
        guard index.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{|}".utf8.contains($0) }),
            segments.allSatisfy({ $0 != "." && $0 != ".." })
        else { return nil }
        let scheme = ASCII.lowercased(index[..<mark.lowerBound])
        let rest = index[mark.upperBound...]
        guard scheme == "https" || scheme == "http" else { return "\(scheme)://\(rest)" }
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        let path = end == rest.endIndex ? "/" : String(rest[end...])
        var host = ASCII.lowercased(rest[..<end])
        let port = scheme == "https" ? ":443" : ":80"
        if host.hasSuffix(port) { host.removeLast(port.count) }
        return "\(scheme)://\(host)\(path)"
    }
}
