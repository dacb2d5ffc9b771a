internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeyStoreCommands
internal import LatchkeyTerminal

// Each authority has a redirect path of its own (RFC 9700 section 4.4.2.2), which a person has to know who registers
// the client by hand.

extension CommandContext {
    /// Says which redirect URI the client has to be registered with, where nobody named one.
    func tellRedirect(of configuration: ProviderConfiguration) throws {
        guard configuration.redirect == nil, !configuration.needsNoRegistration else { return }
        let redirect = try configuration.provider().redirect
        guard configuration.builtIn?.takesAnyLoopbackPath == true else {
            output.note("register the client with the redirect URI \(redirect); each sign-in adds a port")
            return
        }
        output.note(
            """
            \(configuration.name) takes any path of a loopback address: what keeps its codes from another server is that \
            it names itself in its responses
            """)
    }

    /// Warns of a redirect URI that another provider's responses come to as well: a code of one of the two servers
    /// could be brought to the other (RFC 9700 section 4.4).
    func warnOfSharedRedirect(_ redirect: RedirectURI, of configuration: ProviderConfiguration) throws {
        let authority = try configuration.provider().authority
        // A file that is damaged is told where its provider is asked for.
        let others = try providers.names().compactMap { try? providers.read($0) }
        let shared = others.first { other in
            guard other.name != configuration.name, let provider = try? other.provider() else { return false }
            return provider.authority != authority && provider.redirect.isSamePlace(as: redirect)
        }
        guard let shared else { return }
        output.warn(
            """
            the responses of \(configuration.name) and \(shared.name) come to one redirect URI: either server could lead \
            a sign-in at the other to itself
            """,
            hint: "register one with another path, or leave --redirect out: each server then has its own")
    }
}

extension ProviderConfiguration {
    var builtIn: BuiltInProvider? {
        guard case .builtIn(let service, _) = server else { return nil }
        return BuiltInProvider.named(service)
    }

    /// Whether the client is one that registers itself, or that nobody registers.
    fileprivate var needsNoRegistration: Bool {
        isRegisteredByUs || (builtIn?.standardClientID.map { $0 == clientID } ?? false)
    }
}
