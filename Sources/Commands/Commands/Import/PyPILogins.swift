/// The logins in `.pypirc`, which twine reads (the .pypirc specification of the Python Packaging User Guide).
///
/// The service of a login is its repository's address, as in Python keyring for twine.
package enum PyPILogins {
    private static let program: StaticString = "twine"
    private static let usual = [
        "pypi": "https://upload.pypi.org/legacy/", "testpypi": "https://test.pypi.org/legacy/",
    ]

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        try await CredentialImport.reading(path, of: program) { content in
            var result = try CredentialImport()
            var sections: [Section] = []
            try content.withExposedBytes { (bytes) throws(ImportError) in
                try bytes.forEachLine { (line, number) throws(ImportError) in
                    guard take(line, of: bytes, into: &sections) else {
                        throw ImportError(problem: .malformed(line: number), program: program)
                    }
                    if line.hasComment("#;", assigning: "password", by: "=:") {
                        result.skip("line \(number), a comment with a password")
                    }
                }
            }
            var cuts: [Range<Int>] = []
            for section in sections {
                guard let password = section.password else { continue }
                let name = LogMessage.entry(section.name)
                guard let repository = section.repository ?? usual[section.name], let user = section.user else {
                    result.skip(name)
                    continue
                }
                let secret = content.withExposedBytes { Secret<Password>(copying: $0.extracting(password.value)) }
                try await result.add(
                    service: repository, account: user, label: "PyPI: \(section.name)", secret: secret, name: name)
                cuts.append(password.line)
            }
            return (result, cuts.isEmpty && result.skippedCount == 0 ? nil : .cuts(cuts))
        }
    }

    private struct Section {
        let name: String
        var user: String?
        var repository: String?
        /// The range of the password, and the range of its line with the line's end.
        var password: (value: Range<Int>, line: Range<Int>)?
        /// The option that a line with more white space before it goes on.
        var last = ""
        var indentation = 0
    }

    /// Returns whether the line is as Python's RawConfigParser takes it.
    private static func take(_ line: Span<UInt8>, of bytes: Span<UInt8>, into sections: inout [Section]) -> Bool {
        let indentation = line.indices.first { line[$0] != 0x20 && line[$0] != 0x09 } ?? 0
        if line.isBlank || [UInt8(ascii: "#"), UInt8(ascii: ";")].contains(line[indentation]) { return true }
        if line[0] == UInt8(ascii: "[") {
            guard let end = line.lastIndex(of: UInt8(ascii: "]")), let name = line.extracting(1..<end).publicText()
            else {
                return false
            }
            sections.append(Section(name: name))
            return true
        }
        guard let index = sections.indices.last else { return false }
        if indentation > sections[index].indentation, !sections[index].last.isEmpty {
            // More of a list of servers is nothing to read; more of a login isn't taken apart here.
            return !["username", "password", "repository"].contains(sections[index].last)
        }
        guard
            let separator = line.indices.first(where: {
                line[$0] == UInt8(ascii: "=") || line[$0] == UInt8(ascii: ":")
            }),
            let option = line.extracting(line.trimmed(0..<separator, where: isBlank)).publicText()?.lowercased()
        else { return false }
        let value = line.trimmed((separator + 1)..<line.count, where: isBlank)
        sections[index].last = option
        sections[index].indentation = indentation
        switch option {
        case "username":
            guard sections[index].user == nil else { return false }
            sections[index].user = line.extracting(value).publicText()
        case "repository":
            guard sections[index].repository == nil else { return false }
            sections[index].repository = line.extracting(value).publicText()
        case "password":
            guard sections[index].password == nil else { return false }
            if !value.isEmpty {
                let start = offset(of: line, in: bytes)
                let end = start + line.count
                let next = bytes.index(of: 0x0A, from: end).map { $0 + 1 } ?? bytes.count
                sections[index].password = (
                    (start + value.lowerBound)..<(start + value.upperBound), start..<next
                )
            }
        default: break
        }
        return true
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func offset(of line: Span<UInt8>, in bytes: Span<UInt8>) -> Int {
        bytes.indices(of: line)?.lowerBound ?? 0
    }
}
