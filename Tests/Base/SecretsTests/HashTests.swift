import LatchkeySecrets
import Testing

@Suite struct HashTests {
    static func keyed(_ message: [UInt8], _ key: [UInt8], byteCount: Int = 32) -> [UInt8] {
        KeyedHash.digest(message.span, key: key.span, byteCount: byteCount)
    }

    static func sha256(_ message: String) -> String {
        let bytes = Array(message.utf8)
        return Hexadecimal.text(SHA256.digest(bytes.span))
    }

    // MARK: - BLAKE2b

    @Test func `BLAKE2b gives RFC 7693's digest of abc`() {
        let digest = KeyedHash.digest(Array("abc".utf8), byteCount: 64)
        #expect(
            Hexadecimal.text(digest)
                == "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923")
    }

    /// From the reference implementation's known answers (blake2b-test.txt): the key is 00…3f, the message 00…
    @Test(arguments: [
        (
            0,
            "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568"
        ),
        (
            1,
            "961f6dd1e4dd30f63901690c512e78e4b45e4742ed197c3c5e45c549fd25f2e4187b0bc9fe30492b16b0d0bc4ef9b0f34c7003fac09a5ef1532e69430234cebd"
        ),
        (
            255,
            "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e92484be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461"
        ),
    ])
    func `keyed BLAKE2b gives the reference's digests`(_ count: Int, _ expected: String) {
        let key = (0..<64).map { UInt8($0) }
        let message = (0..<count).map { UInt8($0) }
        #expect(Hexadecimal.text(Self.keyed(message, key, byteCount: 64)) == expected)
        var written = [UInt8](repeating: 0, count: 64)
        var span = written.mutableSpan
        KeyedHash.digest(message.span, key: key.span, into: &span)
        #expect(Hexadecimal.text(written) == expected)
    }

    @Test func `another key gives another digest, and a shorter digest is no prefix`() {
        let message = Array("message".utf8)
        let keys = (0..<2).map { [UInt8](repeating: $0, count: 32) }
        let first = Self.keyed(message, keys[0])
        #expect(first != Self.keyed(message, keys[1]))
        #expect(first != KeyedHash.digest(message))
        #expect(KeyedHash.digest(message, byteCount: 16) != Array(KeyedHash.digest(message, byteCount: 32).prefix(16)))
    }

    // MARK: - SHA-256

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `SHA-256 gives the digests of FIPS 180's examples`(_ message: String, _ expected: String) {
        #expect(Self.sha256(message) == expected)
    }

    @Test func `SHA-256 of a million letters a is the digest in FIPS 180`() {
        #expect(
            Self.sha256(String(repeating: "a", count: 1_000_000))
                == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }
}
