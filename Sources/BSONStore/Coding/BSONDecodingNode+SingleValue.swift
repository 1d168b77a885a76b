extension BSONDecodingNode: SingleValueDecodingContainer {
    func decodeNil() -> Bool { Self.isNil(raw) }

    func decode(_ type: Bool.Type) throws -> Bool { try bool(raw, nil) }

    func decode(_ type: String.Type) throws -> String { try string(raw, nil) }

    func decode(_ type: Double.Type) throws -> Double { try double(raw, nil) }

    func decode(_ type: Float.Type) throws -> Float { try float(raw, nil) }

    func decode(_ type: Int.Type) throws -> Int { try integer(type, raw, nil) }

    func decode(_ type: Int8.Type) throws -> Int8 { try integer(type, raw, nil) }

    func decode(_ type: Int16.Type) throws -> Int16 { try integer(type, raw, nil) }

    func decode(_ type: Int32.Type) throws -> Int32 { try integer(type, raw, nil) }

    func decode(_ type: Int64.Type) throws -> Int64 { try integer(type, raw, nil) }

    func decode(_ type: UInt.Type) throws -> UInt { try integer(type, raw, nil) }

    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type, raw, nil) }

    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type, raw, nil) }

    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type, raw, nil) }

    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type, raw, nil) }

    /// Reads this value as another type: the coders' own at once, others by themselves.
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let kind = BSONNativeKind.of(type) { return try native(type, kind, raw, nil) }
        return try type.init(from: self)
    }
}
