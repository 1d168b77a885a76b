internal import BSONStore

extension HistoryField {
    /// Returns the top-level fields that differ between the editions of a conflict.
    ///
    /// Complexity: O(bytes of the editions).
    static func differing(
        base: BSONDocument?, local: BSONDocument?, remote: BSONDocument?, result: BSONDocument?
    ) -> [HistoryField] {
        (base ?? [:]).withCursor { base in
            (local ?? [:]).withCursor { local in
                (remote ?? [:]).withCursor { remote in
                    (result ?? [:]).withCursor { differing(base, local, remote, $0) }
                }
            }
        }
    }

    private static func differing(
        _ base: BSONCursor, _ local: BSONCursor, _ remote: BSONCursor, _ result: BSONCursor
    ) -> [HistoryField] {
        var fields: [HistoryField] = []
        func compare(_ name: @autoclosure () -> String, _ values: EditionValues) -> Bool {
            if values.areSame { return true }
            guard fields.count < HistoryEvent.fieldsMax else { return false }
            fields.append(values.field(name()))
            return true
        }
        // Most editions begin with the same fields in the same order.
        var (base, local, remote, result) = (base, local, remote, result)
        while true {
            var next = (base, local, remote, result)
            guard let a = next.0.next(), let b = next.1.next(), let c = next.2.next(),
                let d = next.3.next(), isSame(a.key, b.key), isSame(a.key, c.key),
                isSame(a.key, d.key)
            else { break }
            let values = EditionValues(a.value, b.value, c.value, d.value)
            guard compare(String(decoding: a.key, as: UTF8.self), values) else { return fields }
            (base, local, remote, result) = next
        }
        let editions = [base, local, remote, result].map(EditionFields.init)
        var seen: Set<Name> = []
        for edition in editions {
            for name in edition.names where seen.insert(name).inserted {
                let values = EditionValues(
                    editions[0].values[name], editions[1].values[name], editions[2].values[name],
                    editions[3].values[name])
                guard compare(name.text, values) else { return fields }
            }
        }
        return fields
    }
}

/// The values of one field in the editions of a conflict.
private struct EditionValues {
    let base, local, remote, result: BSONRawValue?

    init(
        _ base: BSONRawValue?, _ local: BSONRawValue?, _ remote: BSONRawValue?,
        _ result: BSONRawValue?
    ) {
        (self.base, self.local, self.remote, self.result) = (base, local, remote, result)
    }

    /// Whether all have the same type and bytes, or none is there.
    var areSame: Bool { isSame(base, local) && isSame(base, remote) && isSame(base, result) }

    /// The field with these values, as the history keeps it.
    func field(_ name: String) -> HistoryField {
        HistoryField(
            name: name.cut, base: base?.cut, local: local?.cut, remote: remote?.cut,
            result: result?.cut)
    }
}

/// The fields of an edition from a cursor's place on.
private struct EditionFields {
    private(set) var names: [Name] = []
    private(set) var values: [Name: BSONRawValue] = [:]

    init(_ cursor: BSONCursor) {
        var cursor = cursor
        while let element = cursor.next() {
            let name = Name(String(decoding: element.key, as: UTF8.self))
            guard values[name] == nil else { continue }
            names.append(name)
            values[name] = element.value
        }
    }
}

private func isSame(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    a.count == b.count && BSONCursor.isEqual(a, b)
}

private func isSame(_ a: BSONRawValue?, _ b: BSONRawValue?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.typeByte == b.typeByte && isSame(a.bytes, b.bytes)
}

extension BSONRawValue {
    /// The value, or its type and size where it is large.
    fileprivate var cut: BSONValue {
        // A document of one field without a name has seven bytes more.
        let byteCount = count + 7
        guard byteCount > HistoryEvent.valueBytesMax else { return BSONValue(copying: self) }
        return .string("\(type) of \(byteCount) bytes")
    }
}
