internal import Glibc
package import LatchkeyLog
package import LatchkeySecrets

/// Reads a secret from a pipe or file, exactly: no line break is taken off, and the memory it goes through is guarded.
package enum SecretInput {
    /// Reads to the end of `descriptor`.
    ///
    /// Throws `InputError.tooLong` when there are more than `limit` bytes.
    package static func readAll<Purpose: SecretPurpose>(
        from descriptor: Int32 = 0, as purpose: Purpose.Type, limit: Int
    ) throws(InputError) -> Secret<Purpose> {
        var builder = SecretBuilder(limit: limit)
        while true {
            var outcome = 0
            // Not of the purpose: a chunk is no secret that a program's last line should know.
            let chunk = Secret<MessageBody>(byteCount: chunkByteCount) { outcome = read(descriptor, into: &$0) }
            if outcome == 0 { return builder.finish(as: purpose) }
            if outcome < 0 { throw InputError(problem: .unreadable(number: Int32(-outcome))) }
            do throws(SecretBuilder.LimitExceeded) {
                try chunk.withExposedBytes { (bytes) throws(SecretBuilder.LimitExceeded) in
                    try builder.append(bytes.extracting(first: outcome))
                }
            } catch {
                throw InputError(problem: .tooLong(limit: limit))
            }
        }
    }

    /// Whether standard input is a terminal, so that a person must be asked instead.
    package static func isTerminal(_ descriptor: Int32 = 0) -> Bool { isatty(descriptor) == 1 }

    private static let chunkByteCount = 16 * 1024

    /// Returns the number of bytes read, 0 at the end, or the errno, negative.
    private static func read(_ descriptor: Int32, into span: inout MutableSpan<UInt8>) -> Int {
        unsafe span.withUnsafeMutableBytes { buffer in
            while true {
                let count = unsafe Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                if count >= 0 { return count }
                if errno != EINTR { return -Int(errno) }
            }
        }
    }
}

/// Standard input can't be taken.
package struct InputError: CommandError, Hashable {
    package enum Problem: Sendable, Hashable {
        /// read(2) failed with this errno.
        case unreadable(number: Int32)
        case tooLong(limit: Int)
    }

    package let problem: Problem

    package var codeName: StaticString {
        switch problem {
        case .unreadable: "input.unreadable"
        case .tooLong: "input.too-long"
        }
    }

    package var cause: LogMessage {
        switch problem {
        case .unreadable(let number): "standard input can't be read (errno \(number))"
        case .tooLong(let limit): "there are more than \(limit) bytes on standard input"
        }
    }

    package var hint: LogMessage? {
        switch problem {
        case .unreadable: "pipe the secret in, or run the command in a terminal"
        case .tooLong: nil
        }
    }

    package var exitStatus: ExitStatus { .badData }
}
