import BSONStore
import StitchSync

extension RejectedWrite<BSONDocument> {
    /// The collection and the document's id.
    var place: String { "\(namespace) \(documentID.extendedJSON(.relaxed))" }

    /// The write as a few lines of text, with the fields that differ.
    var lines: [String] {
        var lines = [
            "\(id)  \(change) of \(place), refused at \(time.text)",
            "   reason  \(reason.printable) (\(code))",
        ]
        if base == nil { lines.append("   base    (no document)") }
        if document == nil { lines.append("   wanted  (no document)") }
        if hasLaterEdits, laterDocument == nil { lines.append("   later   (no document)") }
        // A delete differs in every field.
        guard document != nil || laterDocument != nil else { return lines }
        let later: BSONDocument?? = hasLaterEdits ? .some(laterDocument) : nil
        let fields = EditionLine.lines(base: base, local: document, remote: later)
            .filter { $0.differs(hasRemote: hasLaterEdits) }
        for field in fields.prefix(Self.fieldsMax) {
            func text(_ value: BSONValue?) -> String {
                value.map { "\(ShortValue($0))" } ?? "(no such field)"
            }
            lines.append("   \(field.path.printable)")
            if base != nil { lines.append("     base    \(text(field.base))") }
            if document != nil { lines.append("     wanted  \(text(field.local))") }
            if laterDocument != nil { lines.append("     later   \(text(field.remote))") }
        }
        let rest = fields.count - Self.fieldsMax
        if rest > 0 { lines.append("   and \(rest.counted("more field")); --json writes all") }
        return lines
    }

    /// The maximum number of fields that are shown.
    private static var fieldsMax: Int { 20 }

    /// Returns the write as one JSON object.
    func object(outcome: String? = nil) -> BSONDocument {
        func value(_ document: BSONDocument?) -> BSONValue {
            document.map(BSONValue.document) ?? .null
        }
        var object: BSONDocument = [
            "number": .int64(id), "collection": .string(namespace.description),
            "_id": documentID, "change": .string(change.rawValue), "at": .datetime(time),
            "code": .int64(Int64(code)), "reason": .string(reason),
            "document": value(document), "base": value(base),
        ]
        if hasLaterEdits { object.append("later", value(laterDocument)) }
        if let outcome { object.append("outcome", .string(outcome)) }
        return object
    }
}
