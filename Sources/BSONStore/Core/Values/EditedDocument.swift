/// A document whose fields are read, set and removed many times, at a cost that does not depend on
/// their number.
///
/// The result of calls is that of the same calls on ``BSONDocument``: a value that is set takes the
/// place of the old one, or the end; of a key that occurs twice the first field counts. The first
/// calls search and change the bytes. Then the fields are indexed, and ``finished()`` writes the
/// bytes once.
package struct EditedDocument: Sendable {
    /// The number of calls that search and change the bytes.
    package static let directCallsMax = 8

    private var document: BSONDocument
    private var calls = 0
    private var fields: EditedFields?

    /// Begins with a document.
    package init(_ document: BSONDocument = BSONDocument()) { self.document = document }

    /// Returns the value of a key; `nil` if there is none.
    package mutating func value(of key: String) -> BSONValue? {
        prepare()
        return fields.map { $0.value(of: key) } ?? document[key]
    }

    /// Sets the value of a key, or removes its first field for `nil`; a key with a NUL traps.
    package mutating func set(_ key: String, to value: BSONValue?) {
        prepare()
        if fields == nil {
            document.set(key, to: value)
        } else if let value {
            _ = fields?.set([BSONDocument.checked(key)], to: value)
        } else {
            fields?.remove([key])
        }
    }

    /// Sets the value of an untrusted key, or removes its first field for `nil`.
    ///
    /// - Throws: ``BSONError/Code/embeddedNull`` for a key that holds a NUL.
    package mutating func set(
        validatingKey key: String, to value: BSONValue?
    ) throws(BSONError) {
        guard !key.holdsNull else { throw BSONDocument.embeddedNull }
        set(key, to: value)
    }

    /// Sets the value at a dotted path with the result of ``BSONDocument/set(path:to:)``.
    ///
    /// - Throws: as that does; nothing is changed then.
    package mutating func set(path: String, to value: BSONValue) throws(BSONError) {
        prepare()
        guard fields != nil else { return try document.set(path: path, to: value) }
        guard !path.holdsNull else { throw BSONDocument.embeddedNull }
        let parts = path.dottedParts
        guard let depth = fields?.set(parts[...], to: value) else { return }
        let read = parts.prefix(depth + 1).joined(separator: ".")
        throw BSONError(
            .pathNotViable, "No value can be set at '\(path)' because of what is at '\(read)'")
    }

    /// Removes the value at a dotted path; in an array null takes its place.
    package mutating func removeValue(atPath path: String) {
        prepare()
        if fields == nil {
            document.removeValue(atPath: path)
        } else {
            fields?.remove(path.dottedParts[...])
        }
    }

    /// Returns the value at a dotted path; `nil` if there is none.
    package mutating func value(atPath path: String) -> BSONValue? {
        prepare()
        guard fields != nil else { return document[path: path] }
        return fields?.value(at: path.dottedParts[...])
    }

    /// The size in bytes of the document after all edits.
    package var byteCount: Int { fields?.byteCount ?? document.byteCount }

    /// Returns the document after all edits.
    package func finished() -> BSONDocument { fields?.document ?? document }

    private mutating func prepare() {
        guard fields == nil else { return }
        calls += 1
        guard calls > Self.directCallsMax, document.byteCount > IndexedDocument.smallBytesMax
        else { return }
        fields = EditedFields(document, isArray: false)
    }
}

/// The indexed fields of a document, or values of an array, some of which were edited.
struct EditedFields: Sendable {
    /// The document whose bytes hold the fields that were not edited.
    private let source: BSONDocument
    private let isArray: Bool
    /// The encoded size.
    private(set) var byteCount: Int
    private var slots: [Slot] = []
    /// The positions of the first fields by key; empty for an array.
    private var places: [Name: Int] = [:]
    /// The position of the next field with the same key, by the position of the one before it.
    private var repeated: [Int: Int] = [:]

    /// A field.
    private enum Slot: Sendable {
        case stored(ElementLocation)
        case removed
        case edited(key: String, EditedValue)
    }

    /// The new value of a field.
    private indirect enum EditedValue: Sendable {
        case value(BSONValue)
        /// A document or an array of which parts may have been edited.
        case fields(EditedFields)
    }

    /// Indexes a document, or the document that encodes an array.
    init(_ source: BSONDocument, isArray: Bool) {
        self.source = source
        self.isArray = isArray
        byteCount = source.byteCount
        source.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            var cursor = BSONCursor(bytes)
            while let element = cursor.next() {
                _ = WorkBudget.isOver()
                slots.append(.stored(ElementLocation(element, in: base)))
            }
        }
        guard !isArray else { return }
        // From the end, so that the first of several fields with a key is indexed.
        for place in slots.indices.reversed() {
            _ = WorkBudget.isOver()
            let later = places.updateValue(place, forKey: key(at: place))
            if let later { repeated[place] = later }
        }
    }

    private func key(at place: Int) -> String {
        switch slots[place] {
        case .stored(let location):
            source.withUnsafeBytes { bytes in
                String(
                    validUTF8: UnsafeRawBufferPointer(
                        rebasing: bytes[location.element + 1..<location.value - 1]))
            }
        case .edited(let key, _): key
        case .removed: ""
        }
    }

    /// Returns the value of a key; `nil` if there is none.
    func value(of key: String) -> BSONValue? { places[key].flatMap { value(at: $0) } }

    private func value(at place: Int) -> BSONValue? {
        switch slots[place] {
        case .stored(let location): source.value(at: location)
        case .removed: nil
        case .edited(_, .value(let value)): value
        case .edited(_, .fields(let fields)): fields.value
        }
    }

    /// The whole as a value.
    private var value: BSONValue {
        isArray ? .array(BSONArray(document: document)) : .document(document)
    }

    /// The encoded fields.
    var document: BSONDocument {
        var builder = BSONDocumentBuilder(reservingBytes: byteCount)
        source.withUnsafeBytes { bytes in
            let base = BSONCursor.base(bytes)
            for slot in slots {
                _ = WorkBudget.isOver()
                switch slot {
                case .stored(let place):
                    let value = BSONRawValue(
                        typeByte: bytes[place.element], start: base + place.value,
                        count: place.element + place.count - place.value)
                    let key = bytes[place.element + 1..<place.value - 1]
                    builder.append(key: UnsafeRawBufferPointer(rebasing: key), value)
                case .removed: continue
                case .edited(let key, .value(let value)): builder.append(key, value)
                case .edited(let key, .fields(let fields)): builder.append(key, fields.value)
                }
            }
        }
        return builder.finish()
    }

    /// Returns the value at a path; `nil` if there is none.
    mutating func value(at path: ArraySlice<String>) -> BSONValue? {
        guard let name = path.first, let place = place(of: name) else { return nil }
        guard path.count > 1 else { return value(at: place) }
        return within(place) { $0.value(at: path.dropFirst()) } ?? nil
    }

    /// Sets the value at a path; returns the position of the part behind which there can be none.
    mutating func set(
        _ path: ArraySlice<String>, to value: BSONValue, depth: Int = 0
    ) -> Int? {
        guard let name = path.first else { return depth }
        let rest = path.dropFirst()
        guard let place = place(of: name) else {
            let made = rest.reversed().reduce(value) { .document([$1: $0]) }
            return append(made, at: name) ? nil : depth
        }
        guard !rest.isEmpty else {
            replace(place, by: value)
            return nil
        }
        return within(place) { $0.set(rest, to: value, depth: depth + 1) } ?? depth
    }

    /// Removes the value at a path; in an array null takes its place.
    mutating func remove(_ path: ArraySlice<String>) {
        guard let name = path.first, let place = place(of: name) else { return }
        if path.count > 1 {
            _ = within(place) { $0.remove(path.dropFirst()) }
        } else if isArray {
            replace(place, by: .null)
        } else {
            byteCount -= size(at: place)
            slots[place] = .removed
            places[name] = repeated.removeValue(forKey: place)
        }
    }

    private func place(of name: String) -> Int? {
        guard isArray else { return places[name] }
        return name.withUTF8Bytes { PathParts.index($0) }.flatMap { $0 < slots.count ? $0 : nil }
    }

    /// Appends a value, in an array behind nulls; returns `false` for no position, or one too far
    /// behind the end.
    private mutating func append(_ value: BSONValue, at name: String) -> Bool {
        if isArray {
            guard let index = name.withUTF8Bytes({ PathParts.index($0) }),
                index - slots.count <= BSONDocument.arrayGapMax
            else { return false }
            while slots.count < index { append(.edited(key: String(slots.count), .value(.null))) }
        } else {
            places[name] = slots.count
        }
        append(.edited(key: name, .value(value)))
        return true
    }

    private mutating func append(_ slot: Slot) {
        slots.append(slot)
        byteCount += size(at: slots.count - 1)
    }

    private mutating func replace(_ place: Int, by value: BSONValue) {
        byteCount -= size(at: place)
        slots[place] = .edited(key: key(at: place), .value(value))
        byteCount += size(at: place)
    }

    /// Returns the encoded size of a field.
    private func size(at place: Int) -> Int {
        switch slots[place] {
        case .stored(let location): location.count
        case .removed: 0
        case .edited(let key, .value(let value)):
            BSONWriter.headCount(key) + BSONWriter.count(value)
        case .edited(let key, .fields(let fields)): BSONWriter.headCount(key) + fields.byteCount
        }
    }

    /// Changes the fields of a document, or the values of an array; `nil` if there is neither.
    private mutating func within<R>(_ place: Int, _ body: (inout EditedFields) -> R) -> R? {
        let (key, size) = (key(at: place), size(at: place))
        var fields: EditedFields
        switch slots[place] {
        case .edited(_, .fields(let edited)): fields = edited
        case .stored, .removed, .edited(_, .value):
            switch value(at: place) {
            case .document(let document): fields = EditedFields(document, isArray: false)
            case .array(let array): fields = EditedFields(array.document, isArray: true)
            default: return nil
            }
        }
        // The old fields are released first, so that the new ones are changed in place.
        slots[place] = .removed
        defer {
            slots[place] = .edited(key: key, .fields(fields))
            byteCount += self.size(at: place) - size
        }
        return body(&fields)
    }
}
