/// Decides which documents a query means; parsed once, used for any number of documents.
///
/// The language is MongoDB's: `["done": false, "age": ["$gte": 18]]`.
public struct Filter: Sendable {
    /// The filter as it was written.
    public let document: BSONDocument
    let predicate: Predicate
    private let program: FilterProgram

    /// A filter that every document passes.
    public static let all = Filter(predicate: .all([]), program: everything)

    private static let everything = {
        var program = FilterProgram()
        program.nodes = [FilterProgram.Node(join: .all, groups: 0..<0, children: 0..<0)]
        return program
    }()

    /// Reads a filter.
    ///
    /// - Throws: `badValue` (2) and others with MongoDB's text for what is no filter.
    public init(_ document: BSONDocument) throws(StoreError) {
        self.document = document
        predicate = try PredicateParser.parse(document)
        program = try FilterCompiler.compile(predicate)
    }

    /// Compiles what is asked of a single value, for `$pull` and array filters.
    init(_ predicate: Predicate) throws(StoreError) {
        document = BSONDocument()
        self.predicate = predicate
        program = try FilterCompiler.compile(predicate)
    }

    private init(predicate: Predicate, program: FilterProgram) {
        document = BSONDocument()
        self.predicate = predicate
        self.program = program
    }

    /// Whether every document passes.
    var isEverything: Bool {
        if case .all(let parts) = predicate { parts.isEmpty } else { false }
    }

    /// Whether a document passes; one pass over its bytes in the usual case, no allocation.
    public func matches(_ document: BSONDocument) -> Bool {
        document.withUnsafeBytes { matches($0) }
    }

    /// Whether the document in these bytes, which must be valid, passes.
    package func matches(_ document: UnsafeRawBufferPointer) -> Bool {
        matching { $0.node(0, document: document) }
    }

    /// Whether a single value passes a filter whose paths are empty.
    func matches(_ value: BSONValue) -> Bool {
        let wrapped: BSONDocument = ["": value]
        return wrapped.withCursor { cursor in
            guard let element = cursor.next() else { return false }
            return matching { $0.node(0, value: element.value) }
        }
    }

    /// Lends the program to many matches, so that its arrays are borrowed only once.
    @inline(__always)
    func matching<R, E: Error>(
        _ body: (borrowing FilterMatching) throws(E) -> R
    ) throws(E) -> R {
        try FilterMatching.lend(program, body)
    }
}
