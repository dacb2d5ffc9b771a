internal import LatchkeyDBus
internal import LatchkeySecrets
internal import Testing

@GLibThread struct BusValueTests {
    init() throws {
        _ = try GLibThread.context()
    }

    /// A peer chooses the types of what it sends.
    @Test func `a value of an unexpected type is read as nothing`() {
        let value = BusValue.tuple([.string("text"), .unsigned32(7), .strings(["a", "b"])])
        #expect(value.type == "(suas)" && value.is("(suas)") && !value.is("(su)") && value.count == 3)
        #expect(value[0].text == "text" && value[1].unsigned32 == 7 && value[2].texts == ["a", "b"])
        #expect(value[0].unsigned32 == 0 && value[0].unsigned == 0 && !value[0].boolean && value[0].count == 0)
        #expect(value[1].text == "" && value[1].texts == [] && value[1].publicBytes == [])
        #expect(value[2].text == "" && value[2].property("a", "s") == nil && value[2].publicBytes == [])
        for none in [value[3], value[-1], value[0][0], value[1].unboxed] { #expect(none.is("()")) }
        // Pairs are wanted, and single texts came.
        #expect(value[2].dictionary == ["": ""])
    }

    @Test func `a property is read only if its type is the expected one`() {
        let value = BusValue.properties([("Label", .string("a label")), ("Locked", .boolean(true))])
        #expect(value.property("Label", "s")?.text == "a label" && value.property("Locked", "b")?.boolean == true)
        #expect(value.property("Label", "b") == nil && value.property("Created", "t") == nil)
        #expect(BusValue.dictionary([("a", "1"), ("b", "2")]).dictionary == ["a": "1", "b": "2"])
    }

    @Test func `a lent secret is the message's part while the value exists`() {
        let value = BusValue.lending(LentSecret(Secret<Password>(copying: "s3cret".utf8.span)))
        #expect(value.is("ay") && value.publicBytes == Array("s3cret".utf8))
        #expect(BusValue.lending(LentSecret(Secret<Password>(copying: "".utf8.span))).publicBytes == [])
    }
}
