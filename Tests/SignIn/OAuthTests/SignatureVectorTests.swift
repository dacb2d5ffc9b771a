import Foundation
import LatchkeyCrypto
import LatchkeyLog
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyOAuth

/// Signatures of ID tokens that others made: the RFCs' own examples, and those of Python's cryptography.
@Suite struct SignatureVectorTests {
    private static let rounds = runsLong ? 200 : 1
    private static let url = Sample.url("https://id.example/jwks")

    private func isAccepted(
        _ token: String, key: String, by algorithms: Set<SignatureAlgorithm> = Set(SignatureAlgorithm.allCases)
    ) async -> Bool {
        do throws(OAuthError) {
            try await SigningKeys().check(
                Secret(token), by: algorithms, keysAt: Self.url,
                over: ScriptedHTTPClient(.json("{\"keys\":[\(key)]}")), log: .disabled)
            return true
        } catch {
            let problems: [OAuthError.Malformation] = [.idTokenSignature, .idTokenAlgorithm, .keySet]
            #expect(problems.contains { error.code == .invalidResponse($0) })
            return false
        }
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: String
        let token: String
    }

    private static let joe =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    static let examples = [
        Example(
            testDescription: "RFC 7515 A.2, RS256",
            key:
                #"{"kty":"RSA","e":"AQAB","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"}"#,
            token:
                "eyJhbGciOiJSUzI1NiJ9.\(joe).cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
        ),
        Example(
            testDescription: "RFC 7515 A.3, ES256",
            key:
                #"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#,
            token:
                "eyJhbGciOiJFUzI1NiJ9.\(joe).DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        ),
        Example(
            testDescription: "RFC 7515 A.4, ES512",
            key:
                #"{"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}"#,
            token:
                "eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn"
        ),
        Example(
            testDescription: "RFC 8037 A.4, Ed25519",
            key: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#,
            token:
                "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        ),
    ]

    @Test(arguments: examples)
    func `the RFCs' own examples are accepted where their algorithm is announced`(example: Example) async throws {
        #expect(await isAccepted(example.token, key: example.key))
        let algorithm =
            SignatureAlgorithm.allCases.first { example.testDescription.hasSuffix($0.rawValue) } ?? .edDSA
        #expect(await isAccepted(example.token, key: example.key, by: [algorithm]))
        let others = Set(SignatureAlgorithm.allCases).subtracting([algorithm])
        #expect(await !isAccepted(example.token, key: example.key, by: others))
    }

    private struct Vector: Decodable {
        let name: String
        let token: String
        let good: Bool
    }

    /// Keys, signatures and what is wrong with them are Python's: wrong salts, hashes, encodings, curves and keys.
    @Test func `every algorithm accepts another library's signatures, and no altered ones`() async throws {
        let script = TestData.folder().appendingPathComponent("signature_vectors.py").path
        let seed = Int.random(in: 0..<1 << 30)
        let run = try await Program("python3").run([script, "\(Self.rounds)", "\(seed)"]).successful("python3")
        var counts: [Bool: Int] = [:]
        for line in run.outputText.split(separator: "\n") {
            let vector = try JSONDecoder().decode(Vector.self, from: Data(line.utf8))
            let parts = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let key = try JSONSerialization.data(withJSONObject: #require(parts?["jwk"]))
            let isAccepted = await isAccepted(vector.token, key: String(decoding: key, as: UTF8.self))
            #expect(isAccepted == vector.good, "\(vector.name), seed \(seed): \(line)")
            counts[vector.good, default: 0] += 1
        }
        #expect(counts[true, default: 0] >= 20 * Self.rounds && counts[false, default: 0] >= 150 * Self.rounds)
        if Self.rounds > 1 { print("\(counts[true] ?? 0) good tokens, \(counts[false] ?? 0) bad ones") }
    }
}
