internal import LatchkeyCredentials
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// The logins in docker's `config.json`, and in the `auth.json` of podman and skopeo (containers-auth.json(5)).
///
/// A login is kept under the service `docker:SERVER`, as docker's credential stores have it; one by an identity token has
/// the account `<token>`.
package enum DockerLogins {
    private static let program: StaticString = "docker"
    /// What docker names its users of identity tokens in a credential store.
    private static let tokenAccount = "<token>"
    private static let limits = JSONLimits(
        byteCount: ForeignFile.maximumByteCount, depth: 32, valueCount: 65_536, memberCount: 4096)

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        let content = try ForeignFile.read(path, of: program)
        var result = try CredentialImport()
        if content.isEmpty { return result }
        let document = try mapError(
            { (_: JSONError) in notThatFormat },
            of: JSONDocument(content.duplicate(as: MessageBody.self), limits: limits))
        guard document.root.kind == .object else { throw notThatFormat }
        guard let logins = document.member("auths") else { return result }
        guard logins.kind == .object else { throw notThatFormat }
        var cuts: [Range<Int>] = []
        for (name, login) in document.members(of: logins) {
            guard login.kind == .object, let server = try? document.publicText(name, limit: 8192) else {
                throw notThatFormat
            }
            try await add(login, at: server, document, to: &result)
            cuts += document.cuts(of: ["auth", "identitytoken", "username", "password"], in: login)
        }
        if !cuts.isEmpty { result.files = [PlainSecretFile(path, content, .cuts(cuts), of: program)] }
        return result
    }

    private static var notThatFormat: ImportError { ImportError(problem: .notThatFormat, program: program) }

    private static func add(
        _ login: JSONValue, at server: String, _ document: borrowing JSONDocument, to result: inout CredentialImport
    ) async throws {
        let trimmed = String(server.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        let service = "docker:\(trimmed)"
        let name = LogMessage.entry(server)
        func secret<Purpose: SecretPurpose>(
            _ member: StaticString, as purpose: Purpose.Type = Password.self
        ) throws(ImportError) -> Secret<Purpose>? {
            guard let value = document.member(member, of: login) else { return nil }
            guard let secret = try? document.secret(value, as: purpose) else { throw notThatFormat }
            if secret.isEmpty { return nil }
            return secret
        }
        // A token for the registry itself: nothing asks a credential store for one.
        if try secret("registrytoken") != nil { result.skip("\(name), whose token is for the registry alone") }
        let identity = try secret("identitytoken")
        let hasIdentity = identity != nil
        if let identity {
            try await result.add(
                service: service, account: tokenAccount, label: "Registry: \(trimmed)", secret: identity, name: name)
        }
        let user: String
        let password: Secret<Password>
        if let auth = try secret("auth", as: MessageBody.self) {
            guard let decoded = auth.withExposedBytes({ Base64Text.decode($0, as: MessageBody.self) }),
                let colon: Int = decoded.withExposedBytes({ $0.index(of: UInt8(ascii: ":")) }),
                let name = decoded.withExposedBytes({ $0.extracting(0..<colon).publicText() })
            else { return result.skip(name) }
            user = name
            password = decoded.withExposedBytes { Secret(copying: $0.extracting((colon + 1)..<$0.count)) }
        } else if let plain = try secret("password") {
            user = document.member("username", of: login).flatMap { try? document.publicText($0, limit: 8192) } ?? ""
            password = plain
        } else {
            return
        }
        // Beside an identity token docker leaves the password empty. A registry has one login.
        if hasIdentity {
            if !password.isEmpty { result.skip(name) }
            return
        }
        try await result.add(
            service: service, account: user, label: "Registry: \(trimmed)", secret: password, name: name)
    }
}
