import LatchkeyLog
import LatchkeySwiftLog
import Logging
import Testing

@Suite struct HostileTextTests {
    private static let hostile = "a\nb\u{1B}[31m\u{1B}]0;t\u{7}\u{202E}c\r\u{0}\u{9B}2J\u{2028}\u{FEFF}d"
    private static let inert =
        #"a\u{a}b\u{1b}[31m\u{1b}]0;t\u{7}\u{202e}c\u{d}\u{0}\u{9b}2J\u{2028}\u{feff}d"#

    @Test func `characters that move a cursor or begin a line have no effect anywhere`() throws {
        let bridge = Bridge()
        let text = Self.hostile
        bridge.logger(text).debug(
            "\(text)", metadata: [text: "\(text)", "nested": [text: ["\(text)"]]], source: text, file: text, line: 1)
        let record = try #require(bridge.records.first)
        #expect(record.message.text == Self.inert && "\(record.category.logMessage)" == Self.inert)
        #expect(record["source"] == Self.inert && record["at"] == Self.inert + ":1")
        #expect(record["nested"] == "{\(Self.inert): [\(Self.inert)]}")
        #expect(bridge.text.unicodeScalars.allSatisfy { (0x20..<0x7F).contains($0.value) || $0 == "\n" })
        #expect(record.fields.map(\.name).allSatisfy { $0.wholeMatch(of: /[\w.-]{1,64}/) != nil })
        for form in LogLineFormat.allCases {
            // As a sink writes it: one line.
            let lines = try Self.written(record, form)
            #expect(lines.count == 1 && !lines[0].contains("\u{1B}"))
        }
    }

    private static func written(_ record: LogEntry, _ form: LogLineFormat) throws -> [Substring] {
        let file = try TemporaryFile()
        TextLogSink(descriptor: file.descriptor, format: form).write(record)
        return file.text.split(separator: "\n", omittingEmptySubsequences: true)
    }

    @Test func `bytes that aren't UTF-8 arrive as their replacement character`() throws {
        let bridge = Bridge()
        bridge.logger().info("\(String(decoding: [0x61, 0xFF, 0xC0, 0xAF, 0x62] as [UInt8], as: UTF8.self))")
        #expect(bridge.records.first?.message.text == "a\u{FFFD}\u{FFFD}\u{FFFD}b")
    }

    @Test func `text of ten megabytes is cut, and the line gives its length`() throws {
        let bridge = Bridge()
        let text = String(repeating: "é\u{1B}", count: 3_500_000)
        bridge.logger(text).info("\(text)", metadata: ["value": "\(text)", text: "x"], source: text)
        let record = try #require(bridge.records.first)
        #expect(record.message.text.hasSuffix("… (10500000 bytes in all)"))
        #expect(record["value"]?.hasSuffix("… (10500000 bytes in all)") == true)
        #expect(bridge.text.utf8.count < 200_000)
    }

    @Test func `values in values are shown eight deep, of a thousand`() throws {
        var value: Logger.MetadataValue = "the innermost"
        for depth in 0..<1000 { value = depth % 2 == 0 ? ["a": value] : [value] }
        let bridge = Bridge()
        bridge.logger().info("line", metadata: ["deep": value])
        #expect(bridge.records.first?["deep"] == "[{a: [{a: [{a: [{a: […]}]}]}]}]")
    }

    /// A thousand times the same value, eight deep: nothing to make, and without end to show.
    @Test(arguments: [Logger.MetadataValue.array([]), "", ["authorization": "x"]])
    func `a value that holds another one a thousand times is cut`(_ innermost: Logger.MetadataValue) throws {
        var (list, table) = (innermost, innermost)
        for _ in 0..<8 {
            list = .array(Array(repeating: list, count: 1000))
            table = .dictionary(Dictionary(uniqueKeysWithValues: (0..<1000).map { ("\($0)", table) }))
        }
        let bridge = Bridge()
        bridge.logger().info("line", metadata: ["list": list])
        bridge.logger().info("line", metadata: ["table": table])
        #expect(bridge.records.count == 2 && bridge.text.utf8.count < 1_000_000, "\(bridge.text.utf8.count)")
    }

    @Test func `of thousands of keys 64 become fields, and the rest is counted`() throws {
        let bridge = Bridge()
        let pairs = (0..<5000).map { ("key-\(10_000 + $0)", Logger.MetadataValue.string("\($0)")) }
        let many = Logger.Metadata(uniqueKeysWithValues: pairs)
        bridge.logger().info("line", metadata: many)
        bridge.logger().info("line", metadata: ["nested": .dictionary(many), "list": .array(pairs.map(\.1))])
        let (flat, nested) = (bridge.records[0], bridge.records[1])
        #expect(flat.fields.count == 66 && flat["key-10063"] == "63" && flat["metadata_left_out"] == "4936")
        #expect(nested["nested"]?.hasSuffix(", … 4000 more}") == true)
        #expect(nested["list"]?.hasSuffix(", … 4000 more]") == true)
    }

    @Test func `all metadata of a line shares 64 KiB`() throws {
        let bridge = Bridge()
        let large = String(repeating: "x", count: 20_000)
        bridge.logger().info(
            "line", metadata: Dictionary(uniqueKeysWithValues: (0..<50).map { ("k\($0)", "\(large)") }))
        #expect(
            bridge.text.utf8.count < 70_000
                && (bridge.records.first?["metadata_left_out"]).map { Int($0)! > 40 } == true)
    }

    /// Two keys become one name, and one is called as a field of ours is.
    @Test func `two fields never have the same name`() throws {
        let bridge = Bridge()
        bridge.logger().info(
            "line",
            metadata: ["a b": "1", "a_b": "2", "a/b": "3", "source": "4", "level": "5", "category": "6", "": "7"])
        let names = try #require(bridge.records.first).fields.map(\.name)
        #expect(Set(names).count == 8 && names.count == 8, "\(names)")
        LogContext.with("source", 1) { bridge.logger().info("line", metadata: ["source": "theirs"]) }
        #expect(bridge.records[1].fields.map(\.name) == ["source", "source_", "source__"])
        #expect(names.contains("source_") && names.contains("level_") && names.contains("category_"))
    }
}
