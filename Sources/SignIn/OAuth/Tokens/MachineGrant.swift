internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// How a machine gets tokens, without a person and without a refresh token.
public enum MachineGrant: Sendable, Hashable {
    /// By the client's own authentication (RFC 6749 section 4.4).
    case clientCredentials
    /// By a token that the machine's surroundings hand out in a file, as an authorization grant (RFC 7523 section 2.1).
    /// The file is read for each request: a regular file, or a link to one, of at most 64 KiB.
    case jwtBearer(file: String)
    /// By the same token, in a token exchange (RFC 8693).
    case tokenExchange(file: String)

    private static let maximumByteCount = 64 << 10

    fileprivate func form() throws(OAuthError) -> FormBody {
        var form = FormBody()
        switch self {
        case .clientCredentials: try form.append("grant_type", text: "client_credentials")
        case .jwtBearer(let file):
            try form.append("grant_type", text: "urn:ietf:params:oauth:grant-type:jwt-bearer")
            try form.append("assertion", secret: Self.assertion(in: file))
        case .tokenExchange(let file):
            try form.append("grant_type", text: "urn:ietf:params:oauth:grant-type:token-exchange")
            try form.append("subject_token", secret: Self.assertion(in: file))
            try form.append("subject_token_type", text: "urn:ietf:params:oauth:token-type:jwt")
        }
        return form
    }

    /// Reads a file each time: what hands out assertions replaces it. A link is followed, as Kubernetes has one.
    private static func assertion(in path: String) throws(OAuthError) -> Secret<IDToken> {
        let problem = OAuthError(.invalidConfiguration(.assertion))
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw problem }
        defer { close(descriptor) }
        guard let status = try? FileStatus.of(descriptor: descriptor), status.isRegularFile,
            status.byteCount <= maximumByteCount
        else { throw problem }
        let content = try mapError(
            { (_: SystemErrorNumber) in problem },
            of: Secret<IDToken>(readingFrom: descriptor, atMost: maximumByteCount))
        return try content.withExposedBytes { (bytes) throws(OAuthError) in
            var end = bytes.count
            while end > 0, bytes[end - 1] == 0x0A || bytes[end - 1] == 0x0D { end -= 1 }
            let token = bytes.extracting(first: end)
            guard ASCII.isVisible(token, limit: maximumByteCount), token.index(of: 0x20) == nil else { throw problem }
            return Secret<IDToken>(copying: token)
        }
    }
}

extension TokenEndpoint {
    /// Gets a machine's tokens. Throws as `exchange` does; `.invalidConfiguration(.assertion)` for a file without one.
    package func tokens(
        by grant: MachineGrant, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> TokenResponse {
        var form = try grant.form()
        if !client.scopes.isEmpty { try form.append("scope", text: client.scopes.text) }
        if let resource = client.resource { try form.append("resource", text: resource) }
        // Auth0 requires `audience`, for example.
        for parameter in client.extraParameters { try form.append(parameter.name, text: parameter.value) }
        let response = try await endpoint.post(server.tokenEndpoint, form, authentication: authentication)
        let (basicForm, reader) = (response.basicForm, reader(at: response.date))
        let document = try Self.success(response)
        return try await orRevoked(document, authentication, basicForm) { () async throws(OAuthError) in
            try reader.tokens(in: document, nonce: nil)
        }
    }
}
