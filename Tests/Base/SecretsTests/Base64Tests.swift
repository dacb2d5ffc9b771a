import Foundation
import LatchkeySecrets
import Testing

@Suite struct Base64Tests {
    static func encode(_ bytes: [UInt8]) -> String {
        var text = [UInt8](repeating: 0, count: Base64Codec.url.encodedByteCount(bytes.count))
        var span = text.mutableSpan
        Base64Codec.url.encode(bytes.span, into: &span)
        return String(decoding: text, as: UTF8.self)
    }

    static func decode(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        var span = bytes.mutableSpan
        return Base64Codec.url.decode(text.span, into: &span).map { Array(bytes.prefix($0)) }
    }

    /// RFC 4648 section 10, without the padding, and what the alphabets differ in.
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("foobar", "Zm9vYmFy"), ("\u{3FF}\u{3FE}~", "z7_Pvn4"),
    ])
    func `base64url encodes to the RFC's text and decodes it`(_ plain: String, _ encoded: String) {
        #expect(Self.encode(Array(plain.utf8)) == encoded)
        #expect(Self.decode(encoded) == Array(plain.utf8))
    }

    @Test func `every length and value agrees with Foundation`() throws {
        for count in 0...300 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            let standard = Data(bytes).base64EncodedString()
            let expected = standard.filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
            #expect(Self.encode(bytes) == String(expected))
            #expect(Self.decode(String(expected)) == bytes)
            var padded = [UInt8](repeating: 0, count: Base64Codec.padded.encodedByteCount(count))
            var span = padded.mutableSpan
            Base64Codec.padded.encode(bytes.span, into: &span)
            #expect(String(decoding: padded, as: UTF8.self) == standard)
        }
    }

    @Test(arguments: [
        "Z", "Zg==", "Zg=", "Zm9v\n", " Zm9v", "Zm 9v", "Zm+v", "Zm/v", "Zm9vé", "Zh", "Zm9", "Zm9vYg\0", "====", "A",
    ])
    func `invalid base64url without padding is refused`(_ text: String) {
        #expect(Self.decode(text) == nil)
    }

    static func decodePadded(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var bytes = [UInt8](repeating: 0, count: text.count * 3 / 4)
        var span = bytes.mutableSpan
        return Base64Codec.padded.decode(text.span, into: &span).map { Array(bytes.prefix($0)) }
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
        ("\u{3FF}\u{3FE}~", "z7/Pvn4="),
    ])
    func `base64 with padding is decoded as the RFC's text`(_ plain: String, _ encoded: String) {
        #expect(Self.decodePadded(encoded) == Array(plain.utf8))
    }

    @Test(arguments: ["Zg", "Zg=", "Zg===", "Z===", "Zm9v\n", "Zm-v", "Zh==", "Zg==Zg==", "====", "=Zg=", "A"])
    func `invalid base64 with padding is refused`(_ text: String) {
        #expect(Self.decodePadded(text) == nil)
    }
}
