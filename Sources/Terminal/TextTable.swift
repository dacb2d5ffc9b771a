package import LatchkeyLog

/// Rows with columns as wide as their longest cell; the heading is left out when there is no row.
package struct TextTable: Sendable {
    private let heading: [LogMessage]
    private var rows: [[LogMessage]] = []
    /// Of what is written already: then there is no heading any more.
    private var written: [Int]?

    package init(_ heading: LogMessage...) {
        self.heading = heading
    }

    /// The same table without the rows that it has so far: for what comes after they were written.
    package func continued() -> TextTable {
        guard !rows.isEmpty else { return self }
        var next = self
        next.written = widths
        next.rows = []
        return next
    }

    package mutating func append(_ cells: LogMessage...) {
        precondition(cells.count == heading.count, "a row has \(heading.count) cells")
        rows.append(cells)
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Whole lines, without spaces at their ends.
    var text: String {
        guard !rows.isEmpty else { return "" }
        let widths = widths
        return (written == nil ? [heading] + rows : rows).map { cells in
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

    private var widths: [Int] {
        var widths = written ?? heading.map(\.text.count)
        for row in rows {
            for column in row.indices { widths[column] = max(widths[column], row[column].text.count) }
        }
        return widths
    }
}
