internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyOAuth
package import LatchkeyProcess
package import LatchkeySecrets
internal import LatchkeySystem

/// Where sign-ins wait for the addresses that a desktop starts the handler of their scheme with: a folder (0700) of
/// this user alone.
///
/// The handler is a program of the adopter's, such as `latchkey scheme receive`: its desktop entry names the scheme
/// (Desktop Entry Specification, `MimeType=x-scheme-handler/SCHEME`), and it passes its one argument to `deliver`.
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
            // It is to be as private as the leases' folder.
            try LeaseDirectory(path: path).prepare()
        }
        return try mapError(
            { (error: RedirectMailbox.Failure) in
                UserAgentError.unavailable(.cannotWaitForHandler(number: error.number))
            },
            of: RedirectMailbox(scheme: scheme, in: path))
    }

    /// Passes on the address that a handler was started with, and returns whether a sign-in took it. Each one that
    /// waits has five seconds to say so.
    ///
    /// What is no address of a private-use scheme is taken by nobody. Throws `.unavailable(.cannotWaitForHandler)`
    /// where there are no descriptors left to ask with.
    package func deliver<Purpose: SecretPurpose>(_ address: borrowing Secret<Purpose>) throws(UserAgentError) -> Bool {
        guard let scheme = Self.scheme(of: address) else { return false }
        return try mapError(
            { (error: RedirectMailbox.Failure) in
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
