internal import BSONStore

/// The `updateDescription` of an event, which lists an update's changes by path.
///
/// Source: MongoDB manual, "update Event"; the server's `change_stream_document_diff_parser.cpp`.
struct UpdateDescriptionWriter {
    private var updated = BSONDocument()
    private var removed: [BSONValue] = []
    private var truncated: [BSONValue] = []
    private var ambiguous = BSONDocument()

    /// Collects the paths of a difference.
    init(_ difference: OplogDelta) { add(difference, Path()) }

    /// Returns the field's value.
    ///
    /// - Parameter isExpanded: whether to explain ambiguous paths: a number may be an array index
    ///   or a field name, and a field name may contain a dot.
    func document(isExpanded: Bool) -> BSONDocument {
        var document: BSONDocument = [
            "updatedFields": .document(updated), "removedFields": .array(BSONArray(removed)),
            "truncatedArrays": .array(BSONArray(truncated)),
        ]
        if isExpanded { document.append("disambiguatedPaths", .document(ambiguous)) }
        return document
    }

    private mutating func add(_ difference: OplogDelta, _ path: Path) {
        if let size = difference.newSize {
            note(path)
            truncated.append(
                ["field": .string(path.text), "newSize": .int32(Int32(clamping: size))])
        }
        guard !difference.isArray else {
            for field in difference.changes {
                add(field.change, path.appending(field.key, isPlace: true))
            }
            return
        }
        for step in Step.allCases {
            for field in difference.changes where Step(field.change) == step {
                add(field.change, path.appending(field.key, isPlace: false))
            }
        }
    }

    private mutating func add(_ change: FieldChange, _ path: Path) {
        switch change {
        case .removed: removed.append(.string(path.text))
        case .updated(let value), .inserted(let value): updated.append(path.text, value)
        case .inside(let inner):
            add(inner, path)
            return
        }
        note(path)
    }

    private mutating func note(_ path: Path) {
        guard path.isAmbiguous else { return }
        ambiguous.set(path.text, to: .array(BSONArray(path.parts)))
    }

    /// The order of changes within one document.
    private enum Step: CaseIterable {
        case removed
        case updated
        case inserted
        case inside

        init(_ change: FieldChange) {
            self =
                switch change {
                case .removed: .removed
                case .updated: .updated
                case .inserted: .inserted
                case .inside: .inside
                }
        }
    }

    private struct Path {
        var text = ""
        var parts: [BSONValue] = []
        var isAmbiguous = false

        func appending(_ key: String, isPlace: Bool) -> Path {
            var path = self
            path.text += parts.isEmpty ? key : ".\(key)"
            if isPlace, let place = Int32(key) {
                path.parts.append(.int32(place))
            } else {
                path.parts.append(.string(key))
                path.isAmbiguous = isAmbiguous || key.contains(".") || Self.isNumber(key)
            }
            return path
        }

        private static func isNumber(_ key: String) -> Bool {
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard let first = key.utf8.first, key.utf8.allSatisfy(digits.contains) else {
                return false
            }
            return first != UInt8(ascii: "0") || key.utf8.count == 1
        }
    }
}
