import LatchkeyJSON
import LatchkeySecrets
import Testing

@Suite struct JSONDocumentTests {
    private func read(_ text: String, _ limits: JSONLimits = JSONLimits()) throws(JSONError) -> JSONDocument {
        try JSONDocument(Secret(text), limits: limits)
    }

    private func problem(_ bytes: [UInt8], _ limits: JSONLimits = JSONLimits()) -> JSONError.Problem? {
        failure { () throws(JSONError) in try JSONDocument(Secret(copying: bytes.span), limits: limits) }?.problem
    }

    private func problem(_ text: String, _ limits: JSONLimits = JSONLimits()) -> JSONError.Problem? {
        problem(Array(text.utf8), limits)
    }

    @Test func `members of every kind are found`() throws {
        let json = try read(
            #" { "s" : "text", "i": -42, "d": 2.5e1, "t": true, "f": false, "n": null, "o": {"s": "inner"}, "a": [1, "2"] } "#
        )
        #expect(try json.publicText(json.member("s")!, limit: 4) == "text")
        #expect(try json.integer(json.member("i")!) == -42)
        #expect(try json.double(json.member("d")!) == 25)
        #expect(try json.boolean(json.member("t")!) == true)
        #expect(try json.boolean(json.member("f")!) == false)
        #expect(json.member("n") == nil)
        #expect(json.member("absent") == nil)
        let inner = json.member("s", of: json.member("o")!)
        #expect(try json.publicText(inner!, limit: 9) == "inner")
        let elements = json.elements(of: json.member("a")!)
        #expect(elements.map(\.kind) == [.number, .string])
        #expect(try json.publicText(elements[1], limit: 1) == "2")
    }

    @Test func `a member behind nested values is found`() throws {
        let json = try read(#"{"a":{"x":[{"k":1},[2]],"token":"wrong"},"token":"right"}"#)
        #expect(json.isText(json.member("token")!, "right") == true)
        #expect(json.isText(json.member("token")!, "righ") == false)
        #expect(json.isText(json.member("token")!, "righty") == false)
    }

    @Test func `a secret member goes into a secret with its escapes resolved`() throws {
        let json = try read(#"{"t":"a\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\uD83D\uDE00é€😀"}"#)
        let secret = try json.secret(json.member("t")!, as: AccessToken.self)
        #expect(secret.reveal() == "a\"\\/\u{8}\u{c}\n\r\tAé€😀é€😀")
    }

    @Test func `a name written with escapes is the same name`() throws {
        let json = try read(#"{"\u0061ccess":"x"}"#)
        #expect(json.member("access") != nil)
    }

    @Test(arguments: [
        #"{"a":1,"a":2}"#, #"{"a":1,"b":2,"\u0061":3}"#, #"{"o":{"k":1,"x":2,"k":3}}"#, #"[{"":1,"":1}]"#,
    ])
    func `duplicate names are refused`(text: String) {
        #expect(problem(text) == .duplicateMember)
    }

    @Test func `the same name in different objects isn't a duplicate`() throws {
        let json = try read(#"{"a":{"a":1},"b":{"a":2}}"#)
        #expect(try json.integer(json.member("a", of: json.member("b")!)!) == 2)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1", "[1,", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, "\"", "\"a", "tru", "-", "[\"\\",
    ])
    func `a text that ends early is refused`(text: String) {
        #expect(problem(text) == .unexpectedEnd)
    }

    @Test(arguments: [
        "{}x", "{} {}", "[1,]", #"{"a":1,}"#, "{,}", "[,]", "{a:1}", "{'a':1}", "{1:1}", "nulL", "True", "+1", ".5",
        "NaN", "Infinity", "-x", "01", "[01]", "[1 2]", #"{"a" 1}"#, "/**/1", "1 //", "\u{FEFF}{}", "1\u{0}", "\u{B}1",
    ])
    func `what is not JSON is refused`(text: String) {
        #expect(problem(text) == .unexpectedByte)
    }

    @Test(arguments: ["1.", "1.e3", "1e", "1e+", "-1E-", String(repeating: "1", count: 65)])
    func `a malformed number is refused`(text: String) {
        #expect(problem(text) == .invalidNumber)
    }

    @Test(arguments: ["\u{0}", "\u{1F}", "\n", "\t"])
    func `a control character in a string is refused`(text: String) {
        #expect(problem("\"a\(text)\"") == .controlCharacter)
    }

    @Test(arguments: [
        #""\x""#, #""\u12""#, #""\u12G4""#, #""\U0041""#, #""\ud800""#, #""\ud800x""#, #""\ud800\n""#,
        #""\ud800\u0041""#, #""\udc00""#, #""\ud800\ud800""#,
    ])
    func `a malformed escape is refused`(text: String) {
        #expect(problem(text) == .invalidEscape)
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0xAF], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3], [0xE2, 0x82], [0xE2, 0x28, 0xA1],
            [0xF0, 0x9F, 0x98],
        ] as [[UInt8]])
    func `invalid UTF-8 is refused`(bytes: [UInt8]) {
        #expect(problem([0x22] + bytes + [0x22]) == .invalidUTF8)
        #expect(problem([0x22] + bytes) == .invalidUTF8)
    }

    @Test func `every scalar of Unicode survives, raw and escaped`() throws {
        for value in stride(from: UInt32(0x80), through: 0x10FFFF, by: 97) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let escaped = String(scalar).utf16.map { unit in
                "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
            }.joined()
            let json = try read("[\"\(scalar)\",\"\(escaped)\"]")
            let texts = json.elements(of: json.root).map { try? json.publicText($0, limit: 4) }
            #expect(texts == [String(scalar), String(scalar)])
        }
    }

    @Test func `integers outside the range are refused`() throws {
        let json = try read("[9223372036854775807, -9223372036854775808, 9223372036854775808, 1.0, 1e2, 1e999]")
        let values = json.elements(of: json.root)
        #expect(try json.integer(values[0]) == .max)
        #expect(try json.integer(values[1]) == .min)
        #expect(failure { () throws(JSONError) in try json.integer(values[2]) } == JSONError(.outOfRange))
        #expect(failure { () throws(JSONError) in try json.integer(values[3]) } == JSONError(.wrongType))
        #expect(failure { () throws(JSONError) in try json.integer(values[4]) } == JSONError(.wrongType))
        #expect(failure { () throws(JSONError) in try json.double(values[5]) } == JSONError(.outOfRange))
    }

    @Test func `a value of another kind is refused, not converted`() throws {
        let json = try read(#"["1", 1, true, {}]"#)
        let values = json.elements(of: json.root)
        let wrong = JSONError(.wrongType)
        #expect(failure { () throws(JSONError) in try json.integer(values[0]) } == wrong)
        #expect(failure { () throws(JSONError) in try json.publicText(values[1], limit: 9) } == wrong)
        #expect(failure { () throws(JSONError) in try json.secret(values[1], as: AccessToken.self) } == wrong)
        #expect(failure { () throws(JSONError) in try json.boolean(values[0]) } == wrong)
        #expect(failure { () throws(JSONError) in try json.double(values[2]) } == wrong)
        #expect(json.elements(of: values[3]).isEmpty)
        #expect(json.member("x", of: values[0]) == nil)
    }

    @Test func `public text longer than asked is refused`() throws {
        let json = try read(#"["\u20ac\u20ac"]"#)
        let value = json.elements(of: json.root)[0]
        #expect(try json.publicText(value, limit: 6) == "€€")
        #expect(failure { () throws(JSONError) in try json.publicText(value, limit: 5) } == JSONError(.tooLong))
    }

    // MARK: - Limits

    @Test func `depth is limited`() {
        let limits = JSONLimits(depth: 3)
        #expect(problem("[[[1]]]", limits) == nil)
        #expect(problem("[[[[1]]]]", limits) == .tooDeep)
        #expect(problem(#"{"a":{"a":{"a":{}}}}"#, limits) == .tooDeep)
        #expect(problem(String(repeating: "[", count: 200_000)) == .tooDeep)
        #expect(problem(String(repeating: "{\"a\":", count: 50_000)) == .tooDeep)
    }

    @Test func `size, values and members are limited`() {
        #expect(problem("[1,2]", JSONLimits(byteCount: 5)) == nil)
        #expect(problem("[1,2] ", JSONLimits(byteCount: 5)) == .tooLarge)
        #expect(problem("[1,2]", JSONLimits(valueCount: 3)) == nil)
        #expect(problem("[1,2,3]", JSONLimits(valueCount: 3)) == .tooManyValues)
        #expect(problem(#"{"a":1,"b":2}"#, JSONLimits(memberCount: 2)) == nil)
        #expect(problem(#"{"a":1,"b":2,"c":3}"#, JSONLimits(memberCount: 2)) == .tooManyValues)
    }

    // MARK: - Writing

    @Test func `the writer's output is read back unchanged`() throws {
        let every = String(String.UnicodeScalarView((0..<0x250).compactMap { Unicode.Scalar($0) }))
        var writer = JSONWriter()
        try writer.member("secret", secret: Secret<AccessToken>(every))
        try writer.member("text", publicText: "\"quoted\" \\ \u{7f} €")
        try writer.member("list", publicTexts: ["a", "", "\n"])
        try writer.member("least", integer: .min)
        try writer.member("yes", boolean: true)
        let json = try JSONDocument(writer.finish(as: MessageBody.self))
        #expect(try json.secret(json.member("secret")!, as: AccessToken.self).reveal() == every)
        #expect(json.isText(json.member("text")!, "\"quoted\" \\ \u{7f} €") == true)
        let list = json.elements(of: json.member("list")!).map { try? json.publicText($0, limit: 1) }
        #expect(list == ["a", "", "\n"])
        #expect(try json.integer(json.member("least")!) == .min)
        #expect(try json.boolean(json.member("yes")!) == true)
    }

    @Test func `an object without members is written`() throws {
        #expect(try JSONWriter().finish(as: StoredLogin.self).reveal() == "{}")
    }

    @Test func `a secret that is not UTF-8 can't be written`() {
        let bytes: [UInt8] = [0x61, 0xFF]
        let error = failure { () throws(JSONError) in
            var writer = JSONWriter()
            try writer.member("s", secret: Secret<PrivateKey>(copying: bytes.span))
        }
        #expect(error == JSONError(.invalidUTF8))
    }

    @Test func `the writer has a limit`() {
        let error = failure { () throws(JSONError) in
            var writer = JSONWriter(limit: 16)
            try writer.member("s", secret: Secret<AccessToken>("0123456789"))
        }
        #expect(error == JSONError(.tooLarge))
    }
}
