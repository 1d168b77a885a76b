internal import BSONStore

/// The changes of a command on their way to the upstream.
///
/// Each is sent with a condition: that the document is still the one that was judged. So what the
/// rules decided, and what the command computed, is true when it lands.
struct UpstreamWriter {
    /// The result of a command's changes.
    enum Outcome {
        /// All changes were applied; `missedDeletes` deletes matched nothing.
        case done(missedDeletes: Int)
        /// Those before an index landed, and none from it on.
        case stopped(at: Int, Reason)
    }

    /// The reason why a change did not land.
    enum Reason {
        /// The document is not the one that was judged.
        case changed
        /// The upstream refuses the write.
        case refused(CommandFailure)
    }

    let link: UpstreamLink
    let call: CommandCall
    /// Whether a document may be another by now than the one that was judged: outside of a client's
    /// transaction.
    let isConditional: Bool
    /// Whether texts of a collection are compared by a default collation.
    let hasCollation: (Namespace) -> Bool
    /// Whether deletes are sent one by one, so that each one's count is known.
    var countsDeletes = false

    private enum Kind { case insert, update, delete }

    /// The limits of one command.
    private static let statementsMax = 1_000
    private static let bytesMax = 8 * 1024 * 1024
    /// The size from which on only the small fields of a document are compared.
    private static let wholeBytesMax = 4 * 1024 * 1024
    private static let smallBytesMax = 64 * 1024
    /// ConversionFailure, which the condition of a statement raises.
    private static let conversionFailure: Int32 = 241

    /// Sends changes in order, until one does not land.
    ///
    /// - Throws: 6 when the upstream cannot be reached, and other errors of its state; then it is
    ///   unknown what landed.
    func send(_ changes: [StoreChange]) throws -> Outcome {
        var missed = 0
        var next = 0
        while next < changes.count {
            let end = self.end(of: next, changes)
            switch try sendTogether(Array(changes[next..<end])) {
            case .done(let some): missed += some
            case .stopped(let index, let reason): return .stopped(at: next + index, reason)
            }
            next = end
        }
        return .done(missedDeletes: missed)
    }

    private static func kind(_ change: StoreChange) -> Kind {
        switch change.kind {
        case .insert: .insert
        case .delete: .delete
        default: .update
        }
    }

    /// Returns the end of the changes that go into one command.
    private func end(of start: Int, _ changes: [StoreChange]) -> Int {
        let first = changes[start]
        let kind = Self.kind(first)
        var bytes = Self.bytes(first)
        var end = start + 1
        guard !(kind == .delete && countsDeletes), bytes <= Self.wholeBytesMax,
            !Self.isBare(first)
        else { return end }
        while end < changes.count, end - start < Self.statementsMax {
            let change = changes[end]
            bytes += Self.bytes(change)
            guard Self.kind(change) == kind, change.namespace == first.namespace,
                bytes <= Self.bytesMax, !Self.isBare(change)
            else { break }
            end += 1
        }
        return end
    }

    /// Whether a document to update has nothing but its `_id`: the update of several would take a
    /// deleted one for it.
    private static func isBare(_ change: StoreChange) -> Bool {
        kind(change) == .update && change.before?.count ?? 0 <= 1
    }

    private static func bytes(_ change: StoreChange) -> Int {
        (change.before?.byteCount ?? 0) + (change.after?.byteCount ?? 0) + 512
    }

    private func sendTogether(_ changes: [StoreChange]) throws -> Outcome {
        let namespace = Self.place(changes[0].namespace)
        let isAlone = changes.count == 1
        var command = BSONDocument()
        switch Self.kind(changes[0]) {
        case .insert:
            command.append("insert", .string(namespace.collection))
            let documents = changes.compactMap { $0.after.map(BSONValue.document) }
            command.append("documents", .array(BSONArray(documents)))
        case .update:
            command.append("update", .string(namespace.collection))
            let updates = changes.map { BSONValue.document(update($0, isAlone: isAlone)) }
            command.append("updates", .array(BSONArray(updates)))
        case .delete:
            command.append("delete", .string(namespace.collection))
            let deletes = changes.map { BSONValue.document(delete($0, isAlone: isAlone)) }
            command.append("deletes", .array(BSONArray(deletes)))
        }
        command.append("ordered", true)
        if link.session == nil { command.append("writeConcern", .document(writeConcern)) }
        let reply = try link.run(command, on: namespace.database, repeatedAs: .write, for: call)
        return try outcome(reply, changes)
    }

    /// The users, which a store keeps in `admin`, have a collection of their own upstream.
    private static func place(_ namespace: Namespace) -> Namespace {
        namespace == User.namespace ? GatewayDatabase.users : namespace
    }

    /// The client's write concern; an unacknowledged write is acknowledged to the gateway.
    private var writeConcern: BSONDocument {
        guard let asked = call.document("writeConcern"), let members = asked["w"],
            members.wholeNumber != 0
        else { return ["w": "majority"] }
        var concern: BSONDocument = ["w": members]
        for field in ["j", "wtimeout"] {
            if let value = asked[field] { concern.append(field, value) }
        }
        return concern
    }

    private func outcome(_ reply: BSONDocument, _ changes: [StoreChange]) throws -> Outcome {
        if let concern = reply["writeConcernError"]?.documentValue, reply["writeErrors"] == nil {
            // The write may be rolled back: the client must not take it for done.
            throw CommandFailure(
                Int32(clamping: concern["code"]?.int64Value ?? 64),
                concern["errmsg"]?.stringValue ?? "the write concern was not met")
        }
        let failed = reply["writeErrors"]?.arrayValue?.compactMap(\.documentValue).first
        if let failed {
            guard let index = failed["index"]?.wholeNumber, changes.indices.contains(index) else {
                throw CommandFailure(
                    .internalError,
                    "the database behind this gateway does not say which of \(changes.count) "
                        + "statements failed")
            }
            let code = Int32(clamping: failed["code"]?.int64Value ?? 8)
            guard code != Self.conversionFailure else {
                return .stopped(at: index, .changed)
            }
            let message = failed["errmsg"]?.stringValue ?? "the write was refused"
            var fault = CommandFailure(code, message)
            for field in ["keyPattern", "keyValue", "errInfo"] {
                if let value = failed[field] { fault.details.append(field, value) }
            }
            // It says nothing about the document, so it must not become a denial.
            let isOfTransaction =
                link.session != nil && RetryableWrite.unsupported.contains(code)
            guard !ErrorLabels.isPassing(code), !isOfTransaction else { throw fault }
            return .stopped(at: index, .refused(fault))
        }
        let count = max(0, reply["n"]?.wholeNumber ?? 0)
        guard count < changes.count else { return .done(missedDeletes: 0) }
        // In a transaction nothing has landed, and it can be judged anew.
        guard changes.count > 1, !(link.session != nil && isConditional) else {
            return .stopped(at: 0, .changed)
        }
        return .done(missedDeletes: changes.count - count)
    }
}

// MARK: - Statements

extension UpstreamWriter {
    /// Returns the statement of an update.
    ///
    /// Several in one command are pipelines that raise an error where the document is another or
    /// gone, so that the command stops there; `upsert` has it look at a missing document, too.
    private func update(_ change: StoreChange, isAlone: Bool) -> BSONDocument {
        guard let before = change.before, let after = change.after else { return [:] }
        let id: BSONDocument = ["_id": ["$eq": change.documentID]]
        guard isConditional else {
            return ["q": .document(id), "u": content(change, before, after)]
        }
        guard !isAlone else {
            var query = id
            query.append("$expr", .document(isSame(before)))
            return collated(
                ["q": .document(query), "u": content(change, before, after)], change.namespace)
        }
        let replaced: BSONDocument = [
            "$replaceWith": [
                "$cond": [
                    .document(isSame(before)), ["$literal": .document(after)], Self.failure,
                ]
            ]
        ]
        return collated(
            ["q": .document(id), "u": [.document(replaced)], "upsert": true], change.namespace)
    }

    private func delete(_ change: StoreChange, isAlone: Bool) -> BSONDocument {
        guard let before = change.before else { return [:] }
        var query: BSONDocument = ["_id": ["$eq": change.documentID]]
        if isConditional {
            let same = BSONValue.document(isSame(before))
            query.append("$expr", isAlone ? same : ["$cond": [same, true, Self.failure]])
        }
        return collated(["q": .document(query), "limit": 1], change.namespace)
    }

    /// An expression that fails for every document.
    private static let failure: BSONValue = ["$toInt": ["$concat": ["_", ["$type": "$_id"]]]]

    /// Conditions compare bytes, whatever the collation of the collection.
    private func collated(_ statement: BSONDocument, _ namespace: Namespace) -> BSONDocument {
        guard hasCollation(namespace) else { return statement }
        var statement = statement
        statement.append("collation", ["locale": "simple"])
        return statement
    }

    /// Returns the condition that a document is the one that was judged.
    ///
    /// Of a very large document the small fields are compared, and the number of all.
    private func isSame(_ before: BSONDocument) -> BSONDocument {
        guard before.byteCount > Self.wholeBytesMax else {
            return ["$eq": ["$$ROOT", ["$literal": .document(before)]]]
        }
        var parts: [BSONValue] = [
            [
                "$eq": [
                    ["$size": ["$objectToArray": "$$ROOT"]], .int32(Int32(clamping: before.count)),
                ]
            ]
        ]
        for (name, value) in before {
            let field: BSONDocument = [name: value]
            guard field.byteCount <= Self.smallBytesMax else { continue }
            parts.append([
                "$eq": [
                    ["$getField": ["field": ["$literal": .string(name)], "input": "$$ROOT"]],
                    ["$literal": value],
                ]
            ])
        }
        return ["$and": .array(BSONArray(parts))]
    }

    /// Returns the update that leads from one document to the other: a replacement where the client
    /// replaced it, else the changed fields.
    private func content(
        _ change: StoreChange, _ before: BSONDocument, _ after: BSONDocument
    ) -> BSONValue {
        if change.kind == .replace { return .document(after) }
        if let update = FieldChanges(from: before, to: after).update { return .document(update) }
        guard before.byteCount + after.byteCount <= Self.bytesMax else { return .document(after) }
        return [["$replaceWith": ["$literal": .document(after)]]]
    }
}

/// The fields that differ between two documents, as an update with `$set` and `$unset`.
struct FieldChanges {
    private var set = BSONDocument()
    private var unset = BSONDocument()
    private var isPlain = true
    private let before: BSONDocument
    private let after: BSONDocument

    init(from before: BSONDocument, to after: BSONDocument) {
        self.before = before
        self.after = after
        add(before, after, "")
    }

    /// The update; `nil` where it would not lead to just that document, as with another order of the
    /// fields.
    var update: BSONDocument? {
        guard isPlain else { return nil }
        var update = BSONDocument()
        if !set.isEmpty { update.append("$set", .document(set)) }
        if !unset.isEmpty { update.append("$unset", .document(unset)) }
        guard !update.isEmpty else { return nil }
        do {
            guard let result = try Update(.document(update)).apply(to: before), result == after
            else { return nil }
            return update
        } catch {
            return nil
        }
    }

    private mutating func add(_ before: BSONDocument, _ after: BSONDocument, _ path: String) {
        for (name, value) in after {
            let old = before[name]
            guard old != value else { continue }
            note(name)
            if case .document(let inner)? = old, case .document(let changed) = value,
                !inner.isEmpty, !changed.isEmpty
            {
                add(inner, changed, "\(path)\(name).")
            } else {
                set.append(path + name, value)
            }
        }
        for (name, _) in before where !after.contains(key: name) {
            note(name)
            unset.append(path + name, "")
        }
    }

    /// A name that an update would take for a path or an operator needs another form.
    private mutating func note(_ name: String) {
        if name.isEmpty || name.hasBytePrefix("$") || name.utf8.contains(UInt8(ascii: ".")) {
            isPlain = false
        }
    }
}
