package import LatchkeyCredentials
internal import LatchkeyLog

/// How much work one try of a passphrase takes (Argon2id, RFC 9106, one lane).
public struct PassphraseCost: Sendable, Hashable {
    /// In bytes.
    package let memoryByteCount: Int
    package let passes: Int

    /// What a vault's file may ask for at most: 1 GiB and 16 passes. More is refused, as a file from a stranger could
    /// otherwise stop the machine.
    package static let maximumMemoryByteCount = 1 << 30
    package static let maximumPasses = 16

    init(known memoryByteCount: Int, passes: Int) {
        self.memoryByteCount = memoryByteCount
        self.passes = passes
    }

    /// Takes 8 MiB to 1 GiB, in whole KiB, and 1 to 16 passes; throws `unsupported` for anything else.
    package init(memoryByteCount: Int, passes: Int) throws(StoreError) {
        guard (8 << 20...Self.maximumMemoryByteCount).contains(memoryByteCount), memoryByteCount % 1024 == 0,
            (1...Self.maximumPasses).contains(passes)
        else {
            throw StoreError(
                .unsupported, "a passphrase can't cost \(memoryByteCount) bytes and \(passes) passes",
                hint: "8 MiB to 1 GiB and 1 to 16 passes are possible")
        }
        self.init(known: memoryByteCount, passes: passes)
    }

    /// The costs in a file, or `nil` outside the bounds. What is cheaper than we would write is read.
    init?(stored memoryByteCount: UInt64, passes: UInt32) {
        guard (8192...UInt64(Self.maximumMemoryByteCount)).contains(memoryByteCount), memoryByteCount % 1024 == 0,
            (1...UInt32(Self.maximumPasses)).contains(passes)
        else { return nil }
        self.init(known: Int(memoryByteCount), passes: Int(passes))
    }
}
