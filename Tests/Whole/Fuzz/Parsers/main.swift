// Coverage-guided fuzzing of what strangers send us, with libFuzzer from the toolchain:
//
//     swift build --traits Fuzzing --scratch-path .build-fuzz -c release --product fuzz-parsers \
//         -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld
//     PARSER=json .build-fuzz/release/fuzz-parsers -max_total_time=600 corpus
//
// Tests/fuzzed runs them all. The ordinary tests run the same parsers on seeded mutations.

#if Fuzzing
    internal import FuzzDriver
    internal import Glibc
    internal import LatchkeyHTTP
    internal import LatchkeyJSON
    internal import LatchkeyOAuth
    internal import LatchkeySecrets

    /// What is accepted can be read and written again.
    private func fuzzJSON(_ bytes: Span<UInt8>) {
        guard let document = try? JSONDocument(Secret(copying: bytes)) else { return }
        var pending = [document.root]
        while let value = pending.popLast() {
            pending += document.elements(of: value)
            _ = try? document.integer(value)
            _ = try? document.double(value)
            guard let secret = try? document.secret(value, as: AccessToken.self) else { continue }
            var writer = JSONWriter(limit: 8 << 20)
            guard (try? writer.member("a", secret: secret)) != nil,
                let text = try? writer.finish(as: MessageBody.self),
                let again = try? JSONDocument(text, limits: JSONLimits(byteCount: 8 << 20)),
                let member = again.member("a"), let copy = try? again.secret(member, as: AccessToken.self)
            else { preconditionFailure("a string can't be written and read again") }
            precondition(copy.matches(secret), "a string changed on the way")
        }
    }

    private func fuzzResponse(_ bytes: Span<UInt8>) {
        _ = try? AuthorizationResponse(query: bytes)
        guard let redirect = try? RedirectURI("http://127.0.0.1:4711/callback") else { return }
        _ = try? AuthorizationResponse(pasted: bytes, redirect: redirect)
    }

    /// What is accepted is the issuer's own, and confidential.
    private func fuzzMetadata(_ bytes: Span<UInt8>) {
        guard let issuer = try? Issuer("https://id.example"),
            let server = try? AuthorizationServerMetadata(parsing: Secret(copying: bytes), expecting: issuer)
        else { return }
        precondition(server.issuer == issuer && server.tokenEndpoint.isConfidential)
        precondition(server.authorizationEndpoint.isConfidential)
    }

    /// What is accepted is kept as written.
    private func fuzzRedirect(_ bytes: Span<UInt8>) {
        var octets: [UInt8] = []
        for index in bytes.indices { octets.append(bytes[index]) }
        let text = String(decoding: octets, as: UTF8.self)
        guard let redirect = try? RedirectURI(text, allowingAnyPrivateScheme: true) else { return }
        precondition(redirect.text.utf8.elementsEqual(text.utf8))
        precondition((try? RedirectURI(text, allowingAnyPrivateScheme: true)) == redirect)
    }

    /// What is accepted can be read again, and its end is known.
    private func fuzzRole(_ bytes: Span<UInt8>) {
        guard let credentials = try? SecurityTokenService.read(Secret(copying: bytes)) else { return }
        precondition(RoleCredentials.end(of: credentials) != nil, "credentials without an end")
    }

    /// What is accepted signs, and is stored as the same key.
    private func fuzzKey(_ bytes: Span<UInt8>) {
        guard let key = try? ES256Key.read(Secret(copying: bytes)) else { return }
        guard let text = try? key.encoded(), let again = try? ES256Key(decoding: text) else {
            preconditionFailure("a key can't be stored")
        }
        precondition(again.thumbprint == key.thumbprint)
    }

    private let parsers: [(name: String, run: (Span<UInt8>) -> Void)] = [
        ("json", fuzzJSON), ("response", fuzzResponse), ("metadata", fuzzMetadata), ("redirect", fuzzRedirect),
        ("role", fuzzRole), ("key", fuzzKey),
    ]
    guard let parser = parsers.first(where: { unsafe getenv("PARSER").map { unsafe String(cString: $0) } == $0.name })
    else {
        print("PARSER must be one of:", parsers.map(\.name).joined(separator: " "))
        exit(64)
    }
    runFuzzer { bytes in parser.run(bytes.span) }
#else
    print("fuzz-parsers: build with --traits Fuzzing; see Tests/Whole/Fuzz/Parsers/main.swift")
#endif
