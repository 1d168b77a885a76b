#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BSONDecodingNode {
    /// Reads a value of one of the coders' own types.
    func native<T: Decodable>(
        _ type: T.Type, kind: BSONNativeKind, from raw: BSONRawValue, key: (any CodingKey)?
    ) throws -> T {
        @inline(__always)
        func checked<V>(_ value: V?) throws -> T {
            guard let value else { throw BSONDecodingError.refused(type, raw, at: self, key: key) }
            return reinterpret(value, as: T.self)
        }
        @inline(__always)
        func list<V>(_ values: [V]?) throws -> T {
            guard let values else { return try plainList(type, from: raw, key: key) }
            return reinterpret(values, as: T.self)
        }
        switch kind {
        case .int: return try checked(Self.integer(Int.self, raw))
        case .string: return try checked(Self.string(raw))
        case .double: return try checked(Self.double(raw))
        case .bool: return try checked(Self.bool(raw))
        case .int64: return try checked(Self.integer(Int64.self, raw))
        case .int32: return try checked(Self.integer(Int32.self, raw))
        case .int16: return try checked(Self.integer(Int16.self, raw))
        case .int8: return try checked(Self.integer(Int8.self, raw))
        case .uint: return try checked(Self.integer(UInt.self, raw))
        case .uint64: return try checked(Self.integer(UInt64.self, raw))
        case .uint32: return try checked(Self.integer(UInt32.self, raw))
        case .uint16: return try checked(Self.integer(UInt16.self, raw))
        case .uint8: return try checked(Self.integer(UInt8.self, raw))
        case .float: return try checked(Self.float(raw))
        case .date: return reinterpret(try date(from: raw, key: key), as: T.self)
        case .uuid: return reinterpret(try uuid(from: raw, key: key), as: T.self)
        case .data: return reinterpret(try data(from: raw, key: key), as: T.self)
        case .url: return reinterpret(try url(from: raw, key: key), as: T.self)
        case .decimal: return reinterpret(try decimal(from: raw, key: key), as: T.self)
        case .objectID:
            guard raw.typeByte == BSONType.objectID.rawValue else { return try checked(T?.none) }
            return reinterpret(raw.objectID, as: T.self)
        case .value, .document, .array, .decimal128, .binary, .datetime, .timestamp,
            .regularExpression, .dbPointer, .javascriptWithScope:
            return try ownType(type, kind: kind, from: raw, key: key)
        case .strings: return try list(Self.elements(raw) { Self.string($0) })
        case .ints: return try list(Self.elements(raw) { Self.integer(Int.self, $0) })
        case .doubles: return try list(Self.elements(raw) { Self.double($0) })
        case .bools: return try list(Self.elements(raw) { Self.bool($0) })
        case .int64s: return try list(Self.elements(raw) { Self.integer(Int64.self, $0) })
        case .int32s: return try list(Self.elements(raw) { Self.integer(Int32.self, $0) })
        }
    }

    /// Reads an array of primitives in one go; `nil` if the value is not an array or an element
    /// does not fit.
    @inline(__always)
    private static func elements<V>(
        _ raw: BSONRawValue, _ element: (BSONRawValue) -> V?
    ) -> [V]? {
        guard raw.typeByte == BSONType.array.rawValue else { return nil }
        var counting = BSONCursor(raw)
        var count = 0
        while counting.next() != nil { count += 1 }
        var values: [V] = []
        values.reserveCapacity(count)
        var cursor = BSONCursor(raw)
        while let next = cursor.next() {
            guard let value = element(next.value) else { return nil }
            values.append(value)
        }
        return values
    }

    /// Reads any array element by element, for an error with the position.
    @inline(never)
    private func plainList<T: Decodable>(
        _ type: T.Type, from raw: BSONRawValue, key: (any CodingKey)?
    ) throws -> T {
        guard let key else { return try context.decode(type, from: raw, parent: self, key: nil) }
        return try decode(type, from: raw, key: key)
    }

    /// Reads a value of one of BSON's own types.
    private func ownType<T>(
        _ type: T.Type, kind: BSONNativeKind, from raw: BSONRawValue, key: (any CodingKey)?
    ) throws -> T {
        if kind == .value { return reinterpret(context.value(raw), as: type) }
        if kind == .decimal128, raw.typeByte != BSONType.decimal128.rawValue {
            return reinterpret(try widened(from: raw, key: key), as: type)
        }
        switch (context.value(raw), kind) {
        case (.document(let value), .document): return reinterpret(value, as: type)
        case (.array(let value), .array): return reinterpret(value, as: type)
        case (.binary(let value), .binary): return reinterpret(value, as: type)
        case (.datetime(let value), .datetime): return reinterpret(value, as: type)
        case (.regularExpression(let value), .regularExpression):
            return reinterpret(value, as: type)
        case (.dbPointer(let value), .dbPointer): return reinterpret(value, as: type)
        case (.javascriptWithScope(let value), .javascriptWithScope):
            return reinterpret(value, as: type)
        case (.timestamp(let value), .timestamp): return reinterpret(value, as: type)
        case (.decimal128(let value), .decimal128): return reinterpret(value, as: type)
        default: throw BSONDecodingError.mismatch(type, raw, at: self, key: key)
        }
    }

    /// Converts a number of another type to a decimal128.
    private func widened(from raw: BSONRawValue, key: (any CodingKey)?) throws -> BSONDecimal128 {
        switch raw.typeByte {
        case 0x01: BSONDecimal128(raw.double)
        case 0x10: BSONDecimal128(Int64(raw.int32))
        case 0x12: BSONDecimal128(raw.int64)
        default: throw BSONDecodingError.mismatch(BSONDecimal128.self, raw, at: self, key: key)
        }
    }

    /// Returns a primitive that is stored in another form than BSON's own.
    private func form<V>(_ value: V?, of raw: BSONRawValue, key: (any CodingKey)?) throws -> V {
        guard let value else { throw BSONDecodingError.refused(V.self, raw, at: self, key: key) }
        return value
    }

    private func date(from raw: BSONRawValue, key: (any CodingKey)?) throws -> Date {
        switch context.decoder.strategies.dates {
        case .bsonDatetime:
            guard raw.typeByte == BSONType.datetime.rawValue else {
                throw BSONDecodingError.mismatch(Date.self, raw, at: self, key: key)
            }
            let datetime = BSONDatetime(milliseconds: raw.int64)
            // A double of seconds tells milliseconds apart for 35,000 years.
            guard raw.int64.magnitude < 1 << 50 || BSONDatetime(datetime.date) == datetime else {
                throw BSONDecodingError.lossy(Date.self, raw, at: self, key: key)
            }
            return datetime.date
        case .secondsSince1970:
            return Date(timeIntervalSince1970: try form(Self.double(raw), of: raw, key: key))
        case .millisecondsSince1970:
            return Date(
                timeIntervalSince1970: try form(Self.double(raw), of: raw, key: key) / 1_000)
        case .iso8601:
            var text = try form(Self.string(raw), of: raw, key: key)
            guard let milliseconds = text.withUTF8({ ExtendedJSONDate.milliseconds($0) }) else {
                throw BSONDecodingError.corrupted(
                    "This is not a date of RFC 3339.", at: self, key: key)
            }
            return BSONDatetime(milliseconds: milliseconds).date
        case .custom(_, let decode): return try decode(context.value(raw))
        }
    }

    private func uuid(from raw: BSONRawValue, key: (any CodingKey)?) throws -> UUID {
        switch context.decoder.strategies.uuids {
        case .binary:
            guard raw.typeByte == BSONType.binary.rawValue else {
                throw BSONDecodingError.mismatch(UUID.self, raw, at: self, key: key)
            }
            guard raw.binarySubtype == 4, raw.binaryContent.count == 16 else {
                throw BSONDecodingError.corrupted(
                    "A UUID is a binary of subtype 4 with 16 bytes.", at: self, key: key)
            }
            return UUID(uuid: raw.binaryContent.loadUnaligned(as: uuid_t.self))
        case .string:
            guard let uuid = UUID(uuidString: try form(Self.string(raw), of: raw, key: key)) else {
                throw BSONDecodingError.corrupted("This is not a UUID.", at: self, key: key)
            }
            return uuid
        }
    }

    private func data(from raw: BSONRawValue, key: (any CodingKey)?) throws -> Data {
        switch context.decoder.strategies.data {
        case .binary:
            guard raw.typeByte == BSONType.binary.rawValue else {
                throw BSONDecodingError.mismatch(Data.self, raw, at: self, key: key)
            }
            return Data(raw.binaryContent)
        case .base64:
            guard let data = Data(base64Encoded: try form(Self.string(raw), of: raw, key: key))
            else {
                throw BSONDecodingError.corrupted("This is not base64.", at: self, key: key)
            }
            return data
        }
    }

    private func url(from raw: BSONRawValue, key: (any CodingKey)?) throws -> URL {
        guard let url = URL(string: try form(Self.string(raw), of: raw, key: key)) else {
            throw BSONDecodingError.corrupted("This is not a URL.", at: self, key: key)
        }
        return url
    }

    private func decimal(from raw: BSONRawValue, key: (any CodingKey)?) throws -> Decimal {
        let number =
            raw.typeByte == BSONType.decimal128.rawValue
            ? raw.decimal128 : try widened(from: raw, key: key)
        guard let decimal = number.decimalValue else {
            throw BSONDecodingError.lossy(Decimal.self, raw, at: self, key: key)
        }
        return decimal
    }
}
