package import LatchkeyCredentials
package import LatchkeyHTTP
internal import LatchkeyJSON
package import LatchkeyLog

/// Temporary credentials of AWS for a role, as its tools read them from a program: a JSON object with `Version`,
/// `AccessKeyId`, `SecretAccessKey`, `SessionToken` and `Expiration`.
package enum RoleCredentials: SecretPurpose {
    public static var name: StaticString { "role credentials" }

    /// When they end; `nil` for anything that isn't such an object.
    package static func end(of credentials: borrowing Secret<RoleCredentials>) -> UnixTime? {
        guard let document = try? JSONDocument(credentials.duplicate(as: MessageBody.self)),
            let member = document.member("Expiration"), let text = try? document.publicText(member, limit: 64)
        else { return nil }
        return HTTPDate.timestamp(text)
    }
}

/// AWS's Security Token Service, or another program with its interface, version 2011-06-15.
package struct SecurityTokenService: Sendable {
    let endpoint: HTTPURL
    let http: any HTTPTransport
    let log: RedactedLogger

    /// The limit for a text in a response; a session token has some 1,000 bytes.
    static let maximumTextByteCount = 16 << 10

    package init(endpoint: HTTPURL, http: any HTTPTransport, log: RedactedLogger) {
        self.endpoint = endpoint
        self.http = http
        self.log = log
    }

    /// Whether a text is the name of a role, such as `arn:aws:iam::123456789012:role/deploy`. Other programs with that
    /// interface leave the account's number out, or have a name there.
    package static func isRole(_ text: String) -> Bool {
        let parts = text.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        func isWord(_ text: Substring) -> Bool {
            text.utf8.allSatisfy { ASCII.isUnreserved($0) }
        }
        return text.utf8.count <= 2048 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } && parts.count == 6
            && parts[0] == "arn" && !parts[1].isEmpty && isWord(parts[1]) && parts[2] == "iam" && parts[3].isEmpty
            && isWord(parts[4]) && parts[5].hasPrefix("role/") && parts[5].utf8.count > 5
    }

    /// Exchanges an ID token for a role's credentials (`AssumeRoleWithWebIdentity`).
    ///
    /// Throws `.requestRefused(.roleCredentials, …)`, `.invalidResponse(.roleCredentials)`, `.networkError`.
    ///
    /// - Parameters:
    ///   - account: becomes the session's name, which AWS's logs show.
    ///   - timeout: how long to wait at most, where a request may take longer.
    package func credentials(
        ofRole role: String, for account: String, by token: borrowing Secret<AccessToken>,
        timeout: Duration = .seconds(30)
    ) async throws(OAuthError) -> Secret<RoleCredentials> {
        var form = FormBody()
        try form.append("Action", text: "AssumeRoleWithWebIdentity")
        try form.append("Version", text: "2011-06-15")
        try form.append("RoleArn", text: role)
        try form.append("RoleSessionName", text: Self.sessionName(of: account))
        try form.append("WebIdentityToken", secret: token)
        var limits = EndpointClient.limits
        limits.timeout = min(limits.timeout, timeout)
        // AWS answers in XML unless asked for JSON, which other programs don't have.
        let response = try await http.response(
            to: GuardedRequest(
                .post, endpoint, fields: EndpointFields.formAlone, body: form.finish(as: MessageBody.self)),
            limits: limits, log: log)
        guard response.isSuccess else {
            let code = Self.element("Code", in: response.body)?.withExposedBytes { $0.publicText() }
            throw OAuthError(
                .requestRefused(.roleCredentials, statusCode: response.status),
                serverError: code.map {
                    Self.passing.contains($0) ? .temporarilyUnavailable : ServerErrorCode(text: $0)
                })
        }
        return try Self.read(response.body)
    }

    /// AWS answers with these and status 400 although the same request may succeed later.
    private static let passing = ["Throttling", "ThrottlingException", "RequestLimitExceeded", "IDPCommunicationError"]

    /// 2 to 64 letters, digits and `=,.@-_`, as near to the account's name as that allows.
    static func sessionName(of account: String) -> String {
        let name = account.unicodeScalars.map { scalar in
            scalar.isASCII
                && (ASCII.isUnreserved(UInt8(scalar.value)) && scalar != "~" || "=,@".unicodeScalars.contains(scalar))
                ? Character(scalar) : "-"
        }
        return name.count < 2 ? "latchkey" : String(name.prefix(64))
    }

    /// The credentials in a response.
    package static func read(_ body: borrowing Secret<MessageBody>) throws(OAuthError) -> Secret<RoleCredentials> {
        guard let identifier = element("AccessKeyId", in: body), let key = element("SecretAccessKey", in: body),
            let token = element("SessionToken", in: body),
            let end = element("Expiration", in: body)?.withExposedBytes({ $0.publicText() }),
            HTTPDate.timestamp(end) != nil
        else { throw OAuthError(.invalidResponse(.roleCredentials)) }
        return try mappingError(OAuthError.unwritable) { () throws(JSONError) in
            var json = JSONWriter(limit: 64 << 10)
            try json.member("Version", integer: 1)
            try json.member("AccessKeyId", secret: identifier)
            try json.member("SecretAccessKey", secret: key)
            try json.member("SessionToken", secret: token)
            try json.member("Expiration", publicText: end)
            return try json.finish(as: RoleCredentials.self)
        }
    }

    /// The text of the only XML element of that name. `nil` where there is none or another one, and for a text that is
    /// empty, too long, or has characters that XML writes in another way.
    private static func element(
        _ name: String, in body: borrowing Secret<MessageBody>
    ) -> Secret<RoleCredentials>? {
        body.withExposedBytes { bytes in
            let (openings, closings) = (bytes.places(of: "<\(name)>"), bytes.places(of: "</\(name)>"))
            guard openings.count == 1, closings.count == 1, openings[0].upperBound < closings[0].lowerBound
            else { return nil }
            let text = bytes.extracting(openings[0].upperBound..<closings[0].lowerBound)
            guard ASCII.isVisible(text, limit: maximumTextByteCount), text.index(of: UInt8(ascii: "<")) == nil,
                text.index(of: UInt8(ascii: "&")) == nil
            else { return nil }
            return Secret<RoleCredentials>(copying: text)
        }
    }
}
