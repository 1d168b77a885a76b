/// The marks in an encoding that is compared with another one: what a value's type says about it.
///
/// A mark is an element of a type that BSON does not have, without a value.
enum BSONEncodingMarks {
    /// The type byte of a key whose optional is absent.
    static let omittedByte: UInt8 = 0x14
    /// The type byte of the first mark of a dictionary: a document in which all keys are data, or
    /// an array that alternates between keys and values.
    static let dictionaryByte: UInt8 = 0x15
    /// The type byte of the mark of a document that holds one value, which is written unchanged.
    static let exactByte: UInt8 = 0x16
    /// The type byte of the first mark of an array whose order means nothing.
    static let setByte: UInt8 = 0x17
    /// The type byte of the first mark of a document; its key names the field that identifies the
    /// document among the elements of an array.
    static let elementKeyByte: UInt8 = 0x18
    /// The type byte of the first mark of a document that an enum wrote.
    static let enumerationByte: UInt8 = 0x19

    /// The information of a value's type about the container that the value requests.
    enum Container {
        case dictionary
        case set
        case element(key: String)
        case enumeration

        /// Creates the description of a type; `nil` where the type says nothing.
        ///
        /// - Parameter isEnumeration: whether the type is an enum.
        init?<T>(_ type: T.Type, isEnumeration: @autoclosure () -> Bool) {
            switch type {
            case is any BSONKeyedCollection.Type: self = .dictionary
            case is any BSONUnorderedCollection.Type: self = .set
            case let type as any ArrayElement.Type: self = .element(key: type.elementKey)
            case _ where isEnumeration(): self = .enumeration
            default: return nil
            }
        }
    }

    /// Writes the mark of a document or an array that has just begun.
    static func mark(_ container: Container, isArray: Bool, _ buffer: inout BSONByteBuffer) {
        switch container {
        case .dictionary: _ = buffer.head(dictionaryByte, "")
        case .set: if isArray { _ = buffer.head(setByte, "") }
        case .element(let key): if !isArray { _ = buffer.head(elementKeyByte, key) }
        case .enumeration: if !isArray { _ = buffer.head(enumerationByte, "") }
        }
    }

    /// Wraps a value that is written unchanged.
    static func exact(_ value: BSONValue) -> BSONValue {
        let carrier: BSONDocument = ["": value]
        var bytes = carrier.bytes
        bytes.insert(contentsOf: [exactByte, 0], at: 4)
        let length = Int32(truncatingIfNeeded: bytes.count).littleEndian
        Swift.withUnsafeBytes(of: length) { prefix in
            for index in 0..<4 { bytes[index] = prefix[index] }
        }
        return .document(BSONDocument(unchecked: bytes))
    }
}

/// An element of arrays that a field of its own identifies, where that field is neither `_id` nor
/// `id`.
///
/// When an array is written, each of its documents is compared with the stored document of the same
/// identity, so that fields which the type does not know stay (Docs/SCHEMA.md, "Arrays of
/// documents").
///
/// ```swift
/// struct Position: Codable, ArrayElement {
///     static let elementKey = "sku"
///     var sku: String
///     var quantity: Int
/// }
/// ```
public protocol ArrayElement: Encodable {
    /// The field's name in documents.
    static var elementKey: String { get }
}

/// A collection of keyed data, which has no unknown fields.
protocol BSONKeyedCollection {}

extension Dictionary: BSONKeyedCollection {}

/// A collection whose order means nothing.
protocol BSONUnorderedCollection {}

extension Set: BSONUnorderedCollection {}
