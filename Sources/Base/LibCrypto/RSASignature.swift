internal import CLatchkeyCrypto

/// RSASSA-PKCS1-v1_5 with SHA-256: `RS256` of RFC 7518 section 3.3.
package enum RSASignature {
    /// RFC 7518 section 3.3 wants 2,048 bits or more; what a stranger may make us compute with has an end too.
    package static let modulusByteCounts = 256...1024

    /// Whether a signature is the key's over a message. False for a key that is too short, too long, or has an even
    /// exponent or one of more than 64 bits.
    ///
    /// - Parameters:
    ///   - modulus: the greatest byte first, as in a JSON Web Key.
    ///   - exponent: the greatest byte first.
    package static func isValid(
        _ signature: [UInt8], of message: Span<UInt8>, modulus: [UInt8], exponent: [UInt8]
    ) -> Bool {
        let modulus = Array(modulus.drop { $0 == 0 })
        let exponent = Array(exponent.drop { $0 == 0 })
        guard modulusByteCounts.contains(modulus.count), modulus.count > 256 || modulus[0] >= 0x80,
            (1...8).contains(exponent.count), let last = exponent.last, last & 1 == 1, exponent != [1]
        else { return false }
        // libcrypto wants the smallest byte first.
        var (n, e) = (Array(modulus.reversed()), Array(exponent.reversed()))
        return unsafe n.withUnsafeMutableBytes { n in
            unsafe e.withUnsafeMutableBytes { e in
                var parameters = unsafe [
                    KeyParameter.number("n", n), KeyParameter.number("e", e), OSSL_PARAM_construct_end(),
                ]
                guard let key = unsafe PublicKeyHandle("RSA", &parameters) else {
                    return false
                }
                return key.accepts(signature, of: message)
            }
        }
    }
}
