import Foundation
import TestServices

/// Logs as programs write them, a line different from the next, full of what looks like secrets and is none: digests,
/// identifiers, certificates, blobs, addresses.
struct OrdinaryLogs {
    // Random bytes would have a known form now and then.
    private var generator = SeededGenerator(seed: 1)

    /// About so many bytes of lines.
    mutating func text(byteCount: Int) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(byteCount + 8192)
        while text.count < byteCount { text += Array(line().utf8) }
        return text
    }

    // MARK: - Pieces

    private mutating func octets(_ count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        while octets.count < count {
            var next: UInt64 = generator.next()
            for _ in 0..<8 {
                octets.append(UInt8(truncatingIfNeeded: next))
                next >>= 8
            }
        }
        return Array(octets.prefix(count))
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private mutating func hex(_ count: Int) -> String {
        let text = octets((count + 1) / 2).flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
        return String(decoding: text.prefix(count), as: UTF8.self)
    }

    private mutating func base64(_ count: Int) -> String { Data(octets(count)).base64EncodedString() }

    private mutating func base64URL(_ count: Int) -> String {
        base64(count).replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }

    private mutating func uuid() -> String { "\(hex(8))-\(hex(4))-4\(hex(3))-a\(hex(3))-\(hex(12))" }

    private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }

    private mutating func word() -> String {
        [
            "github", "xoxo", "AKITA", "eyJ", "glpat", "token=", "Bearer", "state", "ghost", "AIzen", "ya29", "ASIANA",
            "-----", "PRIVATE KEY", "password", "authorization_code", "refresh_token", "the", "quick", "naïve",
            "größer",
            "日本語", "BEGIN", "://", "user@host", "a:b@c",
        ].randomElement(using: &generator)!
    }

    private mutating func address() -> String {
        "\(number(1..<255)).\(number(0..<256)).\(number(0..<256)).\(number(1..<255))"
    }

    private mutating func time() -> String {
        "2026-0\(number(1..<10))-\(number(10..<29))T\(number(10..<24)):\(number(10..<60)):\(number(10..<60)).\(number(100..<1000))Z"
    }

    // MARK: - Lines

    private mutating func line() -> String {
        switch number(0..<22) {
        case 0:
            return
                "\(address()) - ada [21/Nov/2026:11:\(number(10..<60)):01 +0000] \"GET /a/\(uuid())?page=\(number(0..<99))"
                + "&sort=\(word()) HTTP/1.1\" 200 \(number(0..<1_000_000)) \"https://example.org/?q=\(hex(6))\" \"curl/8\"\n"
        case 1:
            return "{\"time\":\"\(time())\",\"level\":\"info\",\"trace_id\":\"\(hex(32))\",\"span_id\":\"\(hex(16))\","
                + "\"msg\":\"\(word()) \(word())\",\"user\":{\"id\":\(number(0..<1_000_000)),\"mail\":\"a\(hex(3))@example.org\"}}\n"
        case 2:
            return
                "commit \(hex(40))\nAuthor: Ada <ada@example.org>\n\n    \(word()) \(word()) (#\(number(1..<9999)))\n\n"
        case 3:
            return
                "\(hex(12)): Pull complete\nDigest: sha256:\(hex(64))\nStatus: pulled registry.example/a/b:\(hex(7))\n"
        case 4: return "npm http fetch GET 200 https://example.org/a.tgz integrity sha512-\(base64(64))\n"
        case 5:
            let body = base64(720).enumerated().map { $0 > 0 && $0 % 64 == 0 ? "\n\($1)" : "\($1)" }.joined()
            return "-----BEGIN CERTIFICATE-----\n\(body)\n-----END CERTIFICATE-----\n"
        case 6:
            return
                "Nov 21 11:01:\(number(10..<60)) host sshd[\(number(1..<65536))]: Accepted publickey SHA256:\(base64(32))\n"
        case 7:
            return "\(time()) DEBUG cache miss key=\(base64URL(24)) etag=W/\"\(hex(32))\" age=\(number(0..<86400))\n"
        case 8: return "payload eyJ\(base64(number(6..<90)))\n"
        case 9: return "arn:aws:iam::\(number(100_000_000_000..<999_999_999_999)):role/\(word())-\(hex(8))\n"
        case 10:
            let dump = octets(16).map { String($0, radix: 16) }.joined(separator: " ")
            return "0000\(hex(4)): \(dump)  |................|\n"
        case 11:
            return
                "fetch https://ada@example.org:8443/\(hex(8))/%2F\(hex(2))%20\(word()) 302 http://[::1]:\(number(1024..<65535))/\n"
        case 12:
            return
                "panic at src/main.rs:\(number(1..<999)):\(number(1..<80))\n  \(number(0..<30)): 0x\(hex(12)) - \(word())::\(word())\n"
        case 13: return "bytes: \(octets(24).map { Int($0) })\n"
        case 14:
            return
                "redirect_uri=http%3A%2F%2F127.0.0.1%3A\(number(1024..<65535))%2Fcallback&scope=openid+profile&n=\(number(0..<9))\n"
        case 15: return "<p class=\"a\">&lt;\(word())&gt; &amp; &quot;\(word())&quot; \\u00e9 \\/ \(word())</p>\r\n"
        case 16: return String(decoding: octets(60), as: UTF8.self) + "\n"
        case 17:
            return "\(time()) warning latchkey.store: secret-service default refused: locked (\(number(1..<120)) s)\n"
        case 18:
            return
                "ETA \(number(0..<99))% [\(String(repeating: "#", count: number(0..<40)))\(String(repeating: ".", count: 20))]\r"
        case 19: return "machine-id \(hex(32)) boot \(hex(32)) mac \(hex(2)):\(hex(2)):\(hex(2)):\(hex(2))\n"
        case 20:
            return
                "oauth error=invalid_grant state_ok=\(number(0..<2)) kid=\(base64URL(32)) thumbprint=\(base64URL(32))\n"
        default:
            return "\(word()) \(word()) \(word()) \(number(0..<1 << 40)) \(word()) \(hex(number(1..<9))) \(word())\n"
        }
    }
}
