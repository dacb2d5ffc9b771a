internal import Glibc
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeyCommandLine

/// A helper's name that a tool looks for on PATH: a link to `latchkey`.
struct HelperLink: Sendable {
    let name: String
    let program: String
    let environment: ProgramEnvironment

    /// Where a person's own programs are (systemd's file-hierarchy(7)).
    var path: String { environment.home + "/.local/bin/" + name }

    /// Whether the tool finds ours already. Throws where it finds another program first.
    func isThere() throws(CommandFailure) -> Bool {
        for folder in (environment["PATH"] ?? "").split(separator: ":") {
            let place = "\(folder)/\(name)"
            guard unsafe access(place, X_OK) == 0 else {
                // One that is made here is found first.
                if place == path && !FileNames.exist(place) { return false }
                continue
            }
            if FileNames.resolved(place) == program { return true }
            throw CommandFailure(
                .refused, "setup.other-program",
                "\(shown(place)) is another program of the name that the tool looks for",
                hint: "take it off PATH, or link \(shown(name)) to `latchkey` in a folder before it")
        }
        return FileNames.resolved(path) == program
    }

    /// Makes the link where there is none, and returns its path.
    func make() throws(CommandFailure) -> String {
        let folder = environment.home + "/.local/bin"
        unsafe mkdir(environment.home + "/.local", 0o755)
        unsafe mkdir(folder, 0o755)
        guard unsafe symlink(program, path) == 0 else {
            throw CommandFailure(
                .cannotWrite, "setup.cannot-write", "\(shown(path)) can't be made (errno \(errno))",
                hint: "link it to `latchkey` yourself, in a folder of PATH")
        }
        return path
    }

    /// Whether its folder is searched.
    var isOnPath: Bool {
        (environment["PATH"] ?? "").split(separator: ":").contains { $0 == environment.home + "/.local/bin" }
    }

    private func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "the path of a helper", unredacted: text)
    }
}

enum FileNames {
    static func remove(_ path: String) { unsafe unlink(path) }

    static func exist(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Where links lead, or `nil` for nothing.
    static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
