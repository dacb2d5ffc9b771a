internal import CLatchkeyCrypto
internal import Glibc
package import LatchkeyLog

/// How the Secret Service's sessions agree on a key: `dh-ietf1024-sha256-aes128-cbc-pkcs7`. Diffie-Hellman in the
/// second Oakley group (RFC 2409 section 6.2) and HKDF with SHA-256 (RFC 5869). No other use: the group is too small
/// for that.
package struct SecretServiceKeyExchange: ~Copyable, Sendable {
    /// Of a value of the group.
    package static let valueByteCount = 128
    /// Of the exponent: twice the strength that the group has at best is enough.
    private static let exponentByteCount = 32
    private static let keyByteCount = 16

    private let exponent: Secret<PrivateKey>
    /// The value for the other side: big-endian, without leading zeros.
    package let publicValue: [UInt8]

    /// Takes a random exponent. Returns `nil` when the system gives none, or libcrypto refuses.
    package init?() throws(LibraryFailure) {
        guard let exponent = try? Secret<PrivateKey>.random(byteCount: Self.exponentByteCount) else { return nil }
        try self.init(exponent: exponent)
    }

    /// Returns `nil` when libcrypto refuses, or for an exponent of zero.
    ///
    /// - Parameter exponent: random bytes, the greatest first.
    package init?(exponent: consuming Secret<PrivateKey>) throws(LibraryFailure) {
        try LibraryFailure.check(latchkey_crypto_load())
        guard let group = Group() else { return nil }
        let power = exponent.withExposedBytes { group.power(of: [2], $0) }
        guard let power else { return nil }
        // Public by its nature: it is about to be sent.
        publicValue = power.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }.drop { $0 == 0 } + []
        self.exponent = exponent
    }

    /// The shared key: 16 bytes. `nil` if the other side's value isn't in 2...p-2, because an attacker could then know
    /// the key, and if libcrypto refuses.
    package borrowing func key(with otherValue: [UInt8]) -> Secret<PrivateKey>? {
        let value = Array(otherValue.drop { $0 == 0 })
        guard value.count <= Self.valueByteCount, let group = Group(), group.isProper(value) else { return nil }
        // All 128 bytes of it, zeros at the front as well: who leaves them out has another key once in 256 times.
        let shared = exponent.withExposedBytes { group.power(of: value, $0) }
        guard let shared else { return nil }
        return Self.derivedKey(from: shared)
    }

    /// HKDF with a salt of 32 zeros and no information, of which the first 16 bytes are the key. `nil` if libcrypto refuses.
    static func derivedKey(from shared: borrowing Secret<PrivateKey>) -> Secret<PrivateKey>? {
        let salt = Secret<PrivateKey>(byteCount: 32) { _ in }
        let made = shared.withExposedBytes { authenticationCode(of: $0, key: salt, byteCount: 32) }
        guard let extracted = made else { return nil }
        return authenticationCode(of: [0x01].span, key: extracted, byteCount: keyByteCount)
    }

    /// The first bytes of HMAC-SHA-256 (RFC 2104), guarded memory to guarded memory. `nil` if libcrypto refuses: zeros would
    /// be a key that everybody knows.
    private static func authenticationCode(
        of bytes: Span<UInt8>, key: borrowing Secret<PrivateKey>, byteCount: Int
    ) -> Secret<PrivateKey>? {
        var isMade = false
        let made = Secret<PrivateKey>(capacity: 32) { code in
            key.withExposedBytes { key in
                unsafe code.withUnsafeMutableBytes { code in
                    unsafe bytes.withUnsafeBytes { bytes in
                        unsafe key.withUnsafeBytes { key in
                            isMade =
                                unsafe crypto.HMAC(
                                    crypto.EVP_sha256(), key.baseAddress, Int32(key.count),
                                    bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count,
                                    code.baseAddress?.assumingMemoryBound(to: UInt8.self), nil) != nil
                        }
                    }
                }
            }
            return byteCount
        }
        guard isMade else { return nil }
        return made
    }
}

/// The group, with the objects for computing in it. OpenSSL 3 lacks a name for a group that small.
@safe private struct Group: ~Copyable {
    private let prime: OpaquePointer
    private let context: OpaquePointer

    init?() {
        guard let prime = unsafe crypto.BN_get_rfc2409_prime_1024(nil) else { return nil }
        guard let context = unsafe crypto.BN_CTX_secure_new() else {
            unsafe crypto.BN_free(prime)
            return nil
        }
        unsafe self.prime = prime
        unsafe self.context = context
    }

    deinit {
        unsafe crypto.BN_free(prime)
        unsafe crypto.BN_CTX_free(context)
    }

    /// Whether a value is in 2...p-2.
    func isProper(_ value: [UInt8]) -> Bool {
        guard let number = unsafe crypto.BN_bin2bn(value, Int32(value.count), nil) else { return false }
        defer { unsafe crypto.BN_free(number) }
        guard let largest = unsafe crypto.BN_dup(prime) else { return false }
        defer { unsafe crypto.BN_free(largest) }
        return unsafe crypto.BN_sub_word(largest, 1) == 1 && crypto.BN_is_zero(number) == 0
            && crypto.BN_is_one(number) == 0
            && crypto.BN_cmp(number, largest) < 0
    }

    /// A power, in a time that doesn't tell the exponent: 128 bytes.
    func power(of base: [UInt8], _ exponent: Span<UInt8>) -> Secret<PrivateKey>? {
        // They are wiped when they are freed.
        guard let number = unsafe crypto.BN_secure_new() else { return nil }
        defer { unsafe crypto.BN_clear_free(number) }
        guard let result = unsafe crypto.BN_secure_new() else { return nil }
        defer { unsafe crypto.BN_clear_free(result) }
        guard let base = unsafe crypto.BN_bin2bn(base, Int32(base.count), nil) else { return nil }
        defer { unsafe crypto.BN_free(base) }
        let isRead = unsafe exponent.withUnsafeBytes { exponent in
            unsafe crypto.BN_bin2bn(
                exponent.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(exponent.count), number) != nil
        }
        unsafe crypto.BN_set_flags(number, BN_FLG_CONSTTIME)
        guard isRead, unsafe crypto.BN_is_zero(number) == 0,
            unsafe crypto.BN_mod_exp_mont_consttime(result, base, number, prime, context, nil) == 1
        else {
            unsafe crypto.ERR_clear_error()
            return nil
        }
        let byteCount = SecretServiceKeyExchange.valueByteCount
        return Secret(byteCount: byteCount) { target in
            unsafe target.withUnsafeMutableBytes { target in
                _ = unsafe crypto.BN_bn2binpad(
                    result, target.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(byteCount))
            }
        }
    }
}
