/// A secret that a C library reads for longer than one call, such as the header of a request that is on its way.
///
/// The bytes stay where they are, and are wiped when this object goes: whoever hands their address to a library keeps
/// the object until the library has let go.
package final class LentSecret<Purpose: SecretPurpose>: Sendable {
    private let secret: Secret<Purpose>

    package init(_ secret: consuming Secret<Purpose>) {
        self.secret = secret
    }

    /// `nil` for no secret.
    package convenience init?(_ secret: consuming Secret<Purpose>?) {
        guard let secret else { return nil }
        self.init(secret)
    }

    package var byteCount: Int { secret.byteCount }

    /// Good as long as this object.
    @unsafe package var lentBytes: UnsafeRawBufferPointer { unsafe secret.storage }
}
