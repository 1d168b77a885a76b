/// Named fields with something for each, in order, that are found among many as fast as among few.
struct NamedFields<Content: Sendable>: Sendable {
    /// A field.
    struct Field: Sendable {
        let key: [UInt8]
        var content: Content

        var name: String { String(decoding: key, as: UTF8.self) }
    }

    /// The number of fields that are searched one by one.
    private static var searchedMax: Int { 8 }

    private(set) var fields: [Field] = []
    /// The positions by name; empty while the fields are few.
    private var places: [Name: Int] = [:]

    /// Returns the position of a field; the search begins at `hint`, which becomes the position
    /// behind it.
    @inline(__always)
    func index(of key: UnsafeRawBufferPointer, _ hint: inout Int) -> Int? {
        if hint < fields.count, Self.isEqual(fields[hint].key, key) {
            hint += 1
            return hint - 1
        }
        guard let index = search(key) else { return nil }
        hint = index + 1
        return index
    }

    private func search(_ key: UnsafeRawBufferPointer) -> Int? {
        guard places.isEmpty else { return places[String(validUTF8: key)] }
        return fields.firstIndex { Self.isEqual($0.key, key) }
    }

    @inline(__always)
    private static func isEqual(_ left: [UInt8], _ right: UnsafeRawBufferPointer) -> Bool {
        left.count == right.count
            && left.withUnsafeBytes { BSONCursor.isEqual($0, right) }
    }

    /// Returns the position of a field.
    func index(of name: String) -> Int? {
        guard places.isEmpty else { return places[name] }
        return fields.firstIndex { $0.key.elementsEqual(name.utf8) }
    }

    /// Adds a field that does not exist.
    mutating func append(_ name: String, _ content: Content) {
        fields.append(Field(key: Array(name.utf8), content: content))
        if !places.isEmpty {
            places[name] = fields.count - 1
        } else if fields.count > Self.searchedMax {
            index()
        }
    }

    /// Adds a field that does not exist in front of all others.
    mutating func prepend(_ name: String, _ content: Content) {
        fields.insert(Field(key: Array(name.utf8), content: content), at: 0)
        index()
    }

    /// Changes what belongs to a field, in place.
    mutating func update<R, E: Error>(
        _ index: Int, _ body: (inout Content) throws(E) -> R
    ) throws(E) -> R {
        try body(&fields[index].content)
    }

    /// Removes the fields at the given positions.
    mutating func remove(at removed: Set<Int>) {
        guard !removed.isEmpty else { return }
        fields = fields.indices.filter { !removed.contains($0) }.map { fields[$0] }
        index()
    }

    /// Removes a field, if it exists.
    mutating func remove(_ name: String) {
        if let index = index(of: name) { remove(at: [index]) }
    }

    private mutating func index() {
        places = [:]
        guard fields.count > Self.searchedMax else { return }
        for (index, field) in fields.enumerated() { places[field.name] = index }
    }
}
