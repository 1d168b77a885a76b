/// The filters of `$[name]` for array elements, by the name that begins the filter's paths.
struct ArrayFilters: Sendable {
    private var filters: [Name: Filter] = [:]
    private var used: Set<Name> = []

    /// Creates an empty list of filters.
    init() {}

    /// Parses array filters.
    ///
    /// - Throws: `failedToParse` (9) and `badValue` (2) with MongoDB's text.
    init(_ documents: [BSONDocument], _ options: EvaluationOptions) throws(StoreError) {
        for document in documents {
            let (name, filter) = try Self.parse(document, options)
            guard filters[name] == nil else {
                throw StoreError(
                    .failedToParse,
                    "Found multiple array filters with the same top-level field name \(name)")
            }
            filters[name] = filter
        }
    }

    /// Whether the list is empty.
    var isEmpty: Bool { filters.isEmpty }

    /// Whether an array element passes the filter of a name; without a name every element passes.
    func passes(_ element: BSONValue, _ name: String) -> Bool {
        guard let filter = filters[name] else { return true }
        return filter.matches([name: element] as BSONDocument)
    }

    /// Returns the key of a path's part in the tree, and records the use of its filter.
    ///
    /// - Throws: `badValue` if there is no filter of the part's name.
    mutating func name(of part: String, in path: UpdatePath) throws(StoreError) -> String {
        guard let name = UpdatePath.filterName(part) else { return part }
        guard !name.isEmpty else { return name }
        guard filters[name] != nil else {
            throw StoreError(
                .badValue,
                "No array filter found for identifier '\(name)' in path '\(path)'")
        }
        used.insert(name)
        return name
    }

    /// Checks that every filter is used.
    ///
    /// - Throws: `failedToParse` (9) with the name of the first unused one.
    func checkUse(in update: BSONDocument) throws(StoreError) {
        guard used.count < filters.count else { return }
        for name in filters.keys.sorted() where !used.contains(name) {
            throw StoreError(
                .failedToParse,
                "The array filter for identifier '\(name)' was not used in the update "
                    + ShellText.text(of: update))
        }
    }

    private static func parse(
        _ document: BSONDocument, _ options: EvaluationOptions
    ) throws(StoreError) -> (name: String, filter: Filter) {
        let filter: Filter
        let name: String?
        do throws(StoreError) {
            filter = try options.filter(document)
            name = try self.name(in: document)
        } catch {
            throw StoreError(
                error.code, "Error parsing array filter :: caused by :: \(error.message)")
        }
        guard let name else {
            throw StoreError(
                .failedToParse,
                "Cannot use an expression without a top-level field name in arrayFilters")
        }
        return (name, filter)
    }

    /// Returns the key with which all paths of a filter begin; the filter is known to be valid.
    private static func name(in filter: BSONDocument) throws(StoreError) -> String? {
        var found: String?
        for (key, value) in filter {
            let names: [String?]
            if key.hasBytePrefix("$") {
                var inner: [String?] = []
                for clause in value.arrayValue?.compactMap(\.documentValue) ?? [] {
                    inner.append(try name(in: clause))
                }
                names = inner
            } else {
                names = [try checked(key.splitAtFirstDot?.head ?? key)]
            }
            for case let name? in names {
                guard found == nil || found.hasSameBytes(as: name) else {
                    throw StoreError(
                        .failedToParse,
                        "Expected a single top-level field name, found '\(found ?? "")' and "
                            + "'\(name)'")
                }
                found = name
            }
        }
        return found
    }

    private static func checked(_ name: String) throws(StoreError) -> String {
        let isName = name.utf8.enumerated().allSatisfy { index, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                index > 0
            default: false
            }
        }
        guard isName, !name.isEmpty else {
            throw StoreError(
                .badValue,
                "The top-level field name must be an alphanumeric string beginning with a lowercase "
                    + "letter, found '\(name)'")
        }
        return name
    }
}
