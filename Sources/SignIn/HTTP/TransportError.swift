public import LatchkeyLog

/// The reason for a missing response.
public struct TransportError: RedactedError, Hashable {
    /// A failure of the transfer. A response with the status 404 or 500 isn't one.
    public enum Code: Sendable, Hashable {
        /// The name has no address.
        case cannotResolveHost
        /// No server listens there, or the network doesn't reach it.
        case cannotConnect
        /// The proxy of the environment can't be reached, or refuses to pass us on.
        case proxyRefused
        /// Both sides found no way to speak TLS; what responds may not be a TLS server at all.
        case handshakeFailed
        /// TLS works, but the certificate proves nothing; the cause says why.
        case certificateRefused
        /// The file of trusted certificates can't be read or holds none.
        case certificateAuthoritiesUnreadable
        /// The connection ended before the response did.
        case connectionLost
        /// ``TransferLimits/timeout`` passed before the response was whole.
        case timedOut
        /// The task was cancelled.
        case cancelled
        /// The body has more bytes than ``TransferLimits/maximumBodyByteCount``.
        case bodyTooLarge
        /// The response isn't HTTP, has too many or too large fields, or has an encoding that wasn't requested.
        case malformedResponse
        /// The request carries a field that the transport sets itself, such as `Host` or `Authorization`, or its
        /// `authorization` or `proof` is empty or isn't printable ASCII.
        case malformedRequest
        /// Plain HTTP to anything but this machine; nothing was sent.
        case notConfidential
        /// The name leads to no address that this client may connect to; no connection was made.
        case addressRefused
        /// libcurl can't be loaded; nothing was sent.
        case noLibrary(LibraryFailure)
        /// None of the above; the cause has libcurl's number.
        case other
    }

    /// The problem with a certificate.
    package enum CertificateProblem: Sendable, Hashable, CaseIterable {
        /// It leads to no certificate that we trust; also one that vouches for itself.
        case untrustedIssuer
        case wrongHost
        case expired
        case notYetValid
        case other
    }

    /// The code for a program's decisions.
    public let code: Code
    /// The origin of the request, without path and query.
    package let origin: LoggableText
    /// libcurl's error number, or 0.
    package let number: Int
    /// Set for `certificateRefused`.
    package let certificateProblem: CertificateProblem?

    /// Makes an error for your own transport.
    ///
    /// - Parameters:
    ///   - code: the failure.
    ///   - origin: the URL's origin, without path and query.
    public init(_ code: Code, origin: LoggableText) {
        self.init(code, origin: origin, number: 0)
    }

    package init(
        _ code: Code, origin: LoggableText, number: Int, certificateProblem: CertificateProblem? = nil
    ) {
        self.code = code
        self.origin = origin
        self.number = number
        self.certificateProblem = certificateProblem
    }

    public var explanation: Explanation {
        switch code {
        case .cannotResolveHost:
            .init(
                .unavailable, "http.cannot-resolve-host", "the host of \(origin) can't be found",
                hint: Self.checkNetwork)
        case .cannotConnect:
            .init(.unavailable, "http.cannot-connect", "no server responds at \(origin)", hint: Self.checkNetwork)
        case .proxyRefused:
            .init(
                .unavailable, "http.proxy-refused", "the proxy on the way to \(origin) can't be used",
                hint: "check https_proxy and no_proxy")
        case .handshakeFailed:
            .init(
                .protocolError, "http.handshake-failed", "the TLS connection to \(origin) failed",
                hint: "check that the address and port speak HTTPS")
        case .certificateRefused:
            .init(.refused, "http.certificate-refused", certificateCause, hint: certificateHint)
        case .certificateAuthoritiesUnreadable:
            .init(
                .configuration, "http.certificate-authorities-unreadable",
                "the file of trusted certificates can't be used", hint: "use a readable file of PEM certificates")
        case .connectionLost:
            .init(.unavailable, "http.connection-lost", "the connection to \(origin) broke", hint: Self.checkNetwork)
        case .timedOut:
            .init(.tryAgain, "http.timed-out", "\(origin) did not respond in time", hint: Self.checkNetwork)
        case .cancelled: .init(.interrupted, "http.cancelled", "the request was cancelled")
        case .bodyTooLarge: .init(.protocolError, "http.body-too-large", "the response of \(origin) is too large")
        case .malformedResponse:
            .init(
                .protocolError, "http.malformed-response", "the response of \(origin) is not valid HTTP",
                hint: "check the address and its port; a proxy may be in between")
        case .malformedRequest:
            .init(
                .badData, "http.malformed-request",
                "the request to \(origin) has a field that only the transport may set")
        case .notConfidential:
            .init(
                .configuration, "http.not-confidential", "\(origin) is neither HTTPS nor a loopback address",
                hint: "use the server's https:// address")
        case .addressRefused:
            .init(
                .refused, "http.address-refused", "the host name in \(origin) resolves to a private address",
                hint: "check the host name: a name from another party must not resolve to a private address")
        case .noLibrary(let failure): failure.explanation
        case .other:
            .init(
                .unavailable, "http.other", "the request to \(origin) failed (curl \(number))", hint: Self.checkNetwork)
        }
    }

    private static let checkNetwork: LogMessage = "check the address and the network, then try again"

    private var certificateHint: LogMessage {
        switch certificateProblem {
        case .wrongHost: "use the host name that the certificate is for"
        case .expired, .notYetValid: "check this machine's clock, then the server's certificate"
        default: "\(Recovery.trustCertificate)"
        }
    }

    private var certificateCause: LogMessage {
        switch certificateProblem {
        case .untrustedIssuer: "the certificate of \(origin) isn't from a trusted authority"
        case .wrongHost: "the certificate of \(origin) is for another host"
        case .expired: "the certificate of \(origin) has expired"
        case .notYetValid: "the certificate of \(origin) is not valid yet"
        case .other, nil: "the certificate of \(origin) is not trusted"
        }
    }
}
