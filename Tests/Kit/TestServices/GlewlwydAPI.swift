internal import Foundation

/// glewlwyd's own administration interface, spoken through curl.
struct GlewlwydAPI {
    let base: String
    let cookies: String
    let authority: String?

    /// Sends one request, its body on standard input, and throws unless the answer is 200.
    @discardableResult
    func call(_ method: String, _ path: String, _ body: [String: Any]) async throws -> String {
        let json = try JSONSerialization.data(withJSONObject: body)
        var arguments = [
            "--silent", "--show-error", "--noproxy", "*", "--request", method, "--cookie", cookies, "--cookie-jar",
            cookies,
            "--header", "Content-Type: application/json", "--data-binary", "@-", "--write-out", "\n%{http_code}",
        ]
        if let authority { arguments += ["--cacert", authority] }
        let run = try await Program("curl").run(arguments + ["\(base)/api/\(path)"], input: [UInt8](json))
        let answer = try run.successful("\(method) \(path)").outputText
        guard answer.hasSuffix("\n200") else { throw ServiceFailure("glewlwyd: \(method) \(path) answered \(answer)") }
        return answer
    }

    func addClient(_ members: [String: Any], redirectURIs: [String]) async throws {
        var client: [String: Any] = [
            "enabled": true, "confidential": false, "redirect_uri": redirectURIs, "scope": Glewlwyd.scopes,
            "authorization_type": ["code", "refresh_token", "delete_token", "device_authorization"],
            "token_endpoint_auth_method": ["none"],
        ]
        client.merge(members) { _, new in new }
        client["name"] = client["client_id"]
        try await call("POST", "client/", client)
    }
}
