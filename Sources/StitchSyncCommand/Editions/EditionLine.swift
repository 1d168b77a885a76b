import BSONStore

/// A field of a document, with its value in base, local and remote.
struct EditionLine: Sendable, Equatable {
    /// The dotted path.
    let path: String
    /// The value that the remote confirmed last.
    let base: BSONValue?
    /// The local value.
    let local: BSONValue?
    /// The remote value; also `nil` where it is unknown.
    let remote: BSONValue?
    /// The value after a conflict was resolved; `nil` where none was.
    var result: BSONValue?

    /// Returns the fields of the versions: embedded documents field by field, arrays as a
    /// whole.
    ///
    /// - Parameters:
    ///   - remote: the remote version; `nil` where it is unknown.
    ///   - result: the version after a conflict; `nil` where none was resolved.
    static func lines(
        base: BSONDocument?, local: BSONDocument?, remote: BSONDocument??,
        result: BSONDocument? = nil
    ) -> [EditionLine] {
        var lines: [EditionLine] = []
        compare([base, local, remote ?? nil, result], at: "", &lines)
        return lines
    }

    private static func compare(
        _ versions: [BSONDocument?], at path: String, _ lines: inout [EditionLine]
    ) {
        var seen: Set<Name> = []
        let editions = versions.map { $0.map { IndexedDocument($0) } }
        for key in versions.flatMap({ $0.map { Array($0.keys) } ?? [] })
        where seen.insert(key).inserted {
            let place = path.isEmpty ? key : "\(path).\(key)"
            let values = editions.map { $0?[key] }
            let documents = values.map { $0?.documentValue }
            let isNested = zip(values, documents).allSatisfy { ($0 == nil) == ($1 == nil) }
            if isNested, documents.contains(where: { $0?.isEmpty == false }) {
                compare(documents, at: place, &lines)
            } else {
                lines.append(
                    EditionLine(
                        path: place, base: values[0], local: values[1], remote: values[2],
                        result: values[3]))
            }
        }
    }

    /// Whether the versions differ in this field.
    ///
    /// - Parameter hasRemote: whether the remote version is known.
    func differs(hasRemote: Bool) -> Bool {
        !Self.isSame(base, local) || hasRemote && !Self.isSame(base, remote)
    }

    /// Whether two values are equal; the order of fields does not matter.
    static func isSame(_ left: BSONValue?, _ right: BSONValue?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left.contentEquals(right)
        case (nil, _), (_, nil): false
        }
    }
}
