internal import LatchkeyCredentials
internal import LatchkeyJSON
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

/// A sign-in whose access token may go to the host that a tool asks for.
struct HostSession: ~Copyable {
    let provider: String
    let accessToken: Secret<AccessToken>
    /// When the access token ends; `nil` when the server didn't say.
    let expiry: UnixTime?
}

extension CommandContext {
    /// Returns the session whose token may go to an origin, refreshed when it has expired; `nil` where nobody is signed
    /// in who is meant.
    ///
    /// - Parameters:
    ///   - origin: scheme, host, and a port that isn't the scheme's own.
    ///   - user: whom the tool asks for. A name that isn't an account's is nobody's, but for those that servers take
    ///     for any token's owner.
    func session(at origin: String, user: String?, _ view: StoreView) async throws -> HostSession? {
        for provider in try HostProvider.all(self) where provider.origins.contains(origin) {
            if let session = try await session(of: provider, user: user, view) { return session }
        }
        return nil
    }

    /// Returns the session at a provider of this name.
    func session(ofProvider name: String, user: String?, _ view: StoreView) async throws -> HostSession? {
        for provider in try HostProvider.all(self) where provider.name.hasSameOctets(as: name) {
            return try await session(of: provider, user: user, view)
        }
        return nil
    }

    private func session(of provider: HostProvider, user: String?, _ view: StoreView) async throws -> HostSession? {
        let store = try await view.store(forService: provider.service, deadline: deadline)
        guard let account = try await account(of: provider, user: user, in: store),
            let kept = try await keptSession(of: provider, account, in: store)
        else { return nil }
        if kept.isFresh(at: .now()) { return HostSession(kept, provider) }
        guard kept.isRefreshable else { throw Self.ended(provider) }
        try refresh(provider, account)
        // What the worker has stored, or another process before it.
        guard let renewed = try await keptSession(of: provider, account, in: store), renewed.isFresh(at: .now()) else {
            throw Self.ended(provider)
        }
        return HostSession(renewed, provider)
    }

    /// The account that is meant: the one of that name, else the current one, else the only one.
    private func account(
        of provider: HostProvider, user: String?, in store: any CredentialStore
    ) async throws -> String? {
        let entries = try await store.list(service: provider.service, deadline: deadline).all()
        let accounts = entries.filter { $0.key.kind == .session }.map(\.key.account)
        if let user, !HostSession.namesAnyone(user) { return accounts.first { $0.hasSameOctets(as: user) } }
        guard accounts.count > 1 else { return accounts.first }
        let current = try CredentialKey(service: provider.service, account: "current", kind: .current)
        guard let record = try await store.read(current, as: Password.self, deadline: deadline) else { return nil }
        return accounts.first { name in record.secret.matches(Array(name.utf8).span) }
    }

    private func keptSession(
        of provider: HostProvider, _ account: String, in store: any CredentialStore
    ) async throws -> KeptSession? {
        let key = try CredentialKey(service: provider.service, account: account, kind: .session)
        guard let record = try await store.read(key, as: MessageBody.self, deadline: deadline) else { return nil }
        return KeptSession(reading: record.takeSecret(), of: provider)
    }

    /// Has a worker refresh a session, which outlives this process.
    private func refresh(_ provider: HostProvider, _ account: String) throws {
        let status = try WorkerProcess.runQuietly(["token", provider.name, "--account=" + account] + storeArguments)
        switch status {
        case ExitStatus.success.rawValue: return
        case ExitStatus.refused.rawValue, ExitStatus.notFound.rawValue: throw Self.ended(provider)
        case ExitStatus.unavailable.rawValue, ExitStatus.tryAgain.rawValue:
            throw CommandFailure(
                .unavailable, "helper.not-refreshed",
                "the session at \(provider.shownName) has to be refreshed, and its server can't be reached",
                hint: "try again when it can; `latchkey token \(provider.shownName)` says more")
        default:
            throw CommandFailure(
                .refused, "helper.not-refreshed", "the session at \(provider.shownName) can't be refreshed",
                hint: "`latchkey token \(provider.shownName)` says why")
        }
    }

    private static func ended(_ provider: HostProvider) -> CommandFailure {
        CommandFailure(
            .refused, "sign-in.session-ended", "your session at \(provider.shownName) has ended",
            hint: "latchkey sign-in \(provider.shownName)")
    }
}

extension HostSession {
    var shownProvider: LoggableText {
        LoggableText(reviewed: "a provider's name stands in listings", unredacted: provider)
    }

    fileprivate init(_ kept: consuming KeptSession, _ provider: HostProvider) {
        self.init(provider: provider.name, accessToken: kept.accessToken, expiry: kept.expiry)
    }

    /// Whether servers take this user's name for whoever the token belongs to: GitLab's and GitHub's documentation.
    static func namesAnyone(_ user: String) -> Bool { ["oauth2", "x-access-token"].contains(user) }

    /// The user's name that goes with the token in a Basic field. GitLab takes no other one; elsewhere the token alone
    /// counts.
    static let user = "oauth2"
}

/// A provider as its file describes it, as far as helpers have to know.
private struct HostProvider {
    let name: String
    /// Whose sessions are its own: those of this server, for this client.
    let authority: String
    let clientID: String
    /// Where their tokens may go.
    let origins: Set<String>

    var service: String { CredentialKey.providerPrefix + name }

    var shownName: LoggableText { LoggableText(reviewed: "a provider's name stands in listings", unredacted: name) }

    /// Those whose files can be read. What is wrong with a file is for the commands that are about it.
    static func all(_ context: CommandContext) throws -> [HostProvider] {
        let files = ProviderFiles(configurationFolder: context.configurationFolder)
        return try files.names().compactMap { name in
            guard let content = try? files.read(name) else { return nil }
            return HostProvider(name, content)
        }
    }

    private init?(_ name: String, _ content: consuming Secret<MessageBody>) {
        let limits = JSONLimits(byteCount: 64 << 10, depth: 4, valueCount: 512)
        guard let document = try? JSONDocument(content, limits: limits), let authority = document.member("authority"),
            let client = document.member("client_id"), let origins = document.member("token_origins"),
            let text = try? document.publicText(authority, limit: 8192),
            let clientID = try? document.publicText(client, limit: 8192)
        else { return nil }
        self.name = name
        self.authority = text
        self.clientID = clientID
        self.origins = Set(document.elements(of: origins).compactMap { try? document.publicText($0, limit: 4096) })
    }
}

/// The part of a stored session (Docs/Formats/session-v1.md) that a helper uses.
private struct KeptSession: ~Copyable {
    let issued: UnixTime
    let expiry: UnixTime?
    let isRefreshable: Bool
    let accessToken: Secret<AccessToken>

    /// `nil` for what isn't a session of this provider's with a bearer token for whichever origin: one that is bound to a
    /// key is of no use without it.
    init?(reading content: consuming Secret<MessageBody>, of provider: HostProvider) {
        guard let document = try? JSONDocument(content, limits: JSONLimits(byteCount: 512 << 10)),
            let format = document.member("latchkey_session"), (try? document.integer(format)) == 1,
            let authority = document.member("authority"), let client = document.member("client_id"),
            (try? document.publicText(authority, limit: 8192))?.hasSameOctets(as: provider.authority) == true,
            (try? document.publicText(client, limit: 8192))?.hasSameOctets(as: provider.clientID) == true,
            document.member("resource") == nil,
            let type = document.member("token_type"), document.isText(type, "Bearer"),
            let token = document.member("access_token"),
            let accessToken = try? document.secret(token, as: AccessToken.self)
        else { return nil }
        func moment(_ name: StaticString) -> UnixTime? {
            document.member(name).flatMap { try? document.integer($0) }.map(UnixTime.init(seconds:))
        }
        issued = moment("issued_at") ?? UnixTime(seconds: 0)
        expiry = moment("expires_at")
        isRefreshable = document.member("refresh_token") != nil
        self.accessToken = accessToken
    }

    func isFresh(at now: UnixTime) -> Bool { expiry.map { now < $0.refreshTime(issued: issued) } ?? true }
}
