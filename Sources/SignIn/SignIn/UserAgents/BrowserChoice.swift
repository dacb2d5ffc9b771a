internal import LatchkeyProcess
internal import LatchkeySystem

/// Which browsers to try, in order.
package struct BrowserChoice: Sendable, Hashable {
    /// Words of a command, with `%s` for the address and `%%` for a percent sign.
    typealias Template = [String]

    let templates: [Template]
    let environment: [String: String]

    /// Chooses from a process's environment.
    ///
    /// `BROWSER` contains commands separated by colons. A command contains `%s` for the address, or gets the address at
    /// its end. Words may be quoted as in a shell, but they don't pass through a shell. If `BROWSER` is set, only its
    /// commands are tried. Otherwise `xdg-open` starts the desktop's default browser, provided that there is a display.
    ///
    /// - Parameter ephemeral: opens a private window instead of the person's own profile, so that the page neither sees
    ///   nor leaves cookies there. Only browsers with a documented option for such windows are tried: those of
    ///   `BROWSER`, or else the installed ones, because `xdg-open` doesn't have such an option.
    ///
    /// Throws `.unavailable`: `.noDisplay`, `.malformedBrowser` for a missing second quotation mark, or
    /// `.noPrivateWindow` if none of the browsers has a documented option.
    package init(environment: [String: String], ephemeral: Bool = false) throws(UserAgentError) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.environment = environment
        var templates: [Template]
        if let browsers = value("BROWSER") {
            templates = try Self.templates(in: browsers)
            if templates.isEmpty { throw .unavailable(.malformedBrowser) }
        } else if value("WAYLAND_DISPLAY") != nil || value("DISPLAY") != nil {
            templates = ephemeral ? Self.installed(environment) : [["xdg-open", "%s"]]
        } else {
            throw .unavailable(.noDisplay)
        }
        if ephemeral {
            templates = templates.compactMap { PrivateWindow.command($0, environment: environment) }
            if templates.isEmpty { throw .unavailable(.noPrivateWindow) }
        }
        self.templates = templates
    }

    private static func installed(_ environment: [String: String]) -> [Template] {
        PrivateWindow.candidates
            .filter { DetachedProgram.path(of: $0, in: environment["PATH"]) != nil }
            .map { [$0, "%s"] }
    }

    /// The commands with the address in its place.
    func commands(for address: String) -> [[String]] {
        templates.map { words in words.map { Self.expand($0, address: address) } }
    }

    // MARK: - Reading BROWSER

    private static func templates(in text: String) throws(UserAgentError) -> [Template] {
        var templates: [Template] = []
        for part in text.split(separator: ":") {
            var words = try words(in: part)
            // Programs are always started in the background.
            if words.last == "&" { words.removeLast() }
            if words.isEmpty { continue }
            let hasPlace = words.contains { $0.replacingPairs().contains("%s") }
            templates.append(hasPlace ? words : words + ["%s"])
        }
        return templates
    }

    /// Splits at spaces outside of quotation marks.
    private static func words(in text: Substring) throws(UserAgentError) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in text {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\" && quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "\"" || character == "'" {
                quote = character
                word = word ?? ""
            } else if character == " " || character == "\t" {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        guard quote == nil, !isEscaped else { throw .unavailable(.malformedBrowser) }
        if let finished = word { words.append(finished) }
        return words
    }

    private static func expand(_ word: String, address: String) -> String {
        word.split(separator: "%%", omittingEmptySubsequences: false).map { $0.replacing("%s", with: address) }
            .joined(separator: "%")
    }
}

extension String {
    /// The text without `%%`, so that the `%s` in `%%s` doesn't count as a place for the address.
    func replacingPairs() -> String { replacing("%%", with: "") }
}

/// The option that makes a browser open a private window: without the person's cookies, and without keeping new ones.
enum PrivateWindow: Sendable, Hashable {
    /// An option that is valid at any position.
    case option(String)
    /// An option that the address has to follow.
    case optionBeforeAddress(String)

    /// The option from each browser's documentation, by the name of its program. A browser outside this table isn't
    /// used: browsers ignore an unknown option silently and open an ordinary window.
    static func of(program name: String) -> PrivateWindow? {
        switch name {
        case "firefox", "firefox-esr", "librewolf": .optionBeforeAddress("--private-window")
        case "microsoft-edge", "microsoft-edge-stable": .option("--inprivate")
        case "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "brave",
            "brave-browser",
            "brave-browser-stable", "vivaldi", "vivaldi-stable":
            .option("--incognito")
        default: nil
        }
    }

    /// The browsers to look for without `BROWSER`: the system's choice first.
    static let candidates = [
        "x-www-browser", "firefox", "firefox-esr", "chromium", "google-chrome", "brave-browser", "vivaldi",
        "microsoft-edge", "librewolf",
    ]

    /// The same command with a private window, or `nil` when its program isn't known to have one.
    ///
    /// A name such as `x-www-browser` that leads to another program counts as that program.
    static func command(
        _ template: BrowserChoice.Template, environment: [String: String]
    ) -> BrowserChoice.Template? {
        guard let program = template.first, let window = known(program, environment: environment) else { return nil }
        var words = template
        switch window {
        case .option(let option):
            if !words.contains(option) { words.insert(option, at: 1) }
        case .optionBeforeAddress(let option):
            // These want the address behind them, too.
            words.removeAll { ["--new-window", "-new-window", "--new-tab", "-new-tab", option].contains($0) }
            words.insert(option, at: words.lastIndex { $0.replacingPairs().contains("%s") } ?? words.endIndex)
        }
        return words
    }

    private static func known(_ program: String, environment: [String: String]) -> PrivateWindow? {
        if let window = of(program: lastName(of: program)) { return window }
        let path = DetachedProgram.path(of: program, in: environment["PATH"])
        return path.flatMap(FileSystem.resolving).flatMap { of(program: lastName(of: $0)) }
    }

    private static func lastName(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
}
