internal import LatchkeyCredentials
internal import LatchkeySecrets

/// Items of programs that don't name theirs by `service` and `username`. The store leaves them alone; an import takes
/// them over.
enum OtherPrograms {
    /// Which credential an item would be here, and how its program wrote the secret.
    struct Reading: Sendable, Hashable {
        let key: CredentialKey
        /// Whether the password ends at the first line break: git 2.41 keeps more about it in the lines below.
        var isFirstLine = false
    }

    /// Returns `nil` for an item of a shape that isn't known.
    static func reading(of attributes: [String: String], label: String) -> Reading? {
        let schema = attributes["xdg:schema"]
        if attributes["docker_cli"] == "1", let server = attributes["server"], let user = attributes["username"] {
            return reading("docker:\(server)", user)
        }
        if schema == "org.rust-lang.cargo.registry", let url = attributes["url"] {
            // A registry has one token, whoever it belongs to.
            return reading("cargo:\(url)", "token")
        }
        if let host = attributes["server"], let scheme = attributes["protocol"], let user = attributes["user"],
            schema == "org.git.Password" || label.hasPrefix("Git: ")
        {
            let port = attributes["port"].map { ":\($0)" } ?? ""
            let path = attributes["object"].map { "/\($0)" } ?? ""
            return reading("git:\(scheme)://\(host)\(port)\(path)", user, isFirstLine: true)
        }
        // Git Credential Manager, and what keytar made for programs such as GitHub Desktop: nothing else tells them
        // apart.
        if let service = attributes["service"], let account = attributes["account"],
            Set(attributes.keys).isSubset(of: ["service", "account", "xdg:schema", "application"])
        {
            return reading(service, account)
        }
        return nil
    }

    private static func reading(_ service: String, _ account: String, isFirstLine: Bool = false) -> Reading? {
        guard let key = try? CredentialKey(service: service, account: account) else { return nil }
        return Reading(key: key, isFirstLine: isFirstLine)
    }
}

extension OtherPrograms.Reading {
    /// The credential's own part of what the item holds.
    func secret(in content: consuming Secret<Password>) -> Secret<Password> {
        guard isFirstLine else { return content }
        let end: Int? = content.withExposedBytes { bytes in bytes.indices.first { bytes[$0] == 0x0A } }
        guard let end else { return content }
        return content.withExposedBytes { bytes in Secret<Password>(copying: bytes.extracting(0..<end)) }
    }
}
