internal import Glibc

/// Why another program's file can't be imported.
package struct ImportError: RedactedError {
    package enum Problem: Sendable, Hashable {
        /// The file doesn't exist or can't be read; with the errno.
        case unreadable(Int32)
        /// It isn't a regular file.
        case notAFile
        /// The file is larger than 16 MiB.
        case tooLarge
        /// It isn't what that program writes, from this line on.
        case malformed(line: Int)
        /// It isn't what that program writes.
        case notThatFormat
        /// The file's encryption isn't supported.
        case sealed
        /// The passphrase doesn't open it, or it was damaged.
        case wrongPassphrase
        /// Opening it would take more work than any sound file asks for.
        case tooCostly
        /// It isn't what was imported, so the secrets are not removed.
        case changed
        /// The file belongs to another user, so the secrets stay in it.
        case othersFile
        /// The file has other names, which would still have the secrets.
        case hardLinked
        /// The secrets can't be separated from the rest of it.
        case interwoven
        /// Writing the file without the secrets failed; with the errno.
        case unwritable(Int32)
    }

    package let problem: Problem

    /// Whether the file doesn't exist.
    package var isAbsence: Bool { problem == .unreadable(ENOENT) || problem == .unreadable(ENOTDIR) }

    let program: StaticString

    package var explanation: Explanation {
        switch problem {
        case .unreadable(let number):
            .init(
                .unavailable, "import.unreadable", "can't read the file of \(program): \(SystemErrorNumber(number))",
                hint: "\(Recovery.chooseFile)")
        case .notAFile:
            .init(
                .unavailable, "import.unreadable", "the path of \(program)'s file is not a regular file",
                hint: "\(Recovery.chooseFile)")
        case .tooLarge:
            .init(
                .badData, "import.malformed",
                "the file of \(program) has more than \(ForeignFile.maximumByteCount >> 20) MiB", hint: Self.lookAtFile)
        case .malformed(let line):
            .init(
                .badData, "import.malformed", "line \(line) differs from what \(program) writes", hint: Self.lookAtFile)
        case .notThatFormat:
            .init(.badData, "import.malformed", "the file is not in the format of \(program)", hint: Self.lookAtFile)
        case .sealed:
            .init(
                .refused, "import.sealed", "the file of \(program) is encrypted in a way that Latchkey can't open",
                hint:
                    "copy the secrets with the program that wrote the file; if a keyring is open, import its collection"
            )
        case .wrongPassphrase:
            .init(
                .refused, "import.wrong-passphrase",
                "the passphrase does not open the file of \(program), or the file is damaged",
                hint: "try again; nothing was imported")
        case .tooCostly:
            .init(
                .badData, "import.malformed",
                "the file of \(program) asks for more work to open it than any valid file", hint: Self.lookAtFile)
        case .changed:
            .init(
                .refused, "import.not-emptied", "another program has changed the file",
                hint: "run the command again; the imported secrets stay in the store")
        case .othersFile:
            .init(.refused, "import.not-emptied", "the file belongs to another user", hint: Self.removeThem)
        case .hardLinked:
            .init(
                .refused, "import.not-emptied",
                "the file has a second name (a hard link), which would still contain the secrets", hint: Self.removeThem
            )
        case .interwoven:
            .init(
                .refused, "import.not-emptied", "the secrets can't be separated from the rest of the file",
                hint: Self.removeThem)
        case .unwritable(let number):
            .init(
                .cannotWrite, "import.not-emptied", "can't write the file: \(SystemErrorNumber(number))",
                hint: Self.removeThem)
        }
    }

    private static let lookAtFile: LogMessage = "nothing was imported; look at the file, or use another file"
    private static let removeThem: LogMessage = "remove the secrets from the file yourself; they are in the store"
}

/// Reads a file that another program wrote into guarded memory. The content isn't only a password: it has names too,
/// which messages show.
enum ForeignFile {
    static let maximumByteCount = 16 << 20

    static func read(_ path: String, of program: StaticString) throws(ImportError) -> Secret<MessageBody> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw ImportError(problem: .unreadable(errno), program: program) }
        defer { close(descriptor) }
        let unreadable = { (error: SystemErrorNumber) in
            ImportError(problem: .unreadable(error.number), program: program)
        }
        let status = try mapError(unreadable, of: FileStatus.of(descriptor: descriptor))
        guard status.isRegularFile else { throw ImportError(problem: .notAFile, program: program) }
        guard status.byteCount <= maximumByteCount else { throw ImportError(problem: .tooLarge, program: program) }
        return try mappingError(unreadable) { () throws(SystemErrorNumber) in
            try Secret(capacity: status.byteCount) { (span) throws(SystemErrorNumber) in
                try DescriptorBytes.fill(&span, from: descriptor)
            }
        }
    }
}
