import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

/// Sessions that somebody else wrote into a store. `expires_at` less `issued_at` didn't fit, and the process ended.
@Suite struct CraftedSessionTests {
    private static let numbers: [Int64] = [.min, .min + 1, -1, 0, 1, 59, 1_790_000_000, .max - 1, .max]

    private func session(issued: Int64, expiry: Int64) throws -> StoredSession {
        try StoredSession(
            decoding: .test(
                #"{"latchkey_session":1,"token_type":"Bearer","authority":"a","client_id":"c","account":"x","#
                    + #""access_token":"t","issued_at":\#(issued),"expires_at":\#(expiry)}"#))
    }

    @Test(arguments: numbers)
    func `times of any size are compared without a crash`(issued: Int64) throws {
        for expiry in Self.numbers {
            for now in Self.numbers {
                let session = try session(issued: issued, expiry: expiry)
                let isFresh = session.isFresh(at: UnixTime(seconds: now))
                #expect(!isFresh || now < expiry)
            }
        }
    }

    @Test func `seconds out of range become the largest or the smallest value`() {
        let (first, last) = (UnixTime(seconds: .min), UnixTime(seconds: .max))
        #expect(last.advanced(bySeconds: 1) == last && first.advanced(bySeconds: -1) == first)
        #expect(last.seconds(since: first) == .max && first.seconds(since: last) == .min)
        #expect(UnixTime(seconds: 5).advanced(bySeconds: -7).seconds == -2)
        #expect(UnixTime(seconds: 5).seconds(since: UnixTime(seconds: 7)) == -2)
    }

    @Test func `a session that is read can be used, shown and written again`() async throws {
        let samples = [
            #"{"latchkey_session":1,"token_type":"Bearer","authority":"https://a.example","client_id":"c","#
                + #""account":"x","subject":"1","scopes":["a","b"],"issued_at":1790000000,"expires_at":1790003600,"#
                + #""refresh_expires_at":1790003600,"basic_form":"raw","access_token":"t","refresh_token":"r"}"#,
            #"{"latchkey_session":1,"token_type":"DPoP","key_thumbprint":"k","resource":"https://r.example","#
                + #""authority":"a","client_id":"c","account":"x","access_token":"t","issued_at":1,"expires_at":2}"#,
        ]
        let words = [
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e999", "-1", "0", "null", "\"\"",
            "{",
            "}", "[", "]", ",", "\\u0000", "\\ud800", "\u{212A}", "\"DPoP\"", "\"issued_at\":", "\"expires_at\":",
        ]
        var mutator = Mutator(seed: 0x6C61_7463_686B_6579, samples: samples, words: words)
        var accepted = 0
        for round in 0..<20_000 {
            // Tests beside this one wait for responses over HTTP, and there are few threads for all.
            if round % 128 == 0 { await Task.yield() }
            let input = mutator.next()
            guard let session = try? StoredSession(decoding: Secret(copying: input.span)) else { continue }
            accepted += 1
            for now in Self.numbers { _ = session.isFresh(at: UnixTime(seconds: now)) }
            let summary = session.summary
            let again = try StoredSession(decoding: session.encoded()).summary
            guard again == summary else {
                Issue.record("\(String(reflecting: String(decoding: input, as: UTF8.self)))")
                return
            }
        }
        #expect(accepted > 200 && accepted < 20_000)
    }
}
