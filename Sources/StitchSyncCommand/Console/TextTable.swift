/// A table of text: the first column left-aligned, the others right-aligned.
struct TextTable: Sendable {
    private var rows: [[String]]

    /// Creates a table with column titles.
    init(_ titles: [String]) { rows = [titles] }

    /// Adds a row; missing cells are empty.
    mutating func append(_ cells: [String]) { rows.append(cells) }

    /// The rows as lines, with a rule under the titles.
    var lines: [String] {
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in
            rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
        }
        let laidOut = rows.map { Self.line($0, widths) }
        let rule = String(repeating: "-", count: widths.reduce(0, +) + 2 * max(0, columns - 1))
        return [laidOut[0], rule] + laidOut.dropFirst()
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = widths.indices.map { column in
            let cell = column < cells.count ? cells[column] : ""
            let blanks = String(repeating: " ", count: widths[column] - cell.count)
            return column == 0 ? cell + blanks : blanks + cell
        }
        let line = padded.joined(separator: "  ")
        return String(line.reversed().drop { $0 == " " }.reversed())
    }
}
