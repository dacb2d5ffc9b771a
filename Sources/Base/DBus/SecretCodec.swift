internal import CLatchkeyGLib
internal import LatchkeyLog
package import LatchkeySecrets

/// A session with the Secret Service. Once it is open, it encrypts secrets on their way over the bus.
@safe package final class SecretCodec: Sendable {
    private let service: ObjectReference

    private init(adopting pointer: UnsafeMutableRawPointer) {
        unsafe service = ObjectReference(adopting: pointer)
    }

    /// Finds the program that offers the service, and calls none of its methods.
    @GLibThread package static func make(_ trigger: Trigger) async throws(BusFault) -> SecretCodec {
        try mapError(BusFault.init, of: LibraryFailure.check(latchkey_libsecret_load()))
        let pending = withSignalsBlocked {
            unsafe begin { callback, data in
                unsafe trigger.withPointer { unsafe latchkey_service_make($0, callback, data) }
            }
        }
        let pointer = try unsafe await trigger.wait(pending).finish { unsafe secret_service_open_finish($0, $1) }
        return unsafe SecretCodec(adopting: UnsafeMutableRawPointer(pointer!))
    }

    /// Opens the session: agrees on a key with the service.
    @GLibThread package func open(_ trigger: Trigger) async throws(BusFault) {
        let pending = unsafe begin { callback, data in
            unsafe withPointer { service in
                unsafe trigger.withPointer { unsafe secret_service_ensure_session(service, $0, callback, data) }
            }
        }
        _ = try unsafe await trigger.wait(pending).finish { result, error in
            unsafe withPointer { unsafe secret_service_ensure_session_finish($0, result, error) }
        }
    }

    /// Lends the pointer, which is a GDBusProxy's as well.
    private func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe service.withPointer { unsafe body(OpaquePointer($0)) }
    }

    /// The unique name of the program that offers the service, or `nil` if the program has ended.
    package var owner: String? {
        guard let name = unsafe withPointer({ unsafe g_dbus_proxy_get_name_owner($0) }) else { return nil }
        defer { unsafe g_free(name) }
        return unsafe String(cString: name)
    }

    package var sessionPath: String? {
        unsafe withPointer { service in
            unsafe secret_service_get_session_dbus_path(service).map { unsafe String(cString: $0) }
        }
    }

    /// Whether secrets cross the bus encrypted (`dh-ietf1024-sha256-cbc-aes128-pkcs7`) rather than `plain`.
    package var isEncrypted: Bool {
        unsafe withPointer {
            guard let name = unsafe secret_service_get_session_algorithms($0) else { return false }
            return unsafe String(cString: name) != "plain"
        }
    }

    /// Returns the D-Bus form of a secret, encrypted. libsecret reads the guarded memory where it is, and encrypts
    /// in memory of its own.
    package func encode<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, contentType: StaticString
    ) -> BusValue? {
        secret.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { buffer in
                var none: CChar = 0
                return unsafe withUnsafeMutablePointer(to: &none) { none in
                    let base = unsafe UnsafeMutablePointer(
                        mutating: buffer.baseAddress?.assumingMemoryBound(to: CChar.self) ?? UnsafePointer(none))
                    let value = unsafe SecretValueReference(
                        adopting: secret_value_new_full(base, buffer.count, contentType.description, nil))
                    return encode(value)
                }
            }
        }
    }

    private func encode(_ value: borrowing SecretValueReference) -> BusValue? {
        unsafe withPointer { service in
            unsafe value.withPointer { value in
                unsafe secret_service_encode_dbus_secret(service, value).map { unsafe BusValue(adopting: $0) }
            }
        }
    }

    /// Returns the secret and its content type, or `nil` when the D-Bus form isn't what this session encrypts.
    package func decode<Purpose: SecretPurpose>(
        _ value: BusValue, as purpose: Purpose.Type
    ) -> DecodedSecret<Purpose>? {
        let pointer = unsafe withPointer { service in
            unsafe value.withPointer { unsafe secret_service_decode_dbus_secret(service, $0) }
        }
        guard let pointer = unsafe pointer else { return nil }
        return unsafe SecretValueReference(adopting: pointer).moved(as: purpose)
    }
}

/// A secret as it came from the service.
package struct DecodedSecret<Purpose: SecretPurpose>: ~Copyable {
    package let secret: Secret<Purpose>
    package let contentType: String

    package consuming func takeSecret() -> Secret<Purpose> { secret }
}

/// The only reference to a SecretValue.
@safe private struct SecretValueReference: ~Copyable {
    private let pointer: OpaquePointer

    init(adopting pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe secret_value_unref(UnsafeMutableRawPointer(pointer))
    }

    /// Lends the pointer; the value stays alive until `body` returns.
    borrowing func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(pointer)
    }

    /// Copies the bytes of a value that libsecret decrypted into our memory, and wipes its own. libsecret does that
    /// only where it could lock the memory: not where a large secret is past RLIMIT_MEMLOCK.
    consuming func moved<Purpose: SecretPurpose>(as purpose: Purpose.Type) -> DecodedSecret<Purpose> {
        var count = 0
        let base = unsafe secret_value_get(pointer, &count)
        var bytes = unsafe MutableSpan<UInt8>(
            _unsafeBytes: UnsafeMutableRawBufferPointer(
                start: UnsafeMutableRawPointer(mutating: base), count: count))
        let secret = Secret<Purpose>(copying: bytes.span)
        wipe(&bytes)
        let type = unsafe secret_value_get_content_type(pointer).map { unsafe String(cString: $0) }
        return DecodedSecret(secret: secret, contentType: type ?? "")
    }
}
