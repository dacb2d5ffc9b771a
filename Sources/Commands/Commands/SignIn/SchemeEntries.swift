internal import Glibc
internal import LatchkeyOAuth

/// The desktop entries by which a desktop starts `latchkey scheme receive` for the addresses of a private-use scheme:
/// this user's alone, in `$XDG_DATA_HOME/applications`.
struct SchemeEntries {
    private let folder: String
    /// Which entry the desktop takes for what (XDG MIME Applications Specification).
    private let associations: MimeAssociations

    init(environment: ProgramEnvironment) {
        folder = environment.dataHome + "/applications"
        associations = MimeAssociations(path: environment.configurationHome + "/mimeapps.list")
    }

    private static let prefix = "latchkey-"
    private static let suffix = ".desktop"

    private func name(_ scheme: String) -> String { Self.prefix + scheme + Self.suffix }
    private func path(_ scheme: String) -> String { "\(folder)/\(name(scheme))" }

    /// The schemes that have an entry, in order.
    var schemes: [String] {
        let names = (try? FileSystem.names(in: folder)) ?? []
        return names.filter { $0.hasPrefix(Self.prefix) && $0.hasSuffix(Self.suffix) }
            .map { String($0.dropFirst(Self.prefix.count).dropLast(Self.suffix.count)) }
            .filter { (try? Self.check($0, allowingAny: true)) != nil }.sorted()
    }

    /// Writes the entry of a scheme, and makes it the one that the desktop takes. When that fails, nothing is left
    /// behind.
    func add(_ scheme: String, starting program: String) throws {
        try mapError(Self.unwritable, of: PrivateFile.replace(path(scheme), with: Self.text(scheme, program)))
        if let error = failure(SystemErrorNumber.self, of: try associations.set(scheme, to: name(scheme))) {
            unsafe unlink(path(scheme))
            throw unwritableAssociations(error)
        }
    }

    /// Deletes the entry of a scheme and its default; returns whether it existed.
    func remove(_ scheme: String) throws -> Bool {
        guard unsafe unlink(path(scheme)) == 0 else {
            if errno == ENOENT { return false }
            throw Self.unwritable(SystemErrorNumber(errno))
        }
        try mapError(unwritableAssociations, of: associations.remove(scheme, name(scheme)))
        return true
    }

    private func unwritableAssociations(_ error: SystemErrorNumber) -> CommandFailure {
        let shown = LoggableText(reviewed: "a path from the XDG environment", unredacted: associations.path)
        return CommandFailure(
            .cannotWrite, "scheme.associations",
            "can't change the desktop's list of defaults \"\(shown)\": \(error)",
            hint: "replace it with a UTF-8 file that you own, or a link to one")
    }

    private static func unwritable(_ error: SystemErrorNumber) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "scheme.unwritable", "can't write the desktop's entries: \(error)",
            hint: "look at the owner and mode of the applications directory below your data home")
    }

    // MARK: - What an entry says

    /// Throws a usage error for an invalid scheme, and for one without a dot unless any scheme is allowed.
    static func check(_ scheme: String, allowingAny: Bool) throws {
        do throws(OAuthError) {
            let redirect = try RedirectURI(scheme + ":/x", allowingAnyPrivateScheme: allowingAny)
            if redirect.kind == .privateUse, redirect.scheme == scheme { return }
        } catch {
            if error == OAuthError(.invalidConfiguration(.redirectScheme)) {
                throw CommandFailure(
                    .usage, "scheme.common", "a scheme without a dot may be claimed by another program as well",
                    hint: "use a scheme such as com.example.app, or add --any-scheme")
            }
        }
        throw CommandFailure(
            .usage, "scheme.malformed", "the scheme isn't a private-use scheme",
            hint: "use lower-case letters, digits, dots, hyphens and plus signs, such as com.example.app")
    }

    /// Desktop Entry Specification, "Recognized desktop entry keys".
    static func text(_ scheme: String, _ program: String) -> String {
        """
        [Desktop Entry]
        Type=Application
        Name=Latchkey (\(scheme))
        Exec=\(quoted(program)) scheme receive %u
        MimeType=x-scheme-handler/\(scheme);
        NoDisplay=true
        Terminal=false

        """
    }

    /// The form of "The Exec key": verbatim if no character needs quotation marks, because xdg-open(1) treats them as part
    /// of the name. Otherwise in quotation marks, with a backslash before four characters and a doubled percent sign; the
    /// file's own form for strings doubles each backslash again.
    static func quoted(_ word: String) -> String {
        let plain = word.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "/-._+,:@".utf8.contains($0) || $0 >= 0x80
        }
        if plain { return word }
        var result = "\""
        for character in word {
            switch character {
            case "\"", "`", "$": result += "\\\\\(character)"
            case "\\": result += "\\\\\\\\"
            case "%": result += "%%"
            default: result.append(character)
            }
        }
        return result + "\""
    }
}
