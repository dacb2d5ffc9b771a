import LatchkeySecrets
import Testing

@Suite struct MemoryTests {
    static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.span, right.span) }

    @Test func `guarded memory is zero at first`() {
        for count in [0, 1, 100, 8176, 100_000] {
            let allocation = GuardedAllocation(byteCount: count)
            defer { allocation.free() }
            let bytes = unsafe UnsafeRawBufferPointer(start: allocation.base, count: count)
            let isZero = unsafe bytes.allSatisfy { $0 == 0 }
            #expect(isZero && allocation.byteCount == count)
        }
    }

    @Test func `wiping leaves zeroes`() {
        var bytes: [UInt8] = Array(1...200)
        var span = bytes.mutableSpan
        wipe(&span)
        #expect(bytes == [UInt8](repeating: 0, count: 200))
        var nothing: [UInt8] = []
        var empty = nothing.mutableSpan
        wipe(&empty)
        #expect(nothing.isEmpty)
    }

    @Test func `constant-time comparison tells every single difference`() {
        let bytes: [UInt8] = Array(0..<64)
        #expect(Self.isEqual(bytes, bytes))
        for position in bytes.indices {
            var other = bytes
            other[position] ^= 0x80
            #expect(!Self.isEqual(bytes, other), "at \(position)")
        }
        let nothing: [UInt8] = []
        let shorter = Array(bytes.dropLast())
        #expect(!Self.isEqual(bytes, shorter))
        #expect(!Self.isEqual(bytes, nothing))
        #expect(Self.isEqual(nothing, nothing))
    }

    @Test func `random octets fill any length, more than one system call provides, and differ`() throws {
        for count in [0, 1, 16, 255, 256, 257, 1000, 5000] {
            #expect(try RandomOctets.array(count).count == count)
        }
        // 5,000 octets without one of the 256 values have a chance of 256 × (255/256)^5000, below one in a million.
        #expect(Set(try RandomOctets.array(5000)).count == 256)
        let seen = try Set((0..<100).map { _ in try RandomOctets.array(16) })
        #expect(seen.count == 100)
    }
}
