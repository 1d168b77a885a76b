/// The type of a BSON element, by its byte on the wire.
///
/// Source: BSON specification 1.1, non-terminal `element`.
public enum BSONType: UInt8, Sendable, Hashable, CaseIterable {
    case double = 0x01
    case string = 0x02
    case document = 0x03
    case array = 0x04
    case binary = 0x05
    case undefined = 0x06
    case objectID = 0x07
    case bool = 0x08
    case datetime = 0x09
    case null = 0x0A
    case regularExpression = 0x0B
    case dbPointer = 0x0C
    case javascript = 0x0D
    case symbol = 0x0E
    case javascriptWithScope = 0x0F
    case int32 = 0x10
    case timestamp = 0x11
    case int64 = 0x12
    case decimal128 = 0x13
    case minKey = 0xFF
    case maxKey = 0x7F
}
