internal import LatchkeyJSON
internal import Glibc
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// The files of the configured providers, `providers/NAME.json` in the configuration's folder, each 0600.
struct ProviderFolder: Sendable {
    private let files: ProviderFiles

    init(configurationFolder: String) {
        files = ProviderFiles(configurationFolder: configurationFolder)
    }

    var path: String { files.path }

    /// All names, sorted.
    func names() throws -> [ProviderName] { try files.names().compactMap(ProviderName.init) }

    /// Returns what a provider's file says, or `nil` when there is none.
    func read(_ name: ProviderName) throws -> ProviderConfiguration? {
        guard let content = try files.read(name.text) else { return nil }
        do throws(JSONError) {
            return try ProviderConfiguration(name: name, parsing: content)
        } catch {
            throw CommandFailure(
                .configuration, "provider.malformed", "the file of the provider \(name) is malformed",
                hint: "add the provider again, or remove \(shown(file(name)))")
        }
    }

    /// Makes the folder where there is none, and throws when nothing can be written there.
    func prepare() throws {
        try mapError(
            { (error: PrivateFile.Failure) in unusable(error.number) },
            of: PrivateFile.makeFolder(path))
        guard unsafe access(path, W_OK | X_OK) == 0 else { throw unusable(errno) }
    }

    func write(_ configuration: ProviderConfiguration) throws {
        try mapError(
            { (error: PrivateFile.Failure) in unusable(error.number) },
            of: PrivateFile.replace(file(configuration.name), with: configuration.json.text + "\n"))
    }

    /// Returns whether there was a file.
    func remove(_ name: ProviderName) throws -> Bool {
        if unsafe unlink(file(name)) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw unusable(errno)
    }

    private func file(_ name: ProviderName) -> String { files.file(name.text) }

    private func unusable(_ number: Int32) -> CommandFailure {
        CommandFailure(
            .cannotWrite, "provider.unusable",
            "the folder of providers, \(shown(path)), can't be written (errno \(number))",
            hint: number == EROFS
                ? "name a folder that can be written in LATCHKEY_CONFIG, or set HOME to one"
                : "make it a folder of your own with mode 0700")
    }

    private func shown(_ path: String) -> LoggableText { files.shown(path) }
}
