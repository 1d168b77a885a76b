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

    /// The maximum number of elements of an array that differ; an array with more is one line.
    private static let elementsMax = 20

    /// Returns the fields of the versions: embedded documents field by field, and of arrays the
    /// elements that differ.
    ///
    /// - Parameters:
    ///   - remote: the remote version; `nil` where it is unknown.
    ///   - result: the version after a conflict; `nil` where none was resolved.
    ///   - keepsArrays: whether an array is one line.
    static func lines(
        base: BSONDocument?, local: BSONDocument?, remote: BSONDocument??,
        result: BSONDocument? = nil, keepsArrays: Bool = false
    ) -> [EditionLine] {
        let comparison = Comparison(
            isKnown: [true, true, remote != nil, result != nil], keepsArrays: keepsArrays)
        return comparison.lines(of: [base, local, remote ?? nil, result], at: "")
    }

    /// The comparison of base, local, remote and result.
    private struct Comparison {
        let isKnown: [Bool]
        let keepsArrays: Bool

        /// Returns the lines of documents.
        func lines(of versions: [BSONDocument?], at path: String) -> [EditionLine] {
            var seen: Set<Name> = []
            let editions = versions.map { $0.map { IndexedDocument($0) } }
            return versions.flatMap { $0.map { Array($0.keys) } ?? [] }
                .filter { seen.insert($0).inserted }
                .flatMap { key in
                    lines(
                        of: editions.map { $0?[key] }, at: path.isEmpty ? key : "\(path).\(key)")
                }
        }

        /// Returns the lines of the values of a field.
        private func lines(of values: [BSONValue?], at path: String) -> [EditionLine] {
            let documents = values.map { $0?.documentValue }
            let isNested = zip(values, documents).allSatisfy { ($0 == nil) == ($1 == nil) }
            if isNested, documents.contains(where: { $0?.isEmpty == false }) {
                return lines(of: documents, at: path)
            }
            if !keepsArrays, let elements = elements(of: values, at: path) { return elements }
            return [
                EditionLine(
                    path: path, base: values[0], local: values[1], remote: values[2],
                    result: values[3])
            ]
        }

        /// Returns the lines of the elements that differ; `nil` if they are too many, or a version
        /// has no array.
        private func elements(of values: [BSONValue?], at path: String) -> [EditionLine]? {
            let arrays = values.map { $0?.arrayValue?.values }
            guard zip(isKnown, arrays).allSatisfy({ !$0 || $1 != nil }) else { return nil }
            var lines: [EditionLine] = []
            var count = 0
            for index in 0..<(arrays.compactMap { $0?.count }.max() ?? 0) {
                let elements = arrays.map { array -> BSONValue? in
                    guard let array, array.indices.contains(index) else { return .none }
                    return array[index]
                }
                guard differ(elements) else { continue }
                count += 1
                guard count <= EditionLine.elementsMax else { return nil }
                lines += self.lines(of: elements, at: "\(path).\(index)")
            }
            return lines
        }

        private func differ(_ values: [BSONValue?]) -> Bool {
            zip(isKnown, values).contains { isKnown, value in
                isKnown && !EditionLine.isSame(value, values[0])
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
