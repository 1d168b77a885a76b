/// The state that all decoders of one document share; reused for one document after the other.
final class BSONDecodingContext {
    @exclusivity(unchecked) private(set) var decoder: BSONDecoder
    @exclusivity(unchecked) private var document: BSONDocument
    @exclusivity(unchecked) private var base: UnsafeRawPointer
    let hasDefaultKeys: Bool
    @exclusivity(unchecked) private var pool = BSONNodePool<BSONDecodingNode>()

    private static let lot = IdleObjectPool<BSONDecodingContext>()
    private static let plain = BSONDecoder()
    private static let empty = BSONDocument()

    private init(_ decoder: BSONDecoder, _ document: BSONDocument, _ base: UnsafeRawPointer) {
        self.decoder = decoder
        self.document = document
        self.base = base
        hasDefaultKeys = decoder.strategies.keys.isDefault
    }

    /// Decodes a value of a document; the bytes at `base` are valid for the duration of the call.
    static func decode<T: Decodable>(
        _ type: T.Type, _ raw: BSONRawValue, _ decoder: BSONDecoder, _ document: BSONDocument,
        _ base: UnsafeRawPointer
    ) throws -> T {
        var context: BSONDecodingContext
        if decoder.strategies.keys.isDefault, let parked = lot.take() {
            context = parked
            if !decoder.isPlain { context.decoder = decoder }
            context.document = document
            context.base = base
        } else {
            context = BSONDecodingContext(decoder, document, base)
        }
        defer {
            // A decoder that the type's code kept retains the context.
            if context.hasDefaultKeys, isKnownUniquelyReferenced(&context) {
                if !decoder.isPlain { context.decoder = plain }
                context.document = empty
                lot.leave(context)
            }
        }
        if let kind = BSONNativeKind.of(type) {
            let node = BSONDecodingNode(context, raw, parent: nil, key: nil)
            return try node.native(type, kind, raw, nil)
        }
        return try context.decode(type, raw, parent: nil, key: nil)
    }

    /// Decodes a value of a type with its own code; the key is valid for the duration of the call.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, _ raw: BSONRawValue, parent: BSONDecodingNode?,
        key: UnsafePointer<any CodingKey>?
    ) throws -> T {
        var node: BSONDecodingNode
        if let idle = pool.take(type) {
            node = idle
            node.reuse(raw, parent: parent, key: key)
        } else {
            node = BSONDecodingNode(self, raw, parent: parent, key: key)
        }
        if !hasDefaultKeys { node.keepsKeys = type is any BSONKeyedCollection.Type }
        do {
            let value = try type.init(from: node)
            if BSONDecodingNode.isIdle(&node) { pool.put(node, type) }
            return value
        } catch {
            _ = BSONDecodingNode.isIdle(&node)
            throw error
        }
    }

    /// Returns the document's key for a coding key.
    func documentKey(_ key: String) -> String { decoder.strategies.keys.documentKey(key) }

    func value(_ raw: BSONRawValue) -> BSONValue {
        BSONValue(raw, sharing: document, at: base)
    }
}
