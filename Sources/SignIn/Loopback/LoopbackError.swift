package import LatchkeyLog

/// Why a loopback server can't start.
package struct LoopbackError: RedactedError, Hashable {
    package enum Code: Sendable, Hashable {
        /// Another process listens on the port.
        case portInUse
        /// The port is below 1024 and not ours to take.
        case portForbidden
        /// The machine lacks the loopback address, for example because IPv6 is off.
        case noSuchAddress
        /// Key and certificate can't be used.
        case badCertificate
        /// libmicrohttpd can't be loaded.
        case noLibrary(LibraryFailure)
        case other
    }

    package let code: Code
    package let port: UInt16
    /// The errno, or 0.
    package let number: Int32

    package init(_ code: Code, port: UInt16, number: Int32 = 0) {
        self.code = code
        self.port = port
        self.number = number
    }

    package var explanation: Explanation {
        switch code {
        case .portInUse:
            .init(
                .unavailable, "loopback.port-in-use", "another process uses port \(port) of the loopback address",
                hint: "end that process, or use another port in the redirect")
        case .portForbidden:
            .init(
                .unavailable, "loopback.port-forbidden", "port \(port) of the loopback address needs privileges",
                hint: "use a port above 1023")
        case .noSuchAddress:
            .init(
                .unavailable, "loopback.no-such-address", "this machine lacks the loopback address",
                hint: "use [::1] instead of 127.0.0.1, or 127.0.0.1 instead of [::1]")
        case .badCertificate:
            .init(
                .badData, "loopback.bad-certificate", "the key and certificate of the loopback server can't be used",
                hint: "use a PEM key and its certificate")
        case .noLibrary(let failure): failure.explanation
        case .other:
            .init(.unavailable, "loopback.other", "can't start the loopback server: \(SystemErrorNumber(number))")
        }
    }
}
