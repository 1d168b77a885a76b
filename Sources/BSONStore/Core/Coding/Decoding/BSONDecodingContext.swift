/// The state that all nodes of one document share; reused for one document after the other.
///
/// `BSONDecodingNode` explains the ownership of contexts and nodes.
final class BSONDecodingContext {
    @exclusivity(unchecked) private(set) var decoder: BSONDecoder
    @exclusivity(unchecked) private var document: BSONDocument
    @exclusivity(unchecked) private var base: UnsafeRawPointer
    let hasDefaultKeys: Bool
    @exclusivity(unchecked) private var pool = BSONNodePool<BSONDecodingNode>()

    private static let idleContexts = IdleObjectPool<BSONDecodingContext>()
    private static let plainDecoder = BSONDecoder()
    private static let emptyDocument = BSONDocument()

    private init(_ decoder: BSONDecoder, _ document: BSONDocument, _ base: UnsafeRawPointer) {
        self.decoder = decoder
        self.document = document
        self.base = base
        hasDefaultKeys = decoder.strategies.keys.isDefault
    }

    /// Decodes a value that lies in the bytes of a document, which begin at `base`.
    static func decode<T: Decodable>(
        _ type: T.Type, from raw: BSONRawValue, in document: BSONDocument,
        at base: UnsafeRawPointer, with decoder: BSONDecoder
    ) throws -> T {
        var context: BSONDecodingContext
        // Idle contexts have default keys and a plain decoder, as they are left below.
        if decoder.strategies.keys.isDefault, let idle = idleContexts.take() {
            context = idle
            if !decoder.isPlain { context.decoder = decoder }
            context.document = document
            context.base = base
        } else {
            context = BSONDecodingContext(decoder, document, base)
        }
        defer {
            // A node that has escaped retains the context, and the document with it.
            if context.hasDefaultKeys, isKnownUniquelyReferenced(&context) {
                if !decoder.isPlain { context.decoder = plainDecoder }
                context.document = emptyDocument
                idleContexts.put(context)
            }
        }
        if let kind = BSONNativeKind.of(type) {
            // The coders' own types never see their decoder: this node cannot escape.
            let node = BSONDecodingNode(
                borrowing: context, raw, parent: nil, key: nil, keysAreData: false)
            return try node.native(type, kind: kind, from: raw, key: nil)
        }
        return try context.decode(type, from: raw, parent: nil, key: nil)
    }

    /// Decodes a value of a type with its own code; the one place where uses of nodes begin and
    /// end.
    ///
    /// The caller keeps the context, the parent and the key's address valid for the duration of the
    /// call, and this frame keeps the node alive.
    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type, from raw: BSONRawValue, parent: BSONDecodingNode?,
        key: UnsafePointer<any CodingKey>?
    ) throws -> T {
        assert(parent.map { $0.context === self } ?? true, "The parent is of another context.")
        let keysAreData = !hasDefaultKeys && type is any BSONKeyedCollection.Type
        var node: BSONDecodingNode
        if let idle = pool.take(type) {
            node = idle
            node.beginUse(raw, parent: parent, key: key, keysAreData: keysAreData)
        } else {
            node = BSONDecodingNode(
                borrowing: self, raw, parent: parent, key: key, keysAreData: keysAreData)
        }
        do {
            let value = try type.init(from: node)
            if BSONDecodingNode.endUse(of: &node) { pool.put(node, type) }
            return value
        } catch {
            BSONDecodingNode.endUse(of: &node)
            throw error
        }
    }

    /// Returns the document's key for a coding key.
    func documentKey(_ key: String) -> String { decoder.strategies.keys.documentKey(key) }

    func value(_ raw: BSONRawValue) -> BSONValue {
        BSONValue(raw, sharing: document, at: base)
    }
}
