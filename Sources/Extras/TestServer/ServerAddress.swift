internal import LatchkeyLoopback
public import LatchkeySecrets

extension AuthorizationServerConfiguration {
    /// Which loopback address a server listens on.
    public enum AddressFamily: Sendable, Hashable {
        /// 127.0.0.1
        case ipv4
        /// ::1
        case ipv6

        var loopback: LoopbackServer.Family {
            switch self {
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            }
        }
    }

    /// A certificate and its key, both PEM.
    public struct TLS: Sendable {
        let loopback: LoopbackTLS

        /// Nothing is checked before the server starts. The key is duplicated.
        public init(certificatePEM: String, key: borrowing Secret<PrivateKey>) {
            loopback = LoopbackTLS(certificatePEM: certificatePEM, key: key)
        }
    }
}
