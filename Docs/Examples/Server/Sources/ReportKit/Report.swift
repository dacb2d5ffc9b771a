public import HTTPTypes
public import Latchkey

/// A job that needs a person's token at night, from a vault that opens without a person.
public struct Report: Sendable {
    private let bank: SignInService

    /// - Parameter folder: has the vault, and the record by which an older copy of it is noticed.
    public init(
        in folder: String, of provider: OAuthProvider, environment: ProgramEnvironment, log: RedactedLogger
    ) async throws {
        let vault = try await VaultStore.open(
            at: folder + "/vault", unlockedBy: Self.key(in: folder, environment),
            memory: RollbackMemory(directory: folder + "/seen"))
        bank = SignInService(
            provider: provider, store: vault, context: SignInContext(environment: environment, log: log))
    }

    /// Makes the vault: once, at installation.
    public static func install(in folder: String, environment: ProgramEnvironment) async throws {
        if environment["CREDENTIALS_DIRECTORY"] == nil { try VaultKeyFile.create(at: folder + "/key") }
        _ = try await VaultStore.create(
            at: folder + "/vault", unlockedBy: key(in: folder, environment),
            memory: RollbackMemory(directory: folder + "/seen"))
    }

    /// systemd's credential `report` where the unit has one, and a key file elsewhere.
    private static func key(in folder: String, _ environment: ProgramEnvironment) throws -> VaultKeySource {
        guard let credentials = environment["CREDENTIALS_DIRECTORY"] else { return .keyFile(folder + "/key") }
        return try .systemCredential(named: "report", in: credentials)
    }

    /// A person signs in: once, at installation, and again when the bank has ended the session.
    public func signIn(presenting agent: UserAgent) async throws {
        _ = try await bank.signIn(presenting: agent)
    }

    /// One run of the job. The token is refreshed before it expires, once among all processes.
    public func run(_ request: HTTPRequest) async throws -> Int {
        guard let request = GuardedRequest(request) else { return 400 }
        return try await bank.send(request).status
    }

    /// The job again and again, until the task is cancelled. A refresh that has begun is stored then.
    public func run(_ request: HTTPRequest, every pause: Duration, report: (Int) -> Void) async throws {
        do {
            while true {
                report(try await run(request))
                try await Task.sleep(for: pause)
            }
        } catch {
            await bank.finishRefreshes()
            throw error
        }
    }
}

extension GuardedRequest {
    /// A request of swift-http-types' without a body; `nil` for what can't be sent as it is.
    public init?(_ request: HTTPRequest) {
        guard let method = Method(rawValue: request.method.rawValue),
            let url = try? HTTPURL("\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "/")")
        else { return nil }
        var fields: [HeaderField] = []
        for field in request.headerFields {
            guard let own = HeaderField(field.name.rawName, field.value) else { return nil }
            fields.append(own)
        }
        self.init(method, url, fields: fields)
    }
}
