package import LatchkeySecrets
internal import LatchkeySystem

/// Where random octets come from: the kernel, or what a test puts in its place.
package struct RandomSource: Sendable {
    private let fill: @Sendable (inout MutableSpan<UInt8>) throws(RandomSourceError) -> Void

    /// - Parameter fill: overwrites the whole span, or throws with the platform's error number.
    package init(_ fill: @escaping @Sendable (inout MutableSpan<UInt8>) throws(RandomSourceError) -> Void) {
        self.fill = fill
    }

    /// The kernel's generator (getentropy(3)); its status is checked on each call.
    package static let system = RandomSource { (span) throws(RandomSourceError) in
        try mapError(
            { (error: RandomOctetsError) in RandomSourceError(number: error.number) }, of: RandomOctets.fill(&span))
    }

    /// Returns `byteCount` fresh octets as a secret.
    package func secret<Purpose: SecretPurpose>(
        byteCount: Int, for purpose: Purpose.Type
    ) throws(RandomSourceError) -> Secret<Purpose> {
        try Secret<Purpose>(byteCount: byteCount) { (span) throws(RandomSourceError) in try fill(&span) }
    }
}
