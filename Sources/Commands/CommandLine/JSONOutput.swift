package import LatchkeyLog

/// JSON for `--json` (RFC 8259), out of parts that can be logged.
package indirect enum JSONOutput: Sendable {
    case null
    case bool(Bool)
    case number(Int64)
    /// Verbatim text: control characters are escaped by JSON's rules, not by the log's.
    case text(LoggableText)
    case message(LogMessage)
    case array([JSONOutput])
    /// Members stay in this order.
    case object([(name: StaticString, value: JSONOutput)])

    /// Text that may be missing.
    package static func optional(_ text: LoggableText?) -> JSONOutput { text.map { .text($0) } ?? .null }

    /// A message that may be missing.
    package static func optional(_ message: LogMessage?) -> JSONOutput { message.map { .message($0) } ?? .null }

    /// The document, indented by two spaces, without a line break at its end.
    package var text: String { render(indent: "") }

    fileprivate func render(indent: String) -> String {
        let inner = indent + "  "
        switch self {
        case .null: return "null"
        case .bool(let value): return value ? "true" : "false"
        case .number(let value): return String(value)
        case .text(let value): return JSONText.quote(value.unredacted)
        case .message(let value): return JSONText.quote(value.text)
        case .array(let elements):
            if elements.isEmpty { return "[]" }
            let lines = elements.map { inner + $0.render(indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members):
            if members.isEmpty { return "{}" }
            let lines = members.map {
                "\(inner)\(JSONText.quote($0.name.description)): \($0.value.render(indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        }
    }
}

extension TerminalOutput {
    /// Writes a JSON object of texts in one line, for a protocol whose members' names are data.
    package func write(texts members: [(name: LoggableText, value: LoggableText)]) throws(CommandFailure) {
        let parts = members.map { "\(JSONText.quote($0.name.unredacted)):\(JSONText.quote($0.value.unredacted))" }
        try write(text: "{\(parts.joined(separator: ","))}\n")
    }
}

/// A JSON array that is written a few elements at a time, as `JSONOutput.array` is written at once.
package struct JSONArrayOutput {
    private let output: TerminalOutput
    private var isEmpty = true

    package init(_ output: TerminalOutput) {
        self.output = output
    }

    package mutating func write(_ elements: [JSONOutput]) throws(CommandFailure) {
        if elements.isEmpty { return }
        try output.write(
            text: (isEmpty ? "[\n" : ",\n") + elements.map { "  " + $0.render(indent: "  ") }.joined(separator: ",\n"))
        isEmpty = false
    }

    package func end() throws(CommandFailure) { try output.write(text: isEmpty ? "[]\n" : "\n]\n") }
}
