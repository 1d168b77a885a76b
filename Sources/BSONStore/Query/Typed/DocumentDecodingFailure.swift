public import BSONCore

/// The reason why a stored document is not a value of an app's type.
///
/// ```swift
/// let todos = try collection.find { !$0.done }.fetch()
/// for failure in todos.failures {
///     // cannot decode document 1 as Todo: field "tags" is missing (give it a default or make it
///     // optional)
///     log(failure.description)
/// }
/// ```
public struct DocumentDecodingFailure: Error, Sendable, CustomStringConvertible {
    /// The document's `_id`; null if it has none.
    public let documentID: BSONValue
    /// The dotted path of the field that does not fit; `nil` if the cause is not one field.
    public let field: String?
    /// The name of the app's type.
    public let typeName: String
    /// The description of the mismatch.
    public let reason: String
    /// The decoder's error.
    public let underlying: any Error

    /// Describes a decoder's error.
    public init(_ error: any Error, decoding document: BSONDocument, as type: any Any.Type) {
        documentID = document["_id"] ?? .null
        typeName = String(describing: type)
        underlying = error
        guard let error = error as? DecodingError else {
            field = nil
            reason = "\(error)"
            return
        }
        let context: DecodingError.Context
        let problem: String
        switch error {
        case .keyNotFound(let key, let found):
            field = Self.path(found.codingPath + [key])
            problem = "is missing (give it a default or make it optional)"
            context = found
        case .valueNotFound(let type, let found):
            field = Self.path(found.codingPath)
            problem = "is null, not \(type) (give it a default or make it optional)"
            context = found
        case .typeMismatch(let type, let found):
            field = Self.path(found.codingPath)
            problem = "is not \(type). \(found.debugDescription)"
            context = found
        case .dataCorrupted(let found):
            field = Self.path(found.codingPath)
            problem = "has an invalid value. \(found.debugDescription)"
            context = found
        @unknown default:
            field = nil
            reason = "\(error)"
            return
        }
        reason = field.map { "field \"\($0)\" \(problem)" } ?? context.debugDescription
    }

    /// Decodes a stored document; what the decoder throws becomes the failure.
    package static func check<Document>(
        _ document: BSONDocument, by decode: (BSONDocument) throws -> Document
    ) throws(Self) -> Document {
        do {
            return try decode(document)
        } catch {
            throw Self(error, decoding: document, as: Document.self)
        }
    }

    /// The document, the type, the field and the reason.
    public var description: String {
        "cannot decode document \(documentID.extendedJSON(.relaxed)) as \(typeName): \(reason)"
    }

    private static func path(_ keys: [any CodingKey]) -> String? {
        guard !keys.isEmpty else { return nil }
        return FieldPath(parts: keys.map { $0.intValue.map(String.init) ?? $0.stringValue })
            .description
    }
}
