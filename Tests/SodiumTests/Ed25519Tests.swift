import LatchkeySodium
import Testing

@Suite struct Ed25519Tests {
    private func bytes(_ hexadecimal: String) -> [UInt8] {
        var digits = Array(hexadecimal)[...]
        var bytes: [UInt8] = []
        while !digits.isEmpty {
            bytes.append(UInt8(String(digits.prefix(2)), radix: 16)!)
            digits = digits.dropFirst(2)
        }
        return bytes
    }

    @Test(arguments: [
        // RFC 8032 section 7.1, tests 1 and 3.
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0"
                + "595bbe24655141438e7a100b"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9"
                + "716ed28dc027beceea1ec40a"
        ),
    ])
    func `RFC 8032's keys sign as it says`(seed: String, publicKey: String, message: String, signature: String) {
        let (seed, message) = (bytes(seed), bytes(message))
        #expect(Ed25519.publicKey(seed: seed.span) == bytes(publicKey))
        #expect(Ed25519.signature(of: message.span, seed: seed.span) == bytes(signature))
    }
}
