internal import Glibc

/// The kernel refused random octets (getentropy(3)); `number` is its errno.
package struct RandomOctetsError: Error, Equatable, Sendable {
    package let number: Int32
}

/// Random octets from the kernel's generator, the status of each call checked.
package enum RandomOctets {
    /// Fills `bytes` with random octets, or throws with the kernel's error number.
    package static func fill(_ bytes: inout MutableSpan<UInt8>) throws(RandomOctetsError) {
        var failure: Int32 = 0
        unsafe bytes.withUnsafeMutableBytes { buffer in
            var rest = unsafe buffer[...]
            while unsafe !rest.isEmpty {
                // getentropy gives at most 256 octets a call, and is never interrupted or short.
                let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: rest.prefix(256))
                guard unsafe getentropy(piece.baseAddress!, piece.count) == 0 else {
                    failure = errno
                    return
                }
                unsafe rest = unsafe rest.dropFirst(256)
            }
        }
        if failure != 0 { throw RandomOctetsError(number: failure) }
    }

    /// Returns `count` random octets that are no secret: a salt, a nonce, a file name.
    package static func array(_ count: Int) throws(RandomOctetsError) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: count)
        var span = octets.mutableSpan
        try fill(&span)
        return octets
    }
}
