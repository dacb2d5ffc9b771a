internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// Puts one secret into the environment of the program that takes this process's place, and nowhere else.
///
/// `receive` returns only when the program can't be started. The variable's text is put together in guarded memory;
/// our own environment never has it.
struct ChildEnvironmentSink: SecretSink {
    static var reason: StaticString { "the person runs a program that takes its token from a variable" }

    /// The variable's name.
    let variable: String
    /// The program's path, and its arguments with its name first.
    let path: String
    let arguments: [String]

    /// execve(2) failed; `number` is its errno.
    struct StartFailure: Error, Hashable, Sendable {
        let number: Int32
    }

    /// Becomes the program. A variable of the same name that we were given is left out, and so are Latchkey's own: they
    /// say where the keys are to everything else.
    mutating func receive(_ bytes: Span<UInt8>) throws(StartFailure) {
        var entry = SecretBuilder(capacity: variable.utf8.count + bytes.count + 2)
        try mappingError({ (_: SecretBuilder.LimitExceeded) in StartFailure(number: E2BIG) }) {
            () throws(SecretBuilder.LimitExceeded) in
            try entry.append(publicText: variable + "=")
            try entry.append(bytes)
            try entry.append(0)
        }
        let number = entry.withExposedBytes { text in
            unsafe text.withUnsafeBytes { text in unsafe replaceThisProcess(adding: text) }
        }
        throw StartFailure(number: number)
    }

    /// Returns the errno of what failed.
    private func replaceThisProcess(adding entry: UnsafeRawBufferPointer) -> Int32 {
        var variables: [UnsafeMutablePointer<CChar>?] = unsafe []
        var next = unsafe environ
        while let text = unsafe next.pointee {
            let isReplaced = unsafe strncmp(text, variable + "=", variable.utf8.count + 1) == 0
            let isOwn = unsafe strncmp(text, "LATCHKEY_", 9) == 0
            if !isReplaced && !isOwn { unsafe variables.append(text) }
            unsafe next += 1
        }
        // execve only reads it.
        let added = unsafe UnsafeMutableRawPointer(mutating: entry.baseAddress!).assumingMemoryBound(to: CChar.self)
        unsafe variables += [added, nil]
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        // Threads of the concurrency runtime hold signals back, and the program would inherit that.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        unsafe execve(path, &words, variables)
        return errno
    }
}
