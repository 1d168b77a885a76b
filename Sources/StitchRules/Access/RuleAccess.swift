public import BSONStore

/// The permissions of one user in one collection: the role with all values inserted.
///
/// The user's values are those at creation.
public struct RuleAccess: Sendable {
    /// The documents that the user may see.
    public enum Visibility: Sendable {
        /// No document.
        case never
        /// Every document.
        case always
        /// The documents that match a filter.
        case filter(Filter)
    }

    /// The collection.
    public let namespace: Namespace
    /// The role that the user holds; `nil` for none.
    public let role: String?
    /// The reason why the user holds no role or cannot use it.
    public let problem: DenialCause?
    /// The documents that the user may see.
    public let visibility: Visibility
    /// The fields that the user may read and write if `write` is unspecified; all fields are
    /// readable if the role decides about whole documents.
    public let mask: FieldMask
    /// Whether the user may use text search.
    public let allowsSearch: Bool
    /// Whether the role has document filters.
    let hasFilters: Bool
    let writeFilter: CompiledPredicate?
    let read: CompiledPredicate?
    let write: CompiledPredicate?
    let insert: CompiledPredicate?
    let delete: CompiledPredicate?
    /// The key of the compiled role; equal keys mean equal decisions.
    let essence: CompiledRoleKey

    /// Whether the user sees no document.
    public var isNever: Bool {
        if case .never = visibility { true } else { false }
    }

    /// Whether the user sees every document.
    public var seesAll: Bool {
        if case .always = visibility { true } else { false }
    }

    /// Whether documents can have hidden fields.
    public var hidesFields: Bool { !mask.showsEverything }

    /// Whether two users, or one user before and after a change of the rules, have equal
    /// permissions.
    public func decidesEqually(_ other: RuleAccess) -> Bool { essence == other.essence }

    /// Whether the user sees a document, as a whole or in part.
    public func sees(_ document: BSONDocument) -> Bool {
        switch visibility {
        case .never: false
        case .always: true
        case .filter(let filter): filter.matches(document)
        }
    }

    /// Returns the document as the user sees it; `nil` when hidden.
    public func visible(_ document: BSONDocument) -> BSONDocument? {
        sees(document) ? shown(document) : nil
    }

    /// Returns a visible document without its hidden fields.
    public func shown(_ document: BSONDocument) -> BSONDocument {
        guard hidesFields, !isWhole(document) else { return document }
        return mask.shown(document)
    }

    /// Returns the permissions of a document's fields; `write` on the whole document makes all
    /// readable.
    public func mask(for document: BSONDocument) -> FieldMask {
        isWhole(document) ? .all : mask
    }

    private func isWhole(_ document: BSONDocument) -> Bool {
        write?.holds(root: document, previous: document) ?? false
    }

    /// Decides whether a write is allowed, and returns the document to store.
    ///
    /// - Parameters:
    ///   - before: the stored document, `nil` for an insert.
    ///   - after: the document that the writer should see after the write; `nil` for a delete.
    /// - Returns: the document to store, which keeps the fields hidden from the writer.
    /// - Throws: the reason why the write is denied.
    public func judge(
        from before: BSONDocument?, toShown after: BSONDocument?
    ) throws(RuleDenial) -> BSONDocument? {
        let id = (after?["_id"] ?? before?["_id"]) ?? .null
        func denial(_ cause: DenialCause) -> RuleDenial {
            RuleDenial(cause: cause, role: role, namespace: namespace, documentID: id)
        }
        if let problem { throw denial(problem) }
        if let before, let after, let claimed = claim(of: before, shown: after) { return claimed }
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
        if after != nil, merged == nil { throw denial(.notAllowed) }
        return merged
    }

    /// Returns a visible document with the version that sync gives a document without one; `nil`
    /// for every other write.
    ///
    /// Everybody who sees a document may give it its first version, since it cannot be synced
    /// without. The version must have the usual form: others could not sync it with another.
    private func claim(of before: BSONDocument, shown after: BSONDocument) -> BSONDocument? {
        guard let version = after[SyncVersion.field], before[SyncVersion.field] == nil,
            SyncVersion.isFirst(version), sees(before)
        else { return nil }
        var shown = after
        shown[SyncVersion.field] = nil
        guard shown == self.shown(before) else { return nil }
        var claimed = before
        claimed.append(SyncVersion.field, version)
        return claimed
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
        // Write permission is required both for the document before and for the one after.
        let write = before != nil && answerBefore(write) == .no ? .no : answer(write)
        return WriteFacts(
            before == nil ? .insert : after == nil ? .delete : .update, hasFilters: hasFilters,
            filterBefore: answerBefore(writeFilter), filterAfter: answer(writeFilter),
            write: write, insert: answer(insert), delete: answer(delete),
            mayWriteFields: mayWriteFields)
    }

    private func cause(of decision: WriteDecision, _ denied: [String]) -> DenialCause? {
        switch decision {
        case .allowed: nil
        case .filterBefore: .writeFilter(isOfResult: false)
        case .filterAfter: .writeFilter(isOfResult: true)
        case .insert: .insertDenied
        case .delete: .deleteDenied
        case .write: .writeDenied
        case .fields: .fieldsDenied(denied)
        }
    }
}

/// Everything that determines a compiled role's decisions.
struct CompiledRoleKey: Sendable, Hashable {
    var role: Name?
    var problem: DenialCause?
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
    /// The mask that permits everything.
    static let all = FieldMask(.leaf(.readAndWrite))
    /// The mask that hides everything.
    static let nothing = FieldMask(.leaf(.none))
}
