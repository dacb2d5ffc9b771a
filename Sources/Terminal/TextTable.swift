public import RedactedLog

/// Rows with columns as wide as their longest cell; the heading is left out when there is no row.
public struct TextTable: Sendable {
    private let heading: [LogMessage]
    private var rows: [[LogMessage]] = []

    public init(_ heading: LogMessage...) {
        self.heading = heading
    }

    public mutating func append(_ cells: LogMessage...) {
        precondition(cells.count == heading.count, "a row has \(heading.count) cells")
        rows.append(cells)
    }

    public var isEmpty: Bool { rows.isEmpty }

    /// Whole lines, without spaces at their ends.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let lines = [heading] + rows
        let widths = heading.indices.map { column in lines.map { $0[column].text.count }.max() ?? 0 }
        return lines.map { cells in
            var line = ""
            for (column, cell) in cells.enumerated() {
                line += cell.text
                guard column + 1 < cells.count else { break }
                line += String(repeating: " ", count: widths[column] - cell.text.count + 2)
            }
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
