import LatchkeySecrets
import Testing

@Suite struct SecretTests {
    @Test func `a secret holds the bytes that made it`() {
        for count in [0, 1, 47, 48, 49, 112, 240, 496, 1008, 1009, 5000, 1 << 20] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 3) }
            let secret = Secret<Password>(copying: bytes.span)
            #expect(secret.byteCount == count && secret.isEmpty == (count == 0))
            #expect(secret.copiedBytes() == bytes)
        }
    }

    @Test func `a secret that is filled in place starts with zeroes, whatever the memory contained`() {
        for count in [1, 48, 100, 1000, 3000] {
            for _ in 0..<20 { _ = Secret<Password>(text: String(repeating: "x", count: count)) }
            let secret = Secret<Password>(byteCount: count) { _ in }
            #expect(secret.copiedBytes() == [UInt8](repeating: 0, count: count))
        }
    }

    struct Refused: Error, Equatable {}

    @Test func `a secret's initializer rethrows the error of the closure that fills it`() {
        #expect(throws: Refused()) {
            _ = try Secret<Password>(byteCount: 8) { (bytes) throws(Refused) in
                bytes[0] = 1
                throw Refused()
            }
        }
        #expect(throws: Refused()) {
            _ = try Secret<Password>(capacity: 8) { (bytes) throws(Refused) -> Int in
                bytes[0] = 1
                throw Refused()
            }
        }
    }

    @Test func `a partly filled secret keeps only the filled prefix`() {
        let secret = Secret<Password>(capacity: 40) { bytes in
            for index in bytes.indices { bytes[index] = UInt8(index) }
            return 3
        }
        #expect(secret.copiedBytes() == [0, 1, 2])
        let behind = Memory.bytes(at: secret.address() + 3, count: 37)
        #expect(behind == [UInt8](repeating: 0, count: 37))
    }

    // MARK: - Comparing

    @Test func `a secret matches the same bytes, for any purpose, and no others`() {
        let secret = Secret<AccessToken>(text: "correct horse")
        let bytes = Array("correct horse".utf8)
        let asSpan = secret.matches(bytes.span)
        let other = Secret<RefreshToken>(text: "correct horse")
        let asSecret = secret.matches(other)
        #expect(asSpan && asSecret)
        for text in ["correct hors", "correct horsf", "correct horse ", "", "Correct horse"] {
            let different = secret.matches(Secret<AccessToken>(text: text))
            #expect(!different, "\(text)")
        }
        let nothing = Secret<Password>(text: "").matches(Secret<Password>(text: ""))
        #expect(nothing)
    }

    @Test func `a duplicate has the same bytes in separate memory`() {
        let secret = Secret<AccessToken>(text: "token")
        let second = secret.duplicate()
        let third = secret.duplicate(as: Password.self)
        #expect(second.copiedBytes() == secret.copiedBytes() && third.copiedBytes() == secret.copiedBytes())
        #expect(Set([secret.address(), second.address(), third.address()]).count == 3)
    }

    // MARK: - Random

    @Test func `a change of purpose moves a secret's bytes, and frees their memory once`() {
        let bytes = Array("s3cret".utf8)
        for _ in 0..<100 {
            let password = Secret<Password>(copying: bytes.span)
            let token = password.repurposed(as: AccessToken.self)
            let other = Secret<Password>(byteCount: 6) { $0[0] = 1 }
            let same = token.matches(bytes.span)
            let apart = !token.matches(other)
            #expect(same && apart)
        }
    }

    @Test func `random secrets have the requested length, and differ`() throws {
        for count in [0, 1, 16, 32, 64, 256, 257, 5000] {
            #expect(try Secret<AuthorizationState>.random(byteCount: count).byteCount == count)
        }
        var seen: Set<[UInt8]> = []
        for _ in 0..<100 { seen.insert(try Secret<CodeVerifier>.random(byteCount: 32).copiedBytes()) }
        #expect(seen.count == 100)
    }

    // MARK: - base64url

    @Test func `base64url encodes and decodes RFC 7636's octets, from secret to secret`() {
        let octets: [UInt8] = [3, 236, 255, 224, 193]
        let secret = Secret<CodeVerifier>(copying: octets.span)
        let encoded = secret.base64URLEncoded()
        #expect(encoded.copiedBytes() == Array("A-z_4ME".utf8))
        #expect(encoded.base64URLDecoded()?.copiedBytes() == octets)
        #expect(Base64URL.encode(octets.span) == "A-z_4ME" && Base64URL.decode("A-z_4ME") == octets)
    }

    @Test func `32 random octets make 43 characters, and 64 make 86`() throws {
        #expect(try Secret<AuthorizationState>.random(byteCount: 32).base64URLEncoded().byteCount == 43)
        #expect(try Secret<AuthorizationState>.random(byteCount: 64).base64URLEncoded().byteCount == 86)
        #expect(try Secret<AuthorizationState>.random(byteCount: 96).base64URLEncoded().byteCount == 128)
    }

    @Test(arguments: ["A", "A-z_4M=", "A-z/4ME", "A z_4ME", "A-z_4MF", "ü"])
    func `invalid base64url is nil, as a secret and as text`(_ text: String) {
        let decoded = Secret<Password>(text: text).base64URLDecoded() == nil
        #expect(decoded && Base64URL.decode(text) == nil)
    }

    // MARK: - Many at once

    @Test func `many tasks make and drop secrets without mixing them up`() async {
        await withTaskGroup(of: Bool.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for round in 0..<50 {
                        let count = (task * 37 + round * 11) % 1200
                        let bytes = [UInt8](repeating: UInt8(task), count: count)
                        let secret = Secret<Password>(copying: bytes.span)
                        if round.isMultiple(of: 7) { await Task.yield() }
                        if secret.copiedBytes() != bytes { return false }
                    }
                    return true
                }
            }
            for await intact in group { #expect(intact) }
        }
    }

    @Test func `every purpose has a separate name`() {
        let purposes: [any SecretPurpose.Type] = [
            AccessToken.self, RefreshToken.self, AuthorizationCode.self, CodeVerifier.self, AuthorizationState.self,
            OpenIDNonce.self,
            IDToken.self, DeviceCode.self, ClientSecret.self, Passphrase.self, PrivateKey.self, Password.self,
            StoredLogin.self, MessageBody.self,
        ]
        let names = purposes.map { "\($0.name)" }
        #expect(Set(names).count == purposes.count && names.allSatisfy { !$0.isEmpty })
    }
}
