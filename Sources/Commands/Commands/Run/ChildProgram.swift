internal import CLatchkeyLinux
internal import Glibc

/// The program for `run` to start, with its arguments, variables and files.
package struct ChildProgram: ~Copyable {
    private let request: RunRequest
    private let path: String
    private var environment = ChildEnvironmentSink()
    /// Variables with a file's path, with the file.
    private var files: [String: Int32] = [:]
    private var mask = SecretMask()

    /// Finds the program, before any question.
    package init(_ request: RunRequest, _ context: CommandContext) throws {
        self.request = request
        path = try request.path(context)
    }

    // MARK: - Variables and files

    /// Takes variables, with stored secrets from a view of the stores. Throws what is wrong with the first that can't
    /// be had.
    package mutating func take(
        _ variables: [ChildVariable], from view: StoreView?, _ context: CommandContext
    ) async throws {
        for variable in variables {
            switch variable.value {
            case .text(let text):
                try put(text, into: variable.name)
            case .secret(let secret):
                let secret = try await Self.secret(secret, for: variable.name, view, context)
                try take(secret, as: variable.name)
            case .file(let secret):
                let secret = try await Self.secret(secret, for: variable.name, view, context)
                try takeFile(secret, as: variable.name)
            }
        }
    }

    /// Takes a secret for a variable.
    package mutating func take<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, as name: String
    ) throws(CommandFailure) {
        if let unfit = LatchkeySystem.failure(
            ChildEnvironmentSink.Unfit.self, of: try environment.put(secret, into: name))
        {
            throw Self.failure(unfit, name)
        }
        forgetFile(name)
        try hide(secret, name)
    }

    private mutating func put(_ text: String, into name: String) throws(CommandFailure) {
        if let unfit = LatchkeySystem.failure(
            ChildEnvironmentSink.Unfit.self, of: try environment.put(text: text, into: name))
        {
            throw Self.failure(unfit, name)
        }
        forgetFile(name)
    }

    /// Another value takes the place of a file's path.
    private mutating func forgetFile(_ name: String) {
        if let descriptor = files.removeValue(forKey: name) { close(descriptor) }
    }

    private mutating func takeFile(_ secret: borrowing Secret<Password>, as name: String) throws(CommandFailure) {
        var sink = ChildFileSink()
        if let error = LatchkeySystem.failure(SystemErrorNumber.self, of: try secret.pour(into: &sink)) {
            throw CommandFailure(
                .unavailable, "run.file",
                "can't make a file in memory for \(Self.shown(name)): \(error)",
                hint: error.number == ENOSYS || error.number == EPERM
                    ? "in a sandbox, allow memfd_create(2)"
                    : "raise the limit on open files (`ulimit -n 4096`), or pass fewer files")
        }
        let path = ChildFileSink.path(of: sink.descriptor, in: getpid())
        guard unsafe access(path, F_OK) == 0 else {
            throw CommandFailure(
                .unavailable, "run.file", "the file for \(Self.shown(name)) has no path", hint: ThisProgram.mountingProc
            )
        }
        try put(path, into: name)
        files[name] = sink.descriptor
        try hide(secret, name)
    }

    private mutating func hide<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ name: String
    ) throws(CommandFailure) {
        guard request.isMasked else { return }
        guard mask.add(secret) else {
            throw CommandFailure(
                .badData, "run.too-short", "the secret for \(Self.shown(name)) is too short to be masked",
                hint: "remove --mask, or use a secret of \(SecretMask.minimumByteCount) bytes or more")
        }
    }

    private static func secret(
        _ name: CredentialName, for variable: String, _ view: StoreView?, _ context: CommandContext
    ) async throws -> Secret<Password> {
        guard let view else { preconditionFailure("a stored secret needs a store") }
        let absence = CommandFailure(
            .notFound, "credential.not-found", "the value of \(shown(variable)) isn't the name of a stored secret",
            hint: """
                write NAME=SERVICE/ACCOUNT, or NAME=latchkey://SERVICE/ACCOUNT in an --env-file; run `latchkey list` to see the stored \
                secrets
                """)
        let (key, store) = try await context.find(name, in: view, isReference: true, absence: absence)
        guard let record = try await store.read(key, as: Password.self, deadline: context.deadline) else {
            throw try await context.absence(of: key, in: store, view)
        }
        return record.takeSecret()
    }

    private static func failure(_ unfit: ChildEnvironmentSink.Unfit, _ name: String) -> CommandFailure {
        let shown = shown(name)
        switch unfit {
        case .containsNUL:
            return CommandFailure(
                .badData, "run.not-text", "the secret for \(shown) contains a NUL byte, which a variable can't contain",
                hint: "pass the secret with --file")
        case .tooLong(let limit):
            return CommandFailure(
                .badData, "run.too-long",
                "the secret for \(shown) is too long for a variable, which has at most \(limit) bytes with its name",
                hint: "pass the secret with --file")
        }
    }

    private static func shown(_ name: String) -> LogMessage { RunRequest.shown(name) ?? "a variable" }

    // MARK: - Starting it

    /// Becomes the program, or shows what it writes without its secrets and ends as it does. Returns only when it can't
    /// be started.
    package consuming func start() -> CommandFailure {
        SecretPrompt.restoreTerminal()
        guard !request.isMasked else {
            return MaskedProgram.run(path, request.arguments, environment, files, mask)
        }
        return RunRequest.notStarted(request.arguments[0], becomeProgram())
    }

    /// Returns the errno of the failure.
    private borrowing func becomeProgram() -> Int32 {
        let words = unsafe request.arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        // The program would inherit the signals that threads of the concurrency runtime block.
        var none = sigset_t(of: [])
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        return unsafe environment.withEnvironment { variables in
            unsafe execve(path, words, variables)
            return errno
        }
    }
}
