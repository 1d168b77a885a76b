internal import Synchronization

/// A parsed condition that selects documents; one filter tests any number of documents.
///
/// The language is MongoDB's: `["done": false, "age": ["$gte": 18]]`.
public struct Filter: Sendable {
    private let contents: Contents
    private var binding: Binding?

    /// The document from which the filter was parsed.
    public var document: BSONDocument { contents.document }
    package var predicate: Predicate { contents.predicate }
    /// The collation of texts; `nil` compares their bytes.
    package var collation: Collation? { contents.collation }
    /// The variables' values and the time for ``matches(_:)``; see ``bound(to:)``.
    var frame: ExpressionFrame? { binding?.frame }
    /// The number of variables that the filter may use.
    package var variableCount: Int { frame?.values.count ?? 0 }
    private var engine: Engine { contents.engine }

    /// The filter that every document passes.
    public static let all = Filter(predicate: .all([]), compiled: everything)

    private static let everything = {
        var filter = CompiledFilter()
        filter.clauses = [CompiledFilter.Clause(kind: .and)]
        return filter
    }()

    /// Parses a filter.
    ///
    /// - Throws: `badValue` (2) and others with MongoDB's text for an invalid filter.
    public init(_ document: BSONDocument) throws(StoreError) {
        try self.init(document, options: .ofCollection)
    }

    /// Parses a filter that may use variables, a collation and a text index.
    ///
    /// - Throws: as ``init(_:)``; `indexNotFound` (27) for `$text` without an index.
    package init(_ document: BSONDocument, options: FilterOptions) throws(StoreError) {
        if options.collation == nil, let id = Self.soleID(document) {
            contents = Contents(
                document, .field(Self.idPath, .compare(.equal, id)), nil,
                .id(id, inheritsCollation: options.inheritsCollation))
        } else if options.collation == nil, let conditions = ExactConditions(document) {
            contents = Contents(
                document, nil, nil, .exact(Exact(conditions, document, options)))
        } else {
            let predicate = try PredicateParser.parse(document, options: options)
            let waits =
                options.defersText && options.textIndex == nil
                && Self.textSearch(in: predicate) != nil
            contents = Contents(
                document, predicate, options.collation,
                .compiled(try Compiled(predicate, options, waitsForText: waits)))
        }
    }

    /// Parses a filter that compares the bytes of texts, whatever the collation of the collection.
    ///
    /// - Throws: as ``init(_:)``.
    package init(comparingBytes document: BSONDocument) throws(StoreError) {
        var options = FilterOptions.ofCollection
        options.inheritsCollation = false
        try self.init(document, options: options)
    }

    /// Compiles a condition on a single value, for `$pull` and array filters, or a part of a filter.
    package init(_ predicate: Predicate, collation: Collation? = nil) throws(StoreError) {
        contents = Contents(
            BSONDocument(), predicate, collation,
            .compiled(try Compiled(predicate, FilterOptions(collation: collation))))
    }

    private init(predicate: Predicate, compiled: CompiledFilter) {
        contents = Contents(BSONDocument(), predicate, nil, .compiled(Compiled(compiled)))
    }
}

// MARK: - Matching

extension Filter {
    /// Whether a document passes; one pass over its bytes in the usual case, no allocation.
    ///
    /// A document for which an `$expr` cannot be computed does not pass.
    public func matches(_ document: BSONDocument) -> Bool {
        document.withUnsafeBytes { matches($0) }
    }

    /// Whether a document passes with the given values of the variables.
    ///
    /// - Throws: MongoDB's error if an `$expr` cannot be computed.
    func evaluate(
        _ document: BSONDocument, _ frame: ExpressionFrame
    ) throws(StoreError) -> Bool {
        try document.withUnsafeBytes { (bytes) throws(StoreError) in
            try bound(to: frame).evaluate(bytes)
        }
    }

    /// Whether a document passes, or the error of an expression.
    ///
    /// - Throws: MongoDB's error if an `$expr` cannot be computed.
    package func evaluate(_ document: BSONDocument) throws(StoreError) -> Bool {
        try document.withUnsafeBytes { (bytes) throws(StoreError) in try evaluate(bytes) }
    }

    /// Whether the document in these bytes, which must be valid, passes.
    ///
    /// A document for which an `$expr` cannot be computed does not pass, nor does any once the time
    /// limit of the command has passed (``WorkBudget``).
    package func matches(_ document: UnsafeRawBufferPointer) -> Bool {
        switch engine {
        case .compiled(let compiled):
            compiled.shared.matches(document, frame)
        case .id(let id, _): Self.hasID(id, document)
        case .exact(let exact):
            exact.conditions.areMet(by: document)
                || exact.compiled.shared.matches(document, frame)
        }
    }

    /// Whether a document passes, as ``matches(_:)-(UnsafeRawBufferPointer)`` says, or the error of
    /// an expression.
    ///
    /// - Throws: MongoDB's error if an `$expr` cannot be computed.
    package func evaluate(_ document: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
        switch engine {
        case .compiled(let compiled):
            try compiled.shared.evaluate(document, frame)
        case .id(let id, _): Self.hasID(id, document)
        case .exact(let exact):
            exact.conditions.areMet(by: document)
                ? true : try exact.compiled.shared.evaluate(document, frame)
        }
    }

    /// Compares as the compiled filter would: a NaN equals a NaN, types of one class compare by
    /// value.
    private static func hasID(_ id: BSONValue, _ document: UnsafeRawBufferPointer) -> Bool {
        var cursor = BSONCursor(document)
        while let element = cursor.next() {
            guard "_id".utf8.elementsEqual(element.key) else { continue }
            let value = BSONValue(copying: element.value)
            guard case .array(let array) = value else {
                return BSONOrder.compare(value, id) == .equal
            }
            // The `_id` of a stored document is never an array, but any document may be tested.
            return array.contains { BSONOrder.compare($0, id) == .equal }
        }
        return false
    }

    /// Whether a single value passes a filter whose paths are empty.
    func matches(_ value: BSONValue) -> Bool {
        let wrapped: BSONDocument = ["": value]
        return wrapped.withCursor { cursor in
            guard let compiled, let element = cursor.next() else { return false }
            return FilterMatcher.with(compiled.shared.filter, frame) {
                $0.matches(element.value)
            }
        }
    }

    /// Calls a closure with the matcher, for many matches of stored documents that are checked on
    /// the way.
    @inline(__always)
    package func matchingStored<R, E: Error>(
        _ body: ((UnsafeRawBufferPointer) throws(StoreError) -> StoredMatchResult) throws(E) -> R
    ) throws(E) -> R {
        switch engine {
        case .compiled, .exact:
            let filter = compiled?.shared.filter ?? Self.everything
            let readsTopLevelOnly = filter.readsTopLevelOnly
            return try FilterMatcher.with(filter, frame) { (matcher) throws(E) -> R in
                try body { (document) throws(StoreError) in
                    try matcher.matchesStored(
                        RawDocument(document), readsTopLevelOnly: readsTopLevelOnly)
                }
            }
        case .id(let id, _):
            return try body { document in
                guard BSONValidator.isValid(document) else { return .damaged }
                return Self.hasID(id, document) ? .passes : .fails
            }
        }
    }
}

// MARK: - A filter for one collection and one call

extension Filter {
    /// Returns the filter for a collection: with the collection's collation unless the filter has
    /// its own, and with its text index for `$text`.
    ///
    /// - Throws: the errors of parsing it.
    package func adapted(
        to collation: Collation?, _ textIndex: TextIndexFields?
    ) throws(StoreError) -> Filter {
        var options = FilterOptions.ofCollection
        switch engine {
        case .compiled(let compiled): options = compiled.options
        case .id(_, let inheritsCollation): options.inheritsCollation = inheritsCollation
        case .exact(let exact): options = exact.options
        }
        if self.collation == nil, options.inheritsCollation { options.collation = collation }
        options.textIndex = options.textIndex ?? textIndex
        var filter = try Filter(document, options: options)
        filter.binding = binding
        return filter
    }

    /// Returns the filter with values for its variables and a time, for all later matches.
    package func bound(to frame: ExpressionFrame) -> Filter {
        var filter = self
        filter.binding = Binding(frame)
        return filter
    }

    /// Whether a test computes a value, so that it may read the time.
    private var computes: Bool {
        switch engine {
        case .compiled(let compiled): compiled.hasComputedTests
        case .id, .exact: false
        }
    }

    /// The filter with a fixed time for all documents, unless it has one.
    package var timed: Filter {
        computes && binding == nil ? bound(to: ExpressionFrame(now: CommandTime.now)) : self
    }

    package var waitsForText: Bool {
        switch engine {
        case .compiled(let compiled): compiled.waitsForText
        case .id, .exact: false
        }
    }
}

// MARK: - Filters on the _id alone

extension Filter {
    private static let idPath = FieldPath(parts: ["_id"])

    /// Returns the `_id` of a filter that tests only the `_id` for equality with a plain value.
    package static func soleID(_ document: BSONDocument) -> BSONValue? {
        var elements = document.makeIterator()
        guard elements.next() != nil, elements.next() == nil else { return nil }
        return firstID(document)
    }

    /// Whether a filter names one document by its `_id`, and at most says which values its fields have:
    /// it is parsed and finds its document quickly.
    package static func isOfOneDocument(_ document: BSONDocument) -> Bool {
        soleID(document) != nil || ExactConditions(document) != nil
    }

    /// Returns the plain value that a filter's first condition requires of the `_id`.
    static func firstID(_ document: BSONDocument) -> BSONValue? {
        var elements = document.makeIterator()
        guard let first = elements.next(), first.key == "_id" else { return nil }
        switch first.value {
        case .double, .string, .binary, .objectID, .bool, .datetime, .int32, .timestamp, .int64:
            return first.value
        default: return nil
        }
    }

    /// Whether the `_id` alone decides, so that a document found by its key passes.
    package var isDeterminedByID: Bool {
        switch engine {
        case .compiled, .exact: false
        case .id: true
        }
    }

    /// The `_id` that alone decides, if there is one.
    package var determiningID: BSONValue? {
        switch engine {
        case .compiled, .exact: nil
        case .id(let id, _): id
        }
    }

    /// The `_id` of the only document that may pass, if the filter names it without a collation.
    package var wantedID: BSONValue? {
        switch engine {
        case .compiled: nil
        case .id(let id, _): id
        case .exact(let exact): exact.conditions.id
        }
    }

    /// Whether the filter only compares values, which is known without parsing it.
    var isExact: Bool {
        switch engine {
        case .compiled: false
        case .id, .exact: true
        }
    }

    /// Whether every document passes.
    package var isEverything: Bool {
        if !isExact, case .all(let parts) = predicate { parts.isEmpty } else { false }
    }
}

// MARK: - Parts

extension Filter {
    /// The parsed filter, shared by its copies: a call makes many of them on its way.
    private final class Contents: Sendable {
        let document: BSONDocument
        /// The parsed filter; `nil` for exact conditions, which are parsed when someone asks.
        private let parsed: Predicate?
        let collation: Collation?
        let engine: Engine

        var predicate: Predicate {
            if case .exact(let exact) = engine { return exact.compiled.predicate }
            return parsed ?? .all([])
        }

        init(
            _ document: BSONDocument, _ predicate: Predicate?, _ collation: Collation?,
            _ engine: Engine
        ) {
            self.document = document
            parsed = predicate
            self.collation = collation
            self.engine = engine
        }
    }

    /// The variables' values, shared by copies.
    private final class Binding: Sendable {
        let frame: ExpressionFrame

        init(_ frame: ExpressionFrame) { self.frame = frame }
    }

    /// The way to test documents.
    private enum Engine: Sendable {
        /// By the compiled predicate.
        case compiled(Compiled)
        /// By the `_id` alone; a look-up by its key has already decided it, unless the filter
        /// inherits a collection's collation.
        case id(BSONValue, inheritsCollation: Bool)
        /// By the bytes of the values, and by the parsed filter where they differ.
        case exact(Exact)
    }

    /// The compiled filter; `nil` where the `_id` alone decides.
    private var compiled: Compiled? {
        switch engine {
        case .compiled(let compiled): compiled
        case .id: nil
        case .exact(let exact): exact.compiled
        }
    }

    /// Exact conditions, with the filter that they are once someone asks for it.
    private final class Exact: Sendable {
        let conditions: ExactConditions
        let options: FilterOptions
        private let document: BSONDocument
        private let known = AtomicLazyReference<Compiled>()

        init(
            _ conditions: ExactConditions, _ document: BSONDocument, _ options: FilterOptions
        ) {
            self.conditions = conditions
            self.document = document
            self.options = options
        }

        /// The parsed filter.
        var compiled: Compiled { known.load() ?? parsed() }

        @inline(never)
        private func parsed() -> Compiled {
            do throws(StoreError) {
                let predicate = try PredicateParser.parse(document, options: options)
                return known.storeIfNil(try Compiled(predicate, options))
            } catch {
                preconditionFailure("Exact conditions are valid: \(error)")
            }
        }
    }

    /// The compiled filter, shared because copying a filter would retain each of its many arrays.
    private final class Compiled: Sendable {
        /// The compiled filter, once it was needed.
        private let known = AtomicLazyReference<Shared>()
        let predicate: Predicate
        /// The options of the filter, to parse it again for a collection.
        let options: FilterOptions
        /// Whether `$text` still needs the collection's index.
        let waitsForText: Bool

        /// Its methods use the filter in place: a copy would retain each of its many arrays.
        final class Shared: Sendable {
            let filter: CompiledFilter

            init(_ filter: CompiledFilter) { self.filter = filter }

            @inline(never)
            func matches(_ document: UnsafeRawBufferPointer, _ frame: ExpressionFrame?) -> Bool {
                FilterMatcher.with(filter, frame) {
                    $0.matches(RawDocument(document))
                }
            }

            @inline(never)
            func evaluate(
                _ document: UnsafeRawBufferPointer, _ frame: ExpressionFrame?
            ) throws(StoreError) -> Bool {
                try FilterMatcher.with(filter, frame) { (matcher) throws(StoreError) in
                    try matcher.evaluate(RawDocument(document))
                }
            }
        }

        init(_ filter: CompiledFilter) {
            predicate = .all([])
            options = .none
            waitsForText = false
            _ = known.storeIfNil(Shared(filter))
        }

        /// Compiles tests that may throw at once, and comparisons when they are first needed:
        /// never, if an index answers the query.
        init(
            _ predicate: Predicate, _ options: FilterOptions, waitsForText: Bool = false
        ) throws(StoreError) {
            self.predicate = predicate
            self.options = options
            self.waitsForText = waitsForText
            guard !Self.isPlain(predicate, options.collation) else { return }
            _ = known.storeIfNil(
                Shared(try FilterCompiler.compile(predicate, collation: options.collation)))
        }

        /// The holder of the compiled filter.
        var shared: Shared {
            @inline(__always) get { known.load() ?? compiled() }
        }

        /// Whether a test computes a value; a filter that is not compiled yet has comparisons
        /// only.
        var hasComputedTests: Bool { known.load()?.filter.hasComputedTests ?? false }

        @inline(never)
        private func compiled() -> Shared {
            do throws(StoreError) {
                return known.storeIfNil(Shared(try FilterCompiler.compile(predicate)))
            } catch {
                preconditionFailure("Comparisons compile: \(error)")
            }
        }

        private static func isPlain(_ predicate: Predicate, _ collation: Collation?) -> Bool {
            switch predicate {
            case .field(_, .compare): collation == nil
            case .all(let parts):
                parts.allSatisfy {
                    if case .field(_, .compare) = $0 { collation == nil } else { false }
                }
            case .any, .not, .field, .special: false
            }
        }
    }
}
