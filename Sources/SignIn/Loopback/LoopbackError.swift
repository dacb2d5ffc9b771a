package import LatchkeyLog

/// Why a loopback server can't start.
package struct LoopbackError: RedactedError, Hashable {
    package enum Code: Sendable, Hashable, CaseIterable {
        /// Another process listens on the port.
        case portInUse
        /// The port is below 1024 and not ours to take.
        case portForbidden
        /// The machine has no such loopback address, such as no IPv6.
        case noSuchAddress
        /// Key and certificate can't be used.
        case badCertificate
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

    package var codeName: StaticString {
        switch code {
        case .portInUse: "loopback.port-in-use"
        case .portForbidden: "loopback.port-forbidden"
        case .noSuchAddress: "loopback.no-such-address"
        case .badCertificate: "loopback.bad-certificate"
        case .other: "loopback.other"
        }
    }

    package var cause: LogMessage {
        switch code {
        case .portInUse: "port \(port) of the loopback address is in use"
        case .portForbidden: "port \(port) of the loopback address needs privileges"
        case .noSuchAddress: "this machine has no such loopback address"
        case .badCertificate: "the key and certificate of the loopback server can't be used"
        case .other: "the loopback server can't start (errno \(number))"
        }
    }

    package var hint: LogMessage? {
        switch code {
        case .portInUse: "end what uses it, or give another port in the redirect"
        case .portForbidden: "give a port above 1023"
        case .noSuchAddress: "use the other of 127.0.0.1 and [::1]"
        case .badCertificate: "give a PEM key and the certificate that belongs to it"
        case .other: nil
        }
    }
}
