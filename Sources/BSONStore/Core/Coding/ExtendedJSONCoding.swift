/// The coding of BSON values with encoders and decoders that do not know BSON.
///
/// Both directions use a tree of JSON's own types, in which wrappers are documents.
enum ExtendedJSONCoding {
    static func encode(_ value: BSONValue, to encoder: any Encoder) throws {
        switch plain(value) {
        case .document(let document):
            var container = encoder.container(keyedBy: BSONStringKey.self)
            for (key, value) in document {
                try encode(value, to: container.superEncoder(forKey: BSONStringKey(key)))
            }
        case .array(let array):
            var container = encoder.unkeyedContainer()
            for value in array { try encode(value, to: container.superEncoder()) }
        case let leaf:
            var container = encoder.singleValueContainer()
            switch leaf {
            case .double(let number): try container.encode(number)
            case .string(let text): try container.encode(text)
            case .bool(let flag): try container.encode(flag)
            case .int32(let number): try container.encode(number)
            case .int64(let number): try container.encode(number)
            default: try container.encodeNil()
            }
        }
    }

    /// Returns the value in JSON's types, or its wrapper if those would decode as another type.
    private static func plain(_ value: BSONValue) -> BSONValue {
        switch value {
        case .string, .document, .array, .bool, .null, .int32: return value
        // JSONDecoder refuses subnormal numbers.
        case .double(let number) where number.isNormal && number != number.rounded(): return value
        case .int64(let number) where Int32(exactly: number) == nil: return value
        default: break
        }
        return wrapper(value.extendedJSON())
    }

    /// Reads a wrapper's text as a plain document: all its leaves are strings, numbers, booleans,
    /// or wrappers again.
    private static func wrapper(_ text: String) -> BSONValue {
        var text = text
        let result = text.withUTF8 { utf8 in
            ExtendedJSONParser.value(UnsafeRawBufferPointer(utf8), keepsWrappers: true)
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): preconditionFailure("Our own text is not JSON: \(error)")
        }
    }

    static func decode(from decoder: any Decoder) throws -> BSONValue {
        let tree = try tree(from: decoder)
        do throws(BSONError) {
            return try BSONValue(extendedJSON: tree.extendedJSON(.relaxed))
        } catch {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath, debugDescription: error.message,
                    underlyingError: error))
        }
    }

    private static func tree(from decoder: any Decoder) throws -> BSONValue {
        do {
            return try keyed(decoder.container(keyedBy: BSONStringKey.self))
        } catch DecodingError.typeMismatch {
            // Not an object.
        } catch DecodingError.valueNotFound {
            return .null
        }
        do {
            return try unkeyed(decoder.unkeyedContainer())
        } catch DecodingError.typeMismatch {
            return try leaf(decoder.singleValueContainer())
        } catch DecodingError.valueNotFound {
            return .null
        }
    }

    private static func keyed(
        _ container: KeyedDecodingContainer<BSONStringKey>
    ) throws -> BSONValue {
        var document = BSONDocument()
        for key in container.allKeys {
            guard !key.stringValue.utf8.contains(0) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "A key cannot hold NUL.")
            }
            if try container.decodeNil(forKey: key) {
                document.append(key.stringValue, .null)
            } else {
                document.append(
                    key.stringValue, try container.decode(ExtendedJSONTree.self, forKey: key).value)
            }
        }
        return .document(document)
    }

    private static func unkeyed(_ container: any UnkeyedDecodingContainer) throws -> BSONValue {
        var container = container
        var values: [BSONValue] = []
        while !container.isAtEnd {
            if try container.decodeNil() {
                values.append(.null)
            } else {
                values.append(try container.decode(ExtendedJSONTree.self).value)
            }
        }
        return .array(BSONArray(values))
    }

    private static func leaf(_ container: any SingleValueDecodingContainer) throws -> BSONValue {
        if container.decodeNil() { return .null }
        if let flag = try attempt({ try container.decode(Bool.self) }) { return .bool(flag) }
        if let text = try attempt({ try container.decode(String.self) }) { return .string(text) }
        let number = try container.decode(Double.self)
        // Asked for an integer, JSONDecoder fails on other numbers with errors of its own.
        guard number == number.rounded(), number.magnitude <= 0x1p63 else { return .double(number) }
        do {
            return .int64(try container.decode(Int64.self))
        } catch {
            return .double(number)
        }
    }

    /// Returns the value, or `nil` if the decoder holds one of another type.
    private static func attempt<R>(_ body: () throws -> R) throws -> R? {
        do {
            return try body()
        } catch DecodingError.typeMismatch {
            return nil
        } catch DecodingError.dataCorrupted {
            return nil
        }
    }

    /// One level of a foreign decoder, read without looking for wrappers.
    private struct ExtendedJSONTree: Decodable {
        let value: BSONValue

        init(from decoder: any Decoder) throws { value = try tree(from: decoder) }
    }
}

/// A coding key of any text.
struct BSONStringKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
