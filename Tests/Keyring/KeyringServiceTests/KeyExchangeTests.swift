internal import LatchkeyCrypto
internal import LatchkeySecrets
internal import Testing
internal import TestServices

/// Made with Python's integers and hmac, and the same by SecretStorage's own code (secretstorage.dhcrypto).
struct KeyExchangeTests {
    /// A client of a service that was killed went on with its session's path, where the next service had another
    /// session: one in 256 passwords that it saved was stored as random bytes.
    @Test func `no service has a session at the path of an earlier service`() async throws {
        var paths: Set<String> = []
        for _ in 0..<3 {
            let keyring = try await ServedKeyring()
            paths.insert(try await keyring.python("call.py", ["open-session"]).successful("call.py").outputText)
        }
        #expect(paths.count == 3)
    }

    struct Vector: Sendable, CustomTestStringConvertible {
        let what: String
        let exponent: String
        let publicValue: String
        let otherValue: String
        let key: String
        var testDescription: String { what }
    }

    private static let vectors = [
        Vector(
            what: "ordinary",
            exponent: "0f17f5c4414c343c1027c4d1c386bbc4cd613e30d8f16adf91b7584a2265b1f5",
            publicValue:
                "2266d83b222567e24606a8fa7cf1afaf3b0584b2e658a349ff1b0f50e2f41c3ac5731b90aa528522fd40f1e72dfca017"
                + "c52c49233897498f887ae9a8fb1e97eefa1322d0ad5a56a2124a74b7d307a03b258d4450015a05a09ce1a113c787c228"
                + "7bfb627db12ece0f8495e00fcdb4e3b6fee30cd3cd45ab12ffb639c19aeca93d",
            otherValue:
                "9804476fbe5829294d5a4623739b98b0269e04c3ff028c9dd8ac8a0e8fe635b1292e97e5b206a8a3ac82337760da90e3"
                + "a15e97b6205797dc0d5a590b5ef6f5a2d0d97d26b71646a4006383dbb9cdbb32fae3e4559917f400e4512e03578a1bd8"
                + "aee05087358de6b5b339f63dbb4f76ad4edae402223abde71be7e626c8dd6690",
            key: "54773e4632540433a351db5e903c752b"),
        Vector(
            what: "shared value of fewer bytes",
            exponent: "43171eee124d37a7d9dfe7d66a612d8d5686e7197b1d93c316efedad92a8db77",
            publicValue:
                "c2cd53cde6b04d92fee4be17ea585ad6558c3dfb47d4d73ed9c0c39db67c26225312de25947dd87f528972a8465004a7"
                + "09c69632b8eb3738f9f4fef0b72b11d77820a13f3da8dfbd42b9a58371d5f8f05dbed4bd45f14e46052c7afeb805519f"
                + "2c3c74aa0dde2058df33d7dad65eef39589a5a06108187723e4479245ea7d8dc",
            otherValue:
                "091bebb18491443bb801b593326955553f7756e77cc82136a7029fd8075a085d34d4b1c1c34e83f4c3d8200b36aeeee7"
                + "9f0334e451de07c90b617d1ce0a5b0b0f464e01bb260d8415897df4ca593a122d0bafea0f07cb9d38872129bfc3b86ee"
                + "e49f590b6ac75e5617b0c0413f48c23213614e2ab1523f1470e8bce44523f149",
            key: "8adc22037b50b30eec95b232bb7be57d"),
        Vector(
            what: "own value shorter",
            exponent: "9ca7f525c811a9bbee031eb1e607ca41bb75fccdaf49b1387a44115a1b714506",
            publicValue:
                "cbf688c4f7cda8b529e1210406399af4c6fcc7f50b61e2a8a3e06df4f838b2c8a17a4e8f20be6c01289ec6fc0b34243a"
                + "a2ae45917ebf5bcb0545844085a26de55926a120fc53be67b2c92f845d5f51db714979cb00ff6c2c7bf8e6ae7db06d72"
                + "186c8312578d45bda7fcbafcc9a1b6589ca2326bd7528d883ea4c73429e1b9",
            otherValue:
                "1c0c9ea912eafd0de9ea5bab86c13a40067e45ad79974d67e2d32d8b528190979fe654e827a1fbf0d9bac9f3eb3c4261"
                + "96008d60bca69f8ce6fc58b0076ad8e21306dcc5a38b334020b8b583e18504ac4e8027ce826c36527ae89a99da8b2c1a"
                + "4a39a7f0e33746b048196aff5992a90dfc8c298ec47945c9293236464fd1420a",
            key: "9c6711a5fa3306deddfb2350af703952"),
        Vector(
            what: "other's value shorter",
            exponent: "9ca7f525c811a9bbee031eb1e607ca41bb75fccdaf49b1387a44115a1b714506",
            publicValue:
                "cbf688c4f7cda8b529e1210406399af4c6fcc7f50b61e2a8a3e06df4f838b2c8a17a4e8f20be6c01289ec6fc0b34243a"
                + "a2ae45917ebf5bcb0545844085a26de55926a120fc53be67b2c92f845d5f51db714979cb00ff6c2c7bf8e6ae7db06d72"
                + "186c8312578d45bda7fcbafcc9a1b6589ca2326bd7528d883ea4c73429e1b9",
            otherValue:
                "df7803d4f426edbb72854b67e8171eedafda4cec26098ea26ddf174cc97c1bc5c0f42f51d136f4882afafb7450167bf9"
                + "177b1266b73d1e5bb08f9e5881ca8ce6d44cc0c20ad07f62c25f7efed612a891b84c92159614670b9907734974cd86a4"
                + "19ab089ea5de9c592274493ec5d755a167e090809c136229b525833b9fc8dc",
            key: "80680aad2454ea4787201e7d878f034b"),
    ]

    private static let prime =
        "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74020bbea63b139b22514a08798e3404dd"
        + "ef9519b3cd3a431b302b0a6df25f14374fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed"
        + "ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff"

    private static func exchange(_ exponent: String) throws -> SecretServiceKeyExchange {
        let exchange = try SecretServiceKeyExchange(exponent: Secret(copying: Hex.bytes(exponent).span))
        guard let exchange else { throw ServiceFailure("libcrypto refused the exponent") }
        return exchange
    }

    private static func digits(_ key: consuming Secret<PrivateKey>?) -> String? {
        guard let key else { return nil }
        return Hex.digits(key.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } })
    }

    @Test(arguments: Self.vectors)
    func `both sides come to the same key, leading zeros or not`(_ vector: Vector) throws {
        let exchange = try Self.exchange(vector.exponent)
        #expect(Hex.digits(exchange.publicValue) == vector.publicValue)
        let key = Self.digits(exchange.key(with: Hex.bytes(vector.otherValue)))
        #expect(key == vector.key)
        // Some clients send all 128 bytes, some leave zeros out, and one puts a zero before them.
        let padded = Self.digits(exchange.key(with: [0] + Hex.bytes(vector.otherValue)))
        #expect(padded == vector.key)
    }

    @Test(arguments: [
        "", "00", "01", "0001", Self.prime, String(Self.prime.dropLast()) + "e", "01" + Self.prime,
        "02" + String(repeating: "00", count: 128), String(repeating: "ff", count: 128),
        String(repeating: "ff", count: 512),
    ])
    func `values that would give the key away are refused`(_ value: String) throws {
        let exchange = try Self.exchange(Self.vectors[0].exponent)
        #expect(Self.digits(exchange.key(with: Hex.bytes(value))) == nil)
    }

    @Test func `two and the last value but one are accepted`() throws {
        let exchange = try Self.exchange(Self.vectors[0].exponent)
        #expect(Self.digits(exchange.key(with: [2])) != nil)
        #expect(Self.digits(exchange.key(with: Hex.bytes(String(Self.prime.dropLast()) + "d"))) != nil)
    }

    @Test func `an exponent of zero is refused`() throws {
        let exchange = try SecretServiceKeyExchange(exponent: Secret(byteCount: 32) { _ in })
        switch exchange {
        case .some: Issue.record("it was taken")
        case .none: break
        }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 1000])
    func `data sealed with AES-128-CBC opens again, whatever its padding`(_ count: Int) throws {
        let key = try Secret<PrivateKey>.random(byteCount: 16)
        let text = try Secret<Password>.random(byteCount: count)
        let vector = [UInt8](repeating: 7, count: 16)
        let found = try FileCipher.sealCBC(text, key: key, initializationVector: vector)
        let sealed = try #require(found)
        #expect(sealed.count == (count / 16 + 1) * 16)
        let opened = try FileCipher.openCBC(sealed, key: key, initializationVector: vector)
        let matches =
            switch consume opened {
            case .some(let opened): opened.matches(text)
            case .none: false
            }
        #expect(matches)
    }
}
