// Uses each library that is loaded at first use, at each entry to it, and prints what comes of it: a line a word of the
// command line. A test restricts what this process may load, or finds.
//
// `ask` asks at the terminal for a secret of at most eight bytes. `only=NAME,NAME` permits those libraries and no other from then on. `eight-threads` loads all of them at once.
internal import CLatchkeyCrypto
internal import CLatchkeyCurl
internal import CLatchkeyGLib
internal import CLatchkeyLibpq
internal import CLatchkeyMicroHTTPD
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyCrypto
internal import LatchkeyDBus
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyOAuth
internal import LatchkeyProcess
internal import LatchkeySecretService
internal import LatchkeySecrets
internal import LatchkeySystem
internal import LatchkeyVault
internal import Synchronization

private func key() -> Secret<PrivateKey> { Secret(copying: [UInt8](repeating: 7, count: 32).span) }

private func use(_ word: String) async throws {
    switch word {
    case "request":
        let response = try await CurlTransport().send(
            GuardedRequest(.get, HTTPURL("http://127.0.0.1:1/")), limits: TransferLimits())
        _ = consume response
    case "listen": try LoopbackServer { _ in LoopbackResponse(status: 204) }.stop()
    case "point": _ = try P256.publicKey(of: key())
    case "sign": _ = try P256.signature(of: [1, 2, 3].span, key: key())
    case "verify": _ = try P256.isValid([], of: [1, 2, 3].span, publicKey: [])
    case "pem": _ = try P256.privateKey(pem: key())
    case "proof-key": _ = try ES256Key.generate()
    case "stored-proof-key":
        let text = Array(
            #"{"kty":"EC","crv":"P-256","x":"a","y":"b","d":"BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"}"#.utf8)
        _ = try ES256Key(decoding: Secret(copying: text.span))
    case "exchange": _ = try SecretServiceKeyExchange()
    case "derive":
        _ = try FileCipher.passphraseKey(
            Secret(copying: Array("passphrase".utf8).span), salt: [1], iterations: 1)
    case "tag": _ = try FileCipher.authenticationTag(of: [1], key: key())
    case "seal": _ = try FileCipher.sealCBC(key(), key: key(), initializationVector: [])
    case "open": _ = try FileCipher.openCBC([], key: key(), initializationVector: [])
    case "bus": _ = try await GLibThread.context()
    case "keyring":
        let store = SecretServiceStore(SecretServiceConfiguration(coordination: nil))
        _ = try await store.read(CredentialKey(service: "s", account: "u"), as: Password.self)
    case "database":
        try VaultStore.probe(at: "postgresql:///secrets?host=/nonexistent")
    case "ask": print("\(try Secret<Password>(reading: "Password of the database", limit: 8).byteCount) bytes")
    default: throw Unknown()
    }
}

private struct Unknown: Error {}

/// Every thread loads all libraries, each in another order, and uses one. Returns the failures.
private func loadOnEightThreads() -> [String] {
    let loaders: [(LoadableLibrary, @Sendable () -> latchkey_loaded)] = [
        (.crypto, { latchkey_crypto_load() }), (.curl, { latchkey_curl_load() }),
        (.microHTTPD, { latchkey_microhttpd_load() }), (.glib, { latchkey_glib_load() }),
        (.libsecret, { latchkey_libsecret_load() }), (.libpq, { latchkey_libpq_load() }),
    ]
    let failures = Mutex<[String]>([])
    let begun = Atomic(0)
    let threads = (0..<8).compactMap { number in
        try? SystemThread(joinable: {
            begun.add(1, ordering: .relaxed)
            while begun.load(ordering: .relaxed) < 8 {}
            for index in loaders.indices {
                let (library, load) = loaders[(index + number) % loaders.count]
                if load().outcome != LATCHKEY_LOADED { failures.withLock { $0.append("\(library)") } }
                // What has just been loaded is complete.
                let isUsable =
                    switch library {
                    case .crypto: (try? P256.publicKey(of: key())) != nil
                    case .curl: unsafe curl.curl_multi_wakeup != nil
                    case .microHTTPD: unsafe microHTTPD.MHD_stop_daemon != nil
                    case .glib: unsafe g_quark_to_string(1) != nil
                    case .libsecret: secret_service_get_type() != 0
                    case .libpq: PQstatus(nil) == CONNECTION_BAD
                    }
                if !isUsable { failures.withLock { $0.append("\(library) is incomplete") } }
            }
        })
    }
    for thread in threads { thread.join() }
    return failures.withLock { $0 } + (threads.count == 8 ? [] : ["\(threads.count) threads"])
}

for word in CommandLine.arguments.dropFirst() {
    if word.hasPrefix("only=") {
        let names = word.dropFirst("only=".count).split(separator: ",")
        LoadableLibrary.permit(only: LoadableLibrary.allCases.filter { names.contains("\($0)") })
        continue
    }
    if word == "eight-threads" {
        print("eight-threads: \(loadOnEightThreads())")
        continue
    }
    do {
        try await use(word)
        print("\(word): done")
    } catch {
        let hint = (error as? any RedactedError)?.hint?.text
        print("\(word): \(type(of: error)): \(error)\(hint.map { " -> \($0)" } ?? "")")
    }
}
