extension BSONDecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool { Self.isNil(raw) }

    @inline(__always)
    private func checked<T>(_ value: T?) throws -> T {
        guard let value else { throw BSONDecodingError.refused(T.self, raw, at: self, key: nil) }
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { try checked(Self.bool(raw)) }

    func decode(_ type: String.Type) throws -> String { try checked(Self.string(raw)) }

    func decode(_ type: Double.Type) throws -> Double { try checked(Self.double(raw)) }

    func decode(_ type: Float.Type) throws -> Float { try checked(Self.float(raw)) }

    func decode(_ type: Int.Type) throws -> Int { try checked(Self.integer(type, raw)) }

    func decode(_ type: Int8.Type) throws -> Int8 { try checked(Self.integer(type, raw)) }

    func decode(_ type: Int16.Type) throws -> Int16 { try checked(Self.integer(type, raw)) }

    func decode(_ type: Int32.Type) throws -> Int32 { try checked(Self.integer(type, raw)) }

    func decode(_ type: Int64.Type) throws -> Int64 { try checked(Self.integer(type, raw)) }

    func decode(_ type: UInt.Type) throws -> UInt { try checked(Self.integer(type, raw)) }

    func decode(_ type: UInt8.Type) throws -> UInt8 { try checked(Self.integer(type, raw)) }

    func decode(_ type: UInt16.Type) throws -> UInt16 { try checked(Self.integer(type, raw)) }

    func decode(_ type: UInt32.Type) throws -> UInt32 { try checked(Self.integer(type, raw)) }

    func decode(_ type: UInt64.Type) throws -> UInt64 { try checked(Self.integer(type, raw)) }

    /// Reads this value as another type: the coders' own types directly, others by their own code.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let kind = BSONNativeKind.of(type) {
            return try native(type, kind: kind, from: raw, key: nil)
        }
        if context.hasDefaultKeys { return try type.init(from: self) }
        // The type that asked may try another one, or its own keys, afterwards.
        let outer = keysAreData
        defer { keysAreData = outer }
        keysAreData = type is any BSONKeyedCollection.Type
        return try type.init(from: self)
    }
}
