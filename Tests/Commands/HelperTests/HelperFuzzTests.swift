import Foundation
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyCommands

/// What tools write to helpers, damaged 20,000 times each. The seed is fixed: a failure names the input and comes back.
@Suite struct HelperFuzzTests {
    private static let count = 20_000

    /// Runs `check` on mutations of the samples, and expects some to be accepted and some refused: else it shows
    /// nothing.
    private func fuzz(_ samples: [String], words: [String], check: (_ input: [UInt8]) throws -> Bool) throws {
        var mutator = Mutator(seed: 0x6C61_7463_686B_6579, samples: samples, words: words)
        var accepted = 0
        for _ in 0..<Self.count {
            let input = mutator.next()
            if try check(input) { accepted += 1 }
        }
        #expect(accepted > Self.count / 100 && accepted < Self.count, "\(accepted) were accepted")
    }

    private func shown(_ input: [UInt8]) -> Comment {
        Comment(rawValue: String(reflecting: String(decoding: input, as: UTF8.self)))
    }

    private func bytes<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) -> [UInt8] {
        secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
    }

    // MARK: - git

    private static let gitRequests = [
        "protocol=https\nhost=example.org:8443\npath=a/b.git\nusername=ada\npassword=p=w\n\n",
        "capability[]=authtype\nwwwauth[]=Basic realm=x\nwwwauth[]=\nwwwauth[]=Bearer\nprotocol=https\nhost=h\n",
        "protocol=https\nhost=h\nusername=\npassword=x\npassword_expiry_utc=17\noauth_refresh_token=r\nnew=1\n\nrest=1\n",
    ]
    private static let gitWords = [
        "\n", "\r\n", "=", "\0", "protocol=", "host=", "host=other\n", "path=", "username=", "password=",
        "password_expiry_utc=", "oauth_refresh_token=", "capability[]=", "wwwauth[]=", "@", ":", "/", "\n\n",
    ]

    /// What git says is a list of lines; a few lines of Foundation say the same of it.
    @Test func `a git request is its lines up to the first empty one, and a later value wins`() throws {
        try fuzz(Self.gitRequests, words: Self.gitWords) { input in
            let end = input.indices.first {
                input[$0] == 0x0A && ($0 == 0 || input[$0 - 1] == 0x0A)
            }
            let lines = input[..<(end ?? input.count)].split(separator: 0x0A)
            guard let request = try? GitExchange(Secret<MessageBody>(copying: input.span)) else { return false }
            #expect(lines.allSatisfy { $0.contains(0x3D) && !$0.contains(0) && $0.count <= 65_535 }, shown(input))
            func value(_ name: String) -> [UInt8]? {
                lines.last { $0.starts(with: Array("\(name)=".utf8)) }.map { Array($0.dropFirst(name.utf8.count + 1)) }
            }
            #expect(Array(request.scheme.utf8) == value("protocol") ?? [], shown(input))
            #expect(Array(request.host.utf8) == value("host") ?? [], shown(input))
            #expect(Array(request.path.utf8) == value("path") ?? [], shown(input))
            #expect(request.user.map { Array($0.utf8) } == value("username"), shown(input))
            // No name under which something is kept has a line's end in it, and the host's part is git's own.
            if let service = request.service {
                #expect(!service.utf8.contains(0x0A) && service.hasPrefix("git:\(request.scheme)://\(request.host)"))
            }
            // What is kept comes back.
            switch GitSecret.kept(request) {
            case .some(let kept):
                guard let secret = GitSecret(kept) else {
                    Issue.record("what is kept can't be read: \(shown(input))")
                    return true
                }
                #expect(bytes(secret.password) == value("password") ?? [], shown(input))
                #expect(secret.expiry.map { Array($0.utf8) } == value("password_expiry_utc"), shown(input))
                switch secret.refreshToken {
                case .some(let token): #expect(bytes(token) == value("oauth_refresh_token") ?? [], shown(input))
                case .none: #expect(value("oauth_refresh_token") == nil, shown(input))
                }
            case .none: #expect(value("password") == nil, shown(input))
            }
            return true
        }
    }

    @Test func `stored values reach git in lines of git's protocol alone`() throws {
        let samples = ["p", "p\npassword_expiry_utc=1\noauth_refresh_token=r", "p\npassword_expiry_utc=x\n"]
        try fuzz(samples, words: ["\n", "\r", "=", "\0", "host=evil", "quit=1", "oauth_refresh_token="]) { input in
            guard let secret = GitSecret(Secret<Password>(copying: input.span)) else { return false }
            #expect(bytes(secret.password) == Array(input.prefix { $0 != 0x0A }), shown(input))
            #expect(!bytes(secret.password).contains(0) && secret.expiry?.utf8.contains(0x0A) != true, shown(input))
            switch secret.refreshToken {
            case .some(let token): #expect(!bytes(token).contains(0x0A) && !bytes(token).contains(0), shown(input))
            case .none: break
            }
            return true
        }
    }

    // MARK: - Names of registries and indexes

    private static let names = [
        "https://index.docker.io/v1/", "quay.io", "Registry.Example:5000/team/image", "http://[::1]:5000/",
        " a.example\n",
        "https://user:pass@pypi.example/simple/pkg/", "https://pypi.example/simple/", "HTTPS://PyPI.example",
    ]
    private static let nameWords = [
        "://", "/", "//", "@", ":", "?", "#", "\\", "..", " ", "\t", "https://", "http://", "[", "]", "%2f", "%40",
        "evil.example",
    ]

    @Test func `every name that is searched for a registry has the same host`() throws {
        try fuzz(Self.names, words: Self.nameWords) { input in
            guard let text = String(validating: input, as: UTF8.self), let name = RegistryName(text) else {
                return false
            }
            #expect(!name.host.isEmpty && !name.host.contains("/") && !name.host.contains("@"), shown(input))
            // The Docker Hub has two.
            let hosts = name.host.hasSuffix("docker.io") ? ["docker.io", "index.docker.io"] : [name.host]
            for candidate in name.candidates {
                let host = try #require(RegistryName(candidate)?.host)
                #expect(host == name.host || hosts.contains(name.host) && hosts.contains(host), shown(input))
            }
            #expect(name.origin.hasSuffix("://" + name.host), shown(input))
            return true
        }
    }

    /// Foundation says which host an address has.
    @Test func `every address that is searched for an index has the host of the connection`() throws {
        try fuzz(Self.names, words: Self.nameWords) { input in
            guard let text = String(validating: input, as: UTF8.self), let origin = IndexName(text).origin else {
                return false
            }
            for candidate in IndexName(text).candidates.dropFirst() {
                let isAddress = candidate.contains("://")
                #expect(
                    isAddress
                        ? IndexName(candidate).origin == origin : origin.hasSuffix("://" + candidate.lowercased()),
                    shown(input))
            }
            // Foundation writes other hosts in Punycode, and ports without zeros before them.
            if input.allSatisfy({ $0 < 0x80 }), let parts = URLComponents(string: text), let host = parts.encodedHost {
                let place = origin.components(separatedBy: "://").last ?? ""
                #expect(place.hasPrefix(host.lowercased()), shown(input))
                let port = place.dropFirst(host.count)
                #expect(port.isEmpty ? parts.port == nil : Int(port.dropFirst()) == parts.port, shown(input))
            }
            return true
        }
    }

    // MARK: - cargo

    @Test func `a cargo request has the members that Foundation finds in it`() throws {
        let samples = [
            #"{"v":1,"registry":{"index-url":"sparse+https://a.example/","name":"own","headers":["a"]},"kind":"get","operation":"read"}"#,
            #"{"v":1,"registry":{"index-url":"https://b"},"kind":"login","token":"t\u0062","login-url":"https://b/me","args":[]}"#,
        ]
        let words = [
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u0000", "null", "1", "\"v\":1", "\"kind\":\"get\"",
            "\"token\":",
            "\"registry\":", "\"index-url\":\"x\"", "\n",
        ]
        try fuzz(samples, words: words) { input in
            guard let request = try? CargoRequest(Secret<MessageBody>(copying: input.span)) else { return false }
            let object = try JSONSerialization.jsonObject(with: Data(input)) as? [String: Any]
            let registry = object?["registry"] as? [String: Any]
            #expect(object?["v"] as? Int == 1 && request.kind == object?["kind"] as? String, shown(input))
            #expect(request.indexURL == registry?["index-url"] as? String, shown(input))
            switch request.token {
            case .some(let token):
                #expect(String(decoding: bytes(token), as: UTF8.self) == object?["token"] as? String, shown(input))
            case .none: #expect(object?["token"] as? String == nil, shown(input))
            }
            return true
        }
    }
}
