import BSONStore

/// The reason why a line of an import was rejected.
enum ImportLineError: Error, Sendable, CustomStringConvertible {
    /// The line has more bytes than the limit; it was not read.
    case lineTooLong(byteCount: Int)
    /// The line is not a JSON object.
    case notAnObject
    /// The line is not Extended JSON, or the document is too large or too deep.
    case malformed(BSONError)
    /// The text at a column of the line, counted from 1, is invalid for this reason.
    case text(String, column: Int)
    /// The server or the sync engine refuses the document with this message.
    case answered(String)
    /// The file is malformed from here on; the rest was not read.
    case broken(String)
    /// A document with this `_id` already exists, from this file or before.
    case duplicateID(BSONValue)
    /// The store refuses the document.
    case refused(StoreError)

    var description: String {
        switch self {
        case .lineTooLong(let byteCount):
            "the line has \(byteCount) bytes, more than \(LineReader.lineBytesMax)"
        case .notAnObject: "not a JSON object"
        case .malformed(let error):
            error.column.map { "\(error.message) (column \($0))" } ?? error.message
        case .text(let reason, let column): "\(reason) (column \(column))"
        case .answered(let message): message
        case .broken(let reason): "\(reason); the rest is not read"
        case .duplicateID(let id): "a document with _id \(id.extendedJSON(.relaxed)) exists already"
        case .refused(let error): error.message
        }
    }

    /// Converts a store error about one document; `nil` when the store itself failed.
    init?(_ error: StoreError, id: BSONValue) {
        switch error.code {
        case .duplicateKey: self = .duplicateID(id)
        case .badValue, .invalidBSON, .dollarPrefixedFieldName, .invalidIDField,
            .dottedFieldName, .emptyFieldName, .documentTooLarge:
            self = .refused(error)
        default: return nil
        }
    }
}
