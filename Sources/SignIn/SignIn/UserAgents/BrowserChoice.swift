internal import Glibc
internal import LatchkeyProcess

/// Which browsers to try, in order.
package struct BrowserChoice: Sendable, Hashable {
    /// Words of a command; `%s` in them stands for the address, `%%` for a percent sign.
    typealias Template = [String]

    let templates: [Template]
    let environment: [String: String]

    /// Chooses from a process's environment.
    ///
    /// `BROWSER` holds commands separated by colons, each with `%s` where the address goes, or nowhere: then it goes at
    /// the end. Words may be quoted as in a shell, but no shell sees them. When `BROWSER` is set, nothing else is
    /// tried. Otherwise the desktop's default browser is started through `xdg-open`, provided that there is a display.
    ///
    /// - Parameter ephemeral: opens a private window instead of the person's own profile, so that the page knows none
    ///   of their sign-ins and leaves none behind. Only browsers that are known to have such windows are tried: those
    ///   of `BROWSER`, or else those installed, since `xdg-open` can't be asked for one.
    ///
    /// Throws `.unavailable`: `.noDisplay`, `.malformedBrowser` for a quotation mark without its other half, or
    /// `.noPrivateWindow` when no browser is known to have one.
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
        var result = ""
        var isMark = false
        for character in word {
            if isMark {
                isMark = false
                switch character {
                case "s": result += address
                case "%": result.append("%")
                default: result += "%" + String(character)
                }
            } else if character == "%" {
                isMark = true
            } else {
                result.append(character)
            }
        }
        return isMark ? result + "%" : result
    }
}

extension String {
    /// Without `%%`, so that the `%s` of `%%s` isn't taken for a place.
    func replacingPairs() -> String {
        var result = ""
        var index = startIndex
        while index < endIndex {
            let next = self.index(after: index)
            if self[index] == "%", next < endIndex, self[next] == "%" {
                index = self.index(after: next)
            } else {
                result.append(self[index])
                index = next
            }
        }
        return result
    }
}

/// How a browser is told to open a page in a private window: without the person's cookies, and without keeping any.
enum PrivateWindow: Sendable, Hashable {
    /// An option that stands anywhere.
    case option(String)
    /// An option that the address has to follow.
    case optionBeforeAddress(String)

    /// What each browser's documentation says, by the name of its program. What isn't here can't be relied upon: a
    /// browser that doesn't know an option opens an ordinary window and says nothing.
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

    /// What is looked for when no option names a browser: the system's choice first.
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
        guard let path = DetachedProgram.path(of: program, in: environment["PATH"]),
            let target = unsafe realpath(path, nil)
        else { return nil }
        defer { unsafe free(target) }
        return of(program: lastName(of: unsafe String(cString: target)))
    }

    private static func lastName(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "" }
}
