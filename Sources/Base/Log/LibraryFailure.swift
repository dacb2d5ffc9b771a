package import CLatchkeyLoad

/// Why a C library that is loaded at first use can't be used.
public struct LibraryFailure: RedactedError, Hashable {
    package enum Reason: Sendable, Hashable, CaseIterable {
        /// Another library than those that the process permits.
        case notPermitted
        /// The library, or one that it needs, isn't installed or can't be loaded.
        case missing
        /// The library is of another version, and lacks a function.
        case missingFunction
        /// `LD_LIBRARY_PATH` leads to a file or a folder that another user can write.
        case exposed
        /// The library was built without what Latchkey needs, or can't start.
        case unfit
    }

    package let reason: Reason
    package let library: LoadableLibrary
    /// The name of the library's file, or of the missing function.
    package let name: String

    package init(_ reason: Reason, _ library: LoadableLibrary, name: String) {
        self.reason = reason
        self.library = library
        self.name = name
    }

    /// Throws unless a library was loaded. The next attempt may succeed.
    package static func check(_ result: latchkey_loaded) throws(LibraryFailure) {
        let reason: Reason
        switch result.outcome {
        case LATCHKEY_LOADED: return
        case LATCHKEY_NOT_PERMITTED: reason = .notPermitted
        case LATCHKEY_NO_FUNCTION: reason = .missingFunction
        case LATCHKEY_EXPOSED: reason = .exposed
        case LATCHKEY_UNFIT: reason = .unfit
        default: reason = .missing
        }
        throw LibraryFailure(
            reason, LoadableLibrary(rawValue: result.library.rawValue)!, name: unsafe String(cString: result.name))
    }

    public var explanation: Explanation {
        let name = LoggableText(reviewed: "our own name of a library or a function", unredacted: name)
        let install: LogMessage = "run `apt install \(library.debianPackage)`"
        return switch reason {
        case .notPermitted:
            .init(
                .unavailable, "library.not-permitted", "\(purpose), isn't permitted in this process",
                hint: "permit \(name) where the process starts")
        case .missing:
            .init(.unavailable, "library.missing", "\(purpose), can't be loaded: no \(name)", hint: install)
        case .missingFunction:
            .init(
                .unavailable, "library.missing-function",
                "\(purpose), can't be used: this version lacks the function \(name)", hint: install)
        case .exposed:
            .init(
                .unavailable, "library.exposed",
                "\(purpose), isn't loaded: another user can write to LD_LIBRARY_PATH",
                hint: "unset LD_LIBRARY_PATH, or run `chmod go-w` on its directories and on \(name) there")
        case .unfit:
            .init(.unavailable, "library.unfit", "\(purpose), can't be used: \(requirement)", hint: install)
        }
    }

    /// The library with its purpose.
    private var purpose: LogMessage {
        switch library {
        case .crypto: "libcrypto, which signs and encrypts"
        case .curl: "libcurl, which sends HTTP requests"
        case .microHTTPD: "libmicrohttpd, which receives the browser's redirect"
        case .glib: "GLib, which connects to D-Bus"
        case .libsecret: "libsecret, which connects to the keyring"
        case .libpq: "libpq, which connects to PostgreSQL"
        }
    }

    private var requirement: LogMessage {
        library == .curl ? "its TLS isn't OpenSSL 3, or it can't start" : "it can't start"
    }
}
