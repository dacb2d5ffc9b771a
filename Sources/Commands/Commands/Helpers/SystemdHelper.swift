internal import Glibc

/// `latchkey helper systemd`: answers one connection of a socket that `LoadCredential=` names (systemd.exec(5)). The
/// peer's address says which unit wants which credential.
enum SystemdHelper {
    static let command = Command(
        "helper", "systemd", summary: "answer a unit's LoadCredential= on a socket",
        details: """
            systemd connects standard input and output to the unit that loads a credential. The file systemd-credentials in the
            configuration's directory maps credentials to secrets, with lines of UNIT CREDENTIAL SERVICE ACCOUNT. The helper answers root
            only. If it finds nothing, the unit gets an empty credential, and the journal has the reason.

            The Debian package installs latchkey-credentials.socket. Once enabled, it runs the helper for each connection to
            /run/latchkey-credentials, with the vault /var/lib/latchkey/vault and the configuration in /etc/latchkey.
            """,
        examples: ["latchkey helper systemd"], reportsError: reportInOneLine
    ) { _, context in
        let request = try UnitRequest(connection: 0)
        let path = context.configurationFolder + "/systemd-credentials"
        guard let key = try UnitCredentials(path).key(of: request) else {
            throw CommandFailure(
                .notFound, "systemd.not-listed",
                "\(request.shown) isn't listed in \(LoggableText(reviewed: "a path from the XDG environment", unredacted: path))",
                hint: "add a line to the file: UNIT CREDENTIAL SERVICE ACCOUNT")
        }
        let view = try await context.openView()
        guard let record = try await view.credential(key.service, key.account, deadline: context.deadline) else {
            throw CommandFailure(
                .notFound, "credential.not-found", "no secret for \(key), which \(request.shown) needs",
                hint: "store the secret as the user that runs this helper: latchkey set SERVICE ACCOUNT")
        }
        try context.output.write(secret: record.takeSecret())
        return .success
    }
}

/// The unit at the other end of a socket.
struct UnitRequest: Sendable {
    let unit: String
    let credential: String

    /// Throws unless the peer is root, at an address that systemd gives itself: an abstract one, of a random number,
    /// `/unit/`, the unit and the credential.
    init(connection: Int32) throws(CommandFailure) {
        var peer: [UInt32] = [0, .max, .max]
        var size = socklen_t(MemoryLayout<UInt32>.size * peer.count)
        // ucred of unix(7): process, user, group.
        guard unsafe getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0, peer[1] == 0 else {
            throw CommandFailure(
                .refused, "systemd.not-root", "standard input isn't a connection from root",
                hint: "let latchkey-credentials.socket start the helper")
        }
        var address = sockaddr_un()
        size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getpeername(connection, $0, &size)
            }
        }
        let path = unsafe withUnsafeBytes(of: &address.sun_path) { bytes in
            unsafe Array(bytes.prefix(max(0, Int(size) - MemoryLayout<sa_family_t>.size)))
        }
        let parts = String(decoding: path.dropFirst(), as: UTF8.self).split(
            separator: "/", omittingEmptySubsequences: false)
        guard status == 0, path.first == 0, parts.count == 4, parts[1] == "unit", !parts[2].isEmpty, !parts[3].isEmpty
        else {
            throw CommandFailure(
                .refused, "systemd.not-systemd", "the request isn't from systemd on behalf of a unit",
                hint: "set the socket's path in a unit's LoadCredential=")
        }
        (unit, credential) = (String(parts[2]), String(parts[3]))
    }

    var shown: LogMessage {
        let credential = LoggableText(reviewed: "a credential's name in a unit file", unredacted: credential)
        return "\(credential) of \(LoggableText(reviewed: "a unit's name", unredacted: unit))"
    }
}

/// The file that says which unit may have what: lines `UNIT CREDENTIAL SERVICE ACCOUNT`, empty ones, and comments
/// behind #.
struct UnitCredentials: Sendable {
    private var keys: [[String]: CredentialKey] = [:]

    /// Throws for a file that another user could have written, and for a line of another form.
    init(_ path: String) throws(CommandFailure) {
        let shown = LoggableText(reviewed: "a path from the XDG environment", unredacted: path)
        let notOwn = CommandFailure(
            .refused, "systemd.not-own",
            "\(shown) is a link, belongs to another user, or can be changed by other users",
            hint: "check the file's content, then run chmod go-w on the file")
        let file = try mapError(
            { (error: SystemErrorNumber) in
                [ELOOP, EACCES, EINVAL].contains(error.number)
                    ? notOwn
                    : CommandFailure(
                        .configuration, "systemd.unreadable",
                        "can't read \"\(shown)\": \(error)",
                        hint: "write the file, with one line for each credential: UNIT CREDENTIAL SERVICE ACCOUNT")
            }, of: PrivateFile.readOwned(path, limit: 1 << 20, followsLinks: false))
        guard file.owner == geteuid(), file.mode & 0o022 == 0 else { throw notOwn }
        for (index, line) in file.bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            let all = line.split { $0 == 0x20 || $0 == 0x09 }.map { String(decoding: $0, as: UTF8.self) }
            let words = Array(all.prefix { !$0.hasPrefix("#") })
            if words.isEmpty { continue }
            guard words.count == 4, let key = try? CredentialKey(service: words[2], account: words[3]) else {
                throw CommandFailure(
                    .configuration, "systemd.malformed", "line \(index + 1) of \(shown) is malformed",
                    hint: "write each line as UNIT CREDENTIAL SERVICE ACCOUNT")
            }
            keys[[words[0], words[1]]] = key
        }
    }

    func key(of request: UnitRequest) -> CredentialKey? { keys[[request.unit, request.credential]] }
}
