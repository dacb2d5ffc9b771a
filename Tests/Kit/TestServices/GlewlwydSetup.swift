internal import Foundation

/// How a glewlwyd comes to life: its database, its configuration, its first user and clients.
struct GlewlwydSetup {
    let directory: TestDirectory
    let authority: CertificateAuthority?
    let pages: Bool

    /// What Debian installs for people: pages and their scripts.
    private static let pages = "/usr/share/glewlwyd/webapp"
    /// The schema that Debian installs, with the administrator admin/password in it.
    private static let schema = "/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"

    func makeDatabase() async throws {
        guard let schema = FileManager.default.contents(atPath: Self.schema) else {
            throw ServiceFailure.missing(program: "glewlwyd")
        }
        // One transaction without a journal: about two hundred statements, and the file is thrown away later.
        let statements = Array("PRAGMA journal_mode=OFF; BEGIN;\n".utf8) + schema + Array("\nCOMMIT;\n".utf8)
        try await Program("sqlite3").run(["-bail", directory / "database"], input: statements).successful("sqlite3")
        let folder = try directory.makeFolder("www")
        if pages {
            try await copyPages(to: folder)
        } else {
            try directory.write("www/login.html", "<!doctype html><title>Sign in</title>")
        }
    }

    private func copyPages(to folder: String) async throws {
        try await Program("cp").run(["-r", "--dereference", Self.pages + "/.", folder]).successful("cp")
        // Debian 12 puts the file into a folder of its name.
        if FileManager.default.fileExists(atPath: folder + "/config.json/config.json") {
            let settings = try directory.read("www/config.json/config.json")
            try FileManager.default.removeItem(atPath: folder + "/config.json")
            try directory.write("www/config.json", settings)
        }
    }

    private static let mimeTypes = [
        ("html", "text/html"), ("js", "application/javascript"), ("css", "text/css"), ("json", "application/json"),
        ("png", "image/png"), ("ico", "image/x-icon"), ("woff2", "font/woff2"),
    ].map { "{ extension = \".\($0.0)\"; mime_type = \"\($0.1)\" }" }.joined(separator: ", ")

    /// Starts the server on a free port, and on another one when somebody was faster.
    func start() async throws -> (RunningProgram, base: String) {
        let glewlwyd = try Program("glewlwyd")
        var failure: any Error = ServiceFailure("glewlwyd didn't start")
        for _ in 0..<5 {
            let port = try LoopbackPort.free()
            let base = "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)"
            try directory.write("glewlwyd.conf", configuration(port: port, base: base))
            let server = try glewlwyd.start(["--config-file=" + directory / "glewlwyd.conf"])
            server.closeInput()
            do {
                try await server.wait(for: "its port") { try await answers(base) }
                return (server, base)
            } catch {
                failure = error
            }
        }
        throw failure
    }

    private func answers(_ base: String) async throws -> Bool {
        var arguments = ["--silent", "--noproxy", "*", "--max-time", "2", "--output", "/dev/null", base + "/config"]
        if let authority { arguments += ["--cacert", authority.certificate] }
        return try await Program("curl").run(arguments).status == 0
    }

    private func configuration(port: UInt16, base: String) -> String {
        var lines = """
            port = \(port)
            bind_address = "127.0.0.1"
            external_url = "\(base)"
            login_url = "login.html"
            api_prefix = "api"
            static_files_path = "\(directory / "www")/"
            static_files_mime_types = (\(Self.mimeTypes))
            log_mode = "file"
            log_level = "DEBUG"
            log_file = "\(directory / "log")"
            cookie_secure = 0
            session_key = "SESSION"
            session_expiration = 86400
            admin_session_authentication = "cookie"
            profile_session_authentication = "cookie"
            login_api_enabled = true
            admin_scope = "g_admin"
            profile_scope = "g_profile"
            hash_algorithm = "SHA512"
            database = { type = "sqlite3"; path = "\(directory / "database")" }

            """
        for (kind, folder) in [
            ("user", "user"), ("client", "client"), ("user_auth_scheme", "scheme"), ("plugin", "plugin"),
        ] {
            lines += "\(kind)_module_path = \"/usr/lib/glewlwyd/\(folder)\"\n"
        }
        if let authority {
            lines += """
                use_secure_connection = true
                secure_connection_key_file = "\(authority.serverKey)"
                secure_connection_pem_file = "\(authority.serverChain)"

                """
        }
        return lines
    }

    // MARK: - What is in it

    func populate(base: String, redirectURIs: [String], briefTokenSeconds: Int) async throws {
        let api = GlewlwydAPI(base: base, cookies: directory / "cookies.admin", authority: authority?.certificate)
        var requests = [GlewlwydAPI.Request("POST", "auth/", ["username": "admin", "password": "password"])]
        requests += Glewlwyd.scopes.filter { $0 != "openid" }.map { scope in
            // Age 0: a signed-in user isn't asked for the password again.
            .init(
                "POST", "scope/",
                ["name": scope, "display_name": scope, "password_required": true, "password_max_age": 0])
        }
        requests.append(
            .init(
                "POST", "user/",
                [
                    "username": Glewlwyd.user, "password": Glewlwyd.userPassword, "name": "Alice Example",
                    "email": "alice@example.test", "enabled": true, "scope": Glewlwyd.scopes + ["g_profile"],
                ]))
        let keys = try await signingKeys()
        requests += Glewlwyd.Issuer.allCases.map { issuer in
            Self.issuer(issuer, tokenSeconds: issuer == .brief ? briefTokenSeconds : 3600, base: base, keys: keys)
        }
        requests.append(GlewlwydAPI.client(["client_id": Glewlwyd.nativeClient], redirectURIs: redirectURIs))
        requests.append(
            GlewlwydAPI.client(
                [
                    "client_id": Glewlwyd.confidentialClient, "confidential": true,
                    "client_secret": Glewlwyd.confidentialSecret, "token_endpoint_auth_method": ["client_secret_basic"],
                ], redirectURIs: redirectURIs))
        try await api.send(requests)
    }

    private func signingKeys() async throws -> String {
        let file = directory / "keys.json"
        try await Program("rnbyc").run(
            [
                "--jwks", "--generate", "ec256", "--key-id", "key", "--alg", "ES256", "--out-file-public", "/dev/null",
                "--indent", "0", "--out-file", file,
            ]
        ).successful("rnbyc")
        return String(decoding: try directory.read("keys.json"), as: UTF8.self)
    }

    private static func issuer(
        _ issuer: Glewlwyd.Issuer, tokenSeconds: Int, base: String, keys: String
    ) -> GlewlwydAPI.Request {
        var parameters: [String: Any] = [
            "iss": "\(base)/api/\(issuer.rawValue)", "jwks-private": keys, "default-kid": "key", "jwks-show": true,
            "access-token-duration": tokenSeconds, "refresh-token-duration": 86_400, "code-duration": 60,
            "refresh-token-rolling": true, "refresh-token-one-use": "always",
            "allowed-scope": Glewlwyd.scopes, "allow-non-oidc": true,
            "name-claim": "mandatory", "email-claim": "mandatory",
            "introspection-revocation-allowed": true, "introspection-revocation-allow-target-client": true,
            "introspection-revocation-auth-scope": ["offline_access"],
            "oauth-par-allowed": [.pushed, .nonce].contains(issuer), "oauth-par-required": issuer == .pushed,
            "oauth-par-duration": 90,
            "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:",
            "oauth-as-iss-id": true,
            "oauth-dpop-allowed": true, "oauth-dpop-iat-duration": 60, "oauth-dpop-iat-gap-duration": 5,
            "oauth-dpop-dpop_bound_access_tokens-property": "dpop_bound_access_tokens",
            "oauth-dpop-nonce-mandatory": issuer == .nonce, "oauth-dpop-nonce-counter": 3,
            "register-client-allowed": issuer == .hour, "register-client-auth-scope": [String](),
            "register-client-credentials-scope": [String](),
            "device-authorization-expiration": 600, "device-authorization-interval": 1,
            "session-management-allowed": false,
        ]
        for allowed in ["code", "id-token", "refresh", "device"] { parameters["auth-type-\(allowed)-enabled"] = true }
        for refused in ["token", "password", "client"] { parameters["auth-type-\(refused)-enabled"] = false }
        parameters["auth-type-code-revoke-replayed"] = true
        for (rule, on) in [("allowed", true), ("method-plain-allowed", false), ("required", true)] {
            parameters["pkce-" + rule] = on
        }
        return .init(
            "POST", "mod/plugin/",
            ["module": "oidc", "name": issuer.rawValue, "display_name": issuer.rawValue, "parameters": parameters])
    }
}
