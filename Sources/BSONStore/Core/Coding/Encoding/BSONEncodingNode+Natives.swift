#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension BSONEncodingNode {
    /// Returns the BSON value for a value of one of the coders' own types.
    func native<T>(
        _ value: T, kind: BSONNativeKind, key: (any CodingKey)? = nil
    ) throws -> BSONValue {
        switch kind {
        case .int: .int64(Int64(reinterpret(value, as: Int.self)))
        case .string: .string(reinterpret(value, as: String.self))
        case .double: .double(reinterpret(value, as: Double.self))
        case .bool: .bool(reinterpret(value, as: Bool.self))
        case .int64: .int64(reinterpret(value, as: Int64.self))
        case .int32: .int32(reinterpret(value, as: Int32.self))
        case .date: try dateValue(reinterpret(value, as: Date.self), key: key)
        case .uuid: uuidValue(reinterpret(value, as: UUID.self))
        case .data: dataValue(reinterpret(value, as: Data.self))
        case .url: .string(reinterpret(value, as: URL.self).absoluteString)
        case .decimal: try decimalValue(reinterpret(value, as: Decimal.self), key: key)
        case .value: reinterpret(value, as: BSONValue.self)
        case .document: .document(reinterpret(value, as: BSONDocument.self))
        case .array: .array(reinterpret(value, as: BSONArray.self))
        case .objectID: .objectID(reinterpret(value, as: BSONObjectID.self))
        case .decimal128: .decimal128(reinterpret(value, as: BSONDecimal128.self))
        case .binary: .binary(reinterpret(value, as: BSONBinary.self))
        case .datetime: .datetime(reinterpret(value, as: BSONDatetime.self))
        case .timestamp: .timestamp(reinterpret(value, as: BSONTimestamp.self))
        case .regularExpression:
            .regularExpression(reinterpret(value, as: BSONRegularExpression.self))
        case .dbPointer: .dbPointer(reinterpret(value, as: BSONDBPointer.self))
        case .javascriptWithScope:
            .javascriptWithScope(reinterpret(value, as: BSONJavaScriptWithScope.self))
        case .int16: .int32(Int32(reinterpret(value, as: Int16.self)))
        case .int8: .int32(Int32(reinterpret(value, as: Int8.self)))
        case .uint: try wideValue(UInt64(reinterpret(value, as: UInt.self)), key: key)
        case .uint64: try wideValue(reinterpret(value, as: UInt64.self), key: key)
        case .uint32: .int64(Int64(reinterpret(value, as: UInt32.self)))
        case .uint16: .int32(Int32(reinterpret(value, as: UInt16.self)))
        case .uint8: .int32(Int32(reinterpret(value, as: UInt8.self)))
        case .float: .double(Double(shortest: reinterpret(value, as: Float.self)))
        case .strings: array(value) { (text: String) in .string(text) }
        case .ints: array(value) { (number: Int) in .int64(Int64(number)) }
        case .doubles: array(value) { (number: Double) in .double(number) }
        case .bools: array(value) { (flag: Bool) in .bool(flag) }
        case .int64s: array(value) { (number: Int64) in .int64(number) }
        case .int32s: array(value) { (number: Int32) in .int32(number) }
        }
    }

    private func array<T, V>(_ value: T, _ element: (V) -> BSONValue) -> BSONValue {
        .array(BSONArray(reinterpret(value, as: [V].self).map(element)))
    }

    private func wideValue(_ value: UInt64, key: (any CodingKey)?) throws -> BSONValue {
        guard let signed = Int64(exactly: value) else {
            throw BSONEncodingError.tooLarge(value, at: self, key: key)
        }
        return .int64(signed)
    }

    private func dateValue(_ date: Date, key: (any CodingKey)?) throws -> BSONValue {
        switch storage.encoder.strategies.dates {
        case .bsonDatetime:
            guard let datetime = BSONDatetime(date) else {
                throw BSONEncodingError.noDate(date, as: "a datetime", at: self, key: key)
            }
            return .datetime(datetime)
        case .secondsSince1970:
            return .double(try finite(date.timeIntervalSince1970, of: date, key: key))
        case .millisecondsSince1970:
            return .double(try finite(date.timeIntervalSince1970 * 1_000, of: date, key: key))
        case .iso8601:
            guard let datetime = BSONDatetime(date),
                let text = ExtendedJSONDate.text(datetime.milliseconds, hasMilliseconds: true)
            else {
                throw BSONEncodingError.noDate(
                    date, as: "a date as text, from the year 0 to 9999", at: self, key: key)
            }
            return .string(text)
        case .custom(let encode, _):
            do {
                return try encode(date)
            } catch let error as BSONError {
                throw BSONEncodingError.make(
                    error.message, date.timeIntervalSince1970, at: self, key: key)
            }
        }
    }

    private func finite(
        _ number: Double, of date: Date, key: (any CodingKey)?
    ) throws -> Double {
        guard number.isFinite else {
            throw BSONEncodingError.noDate(date, as: "a date as a number", at: self, key: key)
        }
        return number
    }

    private func uuidValue(_ uuid: UUID) -> BSONValue {
        switch storage.encoder.strategies.uuids {
        case .binary: .binary(BSONBinary(uuid))
        case .string: .string(uuid.uuidString.lowercased())
        }
    }

    private func dataValue(_ data: Data) -> BSONValue {
        switch storage.encoder.strategies.data {
        case .binary: .binary(BSONBinary(Array(data)))
        case .base64: .string(data.base64EncodedString())
        }
    }

    private func decimalValue(_ decimal: Decimal, key: (any CodingKey)?) throws -> BSONValue {
        do throws(BSONError) {
            return .decimal128(try BSONDecimal128(decimal))
        } catch {
            throw BSONEncodingError.make(error.message, decimal, at: self, key: key)
        }
    }
}
