internal import BSONCore

/// A value of a filter or update, encoded when the encoder of the collection is known.
struct TypedValue: Sendable {
    /// Encodes the value as a field of a document would be.
    let encode: @Sendable (BSONEncoder) throws -> BSONValue

    init(_ value: some Encodable & Sendable) { encode = { try $0.encodeValue(value) } }
}

extension TypedFieldPath {
    /// Runs work that encodes values of the field.
    ///
    /// - Throws: an error of the encoder with this path before the place in the value, so that it
    ///   names the field.
    func naming<Result>(_ work: () throws -> Result) throws -> Result {
        do {
            return try work()
        } catch EncodingError.invalidValue(let value, let context) {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingKeys + context.codingPath,
                    debugDescription: context.debugDescription,
                    underlyingError: context.underlyingError))
        }
    }

    private var codingKeys: [any CodingKey] { steps.map { StepKey(stringValue: $0.text) } }

    /// A step of a path in the coding path of an error.
    private struct StepKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension TypedFieldPath.Step {
    /// The name, key or position as the app writes it.
    fileprivate var text: String {
        switch self {
        case .name(let text), .key(let text), .position(let text): text
        }
    }
}
