/// The name of a collection with its database.
///
/// Namespaces are compared, hashed and ordered by the UTF-8 bytes of their names, as in MongoDB:
/// "é" as one character and "e" with a combining accent name two collections.
public struct Namespace: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The database's name, without a dot.
    public let database: String
    /// The collection's name; it may contain dots.
    public let collection: String

    /// Creates a namespace from two names; creating the collection checks them.
    public init(_ database: String, _ collection: String) {
        self.database = database
        self.collection = collection
    }

    /// Splits "database.collection" at the first dot and checks both names.
    ///
    /// - Throws: `invalidNamespace` (73) if a name is empty, too long or has a forbidden character.
    public init(parsing text: String) throws(StoreError) {
        guard let dot = text.utf8.firstIndex(of: UInt8(ascii: ".")) else {
            throw Self.invalid(text)
        }
        self.init(String(text[..<dot]), String(text[text.utf8.index(after: dot)...]))
        try check()
    }

    /// Whether both names have the same bytes.
    public static func == (left: Namespace, right: Namespace) -> Bool {
        left.collection.hasSameBytes(as: right.collection)
            && left.database.hasSameBytes(as: right.database)
    }

    /// Whether the left names' bytes sort first, the database's before the collection's.
    public static func < (left: Namespace, right: Namespace) -> Bool {
        left.database.hasSameBytes(as: right.database)
            ? Name(left.collection) < Name(right.collection)
            : Name(left.database) < Name(right.database)
    }

    /// Hashes the bytes of both names.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(Name(database))
        hasher.combine(Name(collection))
    }

    /// Both names, separated by a dot.
    public var description: String { "\(database).\(collection)" }

    /// Checks the names by MongoDB's rules for Unix servers.
    ///
    /// - Throws: `invalidNamespace` (73).
    package func check() throws(StoreError) {
        let forbidden = Set("/\\. \"$\0".utf8)
        let databaseIsFine =
            !database.isEmpty && database.utf8.count < 64
            && !database.utf8.contains { forbidden.contains($0) }
        let collectionIsFine =
            !collection.isEmpty && collection.utf8.first != UInt8(ascii: ".")
            && !collection.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "$") }
        guard databaseIsFine, collectionIsFine else { throw Self.invalid(description) }
        guard description.utf8.count <= Self.bytesMax else { throw Self.tooLong(description) }
    }

    /// The maximum length of both names with the dot, in bytes.
    package static let bytesMax = 255

    /// Returns the error for names that are too long together.
    package static func tooLong(_ text: String) -> StoreError {
        StoreError(
            .invalidNamespace,
            "Fully qualified namespace is too long. Namespace: \(text) Max: \(bytesMax)")
    }

    private static func invalid(_ text: String) -> StoreError {
        StoreError(.invalidNamespace, "Invalid namespace specified '\(text)'")
    }
}
