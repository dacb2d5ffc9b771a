internal import Glibc
package import LatchkeyLog

/// Reads a secret from a pipe or file verbatim, with a final line break, through guarded memory only.
package enum SecretInput {
    /// Reads to the end of `descriptor`.
    ///
    /// Throws `input.too-long` when there are more than `limit` bytes.
    ///
    /// - Parameters:
    ///   - name: of the descriptor, for errors.
    ///   - isWhole: whether what was read so far is all that will be of use, for a peer that keeps its end open.
    package static func readAll<Purpose: SecretPurpose>(
        from descriptor: Int32 = 0, _ name: LogMessage = "standard input", as purpose: Purpose.Type, limit: Int,
        until isWhole: (Span<UInt8>) -> Bool = { _ in false }
    ) throws(CommandFailure) -> Secret<Purpose> {
        var builder = SecretBuilder(limit: limit)
        while !builder.withExposedBytes(isWhole) {
            // Reads a chunk without the purpose, so that the chunk doesn't count as a separate secret.
            let chunk = try mapError(
                { (error: SystemErrorNumber) in
                    CommandFailure(
                        .badData, "input.unreadable", "can't read \(name): \(error)",
                        hint: "pipe the secret in, or run the command in a terminal")
                },
                of: Secret<MessageBody>(readingFrom: descriptor, atMost: 16 * 1024))
            if chunk.byteCount == 0 { return builder.finish(as: purpose) }
            try mapError(
                { (_: SecretBuilder.LimitExceeded) in
                    CommandFailure(
                        .badData, "input.too-long", "\(name) has more than \(limit) bytes",
                        hint: "pass at most \(limit) bytes")
                },
                of: builder.append(chunk))
        }
        return builder.finish(as: purpose)
    }

    /// Whether standard input is a terminal. Then the program must ask a person.
    package static func isTerminal(_ descriptor: Int32 = 0) -> Bool { isatty(descriptor) == 1 }
}
