/// The variables that an expression may name, and the collation of its texts.
package struct ExpressionScope: Sendable {
    /// The collation of strings; `nil` compares their bytes.
    var collation: Collation?
    /// Whether `$$NOW` and `$$CLUSTER_TIME` have values; they lack them in a filter of a listing.
    var hasTime = true
    /// The number of slots of a frame that the variables take.
    private(set) var count = 0
    private var slots: [Name: Int] = [:]
    /// The values of variables that are the same for all documents; `nil` is missing.
    private var constants: [Name: BSONValue?] = [:]

    /// Creates a scope of variables with validated names, in the order of a frame's values.
    init(variables: [String] = [], collation: Collation? = nil) {
        self.collation = collation
        for name in variables { append(name) }
    }

    /// Adds a variable, hiding one of the same name, and returns its slot in a frame's values.
    ///
    /// - Throws: `failedToParse` with MongoDB's text for an invalid variable name.
    @discardableResult
    mutating func define(_ name: String) throws(StoreError) -> Int {
        // The one system variable that users may set.
        if name != "CURRENT" { try Self.validate(name) { (97...122).contains($0) || $0 >= 128 } }
        return append(name)
    }

    /// Records that the last variable of a name has one value for all documents.
    mutating func fix(_ name: String, at value: BSONValue?) {
        constants.updateValue(value, forKey: name)
    }

    /// Returns the value that a variable has for all documents; `.some(nil)` is missing.
    func constant(of name: String) -> BSONValue?? { constants[name] }

    /// Returns the slot of a variable, `nil` if there is none of that name.
    func slot(of name: String) -> Int? { slots[name] }

    /// Checks the name of a variable that is read.
    ///
    /// - Throws: `failedToParse` with MongoDB's text for an invalid variable name.
    static func validateForReading(_ name: String) throws(StoreError) {
        try validate(name) { (65...90).contains($0) || (97...122).contains($0) || $0 >= 128 }
    }

    @discardableResult
    private mutating func append(_ name: String) -> Int {
        let slot = count
        slots[name] = slot
        constants.removeValue(forKey: name)
        count += 1
        return slot
    }

    private static func validate(
        _ name: String, mayBegin: (UInt8) -> Bool
    ) throws(StoreError) {
        guard let first = name.utf8.first else {
            throw StoreError(.failedToParse, "empty variable names are not allowed")
        }
        guard mayBegin(first) else {
            throw StoreError(
                .failedToParse,
                "'\(name)' starts with an invalid character for a user variable name")
        }
        for character in name.unicodeScalars.dropFirst() {
            switch character {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "\u{80}"...: continue
            default:
                throw StoreError(
                    .failedToParse,
                    "'\(name)' contains an invalid character for a variable name: '\(character)'")
            }
        }
    }
}
