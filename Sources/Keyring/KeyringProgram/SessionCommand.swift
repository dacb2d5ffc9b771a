internal import Glibc
internal import LatchkeyDBus
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeyStoreCommands
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyTerminal

/// `latchkey keyring run`, behind the person's program: a bus, and the vault on it, for as long as that runs.
enum SessionCommand {
    static let command = Command(KeyringDefinitions.run) { arguments, context in
        guard let descriptors = KeyringSession.serviceDescriptors() else {
            throw CommandFailure(
                .usage, "keyring.not-started", "only latchkey starts this", hint: "latchkey keyring run -- COMMAND")
        }
        for descriptor in [descriptors.report, descriptors.program] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        let names = arguments.all(KeyringDefinitions.only)
        let isWritable = arguments.has(KeyringDefinitions.writable)
        guard !isWritable || !names.isEmpty else {
            throw CommandFailure(
                .usage, "usage.missing-operand", "--writable is for what --only names, and nothing is named",
                hint: "leave it out: all of a keyring can be changed, or add --only SERVICE")
        }
        try context.requireVault()
        // Nobody waits for the keyring yet, and the program isn't started when the vault stays locked.
        let vault = try await context.settings.askingNoKeyring.openVault()
        let bus = try PrivateBus.make(context.environment, deadline: context.deadline)
        let scope =
            names.isEmpty
            ? nil : ItemScope(names, keys: names.compactMap(SecretReference.key(of:)), isWritable: isWritable)
        let service = try await context.startService(
            VaultSource(context.settings, scope: scope, opened: vault), at: bus.address)
        if let owner = try await context.bus({ () async throws(BusFault) in try await service.own(replacing: false) }) {
            throw CommandFailure(.internalError, "internal.unexpected", "\(owner) is on the new bus already")
        }
        try SystemThread.detach {
            var ended = pollfd(fd: descriptors.program, events: Int16(POLLIN), revents: 0)
            while unsafe poll(&ended, 1, -1) < 0 && errno == EINTR {}
            service.stop()
        }
        leaveTerminal(keepingErrors: arguments.value(GlobalOptions.logLevel) != nil)
        report(bus.address, descriptors.report)
        let status = try await context.end(of: service)
        _ = consume bus
        return status
    }

    /// What is typed is for the program, and so are its pipes: one that waits for their end must not wait for us.
    ///
    /// - Parameter keepingErrors: where a log was asked for.
    private static func leaveTerminal(keepingErrors: Bool) {
        setsid()
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        for number in 0...(keepingErrors ? 1 : 2) as ClosedRange<Int32> { dup2(nothing, number) }
        close(nothing)
    }

    private static func report(_ address: String, _ descriptor: Int32) {
        let text = Array(address.utf8)
        unsafe text.withUnsafeBytes { _ = unsafe write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
