internal import LatchkeySecrets
internal import LatchkeySystem

/// `Basic` and the base64 text of `id:secret`.
enum BasicCredentials {
    static func field(
        clientID: String, secret: borrowing Secret<ClientSecret>, formEncoded: Bool
    ) throws(OAuthError) -> Secret<MessageBody> {
        var pair = SecretBuilder(capacity: 240, limit: 32 << 10)
        try mappingError(OAuthError.tooLarge) {
            () throws(SecretBuilder.LimitExceeded) in
            if formEncoded {
                let id = Array(clientID.utf8)
                try FormEncoding.append(id.span, to: &pair, space: .plus)
                try pair.append(UInt8(ascii: ":"))
                try secret.withExposedBytes { (bytes) throws(SecretBuilder.LimitExceeded) in
                    try FormEncoding.append(bytes, to: &pair, space: .plus)
                }
            } else {
                try pair.append(publicText: clientID + ":")
                try pair.append(secret)
            }
        }
        let text = pair.finish(as: MessageBody.self).base64Encoded()
        var sink = AuthorizationFieldSink(scheme: "Basic")
        try text.pour(into: &sink)
        return sink.finish()
    }

    /// Whether the two ways to write the credentials differ, so that a second try makes sense.
    static func encodingMatters(clientID: String, secret: borrowing Secret<ClientSecret>) throws(OAuthError) -> Bool {
        let encoded = try field(clientID: clientID, secret: secret, formEncoded: true)
        let raw = try field(clientID: clientID, secret: secret, formEncoded: false)
        return !encoded.matches(raw)
    }
}
