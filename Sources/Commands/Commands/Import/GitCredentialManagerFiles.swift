internal import Glibc

/// The plain-text store of Git Credential Manager (`credential.credentialStore plaintext`): a folder with a file for
/// each credential. Its first line is the password, and the others describe the owner.
///
/// A password has the service `git:URL`, as Git Credential Manager has it in a keyring.
package enum GitCredentialManagerFiles {
    private static let program: StaticString = "Git Credential Manager"
    private static let maximumDepth = 32
    private static let maximumFileCount = 10_000

    /// Throws `ImportError` and what memory throws.
    package static func read(_ folder: String) async throws -> CredentialImport {
        var paths: [String] = []
        try collect(folder, 0, &paths)
        var result = try CredentialImport()
        for path in paths.sorted() {
            let content = try ForeignFile.read(path, of: program)
            let entry = content.withExposedBytes { Entry($0) }
            let name = LogMessage.entry(String(path.dropFirst(folder.count + 1)))
            // The file goes as a whole, so all of it must be in the store.
            guard let service = entry.service, let account = entry.account, !entry.hasOtherLines else {
                result.skip(entry.hasOtherLines ? "\(name), which has other lines" : name)
                continue
            }
            let password = content.withExposedBytes { Secret<Password>(copying: $0.extracting(entry.password)) }
            try await result.add(
                service: "git:\(service)", account: account, label: "Git: \(service)", secret: password, name: name)
            result.files.append(PlainSecretFile(path, content, .removal, of: program) { _ in true })
        }
        return result
    }

    private struct Entry {
        var password = 0..<0
        var service: String?
        var account: String?
        /// Whether there are unknown or repeated lines, or a byte order mark.
        var hasOtherLines = false

        init(_ bytes: Span<UInt8>) {
            hasOtherLines = bytes.starts(with: "\u{FEFF}")
            bytes.forEachLine { line, number in
                if number == 1 {
                    password = 0..<line.count
                } else if line.starts(with: "service="), service == nil {
                    service = line.extracting(8..<line.count).publicText()
                } else if line.starts(with: "account="), account == nil {
                    account = line.extracting(8..<line.count).publicText()
                } else if !line.isBlank {
                    hasOtherLines = true
                }
            }
        }
    }

    /// The files of a folder and of those in it. Links are not followed.
    private static func collect(_ folder: String, _ depth: Int, _ paths: inout [String]) throws(ImportError) {
        let names = try mapError(
            { (error: SystemErrorNumber) in ImportError(problem: .unreadable(error.number), program: program) },
            of: FileSystem.names(in: folder))
        for name in names {
            let path = "\(folder)/\(name)"
            var status = stat()
            guard unsafe lstat(path, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR, depth < maximumDepth {
                try collect(path, depth + 1, &paths)
            } else if status.st_mode & S_IFMT == S_IFREG, name.hasSuffix(".credential") {
                guard paths.count < maximumFileCount else { throw ImportError(problem: .tooLarge, program: program) }
                paths.append(path)
            }
        }
    }
}
