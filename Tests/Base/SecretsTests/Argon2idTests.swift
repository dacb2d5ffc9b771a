import Foundation
import LatchkeySecrets
import Testing

@Suite struct Argon2idTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let passphrase: String
        let kibibytes: Int
        let passes: Int
        let salt: String
        let output: String
        var testDescription: String { "\(kibibytes) KiB × \(passes)" }
    }

    /// Those of libsodium's own test strings that verify, taken apart (test/default/pwhash_argon2id.c).
    static let vectors = [
        Vector(
            passphrase: "", kibibytes: 4882, passes: 2, salt: "bA81arsiXysd3WbTRzmEOw==",
            output: "Nm8QBM+7RH1DXo9rvp5cwKEOOOfD2g6JuxlXihoNcpE="),
        Vector(
            passphrase: "^T5H$JYt39n%K*j:W]!1s?vg!:jGi]Ax?..l7[p0v:1jHTpla9;]bUN;?bWyCbtqg ", kibibytes: 4096,
            passes: 19, salt: "PkEgMTYtYnl0ZXMgc2FsdA==", output: "ltB/ue1kPtBMBGfsysMpPigE6hiNEKZ9vs8vLNVDQGA="),
    ]

    static func derive(_ passphrase: String, salt: [UInt8], passes: Int, memory: Int, count: Int = 32) -> [UInt8]? {
        var output = [UInt8](repeating: 0, count: count)
        var span = output.mutableSpan
        let text = Array(passphrase.utf8)
        let derived = Argon2id.derive(
            passphrase: text.span, salt: salt.span, passes: passes, memoryByteCount: memory, into: &span)
        return derived ? output : nil
    }

    @Test(arguments: vectors)
    func `deriving a published string's key gives the published key`(_ vector: Vector) throws {
        let salt = try #require(Data(base64Encoded: vector.salt))
        let expected = try #require(Data(base64Encoded: vector.output))
        let derived = Self.derive(
            vector.passphrase, salt: Array(salt), passes: vector.passes, memory: vector.kibibytes << 10)
        #expect(derived == Array(expected))
    }

    @Test func `passphrase, salt, passes and memory each change the key`() throws {
        let salt = [UInt8](repeating: 7, count: 16)
        let keys = [
            Self.derive("a", salt: salt, passes: 1, memory: 8 << 10),
            Self.derive("b", salt: salt, passes: 1, memory: 8 << 10),
            Self.derive("a", salt: [UInt8](repeating: 8, count: 16), passes: 1, memory: 8 << 10),
            Self.derive("a", salt: salt, passes: 2, memory: 8 << 10),
            Self.derive("a", salt: salt, passes: 1, memory: 16 << 10),
        ]
        #expect(!keys.contains(nil) && Set(keys).count == keys.count)
    }

    @Test func `costs and lengths outside the bounds are refused`() {
        let salt = [UInt8](repeating: 7, count: 16)
        #expect(Self.derive("a", salt: salt, passes: 0, memory: 8 << 10) == nil)
        #expect(Self.derive("a", salt: salt, passes: -1, memory: 8 << 10) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 0) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 1024) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: .max) == nil)
        #expect(Self.derive("a", salt: Array(salt.dropLast()), passes: 1, memory: 8 << 10) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 8 << 10, count: 15) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 8 << 10, count: 65) == nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 8 << 10, count: 16) != nil)
        #expect(Self.derive("a", salt: salt, passes: 1, memory: 8 << 10, count: 64) != nil)
    }
}
