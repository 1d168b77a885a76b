public import BSONStore

/// Is what one user may do with one collection: the role, with all values put in.
///
/// Values of the user are those of the moment when it was made.
public struct RuleAccess: Sendable {
    /// Which documents the user may see.
    public enum Visibility: Sendable {
        /// None at all.
        case never
        /// All of them.
        case always
        /// Those that match a filter.
        case filter(Filter)
    }

    /// The collection.
    public let namespace: Namespace
    /// The role that the user holds; `nil` for none.
    public let role: String?
    /// Why the user holds no role, or cannot use it.
    public let problem: RuleDenial.Cause?
    /// Which documents the user may see.
    public let visibility: Visibility
    /// Which fields the user may see and write where `write` is not said; shows all fields where
    /// the role decides for whole documents.
    public let mask: FieldMask
    /// Whether documents may be looked for by a text search.
    public let allowsSearch: Bool
    /// Whether the role has filters on documents at all.
    let hasFilters: Bool
    let writeFilter: CompiledPredicate?
    let read: CompiledPredicate?
    let write: CompiledPredicate?
    let insert: CompiledPredicate?
    let delete: CompiledPredicate?
    /// What the user was compiled to; equal ones decide equally.
    let essence: CompiledRoleKey

    /// Whether the user may not even look.
    public var isNever: Bool {
        if case .never = visibility { true } else { false }
    }

    /// Whether the user may see all documents.
    public var seesAll: Bool {
        if case .always = visibility { true } else { false }
    }

    /// Whether some of what a document holds can be hidden.
    public var hidesFields: Bool { !mask.showsEverything }

    /// Describes whether two users, or a user before and after a change of the rules, may do the
    /// same.
    public func decidesEqually(_ other: RuleAccess) -> Bool { essence == other.essence }

    /// Whether the user may see a document, in whole or in part.
    public func sees(_ document: BSONDocument) -> Bool {
        switch visibility {
        case .never: false
        case .always: true
        case .filter(let filter): filter.matches(document)
        }
    }

    /// Returns the document as the user sees it, `nil` when it is not there for the user.
    public func visible(_ document: BSONDocument) -> BSONDocument? {
        sees(document) ? shown(document) : nil
    }

    /// Returns a document that the user sees, without its hidden fields.
    public func shown(_ document: BSONDocument) -> BSONDocument {
        guard hidesFields, !isWhole(document) else { return document }
        return mask.shown(document)
    }

    /// Returns the fields that hold for a document: `write` for a whole one shows it whole.
    public func mask(for document: BSONDocument) -> FieldMask {
        isWhole(document) ? .all : mask
    }

    private func isWhole(_ document: BSONDocument) -> Bool {
        write?.holds(root: document, previous: document) ?? false
    }

    /// Decides whether a write is allowed, and what is then stored.
    ///
    /// - Parameters:
    ///   - before: the stored document, `nil` for an insert.
    ///   - after: the document as the writer sees it after the write, `nil` for a delete.
    /// - Returns: the document to store, which keeps what the writer does not see.
    /// - Throws: why the write is denied.
    public func written(
        from before: BSONDocument?, toShown after: BSONDocument?
    ) throws(RuleDenial) -> BSONDocument? {
        let id = (after?["_id"] ?? before?["_id"]) ?? .null
        func denial(_ cause: RuleDenial.Cause) -> RuleDenial {
            RuleDenial(cause: cause, role: role, namespace: namespace, documentID: id)
        }
        if let problem { throw denial(problem) }
        let mask = before.map { self.mask(for: $0) } ?? self.mask
        var denied: [String] = []
        var merged = after
        if let after {
            let shown = before.map { mask.shown($0) } ?? [:]
            if write == nil { denied = mask.deniedChanges(from: shown, to: after) }
            merged = before == nil ? after : before.flatMap { mask.merged(after, into: $0) }
        }
        let decision = WriteDecision.decide(facts(before, merged ?? after, denied.isEmpty))
        if let cause = cause(of: decision, denied) { throw denial(cause) }
        if after != nil, merged == nil { throw denial(.hidden) }
        return merged
    }

    private func facts(
        _ before: BSONDocument?, _ after: BSONDocument?, _ mayWriteFields: Bool
    ) -> WriteFacts {
        let root = after ?? before
        func answer(_ predicate: CompiledPredicate?) -> RuleAnswer {
            RuleAnswer(predicate?.holds(root: root, previous: before))
        }
        func answerBefore(_ predicate: CompiledPredicate?) -> RuleAnswer {
            RuleAnswer(
                predicate.flatMap { predicate in
                    before.map { predicate.holds(root: $0, previous: $0) }
                })
        }
        // Permission on the whole document is needed for what it was and for what it becomes.
        let write = before != nil && answerBefore(write) == .no ? .no : answer(write)
        return WriteFacts(
            before == nil ? .insert : after == nil ? .delete : .update, hasFilters: hasFilters,
            filterBefore: answerBefore(writeFilter), filterAfter: answer(writeFilter),
            write: write, insert: answer(insert), delete: answer(delete),
            mayWriteFields: mayWriteFields)
    }

    private func cause(of decision: WriteDecision, _ denied: [String]) -> RuleDenial.Cause? {
        switch decision {
        case .allowed: nil
        case .filterBefore: .writeFilter(after: false)
        case .filterAfter: .writeFilter(after: true)
        case .insert: .insert
        case .delete: .delete
        case .write: .write
        case .fields: .fields(denied)
        }
    }
}

/// Is all that a compiled role decides by.
struct CompiledRoleKey: Sendable, Hashable {
    var role: String?
    var problem: RuleDenial.Cause?
    var hasFilters = false
    var readFilter: RulePredicate?
    var writeFilter: RulePredicate?
    var read: RulePredicate?
    var write: RulePredicate?
    var insert: RulePredicate?
    var delete: RulePredicate?
    var search: RulePredicate?
    var mask = FieldMask.all
}

extension FieldMask {
    /// Hides nothing, and lets everything be written.
    static let all = FieldMask(.leaf(.readAndWrite))
    /// Hides everything.
    static let nothing = FieldMask(.leaf(.none))
}
