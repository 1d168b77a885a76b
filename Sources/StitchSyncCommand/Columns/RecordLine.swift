import BSONStore

/// A document as a line of CSV.
struct RecordLine: Sendable {
    /// The text without the line end.
    let text: String

    /// - Parameter fields: the paths of the fields, in order.
    init(_ document: BSONDocument, _ fields: [String]) {
        self.init(fields.map { Self.text(document[path: $0]) })
    }

    /// The line of some texts; those that need it are quoted (RFC 4180).
    init(_ texts: [String]) {
        text = texts.map { text in
            let special = text.utf8.contains { ",\"\r\n".utf8.contains($0) }
            // A line of one empty text would be an empty line.
            guard special || texts.count == 1 && text.isEmpty else { return text }
            return "\"\(text.replacing("\"", with: "\"\""))\""
        }.joined(separator: ",")
    }

    private static func text(_ value: BSONValue?) -> String {
        switch value {
        case .string(let text)?: return text
        case .objectID(let id)?: return id.hex
        case .datetime?: return date(value?.extendedJSON(.relaxed) ?? "")
        case nil, .null?: return ""
        case .decimal128(let number)?: return number.description
        case let value?: return value.extendedJSON(.relaxed)
        }
    }

    /// Returns the text of `{"$date":"…"}`; other forms, of years before 1970, stay.
    private static func date(_ json: String) -> String {
        let opening = #"{"$date":""#
        return json.hasPrefix(opening)
            ? String(json.dropFirst(opening.count).dropLast(2)) : json
    }
}
