/// Breaks text at spaces, for a width that a terminal has.
enum WrappedText {
    /// A word that is too wide stays whole: nothing is cut. Spaces before the text stand before each line.
    static func lines(_ text: some StringProtocol, width: Int) -> [String] {
        let margin = String(text.prefix { $0 == " " })
        var lines = [margin]
        for word in text.dropFirst(margin.count).split(separator: " ", omittingEmptySubsequences: false) {
            let line = lines[lines.count - 1]
            if line.count == margin.count {
                lines[lines.count - 1] += word
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }

    /// Paragraphs with an empty line between them. The lines of one are joined before.
    static func paragraphs(_ text: String, width: Int) -> String {
        text.split(separator: "\n\n").map { paragraph in
            lines(paragraph.split(separator: "\n").joined(separator: " "), width: width).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// A command that a shell still takes as one: lines end in a backslash, and none inside quotes.
    static func command(_ text: String, width: Int) -> String {
        var parts: [String] = []
        for word in text.split(separator: " ") {
            if let last = parts.last, !last.count(where: { $0 == "'" }).isMultiple(of: 2) {
                parts[parts.count - 1] += " \(word)"
            } else {
                parts.append(String(word))
            }
        }
        var lines: [String] = []
        for part in parts {
            if let line = lines.last, line.count + 1 + part.count <= width - 2 {
                lines[lines.count - 1] += " \(part)"
            } else {
                lines.append(lines.isEmpty ? part : "    \(part)")
            }
        }
        return lines.joined(separator: " \\\n  ")
    }
}
