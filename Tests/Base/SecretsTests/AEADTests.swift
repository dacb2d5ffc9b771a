import LatchkeySecrets
import Testing

@Suite struct AEADTests {
    /// draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    static let plaintext = Array(
        "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
            .utf8)
    static let associatedData = Hexadecimal.bytes("50515253c0c1c2c3c4c5c6c7")
    static let key = (0x80...0x9F).map { UInt8($0) }
    static let nonce = (0x40...0x57).map { UInt8($0) }
    static let sealed = Hexadecimal.bytes(
        "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
            + "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
            + "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
            + "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49")

    static func open(
        _ sealed: [UInt8], associatedData: [UInt8] = associatedData, nonce: [UInt8] = nonce, key: [UInt8] = key
    ) -> (opened: Bool, bytes: [UInt8]) {
        var bytes = [UInt8](repeating: 0xAA, count: max(0, sealed.count - XChaCha20Poly1305.tagByteCount))
        var span = bytes.mutableSpan
        let opened = XChaCha20Poly1305.open(
            sealed.span, associatedData: associatedData.span, nonce: nonce.span, key: key.span, into: &span)
        return (opened, bytes)
    }

    @Test func `sealing gives the draft's ciphertext and tag`() {
        let sealed = XChaCha20Poly1305.seal(
            Self.plaintext.span, associatedData: Self.associatedData.span, nonce: Self.nonce.span, key: Self.key.span)
        #expect(Hexadecimal.text(sealed) == Hexadecimal.text(Self.sealed))
    }

    @Test func `opening the draft's ciphertext gives its plaintext`() {
        let (opened, bytes) = Self.open(Self.sealed)
        #expect(opened && bytes == Self.plaintext)
    }

    @Test func `a flipped bit of ciphertext or tag is refused and leaves no plaintext`() {
        for position in Self.sealed.indices {
            var damaged = Self.sealed
            damaged[position] ^= 1 << UInt8(position % 8)
            let (opened, bytes) = Self.open(damaged)
            #expect(!opened && bytes.allSatisfy { $0 == 0 }, "at \(position)")
        }
    }

    @Test func `other associated data, another nonce and another key are refused`() {
        var data = Self.associatedData
        data[0] ^= 1
        #expect(!Self.open(Self.sealed, associatedData: data).opened)
        #expect(!Self.open(Self.sealed, associatedData: []).opened)
        var nonce = Self.nonce
        nonce[23] ^= 1
        #expect(!Self.open(Self.sealed, nonce: nonce).opened)
        var key = Self.key
        key[31] ^= 1
        #expect(!Self.open(Self.sealed, key: key).opened)
    }

    @Test func `ciphertext that is too short, and keys and nonces of another length, are refused`() {
        for count in [0, 1, 15] { #expect(!Self.open(Array(Self.sealed.prefix(count))).opened) }
        #expect(!Self.open(Array(Self.sealed.dropLast())).opened)
        #expect(!Self.open(Self.sealed, nonce: Array(Self.nonce.dropLast())).opened)
        #expect(!Self.open(Self.sealed, key: Array(Self.key.dropLast())).opened)
        var short = [UInt8](repeating: 0, count: Self.plaintext.count - 1)
        var span = short.mutableSpan
        let opened = XChaCha20Poly1305.open(
            Self.sealed.span, associatedData: Self.associatedData.span, nonce: Self.nonce.span, key: Self.key.span,
            into: &span)
        #expect(!opened)
    }

    @Test func `an empty plaintext can be sealed and opened`() {
        let nothing: [UInt8] = []
        let sealed = XChaCha20Poly1305.seal(
            nothing.span, associatedData: nothing.span, nonce: Self.nonce.span, key: Self.key.span)
        #expect(sealed.count == 16)
        #expect(Self.open(sealed, associatedData: []).opened)
        #expect(!Self.open(sealed, associatedData: [0]).opened)
    }
}
