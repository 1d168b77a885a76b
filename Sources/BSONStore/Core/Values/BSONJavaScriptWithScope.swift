/// JavaScript with the variables that it may use; deprecated in BSON.
public struct BSONJavaScriptWithScope: Sendable, Hashable {
    /// The code's text.
    public let code: String
    /// The variables.
    public let scope: BSONDocument

    /// Creates code with its scope.
    public init(code: String, scope: BSONDocument) {
        self.code = code
        self.scope = scope
    }
}

extension BSONJavaScriptWithScope {
    /// Whether the encoded bytes are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.code.utf8.elementsEqual(right.code.utf8) && left.scope == right.scope
    }

    /// Hashes the parts that ``==(_:_:)`` compares.
    public func hash(into hasher: inout Hasher) {
        code.withUTF8Bytes { hasher.combine(bytes: $0) }
        hasher.combine(scope)
    }
}
