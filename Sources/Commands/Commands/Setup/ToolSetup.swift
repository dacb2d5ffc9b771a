internal import LatchkeyJSON

/// The configuration that makes a tool ask Latchkey.
struct ToolSetup: Sendable {
    /// The settings from the command line and the environment.
    struct Place: Sendable {
        let environment: ProgramEnvironment
        /// The path of `latchkey`.
        let program: String
        /// The options that say which store the helper uses, with a space before each.
        let options: String
        /// The second operand: a profile.
        let name: String?
    }

    let tool: StaticString
    /// The name that the tool looks for on PATH; `nil` where it takes a command.
    let link: String?
    let file: @Sendable (Place) -> String
    /// The change to make, or `nil` if it is already made. Throws if another setting is in its place.
    let change: @Sendable (Span<UInt8>, Place) throws(CommandFailure) -> TextChange?

    static let all = [git, docker, podman, cargo, pip, uv, aws, go]

    static func named(_ word: String) -> ToolSetup? {
        // They read podman's files.
        let name = ["skopeo", "buildah"].contains(word) ? "podman" : word
        return all.first { $0.tool.description == name }
    }

    // MARK: - The tools

    private static let git = ToolSetup(tool: "git", link: nil) { place in
        let home = place.environment.home + "/.gitconfig"
        let other = place.environment.configurationHome + "/git/config"
        return place.environment["GIT_CONFIG_GLOBAL"]
            ?? (!FileNames.exist(home) && FileNames.exist(other) ? other : home)
    } change: { text, place throws(CommandFailure) in
        if text.hasOpenLine(quotesCount: true) { throw notClosed("git") }
        let value = "\(place.program) helper git\(place.options)"
        // Below another header it is for one host alone. The other line is for a link named git-credential-latchkey.
        let wanted = ["helper = \(value)"] + (place.options.isEmpty && place.hasGitLink ? ["helper = latchkey"] : [])
        if text.hasSection("credential", where: { section in wanted.contains { section.hasLine($0) } }) { return nil }
        return .appending("[credential]\n    helper = \(value)\n", to: text)
    }

    private static let docker = ToolSetup(tool: "docker", link: "docker-credential-latchkey") { place in
        (place.environment["DOCKER_CONFIG"] ?? place.environment.home + "/.docker") + "/config.json"
    } change: { text, _ throws(CommandFailure) in
        if text.isEmpty { return .inserting("{\n    \"credsStore\": \"latchkey\"\n}\n", at: 0) }
        let limits = JSONLimits(byteCount: text.count, depth: 32, valueCount: 65_536, memberCount: 4096)
        guard let document = try? JSONDocument(Secret(copying: text), limits: limits), document.root.kind == .object,
            let brace = text.index(of: UInt8(ascii: "{"))
        else { throw notUnderstood("docker", "isn't JSON") }
        guard !DockerLogins.misspelled(["credsStore"], in: document.root, document) else {
            throw notUnderstood("docker", "has credsStore in another spelling")
        }
        // A `null` is a member, too.
        guard let present = document.members(of: document.root).first(where: { document.isText($0.name, "credsStore") })
        else {
            let comma = document.isEmpty ? "" : ","
            return .inserting("\n    \"credsStore\": \"latchkey\"\(comma)", at: brace + 1)
        }
        if document.isText(present.value, "latchkey") { return nil }
        let place = document.place(of: present.value)
        guard text.places(of: "\"credsStore\"").count == 1, [.string, .null].contains(present.value.kind),
            let removed = text.extracting(place).publicText()
        else { throw notUnderstood("docker", "has another credsStore") }
        return TextChange(place: place, removed: removed, inserted: "\"latchkey\"")
    }

    private static let cargo = ToolSetup(tool: "cargo", link: "cargo-credential-latchkey") { place in
        let folder = place.environment["CARGO_HOME"] ?? place.environment.home + "/.cargo"
        // cargo takes the older name first.
        return folder + (FileNames.exist(folder + "/config") ? "/config" : "/config.toml")
    } change: { text, _ throws(CommandFailure) in
        // A second table of the name would be an error to cargo, in all it does.
        if text.section("registry") == nil, text.hasLine(beginningWith: ["[registry]", "registry.", "registry="]) {
            throw notUnderstood("cargo", "sets its registry in another notation")
        }
        let path = ["registry", "global-credential-providers"]
        return try checked(text, path + ["[]"], ["cargo:token", "cargo-credential-latchkey"], of: "cargo") {
            () throws(CommandFailure) in
            guard text.line(setting: "global-credential-providers", in: 0..<text.count) == nil else {
                throw notUnderstood("cargo", "has another global-credential-providers")
            }
            return try setting(
                "global-credential-providers", to: "[\"cargo:token\", \"cargo-credential-latchkey\"]", in: "registry",
                text, of: "cargo")
        }
    }

    private static let pip = ToolSetup(tool: "pip", link: "keyring") { place in
        place.environment["PIP_CONFIG_FILE"] ?? place.environment.configurationHome + "/pip/pip.conf"
    } change: { text, _ throws(CommandFailure) in
        if text.hasOpenLine(quotesCount: false) { throw notClosed("pip") }
        return try setting("keyring-provider", to: "subprocess", in: "global", text, of: "pip")
    }

    private static let uv = ToolSetup(tool: "uv", link: "keyring") { place in
        place.environment["UV_CONFIG_FILE"] ?? place.environment.configurationHome + "/uv/uv.toml"
    } change: { text, _ throws(CommandFailure) in
        try checked(text, ["keyring-provider"], ["subprocess"], of: "uv") { () throws(CommandFailure) in
            guard text.line(setting: "keyring-provider", in: 0..<text.count) == nil else {
                throw notUnderstood("uv", "has another keyring-provider")
            }
            // Before the first table: behind one it would be the table's.
            return .inserting("keyring-provider = \"subprocess\"\n", at: text.markCount)
        }
    }

    private static let aws = ToolSetup(tool: "aws", link: nil) { place in
        fileOfAWS(place.environment)
    } change: { text, place throws(CommandFailure) in
        if text.hasOpenLine(quotesCount: false) { throw notClosed("aws") }
        let name = place.name ?? "default"
        let present = text.headers { header in
            let words = header.split(whereSeparator: \.isWhitespace).map(unquoted)
            return header.hasPrefix("profile") && words == ["profile", name[...]]
                || header == "default" && header == name
        }
        // The last one is what counts for some programs, and `[profile default]` for others.
        guard Set(present).count < 2 else { throw notUnderstood("aws", "has several sections for the profile") }
        // Some programs take the key, and others ask the helper.
        if let lines = present.first.flatMap({ text.section($0) }),
            text.line(setting: "aws_access_key_id", in: lines) != nil
        {
            throw CommandFailure(
                .refused, "setup.other", "the configuration of aws has a key for the profile, so it wasn't changed",
                hint: "store the key with latchkey set aws:PROFILE KEY-ID, and remove it from the file")
        }
        return try setting(
            "credential_process", to: "\(place.program) helper aws \(name)\(place.options)",
            in: present.first ?? (name == "default" ? name : "profile \(name)"), text, of: "aws")
    }

    static func fileOfAWS(_ environment: ProgramEnvironment) -> String {
        let path = environment["AWS_CONFIG_FILE"] ?? "~/.aws/config"
        // Amazon's programs expand the tilde as a shell does.
        return path.hasPrefix("~/") ? environment.home + path.dropFirst() : path
    }

    private static func unquoted(_ word: Substring) -> Substring {
        guard let quote = word.first, "\"'".contains(quote), word.count > 1, word.last == quote else { return word }
        return word.dropFirst().dropLast()
    }

    private static let go = ToolSetup(tool: "go", link: nil) { place in
        place.environment["GOENV"] ?? place.environment.configurationHome + "/go/env"
    } change: { text, place throws(CommandFailure) in
        guard place.environment["GOENV"] != "off" else {
            throw CommandFailure(
                .refused, "setup.other", "the configuration of go is turned off by GOENV, so it wasn't changed",
                hint: "unset GOENV, then run the command again")
        }
        let command = "\(place.program) helper go\(place.options)"
        guard let present = text.line(setting: "GOAUTH", in: 0..<text.count) else {
            return .appending("GOAUTH=\(command); netrc\n", to: text)
        }
        guard text.line(setting: "GOAUTH", in: present.upperBound..<text.count) == nil else {
            throw notUnderstood("go", "sets GOAUTH twice")
        }
        guard let line = text.extracting(present).publicText() else { throw notUnderstood("go", "isn't UTF-8") }
        if line.contains(command) { return nil }
        let name = "GOAUTH="
        guard line.hasPrefix(name) else { throw notUnderstood("go", "has another GOAUTH") }
        let rest = line.dropFirst(name.count)
        switch rest.filter({ !$0.isWhitespace }) {
        // Go rejects `off` beside other commands.
        case "off": throw notUnderstood("go", "has GOAUTH=off")
        // An empty value has no effect in Go.
        case "": return TextChange(place: present, removed: line, inserted: "\(name)\(command); netrc\n")
        default: return TextChange(place: present, removed: line, inserted: "\(name)\(command); \(rest)")
        }
    }

    // MARK: - Taking it back

    /// The change that reverts a recorded one, or `nil` if the text was edited.
    func undoing(_ record: SetupRecord, in text: Span<UInt8>) -> TextChange? {
        guard tool.description == "docker" else { return record.undoing(in: text) }
        // docker rewrites its file at every login. Everything except the value of credsStore and its former
        // value belongs to the person.
        guard !record.inserted.isEmpty, let document = try? JSONDocument(Secret(copying: text)),
            let present = document.member("credsStore"), document.isText(present, "latchkey")
        else { return nil }
        let place = document.place(of: present)
        if let change = record.undoing(in: text), change.place.contains(place.lowerBound) { return change }
        if !record.removed.isEmpty {
            return TextChange(place: place, removed: "\"latchkey\"", inserted: record.removed)
        }
        guard let cut = document.cuts(of: ["credsStore"], in: document.root).first,
            let removed = text.extracting(cut).publicText()
        else { return nil }
        return TextChange(place: cut, removed: removed, inserted: "")
    }

    /// Whether nothing of a change is there: it was never written, or was removed by hand.
    func isGone(_ record: SetupRecord, from text: Span<UInt8>) -> Bool {
        guard tool.description == "docker", let document = try? JSONDocument(Secret(copying: text)) else {
            return record.isGone(from: text)
        }
        return record.inserted.isEmpty || document.member("credsStore").map { !document.isText($0, "latchkey") } ?? true
    }

    /// Whether a tool with this configuration asks Latchkey, with any options and in any profile.
    func isDone(in text: Span<UInt8>, _ place: Place) -> Bool {
        if tool.description == "git" {
            let hasLink = place.hasGitLink
            return text.hasSection("credential", where: { $0.namesUs || hasLink && $0.hasLine("helper = latchkey") })
        }
        // pip and uv name no helper, and podman may have one in another file.
        return text.namesUs || link != nil && isMade(in: text, place)
    }

    /// Whether a text has the change already.
    func isMade(in text: Span<UInt8>, _ place: Place) -> Bool {
        if case .success(nil) = Result(catching: { () throws(CommandFailure) in try change(text, place) }) {
            return true
        }
        return false
    }

    // MARK: - Sections

    /// Sets a name in a section, which is made where there is none.
    private static func setting(
        _ name: StaticString, to value: String, in section: String, _ text: Span<UInt8>, of tool: StaticString
    ) throws(CommandFailure) -> TextChange? {
        let line = "\(name) = \(value)\n"
        guard let lines = text.section(section) else { return .appending("[\(section)]\n\(line)", to: text) }
        guard let present = text.line(setting: name, in: lines) else {
            let isWhole = text[lines.lowerBound - 1] == 0x0A
            return .inserting((isWhole ? "" : "\n") + text.indentation(of: lines) + line, at: lines.lowerBound)
        }
        let names = [name.description, name.description.replacing("-", with: "_")]
        if names.contains(where: { text.extracting(present).hasLine("\($0) = \(value)") }) { return nil }
        throw notUnderstood(tool, "has another \(name)")
    }

    /// Returns a change of a TOML text, or `nil` when the text has these strings at the path already.
    ///
    /// The change is read back before anything is written: a line of an array or of a string of several lines can look
    /// like a table's header. Then this throws, as for a text that isn't TOML.
    static func checked(
        _ text: Span<UInt8>, _ path: [String], _ wanted: [String], of tool: StaticString,
        _ change: () throws(CommandFailure) -> TextChange?
    ) throws(CommandFailure) -> TextChange? {
        guard let before = strings(text, at: path) else { throw notUnderstood(tool, "isn't TOML") }
        if before.here == wanted { return nil }
        guard let change = try change() else { throw notUnderstood(tool, "has the setting elsewhere") }
        let changed = change.applied(to: Secret<MessageBody>(copying: text))
        let isSet = changed.withExposedBytes { changed in
            guard let after = strings(changed, at: path) else { return false }
            return after.here == wanted && after.all == before.all
        }
        guard isSet, before.here.isEmpty else { throw notUnderstood(tool, "has lines that look like its tables") }
        return change
    }

    /// The paths of a TOML text's other strings, and the strings at a path. `nil` for another text.
    static func strings(_ text: Span<UInt8>, at path: [String]) -> (all: [[String]], here: [String?])? {
        // The reader knows no byte order mark.
        let text = text.extracting(text.markCount..<text.count)
        guard let entries = try? TOMLStrings(text).entries else { return nil }
        let here = entries.filter { $0.path == path }.map { entry in
            TOMLStrings.decoded(text, entry.value, as: MessageBody.self)?.withExposedBytes { $0.publicText() }
        }
        return (entries.map(\.path).filter { $0 != path }, here)
    }

    private static func notClosed(_ tool: StaticString) -> CommandFailure {
        notUnderstood(tool, "has a bracket or quotation mark that isn't closed")
    }

    static func notUnderstood(_ tool: StaticString, _ what: LogMessage) -> CommandFailure {
        CommandFailure(
            .refused, "setup.other", "the configuration of \(tool) \(what), so it wasn't changed",
            hint: "change it yourself; see what it needs: latchkey setup \(tool) --print")
    }
}

extension ToolSetup {
    /// podman, skopeo and buildah (containers-registries.conf(5)): a file of our own among those that they read after
    /// `registries.conf`, for all registries.
    ///
    /// The file has Latchkey as the only helper. With `containers-auth.json` beside it, podman would write a login
    /// there in plain text if a locked store refuses it.
    static let podman = ToolSetup(tool: "podman", link: "docker-credential-latchkey") { place in
        // Independent of XDG_CONFIG_HOME.
        place.environment.home + "/.config/containers/registries.conf.d/latchkey.conf"
    } change: { text, place throws(CommandFailure) in
        // Podman reads the person's own file first, and would then ignore its setting.
        let own = ConfigurationFile(path: place.environment.home + "/.config/containers/registries.conf")
        let path = ["credential-helpers", "[]"]
        let (helpers, namesHelpers) = try own.read().withExposedBytes { own in
            (strings(own, at: path)?.here, own.line(setting: "credential-helpers", in: 0..<own.count) != nil)
        }
        if helpers?.contains("latchkey") == true { return nil }
        return try checked(text, path, ["latchkey"], of: "podman") {
            () throws(CommandFailure) in
            guard !namesHelpers else {
                throw CommandFailure(
                    .refused, "setup.other", "\(own.shown) already sets credential-helpers, so it wasn't changed",
                    hint: "add \"latchkey\" before the other helpers in that file, then run the command again")
            }
            guard text.line(setting: "credential-helpers", in: 0..<text.count) == nil else {
                throw notUnderstood("podman", "has other credential-helpers")
            }
            return .inserting("credential-helpers = [\"latchkey\"]\n", at: text.markCount)
        }
    }
}
