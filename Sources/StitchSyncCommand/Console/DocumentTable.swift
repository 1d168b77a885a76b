import BSONStore

/// Documents as a table with a column for each field.
struct DocumentTable: Sendable {
    /// The lines of the table; none without documents.
    let lines: [String]

    /// - Parameter cellMax: the number of characters to which longer values are cut.
    init(_ documents: [BSONDocument], cellMax: Int = .max) {
        var titles: [Name] = []
        var known: Set<Name> = []
        for document in documents {
            for (name, _) in document where known.insert(Name(name)).inserted {
                titles.append(Name(name))
            }
        }
        guard !documents.isEmpty else {
            lines = []
            return
        }
        var table = TextTable(titles.map(\.text.printable))
        for document in documents {
            table.append(titles.map { Self.cut(Self.cell(document[$0.text]), to: cellMax) })
        }
        lines = table.lines
    }

    private static func cut(_ text: String, to count: Int) -> String {
        text.count > count ? text.prefix(count - 1) + "…" : text
    }

    private static func cell(_ value: BSONValue?) -> String {
        switch value {
        case nil: ""
        case .string(let text)?: text.printable
        case .objectID(let id)?: id.hex
        case .datetime(let date)?: date.text
        case let value?: value.extendedJSON(.relaxed)
        }
    }
}
