package import LatchkeyLog
internal import LatchkeyProcess

/// Rows with columns as wide as their longest cell. Without rows the heading is left out.
package struct TextTable: Sendable {
    private let heading: [LogMessage]
    /// The indexes of a row's cells that the table shows. `cellCount` counts all cells of a row.
    private let shown: [Int]
    private let cellCount: Int
    private var rows: [[LogMessage]] = []
    /// The widths of the written part. It includes the heading.
    private var written: [Int]?
    /// Whether the last column's cells go on in the next line where they are too wide, rather than being cut.
    private let wraps: Bool
    /// The headings of columns that are cut before others, and go where even that isn't enough; the first to go first.
    private let dropped: [String]
    /// The widths when the heading was written: which columns there are is decided then.
    private var headed: [Int]?

    /// - Parameter omitted: the headings of columns that this table doesn't have, though its rows do.
    package init(
        _ heading: LogMessage..., wrapping wraps: Bool = false, dropping dropped: [String] = [],
        omitting omitted: [String] = []
    ) {
        cellCount = heading.count
        shown = heading.indices.filter { !omitted.contains(heading[$0].text) }
        self.heading = shown.map { heading[$0] }
        self.wraps = wraps
        self.dropped = dropped
    }

    /// The same table without the rows that it has so far: for what comes after they were written.
    package func continued() -> TextTable {
        guard !rows.isEmpty else { return self }
        var next = self
        next.written = widths
        next.headed = headed ?? widths
        next.rows = []
        return next
    }

    package mutating func append(_ cells: LogMessage...) {
        precondition(cells.count == cellCount, "a row has \(cellCount) cells")
        rows.append(shown.map { cells[$0] })
    }

    package var isEmpty: Bool { rows.isEmpty }

    /// Whole lines, without spaces at their ends.
    ///
    /// - Parameter width: how many columns a line may have; `nil`: any number.
    func text(width: Int? = nil) -> String {
        guard !rows.isEmpty else { return "" }
        let columns = width.map(columns) ?? Array(heading.indices)
        var widths = columns.map { self.widths[$0] }
        if let width { widths = fitted(widths, columns, to: width) }
        return (written == nil ? [heading] + rows : rows).map { row in
            line(columns.map { row[$0].text }, widths)
        }.joined()
    }

    /// The columns that a line has room for.
    private func columns(in width: Int) -> [Int] {
        let widths = headed ?? self.widths
        var columns = Array(heading.indices)
        for name in dropped {
            let needed = columns.reduce(2 * (columns.count - 1)) { sum, column in
                let isDropped = dropped.contains(heading[column].text)
                return sum + (isDropped ? min(widths[column], least(column)) : widths[column])
            }
            if needed > width { columns.removeAll { heading[$0].text == name } }
        }
        return columns
    }

    /// The least legible width of a cell.
    private func least(_ column: Int) -> Int { max(8, heading[column].text.count) }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        let last = cells.count - 1
        var line = ""
        for column in cells.indices where column < last {
            let cell = Self.cut(cells[column], to: widths[column])
            line += cell + String(repeating: " ", count: widths[column] - cell.count + 2)
        }
        let parts =
            wraps ? WrappedText.lines(cells[last], width: widths[last]) : [Self.cut(cells[last], to: widths[last])]
        let margin = String(repeating: " ", count: line.count)
        return parts.enumerated().map { index, part in
            var line = (index == 0 ? line : margin) + part
            while line.hasSuffix(" ") { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private static func cut(_ cell: String, to width: Int) -> String {
        cell.count <= width ? cell : cell.prefix(max(width - 1, 0)) + "…"
    }

    /// Takes from the columns that may be dropped, then from the widest until all fit: down to eight characters, then
    /// down to the headings and no further.
    private func fitted(_ widths: [Int], _ columns: [Int], to width: Int) -> [Int] {
        var widths = widths
        var surplus = widths.reduce(2 * (widths.count - 1), +) - width
        for name in dropped {
            guard let index = columns.firstIndex(where: { heading[$0].text == name }) else { continue }
            let taken = min(max(surplus, 0), max(0, widths[index] - least(columns[index])))
            widths[index] -= taken
            surplus -= taken
        }
        for least in [8, 1] {
            while surplus > 0 {
                let wide = widths.indices.filter { widths[$0] > max(least, heading[columns[$0]].text.count) }
                guard let widest = wide.max(by: { widths[$0] < widths[$1] }) else { break }
                widths[widest] -= 1
                surplus -= 1
            }
        }
        return widths
    }

    private var widths: [Int] {
        var widths = written ?? heading.map(\.text.count)
        for row in rows {
            for column in row.indices { widths[column] = max(widths[column], row[column].text.count) }
        }
        return widths
    }
}
