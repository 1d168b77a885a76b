internal import BSONStore

/// Is a try that no evidence of was found and that may still land.
///
/// Its name alone does not tell that it is all that happened: a foreign writer may have changed the
/// document before or behind it and have left the version as it was (rule R6).
struct UnresolvedAttempt: Hashable, Sendable {
    /// The try's name.
    let operation: OperationID
    /// What it does to the remote's document; `nil` where only the name was kept.
    let meaning: Meaning?

    /// What the remote's document shows once a try landed.
    enum Meaning: Hashable, Sendable {
        /// This content, whatever was there.
        case content(BSONContentHash)
        /// These paths changed, all others as they were.
        case paths(UpdateDescription)
        /// None: the try deletes.
        case nothing
    }

    /// Longer changes are kept as a hash of the whole content.
    private static let pathBytesMax = 1_024
}

extension UnresolvedAttempt {
    /// Keeps of a try what it takes to know it again.
    init(_ attempt: Attempt, base: BSONDocument?, local: BSONDocument?) {
        operation = attempt.operation
        guard let intended = attempt.intended.document(local: local) else {
            meaning = .nothing
            return
        }
        if let paths = SyncTransaction.paths(from: base, to: intended),
            paths.updatedFields.byteCount
                + paths.removedFields.reduce(0, { $0 + $1.utf8.count }) <= Self.pathBytesMax
        {
            meaning = .paths(paths)
        } else {
            meaning = .content(intended.contentHash())
        }
    }

    /// Whether a remote document that carries the try's name holds what the try made of the base, and
    /// nothing of anybody else's.
    func explains(_ remote: BSONDocument?, over base: BSONDocument?) -> Bool {
        switch meaning {
        case nil: return true
        case .nothing: return remote == nil
        case .content(let hash): return remote?.contentHash() == hash
        case .paths(let paths):
            guard let remote, let base else { return false }
            do throws(BSONError) {
                return try paths.apply(to: base).contentEquals(remote)
            } catch {
                // A path leads through a value of the base by now: somebody else put it there.
                return false
            }
        }
    }
}

// MARK: - As it is stored

extension UnresolvedAttempt {
    /// The name by itself, or a document of the name and the meaning.
    private var value: BSONValue {
        switch meaning {
        case nil: operation.value
        case .nothing: ["op": operation.value, "is": .null]
        case .content(let hash):
            ["op": operation.value, "is": .binary(BSONBinary(hash.bytes))]
        case .paths(let paths):
            [
                "op": operation.value, "set": .document(paths.updatedFields),
                "unset": .array(BSONArray(paths.removedFields.map(BSONValue.string))),
            ]
        }
    }

    private init?(_ value: BSONValue) {
        guard let document = value.documentValue else {
            guard let name = OperationID(value) else { return nil }
            self.init(operation: name, meaning: nil)
            return
        }
        guard let name = document["op"].flatMap(OperationID.init) else { return nil }
        if document["is"] == .null {
            self.init(operation: name, meaning: .nothing)
        } else if case .binary(let binary) = document["is"],
            let hash = BSONContentHash(bytes: binary.bytes)
        {
            self.init(operation: name, meaning: .content(hash))
        } else if let set = document["set"]?.documentValue,
            let unset = document["unset"]?.arrayValue?.values
        {
            let removed = unset.compactMap(\.stringValue)
            self.init(
                operation: name,
                meaning: .paths(UpdateDescription(updatedFields: set, removedFields: removed)))
        } else {
            return nil
        }
    }

    /// The document that tries are stored as; `nil` for none.
    static func document(of tries: [UnresolvedAttempt]) -> BSONDocument? {
        tries.isEmpty ? nil : ["op": .array(BSONArray(tries.map(\.value)))]
    }

    /// Reads tries; one name stood by itself in earlier versions.
    static func tries(_ document: BSONDocument) -> [UnresolvedAttempt] {
        guard let value = document["op"] else { return [] }
        return (value.arrayValue?.values ?? [value]).compactMap(UnresolvedAttempt.init)
    }
}
