internal import BSONStore

/// Counts what the writes of one command did, and which of them were refused.
struct WriteBatch: Sendable {
    /// A command has at most so many writes.
    static let countMax = 100_000

    let isOrdered: Bool
    /// Documents that were inserted, found or deleted.
    var count = 0
    /// Documents that are different now, where the command says it.
    var modified: Int?
    var upserted: [BSONValue] = []
    private(set) var errors: [BSONValue] = []

    init(isOrdered: Bool) { self.isOrdered = isOrdered }

    /// Checks the number of writes of a command.
    ///
    /// - Throws: 16 (InvalidLength).
    static func checkCount(_ count: Int) throws(CommandFailure) {
        guard (1...countMax).contains(count) else {
            throw CommandFailure(
                16,
                "Write batch sizes must be between 1 and \(countMax). Got \(count) operations.")
        }
    }

    /// Does one write, which is undone alone when it is refused.
    ///
    /// - Returns: why it was refused, when it was.
    /// - Throws: what ends the whole command.
    static func attempt(
        _ transaction: WriteTransaction, _ body: () throws -> Void
    ) throws -> CommandFailure? {
        do {
            try transaction.savepoint(body)
            return nil
        } catch {
            if let error = error as? StoreError, !error.concernsWrite { throw error }
            let fault = CommandFailure(error)
            guard fault.code != 50 else { throw fault }
            return fault
        }
    }

    /// Notes that a write was refused, and says whether the next one is to be done.
    mutating func goesOn(after fault: CommandFailure, at index: Int) -> Bool {
        errors.append(fault.writeError(at: index))
        return !isOrdered
    }

    /// The command's answer.
    var reply: BSONDocument {
        var reply: BSONDocument = ["n": .int32(Int32(clamping: count))]
        if let modified {
            if !upserted.isEmpty { reply.append("upserted", .array(BSONArray(upserted))) }
            reply.append("nModified", .int32(Int32(clamping: modified)))
        }
        if !errors.isEmpty { reply.append("writeErrors", .array(BSONArray(errors))) }
        return reply
    }
}

extension StoreError {
    /// What the server says of a document that an update made too large.
    func ofUpdate() -> StoreError {
        guard code == .documentTooLarge else { return self }
        var error = self
        error.code = .updatedDocumentTooLarge
        error.message = "Resulting document after update is larger than 16777216"
        return error
    }

    /// What it says of one that is to be inserted.
    var ofInsert: StoreError {
        guard code == .documentTooLarge else { return self }
        var error = self
        error.code = .badValue
        return error
    }

    /// Whether one write was refused for what it is, so that others can go on.
    fileprivate var concernsWrite: Bool { sqliteCode == nil || code == .duplicateKey }
}

extension Namespace {
    /// Checks that clients may write to the collection.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func checkWritable() throws(CommandFailure) {
        let isFine =
            !collection.hasPrefix("system.")
            || ["system.js", "system.views", "system.users", "system.version"].contains(collection)
        guard isFine else {
            throw CommandFailure(.invalidNamespace, "cannot write to '\(self)'")
        }
        guard !collection.utf8.contains(UInt8(ascii: "$")) else {
            throw CommandFailure(.invalidNamespace, "Invalid namespace specified '\(self)'")
        }
        guard description.utf8.count <= Self.bytesMax else {
            throw CommandFailure(Self.tooLong(description))
        }
    }
}

extension Namespace {
    /// Checks that clients may make a collection of the name.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func checkCreatable() throws(CommandFailure) {
        guard collection.hasPrefix("system."), !collection.hasPrefix("system.buckets.") else {
            return
        }
        let everywhere: Set<String> = ["system.js", "system.views", "system.profile"]
        let inAdmin: Set<String> = [
            "system.users", "system.roles", "system.version", "system.keys",
        ]
        let isFine =
            everywhere.contains(collection) || database == "admin" && inAdmin.contains(collection)
            || database == "local" || database == "config"
        guard isFine else {
            throw CommandFailure(.invalidNamespace, "Invalid system namespace: \(self)")
        }
    }
}

extension ReadTransaction {
    /// Checks that the index that a command asks for is there.
    ///
    /// - Throws: 2 (BadValue) where it is not, 9 for what names no index.
    func checkHint(_ value: BSONValue?, _ namespace: Namespace) throws {
        guard let hint = try CommandCall.hint(value), try options(namespace) != nil else { return }
        let isThere = try indexes(namespace).contains { index in
            switch hint {
            case .name(let name): index.name == name
            case .keyPattern(let pattern): index.keyPattern.contentEquals(pattern)
            case .natural, .reverseNatural: true
            }
        }
        guard !isThere else { return }
        throw CommandFailure(
            .badValue,
            "error processing query: planner returned error :: caused by :: hint provided does "
                + "not correspond to an existing index")
    }
}

extension WriteTransaction {
    /// Finds documents by the index that a command asks for, from now on.
    ///
    /// - Throws: 2 (BadValue) where there is no such index, 9 for what names none.
    func take(hint: BSONValue?, _ namespace: Namespace) throws {
        try checkHint(hint, namespace)
        self.hint = try CommandCall.hint(hint)
    }
}
