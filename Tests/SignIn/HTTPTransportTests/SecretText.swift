import LatchkeyHTTP
import LatchkeySecrets

extension Secret where Purpose == MessageBody {
    static func text(_ text: String) -> Secret<MessageBody> {
        let bytes = Array(text.utf8)
        return Secret(copying: bytes.span)
    }
}

extension GuardedResponse {
    /// The body as text; tests' bodies are no secrets.
    var text: String {
        body.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Whether the secret is this text.
    func matches(text: StaticString) -> Bool {
        withExposedBytes { bytes in
            bytes.count == text.utf8CodeUnitCount
                && bytes.indices.allSatisfy { bytes[$0] == Array(text.description.utf8)[$0] }
        }
    }
}
