internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySecrets
internal import LatchkeyCommandLine

extension ToolSetup {
    /// podman, skopeo and buildah (containers-registries.conf(5)): a file of our own among those that they read after
    /// `registries.conf`, for all registries.
    ///
    /// Latchkey is the only one that it names: with `containers-auth.json` beside it, a login that a locked store
    /// refuses would be written there in clear.
    static let podman = ToolSetup(tool: "podman", link: "docker-credential-latchkey") { place in
        // Whatever XDG_CONFIG_HOME says.
        place.environment.home + "/.config/containers/registries.conf.d/latchkey.conf"
    } change: { text, place throws(CommandFailure) in
        try checked(text, ["credential-helpers", "[]"], ["latchkey"], of: "podman") { () throws(CommandFailure) in
            // The person's own file is read first, and what it says would count no more.
            let own = ConfigurationFile(path: place.environment.home + "/.config/containers/registries.conf")
            guard try !own.read().withExposedBytes({ $0.namesHelpers }) else {
                throw CommandFailure(
                    .refused, "setup.other", "\(own.shown) has credential-helpers of its own, and was left alone",
                    hint: "put \"latchkey\" before the others there")
            }
            guard !text.namesHelpers else { throw notUnderstood("podman", "has other credential-helpers") }
            return .inserting("credential-helpers = [\"latchkey\"]\n", at: text.markCount)
        }
    }
}

extension Span<UInt8> {
    fileprivate var namesHelpers: Bool { line(setting: "credential-helpers", in: 0..<count) != nil }
}
