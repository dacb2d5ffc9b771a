internal import LatchkeyJSON

/// The logins in docker's `config.json`, and in the `auth.json` of podman and skopeo (containers-auth.json(5)).
///
/// A login has the service `docker:SERVER`, as in docker's credential stores. A login with an identity token has the
/// account `<token>`.
package enum DockerLogins {
    private static let program: StaticString = "docker"
    /// The user name for identity tokens in docker's credential stores.
    private static let tokenAccount = "<token>"
    private static let limits = JSONLimits(
        byteCount: ForeignFile.maximumByteCount, depth: 32, valueCount: 65_536, memberCount: 4096)

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        try await CredentialImport.reading(path, of: program) { content in
            var result = try CredentialImport()
            if content.isEmpty { return (result, nil) }
            let document = try mapError(
                { (_: JSONError) in notThatFormat },
                of: JSONDocument(content.duplicate(as: MessageBody.self), limits: limits))
            guard document.root.kind == .object else { throw notThatFormat }
            if misspelled(["auths"], in: document.root, document) { result.skip("auths, spelled otherwise") }
            var cuts: [Range<Int>] = []
            if let logins = document.member("auths") {
                guard logins.kind == .object else { throw notThatFormat }
                var servers: [(name: String, login: JSONValue)] = []
                for (name, login) in document.members(of: logins) {
                    guard login.kind == .object, let server = try? document.publicText(name, limit: 8192) else {
                        throw notThatFormat
                    }
                    servers.append((server, login))
                }
                // If a file has both, docker prefers a login under the host to a login under an address.
                let isAddress = { (server: String) in registry(server) != server }
                for (server, login) in servers.filter({ !isAddress($0.name) }) + servers.filter({ isAddress($0.name) })
                {
                    if let words = try await add(login, at: server, document, to: &result) {
                        cuts += document.cuts(of: words, in: login)
                    }
                }
            }
            cuts.sort { $0.lowerBound < $1.lowerBound }
            return (result, cuts.isEmpty && result.skippedCount == 0 ? nil : .cuts(cuts))
        }
    }

    /// Whether docker, which doesn't tell upper from lower case in names of members, would read one that isn't read
    /// here.
    static func misspelled(
        _ names: [StaticString], in object: JSONValue, _ document: borrowing JSONDocument
    ) -> Bool {
        for (name, _) in document.members(of: object) {
            // Go takes the long s for an s, too.
            guard let spelled = try? document.publicText(name, limit: 8192) else { continue }
            let text = spelled.lowercased().replacing("ſ", with: "s")
            for known in names where known.description.lowercased() == text && !document.isText(name, known) {
                return true
            }
        }
        return false
    }

    private static var notThatFormat: ImportError { ImportError(problem: .notThatFormat, program: program) }

    /// The name that docker asks for. Older versions wrote an address; docker takes its host, except for Docker Hub.
    private static func registry(_ server: String) -> String {
        guard let mark = server.firstRange(of: "://") else { return server }
        let host = server[mark.upperBound...].prefix { $0 != "/" }
        return host == "index.docker.io" || !HostName.isSound(host) ? server : String(host)
    }

    /// Returns the members that are in the store then, or `nil` where the login stays in the file.
    private static func add(
        _ login: JSONValue, at server: String, _ document: borrowing JSONDocument, to result: inout CredentialImport
    ) async throws -> [StaticString]? {
        let trimmed = String(server.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        let place = registry(trimmed)
        let service = "docker:\(place)"
        let name = LogMessage.entry(server)
        // podman's logins for some of a registry's images: tools ask helpers for the whole registry alone.
        if place == trimmed, !place.contains("://"), place.contains("/") {
            result.skip("\(name), which is for a part of a registry")
            return nil
        }
        func secret<Purpose: SecretPurpose>(
            _ member: StaticString, as purpose: Purpose.Type = Password.self
        ) throws(ImportError) -> Secret<Purpose>? {
            guard let value = document.member(member, of: login) else { return nil }
            guard let secret = try? document.secret(value, as: purpose) else { throw notThatFormat }
            if secret.isEmpty { return nil }
            return secret
        }
        let skippedBefore = result.skippedCount
        // A token for the registry itself: nothing asks a credential store for one.
        if try secret("registrytoken") != nil { result.skip("\(name), whose token is for the registry alone") }
        if misspelled(["auth", "identitytoken", "username", "password", "registrytoken"], in: login, document) {
            result.skip("\(name), whose members are spelled otherwise")
        }
        let identity = try secret("identitytoken")
        let hasIdentity = identity != nil
        if let identity {
            try await result.add(
                service: service, account: tokenAccount, label: "Registry: \(trimmed)", secret: identity, name: name)
        }
        let given = document.text(document.member("username", of: login))
        var user = given ?? ""
        var password = try secret("password")
        if let auth = try secret("auth", as: MessageBody.self) {
            guard let decoded = auth.withExposedBytes({ Secret<MessageBody>(base64: $0) }),
                let colon: Int = decoded.withExposedBytes({ $0.index(of: UInt8(ascii: ":")) }),
                let authUser = decoded.withExposedBytes({ $0.extracting(0..<colon).publicText() })
            else {
                result.skip(name)
                return nil
            }
            user = authUser
            let own = decoded.withExposedBytes { Secret<Password>(copying: $0.extracting((colon + 1)..<$0.count)) }
            // docker takes the password of auth; the other would be lost.
            if case .some(let other) = password, !other.matches(own) {
                result.skip("\(name), which has two passwords")
            }
            password = consume own
        }
        guard let password else { return hasIdentity ? ["auth", "identitytoken", "password"] : nil }
        // The protocol between docker and its helpers is JSON.
        if password.withExposedBytes({ $0.index(of: 0x0A) != nil || (try? UTF8Span(validating: $0)) == nil }) {
            result.skip("\(name), whose password isn't one line of UTF-8")
            return nil
        }
        if !hasIdentity {
            try await result.add(
                service: service, account: user, label: "Registry: \(trimmed)", secret: password, name: name)
        } else if !password.isEmpty {
            // Beside an identity token docker leaves the password empty. A registry has one login.
            result.skip(name)
        }
        guard result.skippedCount == skippedBefore else { return nil }
        return ["auth", "identitytoken", "password"] + (given == user && !hasIdentity ? ["username"] : [])
    }
}
