internal import BSONStore

/// The results of the writes of one command.
struct WriteBatch: Sendable {
    /// The maximum number of writes in a command.
    static let countMax = 100_000

    /// The number of inserted, matched or deleted documents.
    var count = 0
    /// The number of modified documents, where the command reports it.
    var modified: Int?
    var upserted: [BSONValue] = []
    private(set) var errors: [BSONValue] = []
    private var room = WriteErrorRoom()

    /// Checks the number of writes in a command.
    ///
    /// - Throws: 16 (InvalidLength).
    static func checkCount(_ count: Int) throws(CommandFailure) {
        guard (1...countMax).contains(count) else {
            throw CommandFailure(
                16,
                "Write batch sizes must be between 1 and \(countMax). Got \(count) operations.")
        }
    }

    /// The number of writes that share a savepoint: it keeps a copy of each page that they change.
    private static let togetherMax = 100

    /// Runs the writes of a command by their indexes; an ordered command ends with the first one that
    /// fails.
    ///
    /// A failed write is undone alone. Quick writes share a savepoint as long as none fails, since one for
    /// each would copy the pages again that they all change; those before a failed one are undone with it
    /// and run once more.
    ///
    /// - Parameters:
    ///   - isQuick: whether a write concerns one document, which it finds by its key.
    ///   - write: runs a write.
    ///   - take: receives what came of each write, in order.
    /// - Throws: errors that end the whole command.
    static func run<R>(
        _ count: Int, isOrdered: Bool, _ transaction: WriteTransaction,
        isQuick: (Int) -> Bool, write: (Int) throws -> R,
        take: (Int, Result<R, CommandFailure>) -> Void
    ) throws {
        var start = 0
        /// A write that failed behind others, which were undone with it.
        var failed: (index: Int, fault: CommandFailure)?
        while start < count {
            let end = failed?.index ?? runEnd(from: start, count, isQuick)
            var done: [R] = []
            let fault = try attempt(transaction) {
                for index in start..<end { done.append(try write(index)) }
            }
            if let fault, !done.isEmpty {
                failed = (start + done.count, fault)
                continue
            }
            for result in done {
                take(start, .success(result))
                start += 1
            }
            guard let fault = fault ?? failed?.fault else { continue }
            failed = nil
            take(start, .failure(fault))
            start += 1
            if isOrdered { break }
        }
    }

    /// Whether a statement's query names one document, which is found by its key.
    ///
    /// Without a collation of its own, a text may be compared by the collection's.
    static func isOfOneDocument(_ query: BSONDocument, of statement: BSONDocument) -> Bool {
        guard statement["hint"] == nil, Filter.isOfOneDocument(query) else { return false }
        guard let collation = statement["collation"] else { return query["_id"]?.type != .string }
        return collation == ["locale": "simple"]
    }

    /// Returns the end of the writes that share a savepoint: quick ones, or one that is not.
    private static func runEnd(from start: Int, _ count: Int, _ isQuick: (Int) -> Bool) -> Int {
        let end = min(count, start + togetherMax)
        return max(start + 1, (start..<end).first { !isQuick($0) } ?? end)
    }

    /// Runs writes, and undoes them when one fails.
    ///
    /// - Returns: the error of the write, if one failed.
    /// - Throws: errors that end the whole command.
    private static func attempt(
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

    /// Records a failed write.
    mutating func add(_ fault: CommandFailure, at index: Int) {
        errors.append(.document(room.fitted(fault.writeError(at: index))))
    }

    /// The reply to the command.
    var reply: BSONDocument {
        var reply: BSONDocument = ["n": .int32(Int32(clamping: count))]
        if let modified {
            if !upserted.isEmpty { reply.append("upserted", .array(BSONArray(upserted))) }
            reply.append("nModified", .int32(Int32(clamping: modified)))
        }
        if !errors.isEmpty { reply.append("writeErrors", .array(BSONArray(errors))) }
        return reply
    }

    /// Returns MongoDB's error for a document that an update made too large.
    static func failure(ofUpdate failed: StoreError) -> StoreError {
        guard failed.code == .documentTooLarge else { return failed }
        var error = failed
        error.code = .updatedDocumentTooLarge
        error.message = "Resulting document after update is larger than 16777216"
        return error
    }

    /// Returns MongoDB's error for a document that is too large to insert.
    static func failure(ofInsert failed: StoreError) -> StoreError {
        guard failed.code == .documentTooLarge else { return failed }
        var error = failed
        error.code = .badValue
        return error
    }
}

/// The statements of a command, of which the quick ones are parsed before its transaction.
///
/// Other writers do not wait while they are parsed. What takes time or memory, such as scripts and large
/// constants, is parsed in the transaction, one statement after the other.
struct ParsedWrites<Write: Sendable>: Sendable {
    /// The maximum number of bytes of the statements that are parsed before the transaction.
    private static var bytesMax: Int { 1 << 20 }

    private let parse: @Sendable (Int) throws -> Write
    private let ready: [Result<Write, any Error>]

    /// Parses the statements up to the first that is not quick; an invalid one fails when its turn comes.
    ///
    /// - Parameters:
    ///   - quickSizes: the numbers of bytes of the statements; `nil` for one that is not quick.
    ///   - parse: returns the write of the statement at an index.
    /// - Throws: 50 (MaxTimeMSExpired), 11601 (Interrupted).
    init(
        quickSizes: some Sequence<Int?>, _ call: CommandCall,
        _ parse: @escaping @Sendable (Int) throws -> Write
    ) throws {
        self.parse = parse
        var ready: [Result<Write, any Error>] = []
        var bytes = 0
        for (index, size) in quickSizes.enumerated() {
            guard let size else { break }
            bytes += size
            guard bytes <= Self.bytesMax else { break }
            try call.checkTime()
            ready.append(Result { try parse(index) })
        }
        self.ready = ready
    }

    /// Returns the write of the statement at an index.
    ///
    /// - Throws: the error of an invalid statement.
    func write(at index: Int) throws -> Write {
        try index < ready.count ? ready[index].get() : parse(index)
    }
}

extension Namespace {
    /// Checks that clients may write to the collection.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func checkWritable() throws(CommandFailure) {
        let isFine =
            !collection.hasBytePrefix("system.") || collection == "system.js"
            || database == "admin" && ["system.users", "system.version"].contains(collection)
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
    /// Checks that clients may create a collection of the name.
    ///
    /// - Throws: 73 (InvalidNamespace).
    func checkCreatable() throws(CommandFailure) {
        guard collection.hasBytePrefix("system."), !collection.hasBytePrefix("system.buckets.")
        else {
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

extension WriteTransaction {
    /// Makes the following writes find documents by the hinted index.
    ///
    /// - Throws: 2 (BadValue) for a missing index, 9 for an invalid hint.
    func take(hint: BSONValue?, _ namespace: Namespace) throws {
        try CommandCall.checkHint(hint, namespace, in: self)
        self.hint = try CommandCall.hint(hint)
    }
}
