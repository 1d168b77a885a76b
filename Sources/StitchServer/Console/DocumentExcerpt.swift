internal import BSONStore

/// A document as a list of the console shows it: with long texts, long arrays and deep trees cut.
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
            var excerpt = DocumentExcerpt(rest: share)
            return .document(excerpt.fields(of: document, depth: 0))
        }
        var shown = cursor
        shown["firstBatch"] = .array(BSONArray(documents))
        var result = reply
        result["cursor"] = .document(shown)
        result["cut"] = .array(BSONArray(sizes))
        return result
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
