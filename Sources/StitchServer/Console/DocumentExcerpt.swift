internal import BSONStore

/// A document as the console shows it in a list, a change or a story: with long texts, long arrays and deep trees cut.
///
/// A part that is cut is replaced by `{$stitchsyncCut: {kind: "…", size: n, start: "…"}}`. Such a
/// document is only shown: the pages fetch the whole document before they edit it.
struct DocumentExcerpt {
    /// The size in bytes of all documents of a list.
    static let listBytesMax = 128 * 1024
    /// The size in bytes up to which a document is whole in any list.
    static let wholeBytesMax = 2 * 1024
    /// The size in bytes above which a document is cut also if it is the only one.
    static let documentBytesMax = 32 * 1024

    private static let textBytesMax = 400
    private static let startScalarsMax = 120
    private static let itemsMax = 50
    private static let depthMax = 8
    private static let mark = "$stitchsyncCut"

    /// The bytes that further parts may take.
    private var rest: Int

    /// Returns the reply to a query with cut documents, and their sizes in the field `cut`.
    ///
    /// A document that is whole has the size 0 there.
    static func shortened(_ reply: BSONDocument) -> BSONDocument {
        guard let cursor = reply["cursor"]?.documentValue,
            let batch = cursor["firstBatch"]?.arrayValue
        else { return reply }
        let share = min(
            documentBytesMax, max(wholeBytesMax, listBytesMax / max(1, batch.count)))
        var sizes: [BSONValue] = []
        let documents = batch.map { value -> BSONValue in
            guard let document = value.documentValue, document.byteCount > share else {
                sizes.append(.int64(0))
                return value
            }
            sizes.append(.int64(Int64(document.byteCount)))
            return .document(Self.shortened(document, to: share))
        }
        var shown = cursor
        shown["firstBatch"] = .array(BSONArray(documents))
        var result = reply
        result["cursor"] = .document(shown)
        result["cut"] = .array(BSONArray(sizes))
        return result
    }

    /// Returns a change event with cut documents, and the event's size in the field `sizeField` if
    /// it was cut.
    ///
    /// - Parameter count: the number of events that are sent together.
    static func shortened(event: BSONDocument, of count: Int) -> BSONDocument {
        let share = min(documentBytesMax, max(wholeBytesMax, listBytesMax / max(1, count)))
        guard event.byteCount > share else { return event }
        var result = event
        for name in ["fullDocument", "fullDocumentBeforeChange", "updateDescription"] {
            guard let document = event[name]?.documentValue, document.byteCount > wholeBytesMax
            else { continue }
            result[name] = .document(shortened(document, to: share / 2))
        }
        result[sizeField] = .int64(Int64(event.byteCount))
        return result
    }

    /// Returns the story of a document with the document cut, and its size in `sizeField` if it was
    /// cut.
    static func shortened(story: BSONDocument) -> BSONDocument {
        var result = story
        if let document = story["document"]?.documentValue,
            document.byteCount > documentBytesMax
        {
            result["document"] = .document(shortened(document, to: documentBytesMax))
            result[sizeField] = .int64(Int64(document.byteCount))
        }
        let changes = (story["changes"]?.arrayValue ?? []).map { value -> BSONValue in
            guard var change = value.documentValue else { return value }
            for name in ["updated", "removed"] {
                guard let names = change[name]?.arrayValue, names.count > itemsMax else { continue }
                change[name] = .array(BSONArray(names.prefix(itemsMax)))
            }
            return .document(change)
        }
        result["changes"] = .array(BSONArray(changes))
        return result
    }

    /// The field of an event or a story that holds the size in bytes of what was cut.
    static let sizeField = "$stitchsyncCutFrom"

    private static func shortened(_ document: BSONDocument, to share: Int) -> BSONDocument {
        var excerpt = DocumentExcerpt(rest: share)
        return excerpt.fields(of: document, depth: 0)
    }

    private mutating func fields(of document: BSONDocument, depth: Int) -> BSONDocument {
        var result = BSONDocument()
        var count = 0
        for (key, value) in document {
            guard count < Self.itemsMax, rest > 0 else {
                result.append("…", Self.cut("fields", document.count - count))
                return result
            }
            count += 1
            // The pages find the document by its id.
            let isID = depth == 0 && key.hasSameBytes(as: "_id")
            let part = isID ? value : self.part(value, depth: depth + 1)
            rest -= key.utf8.count
            result.append(key, part)
        }
        return result
    }

    private mutating func items(of array: BSONArray, depth: Int) -> BSONArray {
        var items: [BSONValue] = []
        for value in array {
            guard items.count < Self.itemsMax, rest > 0 else {
                items.append(Self.cut("items", array.count - items.count))
                break
            }
            items.append(part(value, depth: depth + 1))
        }
        return BSONArray(items)
    }

    private mutating func part(_ value: BSONValue, depth: Int) -> BSONValue {
        rest -= 16
        switch value {
        case .double: return value
        case .string(let text): return self.text(text, of: "string") ?? value
        case .document(let document):
            guard depth < Self.depthMax || document.isEmpty else {
                return Self.cut("object", document.count)
            }
            return .document(fields(of: document, depth: depth))
        case .array(let array):
            guard depth < Self.depthMax || array.isEmpty else {
                return Self.cut("array", array.count)
            }
            return .array(items(of: array, depth: depth))
        case .binary(let binary):
            rest -= min(binary.bytes.count, Self.textBytesMax)
            return binary.bytes.count > Self.textBytesMax
                ? Self.cut("binary", binary.bytes.count) : value
        case .undefined, .objectID, .bool, .datetime, .null: return value
        case .regularExpression(let expression):
            return text(expression.pattern, of: "regular expression") ?? value
        case .dbPointer(let pointer): return text(pointer.namespace, of: "pointer") ?? value
        case .javascript(let text): return self.text(text, of: "code") ?? value
        case .symbol(let text): return self.text(text, of: "symbol") ?? value
        case .javascriptWithScope(let code):
            return text(code.code, of: "code") ?? Self.cut("code", code.code.utf8.count)
        case .int32, .timestamp, .int64, .decimal128, .minKey, .maxKey: return value
        }
    }

    /// Returns what replaces a long text; `nil` for one that is short enough.
    private mutating func text(_ text: String, of kind: String) -> BSONValue? {
        let count = text.utf8.count
        rest -= min(count, Self.textBytesMax)
        guard count > Self.textBytesMax else { return nil }
        var start = String.UnicodeScalarView()
        start.append(contentsOf: text.unicodeScalars.prefix(Self.startScalarsMax))
        return Self.cut(kind, count, start: String(start))
    }

    private static func cut(_ kind: String, _ size: Int, start: String? = nil) -> BSONValue {
        var facts: BSONDocument = ["kind": .string(kind), "size": .int64(Int64(size))]
        if let start { facts.append("start", .string(start)) }
        return [mark: .document(facts)]
    }
}
