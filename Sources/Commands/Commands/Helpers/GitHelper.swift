internal import LatchkeySignIn

/// `latchkey helper git`, also as `git-credential-latchkey` (gitcredentials(7)).
enum GitHelper {
    static let command = Command(
        "helper", "git", summary: "answer git, as git-credential-latchkey",
        operands: [.optional("VERB", help: "get, store, erase or capability")],
        details: """
            A credential helper as gitcredentials(7) describes. Run `latchkey setup git` to configure it. Passwords are stored under the
            service git:PROTOCOL://HOST.

            For a host without a password, the helper returns a session's token if the session may be used there. It refreshes the
            token if needed, and never erases a session. For such a host, it doesn't store passwords that expire or belong to the
            users oauth2 and x-access-token, because these are tokens.

            It also finds the passwords that git-credential-libsecret and Git Credential Manager stored, and passwords for a path at the
            host if git doesn't ask for a path. Exits with 0 even if nothing is found.

            For a mail server (`latchkey provider add NAME --for-host smtp://HOST:PORT`), the user name is the account's.
            """,
        examples: ["latchkey helper git get"],
        calledAs: "git-credential-latchkey", reportsError: reportInOneLine
    ) { arguments, context in
        switch arguments.optionalOperand("VERB") {
        case "capability":
            try context.output.write("version 0")
            try context.output.write("capability authtype")
        case "get": try await get(try request(), context)
        case "store": try await store(try request(), context)
        case "erase": try await erase(try request(), context)
        default:
            // A later version of git may ask for more, which isn't an error.
            break
        }
        return .success
    }

    private static func request() throws -> GitExchange {
        try GitExchange(
            SecretInput.readAll(
                as: MessageBody.self, limit: GitExchange.maximumByteCount, until: GitExchange.isWhole))
    }

    // MARK: - Get

    private static func get(_ request: borrowing GitExchange, _ context: CommandContext) async throws {
        guard request.service != nil else { return }
        let view = try await context.openView()
        var skipped: StoreError?
        if try await answer(request, request.services, from: view, &skipped, context) { return }
        if let session = try await context.session(at: request.origin, user: request.user, view) {
            return try answer(session, request, context)
        }
        let others = try await view.foreign(having: request.shapes, deadline: context.deadline, skipped: &skipped)
        if try await answer(request, request.services, from: others, &skipped, context) { return }
        // As git credential-store, which compares the path only if git asks for one.
        for service in try await services(beneath: request, view, &skipped, context) {
            if try await answer(request, [service], from: view, &skipped, context) { return }
        }
        let unreadable = try await view.credential(
            services: request.services, account: request.account, deadline: context.deadline, skipped: &skipped
        ) { !GitSecret.isReadable($0) }
        if let unreadable {
            context.output.note(
                "the secret for \(unreadable.metadata.key) has several lines or a NUL byte, so git can't use it")
        }
        try view.checkAllSearched(skipped)
    }

    /// The services of passwords for a path at the host, if git asks for no path.
    private static func services(
        beneath request: borrowing GitExchange, _ view: StoreView, _ skipped: inout StoreError?,
        _ context: CommandContext
    ) async throws -> [String] {
        guard request.path.isEmpty, !request.host.isEmpty else { return [] }
        let starts = request.services.map { $0 + "/" }
        var found: [CredentialMetadata] = []
        _ = try await view.first(skipped: &skipped) { (store) -> Void? in
            found += try await store.list(deadline: context.deadline).all().filter { entry in
                entry.key.kind == .password && starts.contains { entry.key.service.hasPrefix($0) }
            }
            return nil
        }
        return found.sorted { $0.modified > $1.modified }.map(\.key.service)
    }

    /// Answers with what is stored, and returns whether there is anything.
    private static func answer(
        _ request: borrowing GitExchange, _ services: [String], from view: StoreView, _ skipped: inout StoreError?,
        _ context: CommandContext
    ) async throws -> Bool {
        let record = try await view.credential(
            services: services, account: request.account, deadline: context.deadline, skipped: &skipped
        ) { GitSecret.isUsable($0) }
        guard let record, let secret = GitSecret(record.secret) else { return false }
        try answer(GitExchange.user(ofAccount: record.metadata.key.account), secret, context)
        return true
    }

    private static func answer(_ user: String, _ secret: borrowing GitSecret, _ context: CommandContext) throws {
        var answer = SecretBuilder()
        try answer.append(publicText: "username=\(user)\npassword=")
        try answer.append(secret.password)
        if let expiry = secret.expiry { try answer.append(publicText: "\npassword_expiry_utc=\(expiry)") }
        switch secret.refreshToken {
        case .some(let token):
            try answer.append(publicText: "\noauth_refresh_token=")
            try answer.append(token)
        case .none: break
        }
        try answer.append(publicText: "\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }

    /// A server that takes bearer tokens alone gets one, where git can send it; others take the token as a password.
    private static func answer(
        _ session: borrowing HostSession, _ request: borrowing GitExchange, _ context: CommandContext
    ) throws {
        let isBearer =
            request.capabilities.contains("authtype") && request.challenges.contains("bearer")
            && !request.challenges.contains("basic")
        var answer = SecretBuilder()
        try answer.append(
            publicText: isBearer
                ? "capability[]=authtype\nauthtype=Bearer\nephemeral=1\ncredential="
                : "username=\(request.user ?? (request.isForMail ? session.account : HostSession.user))\npassword=")
        try answer.append(session.token)
        if let expiry = session.expiry { try answer.append(publicText: "\npassword_expiry_utc=\(expiry.seconds)") }
        try answer.append(publicText: "\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
    }

    // MARK: - Store and erase

    private static func store(_ request: borrowing GitExchange, _ context: CommandContext) async throws {
        guard let service = request.service, let account = request.account, let secret = GitSecret.kept(request) else {
            return
        }
        let key = try CredentialKey(service: service, account: account)
        let view = try await context.openView()
        let store = try await view.store(for: key, deadline: context.deadline)
        // git also stores credentials that it got from this helper.
        if let present = try await store.read(key, as: Password.self, deadline: context.deadline) {
            if present.secret.matches(secret) { return }
        } else {
            // The session's token, or an earlier one that another helper has kept since.
            let isOfSession =
                HostSession.namesAnyone(account) || request.passwordExpiry != nil
                ? (try? await context.hasSession(at: request.origin, user: account, view)) == true
                : try await session(of: request, view, context) != nil
            if isOfSession { return }
            var skipped: StoreError?
            let beneath = try await services(beneath: request, view, &skipped, context)
            for service in request.services.dropFirst() + beneath {
                let record = try await view.credential(
                    services: [service], account: account, deadline: context.deadline, skipped: &skipped)
                if let record, record.secret.matches(secret) { return }
            }
            let others = try await view.foreign(
                having: request.shapes, deadline: context.deadline, skipped: &skipped)
            let other = try await others.credential(
                services: [service], account: account, deadline: context.deadline, skipped: &skipped)
            if let other, other.secret.matches(secret) { return }
        }
        try await store.save(
            secret, for: key, options: SaveOptions(label: "Git: \(service.dropFirst(4))", contentType: .text),
            deadline: context.deadline)
    }

    /// The session that has the password as its access token, or `nil`.
    private static func session(
        of request: borrowing GitExchange, _ view: StoreView, _ context: CommandContext
    ) async throws -> HostSession? {
        guard let session = try? await context.session(at: request.origin, user: request.user, view) else { return nil }
        switch request.password {
        case .some(let password): if password.matches(session.token) { return session }
        case .none: break
        }
        return nil
    }

    /// Deletes the refused credential. If the request has a password, a credential with another password stays: it may
    /// have been stored after the refusal. One of several accounts stays too: if git's question didn't name one, the
    /// server may have wanted another.
    private static func erase(_ request: borrowing GitExchange, _ context: CommandContext) async throws {
        guard let service = request.service else { return }
        let view = try await context.openView()
        if let session = try await session(of: request, view, context) {
            context.output.note("the server refused your session at \(session.provider); \(session.recovery)")
        }
        try await view.forEach { store in
            let all = request.password != nil ? try await store.keys(request.services, nil, context.deadline) : []
            var keepsOne = false
            for key in try await store.keys(request.services, request.account, context.deadline) {
                guard let version = try await refused(request, key, in: store, context) else { continue }
                let isOneOfSeveral = all.contains {
                    $0.service.hasSameOctets(as: key.service) && !$0.account.hasSameOctets(as: key.account)
                }
                if isOneOfSeveral && request.account != nil {
                    tellRefused(key, context)
                    keepsOne = true
                    continue
                }
                let conflict = await failure(
                    StoreError.self,
                    awaiting: try await store.delete(
                        key, condition: .matches(version), deadline: context.deadline))
                // Another git may have had the same answer.
                if let conflict, try await refused(request, key, in: store, context) != nil { throw conflict }
            }
            if !keepsOne { try await eraseForeign(request, service, store, context) }
        }
        if request.password != nil { try await tellBeneath(request, view, context) }
    }

    /// Names the refused password for a path, which `get` answers with too. It stays: another path may have refused it.
    private static func tellBeneath(
        _ request: borrowing GitExchange, _ view: StoreView, _ context: CommandContext
    ) async throws {
        var skipped: StoreError?
        let services = try await services(beneath: request, view, &skipped, context)
        try await view.forEach { store in
            for key in try await store.keys(services, request.account, context.deadline)
            where try await refused(request, key, in: store, context) != nil {
                tellRefused(key, context)
            }
        }
    }

    private static func tellRefused(_ key: CredentialKey, _ context: CommandContext) {
        let words: LogMessage = "\(CredentialName.word(key.service)) \(CredentialName.word(key.account))"
        context.output.note("the server refused the password for \(key); to delete it: latchkey delete \(words)")
    }

    /// The version of a stored credential that the request is about; `nil` for none.
    private static func refused(
        _ request: borrowing GitExchange, _ key: CredentialKey, in store: any CredentialStore, _ context: CommandContext
    ) async throws -> CredentialVersion? {
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else { return nil }
        switch request.password {
        case .some(let password):
            guard let kept = GitSecret(record.secret), kept.password.matches(password) else { return nil }
        case .none: break
        }
        return record.version
    }

    /// Deletes the same credential of another helper too, because it would be the answer again. The deleted credential
    /// has to equal the refused one.
    private static func eraseForeign(
        _ request: borrowing GitExchange, _ service: String, _ store: any CredentialStore, _ context: CommandContext
    ) async throws {
        let account = request.account
        for attributes in request.shapes {
            switch request.password {
            case .some(let password):
                _ = try await store.items?.deleteForeign(having: attributes, deadline: context.deadline) {
                    key, secret in
                    key.service.hasSameOctets(as: service)
                        && (account ?? key.account).hasSameOctets(as: key.account)
                        && secret.matches(password)
                }
            case .none: break
            }
        }
    }
}
