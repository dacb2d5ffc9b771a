import LatchkeyOAuth
import LatchkeySecrets
import Testing

@Suite struct PKCETests {
    @Test func `a generated verifier has 86 characters of the alphabet`() throws {
        let pair = try PKCEChallenge.generate()
        #expect(pair.verifier.byteCount == 86)
        let valid = pair.verifier.withExposedBytes { PKCEChallenge.isValidVerifier($0) }
        #expect(valid)
        #expect(pair.method == "S256")
    }

    @Test func `the challenge is the base64url text of the verifier's SHA-256`() throws {
        let pair = try PKCEChallenge.generate()
        let again = try pair.verifier.withExposedBytes { try PKCEChallenge.challenge(for: $0) }
        #expect(pair.challenge == again)
        #expect(pair.challenge.utf8.count == 43)
    }

    @Test func `two pairs share neither verifier nor challenge`() throws {
        let one = try PKCEChallenge.generate()
        let two = try PKCEChallenge.generate()
        let same = one.verifier.matches(two.verifier)
        #expect(!same)
        #expect(one.challenge != two.challenge)
    }

    @Test func `RFC 7636 appendix B's verifier gives its challenge`() throws {
        let pair = try PKCEChallenge(verifier: Secret("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
        #expect(pair.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM")
    }

    @Test func `RFC 7636 appendix B's octets give its verifier`() {
        let octets: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let verifier = Secret<CodeVerifier>(copying: octets.span).base64URLEncoded().reveal()
        #expect(verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test func `RFC 7636 appendix A's octets give its text`() {
        let octets: [UInt8] = [3, 236, 255, 224, 193]
        #expect(Base64URL.encode(octets.span) == "A-z_4ME")
    }

    @Test(arguments: [(32, 43), (64, 86), (96, 128)])
    func `octets become characters`(octets: Int, characters: Int) throws {
        let text = try Secret<CodeVerifier>.random(byteCount: octets).base64URLEncoded()
        #expect(text.byteCount == characters)
        let valid = text.withExposedBytes { PKCEChallenge.isValidVerifier($0) }
        #expect(valid)
    }

    @Test func `a valid verifier from outside is accepted`() throws {
        let every = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
        for text in [every, String(repeating: "a", count: 43), String(repeating: "~", count: 128)] {
            let pair = try PKCEChallenge(verifier: Secret(text))
            #expect(pair.verifier.reveal() == text)
        }
    }

    @Test(arguments: [
        "", String(repeating: "a", count: 42), String(repeating: "a", count: 129),
        String(repeating: "a", count: 42) + "=", String(repeating: "a", count: 43) + "+",
        String(repeating: "a", count: 43) + "/", String(repeating: "a", count: 43) + " ",
        String(repeating: "a", count: 43) + "\n", String(repeating: "a", count: 43) + "é",
        String(repeating: "a", count: 43) + "\0",
    ])
    func `an invalid verifier from outside is refused`(text: String) {
        let error = failure { () throws(PKCEError) in try PKCEChallenge(verifier: Secret(text)) }
        #expect(error == .invalidVerifier)
    }

    @Test func `a challenge for text that isn't ASCII is refused`() {
        let bytes: [UInt8] = Array("verifie".utf8) + [0xC3, 0xA9]
        let error = failure { () throws(PKCEError) in try PKCEChallenge.challenge(for: bytes.span) }
        #expect(error == .failedToCreateChallengeForVerifier)
    }

    @Test func `a generator's refusal is an error with its number`() {
        let broken = RandomSource { (_) throws(RandomSourceError) in throw RandomSourceError(number: 38) }
        let error = failure { () throws(PKCEError) in try PKCEChallenge.generate(random: broken) }
        #expect(error == .failedToGenerateRandomOctets(number: 38))
    }

    @Test func `every octet of the generator is used`() throws {
        let counting = RandomSource { (span) throws(RandomSourceError) in
            for index in span.indices { span[index] = UInt8(index) }
        }
        let pair = try PKCEChallenge.generate(random: counting)
        let octets = pair.verifier.base64URLDecoded()!.revealBytes()
        #expect(octets == Array(0..<64))
    }
}
