package import LatchkeyOAuth

/// The client that needs no document: for command lines and for development. Its id says all that there is to know.
package enum LoopbackClient {
    /// Returns `http://localhost?redirect_uri=…&scope=…` for a redirect on a loopback address, the port left out.
    ///
    /// Throws `.invalidRedirectURI` for any other redirect.
    package static func identifier(redirect: RedirectURI, scopes: ScopeList) throws(ATProtocolError) -> String {
        guard redirect.kind == .loopback, let address = redirect.loopbackAddress else {
            throw ATProtocolError(.invalidRedirectURI)
        }
        let text = "http://\(address.rawValue)\(redirect.path)"
        return "http://localhost?redirect_uri=\(encoded(text))&scope=\(encoded(scopes.text))"
    }

    /// RFC 3986 section 2.1, of all but unreserved characters.
    private static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}
