internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyOAuth
package import LatchkeyProcess
package import LatchkeySecrets
internal import LatchkeySystem

/// Where a sign-in waits for the address that the handler of a private-use scheme is started with: a socket (0600) in a
/// folder of this user alone. Messages of other users' programs are refused.
final class RedirectMailbox: Sendable {
    /// The outcome for a message; the handler gets its number.
    enum Receipt: UInt8, Sendable {
        case admitted = 1
        /// It belongs to no sign-in that waits here.
        case foreign = 2
    }

    private let path: String
    private let listener: Int32
    private let accept: @Sendable (Int32) -> Int32

    static let maximumByteCount = AuthorizationResponse.maximumByteCount

    /// Starts listening. Connections wait until `start`.
    ///
    /// - Parameter accept: accept(2), or a test's replacement.
    init(
        scheme: String, in folder: String,
        accept: @escaping @Sendable (Int32) -> Int32 = { latchkey_mailbox_accept($0) }
    ) throws(SystemErrorNumber) {
        self.accept = accept
        let octets = try RandomOctets.array(8)
        path = "\(folder)/\(scheme).\(Base64URL.encode(octets.span))"
        listener = unsafe latchkey_mailbox_listen(path)
        guard listener >= 0 else { throw SystemErrorNumber(errno) }
    }

    deinit {
        close(listener)
    }

    /// Receives messages on a separate thread, one after another, until `stop`. Throws if the thread can't start.
    ///
    /// - Parameter failed: is called if the mailbox can no longer receive, such as without a free descriptor (EMFILE).
    func start(
        failed: @escaping @Sendable (SystemErrorNumber) -> Void,
        _ receive: @escaping @Sendable (borrowing Secret<MessageBody>) -> Receipt
    ) throws(SystemErrorNumber) {
        try SystemThread.detach { [self] in
            if let failure = serve(receive) { failed(failure) }
        }
    }

    /// Deletes the socket and ends the thread. Calling it again is harmless.
    func stop() {
        unsafe unlink(path)
        shutdown(listener, Int32(SHUT_RDWR))
    }

    // MARK: - Taking messages

    /// Receives messages until the end. Returns the failure, or `nil` after `stop`.
    private func serve(_ receive: (borrowing Secret<MessageBody>) -> Receipt) -> SystemErrorNumber? {
        while true {
            let connection = accept(listener)
            guard connection >= 0 else {
                let number = errno
                // Whoever connected may have gone again; a listener that was shut down takes no connection (EINVAL).
                if [EINTR, ECONNABORTED].contains(number) { continue }
                return number == EINVAL ? nil : SystemErrorNumber(number)
            }
            defer { close(connection) }
            guard Self.isOurs(connection), let message = Self.receive(connection) else { continue }
            var receipt = receive(message).rawValue
            unsafe latchkey_mailbox_send(connection, &receipt, 1)
        }
    }

    /// Whether the program at the other end runs as this user.
    private static func isOurs(_ connection: Int32) -> Bool {
        var peer = latchkey_peer()
        return unsafe latchkey_mailbox_peer(connection, &peer) == 0 && peer.user == geteuid()
    }

    /// Returns `nil` for an empty message, one that is too long, and none within five seconds.
    private static func receive(_ connection: Int32) -> Secret<MessageBody>? {
        var count = 0
        let message = Secret<MessageBody>(capacity: maximumByteCount + 1) { target in
            count = unsafe target.withUnsafeMutableBytes { unsafe recv(connection, $0.baseAddress, $0.count, 0) }
            return max(0, count)
        }
        guard (1...maximumByteCount).contains(count) else { return nil }
        return message
    }

    // MARK: - Posting

    /// Passes an address to the sign-ins that wait for its scheme, until one accepts it. Returns whether one did.
    /// Throws without a free descriptor.
    ///
    /// Deletes sockets without a listening process.
    static func post<Purpose: SecretPurpose>(
        _ address: borrowing Secret<Purpose>, scheme: String, in folder: String
    ) throws(SystemErrorNumber) -> Bool {
        for name in try names(in: folder, of: scheme) {
            let path = "\(folder)/\(name)"
            let connection = unsafe latchkey_mailbox_connect(path)
            guard connection >= 0 else {
                if isShortage(errno) { throw SystemErrorNumber(errno) }
                if errno == ECONNREFUSED { unsafe unlink(path) }
                continue
            }
            defer { close(connection) }
            guard isOurs(connection) else { continue }
            let isSent = address.withExposedBytes { bytes in
                unsafe bytes.withUnsafeBytes { bytes in
                    unsafe latchkey_mailbox_send(connection, bytes.baseAddress, bytes.count) == 0
                }
            }
            var receipt: UInt8 = 0
            guard isSent, unsafe recv(connection, &receipt, 1, 0) == 1 else { continue }
            if Receipt(rawValue: receipt) == .admitted { return true }
        }
        return false
    }

    /// More than wait at once; the rest are left alone.
    private static let mostMailboxes = 64

    private static func isShortage(_ number: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(number) }

    private static func names(in folder: String, of scheme: String) throws(SystemErrorNumber) -> [String] {
        switch Result(catching: { () throws(SystemErrorNumber) in try FileSystem.names(in: folder) }) {
        case .failure(let error) where isShortage(error.number): throw error
        case .failure: return []
        case .success(let names):
            // The scheme has dots of its own; what follows the last one is the mailbox's.
            let mailboxes = names.filter { name in name.lastIndex(of: ".").map { name[..<$0] == scheme } ?? false }
            return mailboxes.prefix(mostMailboxes).sorted()
        }
    }
}

/// The folder (0700) of this user with the sockets of sign-ins that wait for an address of their scheme. The desktop
/// starts the scheme's handler with that address.
///
/// The handler is a program of the adopter, such as `latchkey scheme receive`. Its desktop entry contains the scheme
/// (Desktop Entry Specification, `MimeType=x-scheme-handler/SCHEME`). The handler passes its only argument to
/// `deliver`.
package struct RedirectFolder: Sendable, Hashable {
    package let path: String

    package init(path: String) {
        self.path = path
    }

    /// `$XDG_RUNTIME_DIR/latchkey/redirects`; without a runtime directory `$XDG_STATE_HOME/latchkey/redirects` or
    /// `~/.local/state/latchkey/redirects`.
    package static func standard(in environment: ProgramEnvironment) -> RedirectFolder {
        RedirectFolder(path: (environment.runtimeDirectory ?? environment.stateHome) + "/latchkey/redirects")
    }

    func mailbox(for scheme: String) throws(UserAgentError) -> RedirectMailbox {
        try mappingError({ (_: StoreError) in UserAgentError.unavailable(.cannotWaitForHandler(number: EACCES)) }) {
            () throws(StoreError) in
            // The folder needs the same privacy as that of the leases.
            try LeaseDirectory(path: path).prepare()
        }
        return try mapError(
            { (error: SystemErrorNumber) in
                UserAgentError.unavailable(.cannotWaitForHandler(number: error.number))
            },
            of: RedirectMailbox(scheme: scheme, in: path))
    }

    /// Passes on the handler's address, and returns whether a sign-in accepted it. Each waiting sign-in has five
    /// seconds to answer.
    ///
    /// Only an address of a private-use scheme can be accepted. Throws `.unavailable(.cannotWaitForHandler)` without a
    /// free descriptor.
    package func deliver<Purpose: SecretPurpose>(_ address: borrowing Secret<Purpose>) throws(UserAgentError) -> Bool {
        guard let scheme = Self.scheme(of: address) else { return false }
        return try mapError(
            { (error: SystemErrorNumber) in
                UserAgentError.unavailable(.cannotWaitForHandler(number: error.number))
            },
            of: RedirectMailbox.post(address, scheme: scheme, in: path))
    }

    private static func scheme<Purpose: SecretPurpose>(of address: borrowing Secret<Purpose>) -> String? {
        let name = address.withExposedBytes { bytes -> String? in
            var name = ""
            for index in bytes.indices.prefix(256) {
                if bytes[index] == UInt8(ascii: ":") { return name }
                guard bytes[index] > 0x20, bytes[index] < 0x7F else { return nil }
                name.unicodeScalars.append(Unicode.Scalar(bytes[index]))
            }
            return nil
        }
        guard let name, let redirect = try? RedirectURI(name + ":/x", allowingAnyPrivateScheme: true),
            redirect.kind == .privateUse
        else { return nil }
        return redirect.scheme
    }
}
