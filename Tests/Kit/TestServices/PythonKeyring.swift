/// Python's keyring library (keyring(1), `import keyring`) on a private session, with one of its two backends for the
/// Secret Service.
public struct PythonKeyring: Sendable {
    public enum Backend: String, Sendable, CaseIterable {
        /// Through python3-secretstorage; what Python programs use unless told otherwise.
        case secretService = "SecretService"
        /// Through libsecret's introspection.
        case libsecret
    }

    public let backend: Backend
    private let session: PrivateSession

    public init(_ backend: Backend, on session: PrivateSession) {
        self.backend = backend
        self.session = session
    }

    /// Returns the password, or `nil` when it finds none.
    public func get(_ service: String, _ account: String) async throws -> String? {
        let answer = try await run("get", service, account)
        return answer.hasPrefix("+") ? String(answer.dropFirst()) : nil
    }

    public func set(_ service: String, _ account: String, _ password: String) async throws {
        try await run("set", service, account, password)
    }

    public func delete(_ service: String, _ account: String) async throws {
        try await run("delete", service, account)
    }

    @discardableResult
    private func run(
        _ operation: String, _ service: String, _ account: String, _ password: String = ""
    ) async throws -> String {
        // The system's Python has the packages that Debian installs; another one may come first on the path.
        try await Program("/usr/bin/python3").run(
            ["-c", Self.script, backend.rawValue, operation, service, account], environment: session.environment,
            input: Array(password.utf8)
        ).successful("Python keyring, \(backend.rawValue), \(operation)").outputText
    }

    private static let script = """
        import importlib, sys

        backend, operation, service, account = sys.argv[1:]
        keyring = importlib.import_module("keyring.backends." + backend).Keyring()
        # It explains why the backend can't be used: a missing package, above all.
        keyring.priority
        if operation == "set":
            keyring.set_password(service, account, sys.stdin.read())
        elif operation == "get":
            password = keyring.get_password(service, account)
            print("-" if password is None else "+" + password, end="")
        else:
            keyring.delete_password(service, account)
        """
}
