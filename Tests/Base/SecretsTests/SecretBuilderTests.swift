import LatchkeySecrets
import Testing

@Suite struct SecretBuilderTests {
    @Test func `a builder joins pieces in order`() throws {
        var builder = SecretBuilder()
        try builder.append(publicText: "Bearer ")
        try builder.append(Secret<AccessToken>(text: "token"))
        try builder.append(0x21)
        let more: [UInt8] = [0, 255]
        try builder.append(more.span)
        #expect(builder.byteCount == 15)
        let secret = builder.finish(as: MessageBody.self)
        #expect(secret.copiedBytes() == Array("Bearer token!".utf8) + [0, 255])
    }

    @Test(arguments: [0, 1, 47, 48, 49, 1008, 1009, 10_000])
    func `growing byte by byte keeps every byte`(_ count: Int) throws {
        var builder = SecretBuilder(capacity: 1)
        for number in 0..<count { try builder.append(UInt8(truncatingIfNeeded: number)) }
        let secret = builder.finish(as: Password.self)
        #expect(secret.copiedBytes() == (0..<count).map { UInt8(truncatingIfNeeded: $0) })
    }

    @Test func `a builder past its limit refuses more bytes and keeps the earlier ones`() throws {
        var builder = SecretBuilder(limit: 5)
        try builder.append(publicText: "1234")
        let two: [UInt8] = [1, 2]
        let pieces = Self.isRefused(&builder) { (builder) throws(SecretBuilder.LimitExceeded) in
            try builder.append(two.span)
        }
        let text = Self.isRefused(&builder) { (builder) throws(SecretBuilder.LimitExceeded) in
            try builder.append(publicText: "56")
        }
        let secret = Self.isRefused(&builder) { (builder) throws(SecretBuilder.LimitExceeded) in
            try builder.append(Secret<Password>(text: "56"))
        }
        #expect(pieces && text && secret)
        try builder.append(0x35)
        let byte = Self.isRefused(&builder) { (builder) throws(SecretBuilder.LimitExceeded) in
            try builder.append(0x36)
        }
        let count = builder.byteCount
        #expect(byte && count == 5)
        try builder.append(publicText: "")
        let finished = builder.finish(as: Password.self)
        #expect(finished.copiedBytes() == Array("12345".utf8))
    }

    private static func isRefused(
        _ builder: inout SecretBuilder, _ body: (inout SecretBuilder) throws(SecretBuilder.LimitExceeded) -> Void
    ) -> Bool {
        do throws(SecretBuilder.LimitExceeded) {
            try body(&builder)
            return false
        } catch {
            return error.limit == builder.limit
        }
    }

    @Test func `bytes can be removed from a builder's end, down to none`() throws {
        var builder = SecretBuilder()
        try builder.append(publicText: "pass")
        builder.removeLast()
        try builder.append(0x74)
        for _ in 0..<10 { builder.removeLast() }
        #expect(builder.byteCount == 0)
        try builder.append(publicText: "again")
        builder.removeAll()
        #expect(builder.byteCount == 0)
        let empty = builder.finish(as: Password.self).isEmpty
        #expect(empty)
    }
}
