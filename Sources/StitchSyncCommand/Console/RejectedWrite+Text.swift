import BSONStore
import StitchSync

extension RejectedWrite<BSONDocument> {
    /// The collection and the document's id.
    var place: String { "\(namespace) \(documentID.extendedJSON(.relaxed))" }

    /// The write as a few lines of text.
    var lines: [String] {
        func text(_ document: BSONDocument?) -> String {
            document?.extendedJSON(.relaxed) ?? "(no document)"
        }
        var lines = [
            "\(id)  \(change) of \(place), refused at \(time.text)",
            "   reason  \(reason.printable) (\(code))", "   wanted  \(text(document))",
        ]
        if hasLaterEdits { lines.append("   later   \(text(laterDocument))") }
        return lines + ["   base    \(text(base))"]
    }

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
