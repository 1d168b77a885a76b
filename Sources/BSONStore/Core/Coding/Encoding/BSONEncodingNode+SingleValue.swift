extension BSONEncodingNode: SingleValueEncodingContainer {
    /// Sets the value's type and reserves room for a fixed value.
    private func slot(_ type: BSONType) {
        precondition(shape == .open, "A value is encoded once.")
        shape = .single
        set(type)
        buffer.pointee.reserve(32)
    }

    func encodeNil() throws { slot(.null) }

    func encode(_ value: Bool) throws {
        slot(.bool)
        buffer.pointee.put(value ? 1 as UInt8 : 0)
    }

    func encode(_ value: String) throws {
        slot(.string)
        buffer.pointee.put(text: value)
    }

    func encode(_ value: Double) throws {
        slot(.double)
        buffer.pointee.put(little: value.bitPattern)
    }

    func encode(_ value: Float) throws { try encode(Double(shortest: value)) }

    func encode(_ value: Int) throws { try encode(Int64(value)) }

    func encode(_ value: Int8) throws { try encode(Int32(value)) }

    func encode(_ value: Int16) throws { try encode(Int32(value)) }

    func encode(_ value: Int32) throws {
        slot(.int32)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: Int64) throws {
        slot(.int64)
        buffer.pointee.put(little: value)
    }

    func encode(_ value: UInt) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: self, key: nil)
        }
        try encode(signed)
    }

    func encode(_ value: UInt8) throws { try encode(Int32(value)) }

    func encode(_ value: UInt16) throws { try encode(Int32(value)) }

    func encode(_ value: UInt32) throws { try encode(Int64(value)) }

    func encode(_ value: UInt64) throws {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: self, key: nil)
        }
        try encode(signed)
    }

    /// Encodes a value in this one's place: the coders' own types directly, others by their own
    /// code.
    func encode<T: Encodable>(_ value: T) throws {
        if let kind = BSONNativeKind.of(T.self) {
            let native = marked(try native(value, kind: kind), kind: kind)
            slot(native.type)
            storage.put(native)
        } else {
            noteContainer(of: value)
            if storage.hasDefaultKeys { return try value.encode(to: self) }
            // The value that asked may write its own keys afterwards.
            let outer = keysAreData
            defer { keysAreData = outer }
            keysAreData = value is any BSONKeyedCollection
            try value.encode(to: self)
        }
    }

    /// Encodes an element whose key has just been written.
    @inline(__always)
    func encodeElement<T: Encodable>(_ value: T, key: some CodingKey, typeIndex: Int) throws {
        if let kind = BSONNativeKind.of(T.self) {
            if storage.put(value, kind: kind, typeIndex: typeIndex) { return }
            return try encodeNative(value, kind: kind, key: key, typeIndex: typeIndex)
        }
        try checkDepth(value, key: key)
        noteContainer(of: value)
        try withUnsafePointer(to: key as any CodingKey) { key in
            try unmanagedStorage._withUnsafeGuaranteedRef {
                try $0.encode(value, parent: self, key: key, typeIndex: typeIndex)
            }
        }
    }

    /// Notes what a type says about the container that its value is about to request.
    @inline(__always)
    private func noteContainer<T>(of value: T) {
        unmanagedStorage._withUnsafeGuaranteedRef {
            if $0.isMarked { $0.noteContainer(of: value) }
        }
    }

    private func encodeNative<T: Encodable>(
        _ value: T, kind: BSONNativeKind, key: some CodingKey, typeIndex: Int
    ) throws {
        if kind.isList {
            try checkDepth(value, key: key)
            return storage.put(list: value, kind: kind, typeIndex: typeIndex)
        }
        let native = marked(try native(value, kind: kind, key: key), kind: kind)
        buffer.pointee.base[typeIndex] = native.type.rawValue
        storage.put(native)
    }

    @inline(__always)
    private func checkDepth(_ value: some Any, key: some CodingKey) throws {
        guard depth < BSONLimits().depthMax else {
            throw BSONEncodingError.tooDeep(value, at: self, key: key)
        }
    }

    /// Returns the value, wrapped if a merge must not look into it or keep another number's width.
    private func marked(_ value: BSONValue, kind: BSONNativeKind) -> BSONValue {
        guard storage.isMarked else { return value }
        switch kind {
        case .value, .document, .array, .decimal128: return BSONEncodingMarks.exact(value)
        case .int, .string, .double, .bool, .int64, .int32, .date, .uuid, .data, .url, .decimal,
            .objectID, .binary, .datetime, .timestamp, .regularExpression, .dbPointer,
            .javascriptWithScope, .int16, .int8, .uint, .uint64, .uint32, .uint16, .uint8, .float,
            .strings, .ints, .doubles, .bools, .int64s, .int32s:
            return value
        }
    }
}
