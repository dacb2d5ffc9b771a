internal import Glibc
internal import LatchkeyProcess

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
