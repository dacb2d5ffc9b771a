import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyCommands
import TestServices
import Testing

/// How references, files of variables and masked text are read, in this process.
@Suite struct RunSyntaxTests {
    @Test(arguments: [
        ("example.org/ada", "example.org", "ada"), ("latchkey://example.org/ada", "example.org", "ada"),
        ("https://example.org/path/ada", "https://example.org/path", "ada"),
        ("latchkey://https://example.org/ada", "https://example.org", "ada"),
        ("a%2Fb/c%2fd", "a/b", "c/d"), ("100%25/%25", "100%", "%"), ("a b/ü", "a b", "ü"), ("a/b?c#d", "a", "b?c#d"),
        ("a%C3%BC/b", "aü", "b"),
    ])
    func `a reference names a service and an account`(_ text: String, _ service: String, _ account: String) throws {
        #expect(SecretReference.key(of: text) == (try CredentialKey(service: service, account: account)))
    }

    @Test(arguments: [
        "", "/", "a", "a/", "/a", "latchkey://", "latchkey://a", "latchkey:///a", "a/%", "a/%2", "a/%2g", "a%ff/b",
        "a%00/b", "a\n/b", String(repeating: "a", count: 1025) + "/b",
    ])
    func `text that doesn't name a credential isn't a reference`(_ text: String) {
        #expect(SecretReference.key(of: text) == nil)
    }

    private func variables(_ text: String) throws(EnvironmentFile.Malformed) -> [ChildVariable] {
        try EnvironmentFile.variables(in: Array(text.utf8))
    }

    @Test(arguments: [
        ("A=", ""), ("A=b", "b"), ("A=b\r\n", "b"), ("A = b", nil), ("A", nil), ("=b", nil), ("1A=b", nil),
        ("A-B=c", nil),
        ("A=\"b", nil), ("A='b", nil), ("A='b'c", nil), ("A='b'#c", nil), ("A='b' #c", "b"), ("A=b 'c'", "b 'c'"),
        ("A=#b", "#b"), ("A= #b", ""), ("A=b\\n", "b\\n"), ("A=\"\\q\"", "\\q"), ("A=\"b\\", nil), ("A=\"b\\\"", nil),
        ("A=$(b)`c`${D}", "$(b)`c`${D}"), ("export A=b", "b"), ("exportA=b", "b"), ("export  A=b", "b"),
        ("export", nil),
        ("A=b\rc", "b\rc"), ("A='b\r\nc'", "b\r\nc"), ("\u{FEFF}A=b", nil), ("A==b", "=b"),
    ])
    func `each line of a file of variables is read or refused`(_ line: String, _ value: String?) throws {
        let read = try? variables(line)
        #expect(read?.count == (value == nil ? nil : 1))
        if let value, case .text(let text)? = read?.first?.value { #expect(text.utf8.elementsEqual(value.utf8)) }
    }

    @Test func `an error names the line where the invalid entry begins`() {
        #expect(throws: EnvironmentFile.Malformed(line: 5, problem: .syntax)) {
            try variables("A=1\n# B\n\nC='d'\nE\nF=g\n")
        }
        #expect(throws: EnvironmentFile.Malformed(line: 1, problem: .syntax)) { try variables("C='d\ne\nf") }
        #expect(throws: EnvironmentFile.Malformed(line: 4, problem: .reference)) {
            try variables("C='d\ne\nf'\nG=latchkey:///x\n")
        }
    }

    // MARK: - Masked text

    private func hide(_ secret: String, _ mask: inout SecretMask, isLongEnough: Bool = true) {
        let isTaken = mask.add(Secret<Password>(copying: secret.utf8.span))
        #expect(isTaken == isLongEnough, "\(secret)")
    }

    /// Shows pieces as they come; `nil` is a moment without any. Each piece's part of what is shown is told apart.
    private func shown(_ pieces: [String?], hiding secrets: [String]) -> [String] {
        var mask = SecretMask()
        for secret in secrets { hide(secret, &mask) }
        var text = MaskedText()
        var output = pieces.map { piece in
            guard let piece else { return text.showWaiting(mask) }
            return text.take(Secret<MessageBody>(copying: piece.utf8.span), mask)
        }
        output.append(text.finish(mask))
        return output.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The beginning of the long one was shown with the whole of the short one in it.
    @Test func `a secret within the beginning of another isn't shown while it waits`() {
        #expect(
            shown(["ab1234", nil, "x"], hiding: ["ab123456789012", "1234"]).joined() == "ab***x")
        #expect(shown(["ab1234", nil], hiding: ["ab123456789012", "1234"])[1].isEmpty)
    }

    @Test func `a secret is replaced wherever the text is cut`() {
        let secret = "correct horse"
        let text = "a \(secret), \(secret)\(secret) b"
        for width in 1...text.utf8.count {
            var rest = Substring(text)
            var pieces: [String?] = []
            while !rest.isEmpty {
                pieces.append(String(rest.prefix(width)))
                rest = rest.dropFirst(width)
            }
            #expect(shown(pieces, hiding: [secret]).joined() == "a ***, ****** b", "\(width)")
        }
    }

    @Test func `only text that may become a secret waits`() {
        #expect(shown(["Password: "], hiding: ["hunter22"]) == ["Password: ", ""])
        #expect(shown(["a hunt", "ing", "hunt"], hiding: ["hunter22"]) == ["a ", "hunting", "", "hunt"])
    }

    /// All but the last byte of a secret was shown.
    @Test func `a text that ends within a secret shows no more than a pause in it does`() {
        #expect(shown(["a hunter2"], hiding: ["hunter22"]) == ["a ", "***"])
        #expect(shown(["hunter2", "2hunte"], hiding: ["hunter22"]) == ["", "***", "***"])
        #expect(shown(["hunt", nil, "er2"], hiding: ["hunter22"]).joined() == "hunt***")
    }

    @Test func `if nothing follows, at most half of a secret is shown, and the rest is replaced`() {
        #expect(shown(["hunt", nil, "er22 x"], hiding: ["hunter22"]) == ["", "hunt", "*** x", ""])
        #expect(shown(["hunte", nil, "r22 x"], hiding: ["hunter22"]) == ["", "", "*** x", ""])
        #expect(shown(["hunt", nil, "ing", "hunter22"], hiding: ["hunter22"]) == ["", "hunt", "ing", "***", ""])
        // Of two that it may become, the shorter one decides.
        #expect(shown(["hunte", nil, "n"], hiding: ["hunter22", "hunter22hunter22"]) == ["", "", "hunten", ""])
        #expect(shown(["ab123", nil, " "], hiding: ["ab123456789012", "1234"]) == ["", "", "ab123 ", ""])
    }

    @Test func `secrets that overlap, or begin with one another, are replaced together`() {
        #expect(shown(["xabcdefy"], hiding: ["abcd", "cdef"]).joined() == "x***y")
        #expect(shown(["abcdefgh", "abcdx"], hiding: ["abcd", "abcdefgh"]).joined() == "******x")
        #expect(shown(["abcde", nil, "x"], hiding: ["abcd", "abcdefgh"]).joined() == "***ex")
        let zeros = String(repeating: "0", count: 100_000)
        #expect(shown([zeros, "1"], hiding: ["0000"]).joined() == "***1")
    }

    @Test func `text before and after a secret isn't joined`() {
        let secrets = ["b1aaab", "aabbab1", "1aaa"]
        let pieces = ["b1aaabb", "1aaab1", "a", "aab", "1aaab", "aa", "bb1aa", "a"]
        let paused = shown(pieces.flatMap { [$0, nil] }, hiding: secrets).joined()
        #expect(paused == "******1a***aab***")
    }

    /// Cuts and moments without a piece are drawn by chance, of few letters, so that secrets overlap and nearly begin.
    @Test func `however a text is cut, the result is the same, without a secret`() {
        let seed = UInt64.random(in: 0 ... .max)
        var chance = SeededGenerator(seed: seed)
        func letters(_ count: Int) -> String {
            String((0..<count).map { _ in "ab1".randomElement(using: &chance)! })
        }
        for round in 0..<300 {
            let secrets = (0..<Int.random(in: 1...3, using: &chance)).map { _ in
                letters(.random(in: 4...9, using: &chance))
            }
            let text = (0..<6).map { _ in
                Bool.random(using: &chance)
                    ? secrets.randomElement(using: &chance)! : letters(.random(in: 0...6, using: &chance))
            }.joined()
            var rest = Substring(text)
            var pieces: [String?] = []
            while !rest.isEmpty {
                let count = Int.random(in: 1...7, using: &chance)
                pieces.append(String(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            let name = "seed \(seed), round \(round): \(secrets) in \(pieces)"
            let output = shown(pieces, hiding: secrets).joined()
            #expect(output == shown([text], hiding: secrets).joined(), "\(name)")
            let paused = shown(pieces.flatMap { [$0, nil] }, hiding: secrets).joined()
            for secret in secrets { #expect(!output.contains(secret) && !paused.contains(secret), "\(name)") }
        }
    }

    @Test func `a secret of several lines is replaced line by line, whatever its line breaks`() {
        let secret = "-----BEGIN\nabcd\r\n}\nefgh\n"
        #expect(shown([secret], hiding: [secret]).joined() == "***\n***\r\n}\n***\n")
        #expect(shown(["efgh\r\r\nabcd\r\n"], hiding: [secret]).joined() == "***\r\r\n***\r\n")
    }

    @Test func `a secret that is too short to replace is refused, and an empty one is ignored`() {
        var mask = SecretMask()
        hide("abc", &mask, isLongEnough: false)
        hide("a\nb\nc\n", &mask, isLongEnough: false)
        // With its blanks it is long enough, and they are a part of it.
        #expect(shown(["| ab  |"], hiding: [" ab  "]).joined() == "|***|")
        #expect(shown(["|  }|    abcd|"], hiding: ["    abcd\n  }\n"]).joined() == "|  }|    ***|")
        hide("", &mask)
    }

    /// By Python's libraries, which know nothing of ours; the last as JavaScript's encodeURIComponent does it.
    @Test(arguments: ["Ab/cd+ef==Gh/12", "it(s!p&ss\"wo\\rd", "a\\\"/b ü%"])
    func `a secret is replaced in other programs' forms for addresses and JSON`(_ secret: String) async throws {
        let script = """
            import json, sys, urllib.parse
            text = sys.stdin.read()
            whole = urllib.parse.quote(text, safe="")
            lower = "%".join([whole.split("%")[0]] + [p[:2].lower() + p[2:] for p in whole.split("%")[1:]])
            print(whole, lower, urllib.parse.quote(text), urllib.parse.quote(text, safe="!'()*"))
            print(json.dumps({"a": text}, ensure_ascii=False))
            """
        let written = try await Program("/usr/bin/python3").run(["-c", script], input: Array(secret.utf8))
            .successful("python3").outputText
        let output = shown([written], hiding: [secret]).joined()
        #expect(output == "*** *** *** ***\n{\"a\": \"***\"}\n", "\(output)")
    }

    /// base64 by Foundation, which knows nothing of ours.
    @Test(arguments: ["", "u", "us", "usr:", "a longer name:"], ["", "!", "?!", "...", " and more"])
    func `a secret in base64 is replaced at any position of the encoded text`(_ before: String, _ after: String) {
        let secret = "h?nter>2~~~ü"
        let standard = Data((before + secret + after).utf8).base64EncodedString()
        for encoded in [standard, standard.replacing("+", with: "-").replacing("/", with: "_")] {
            let text = shown([encoded], hiding: [secret]).joined()
            #expect(text.contains("***"), "\(encoded)")
            // What is left of it is of the characters that it shares with its neighbours.
            #expect(text.utf8.count <= encoded.utf8.count - secret.utf8.count * 8 / 6 + 1 + 3, "\(text)")
        }
        #expect(shown(["a=h%3Fnter%3E2~~~%C3%BC&"], hiding: [secret]).joined() == "a=***&")
    }
}
