internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets

/// Reads a passphrase from a file or descriptor: its bytes, without one final line break (LF or CR LF). Waits until the
/// deadline for input that another process writes, such as a pipe.
package enum PassphraseFile {
    static let maximumByteCount = 64 * 1024

    static func read(_ path: String, deadline: Deadline) throws(StoreError) -> Secret<Passphrase> {
        // Opening a named pipe without a writer would block indefinitely.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unusable(path, "can't be read", errno) }
        defer { close(descriptor) }
        let status = try mapError(
            { (error: SystemErrorNumber) in unusable(path, "can't be read", error.number) },
            of: FileStatus.of(descriptor: descriptor))
        // Only a file is checked, because the content of a pipe or a terminal doesn't last. A file that other users can
        // read isn't secret.
        if status.isRegularFile {
            guard status.isOwn || status.owner == 0 else { throw refused(path, "belongs to another user") }
            guard status.isPrivate else { throw refused(path, "can be read by others") }
        }
        return try content(of: descriptor, "the passphrase file \(shown(path))", deadline) {
            unusable(path, "can't be read", $0)
        }
    }

    /// Reads to the end of a descriptor that another program passed on.
    package static func read(descriptor: Int32, deadline: Deadline) throws(StoreError) -> Secret<Passphrase> {
        try content(of: descriptor, "descriptor \(descriptor)", deadline) { number in
            StoreError(
                .locked, "can't read a passphrase from descriptor \(descriptor)",
                hint: "open the descriptor for reading, such as with \(descriptor)< FILE", platform: .errno(number))
        }
    }

    private static func content(
        of descriptor: Int32, _ name: LogMessage, _ deadline: Deadline, unreadable: (Int32) -> StoreError
    ) throws(StoreError) -> Secret<Passphrase> {
        var builder = SecretBuilder(limit: maximumByteCount)
        while true {
            guard isReadable(descriptor, deadline) else {
                throw StoreError(
                    .timedOut, "\(name) delivered no passphrase in time",
                    hint: "make sure that its writer is running, or \(Recovery.allowMoreTime)")
            }
            let outcome = try mappingError({ (error: SystemErrorNumber) in unreadable(error.number) }) {
                () throws(SystemErrorNumber) in
                try nilIf(
                    { (error: SystemErrorNumber) in error.number == EAGAIN },
                    of: Secret<MessageBody>(readingFrom: descriptor, atMost: 1024))
            }
            guard let chunk = outcome else { continue }
            if chunk.byteCount == 0 { break }
            try mapError(
                { (error: SecretBuilder.LimitExceeded) in
                    StoreError(.tooLarge, "\(name) has more than \(error.limit) bytes, too long for a passphrase")
                }, of: builder.append(chunk))
        }
        for end: UInt8 in [0x0A, 0x0D] {
            // A CR alone is a part of the passphrase.
            guard builder.withExposedBytes({ $0.count > 0 && $0[$0.count - 1] == end }) else { break }
            builder.removeLast()
        }
        guard builder.byteCount > 0 else {
            throw StoreError(.locked, "\(name) contains no passphrase", hint: "write the passphrase to \(name)")
        }
        return builder.finish(as: Passphrase.self)
    }

    /// Waits until a read wouldn't block. Descriptors that don't support waiting are ready.
    private static func isReadable(_ descriptor: Int32, _ deadline: Deadline) -> Bool {
        while true {
            var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let milliseconds = (deadline.remaining / .milliseconds(1)).rounded(.up)
            let count = unsafe poll(&question, 1, Int32(min(milliseconds, 3_600_000)))
            // read(2) reports the error of a descriptor that poll(2) doesn't support.
            if count > 0 || count < 0 && errno != EINTR { return true }
            if deadline.hasPassed { return false }
        }
    }

    private static func unusable(_ path: String, _ what: StaticString, _ number: Int32) -> StoreError {
        StoreError(
            number == EACCES ? .permissionDenied : .locked,
            "the passphrase file \(shown(path)) \(what): \(SystemErrorNumber(number))",
            hint:
                "set LATCHKEY_PASSPHRASE_FILE (or passphrase-file in the configuration) to the passphrase file's path",
            platform: .errno(number))
    }

    private static func refused(_ path: String, _ what: StaticString) -> StoreError {
        StoreError(
            .permissionDenied, "the passphrase file \(shown(path)) \(what)",
            hint: "use a file of your own with mode 0600")
    }

    static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path that the configuration names", unredacted: path)
    }
}
