internal import BSONStore

/// Attempts that are sent together, stored in one row instead of in each record (rule R3).
///
/// The row exists from before the request until the transaction that settles the answers. Another
/// write to the collection first moves the attempts to their records, and so does the next pass
/// after a lost answer.
struct AttemptBatch: Sendable {
    /// The kind of an attempt.
    enum Kind: UInt64 {
        case insert = 0
        case update = 1
        case delete = 2
    }

    /// One attempt of the batch.
    struct Member: Sendable {
        let row: Int64
        let operation: OperationID
        let kind: Kind
    }

    let members: [Member]
    let token: ResumeToken?
}

extension AttemptBatch {
    /// The stored form: 32 bytes for each member, big-endian.
    var document: BSONDocument {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(members.count * 32)
        for member in members {
            let words = [
                UInt64(bitPattern: member.row), member.operation.instance,
                member.operation.sequence, member.kind.rawValue,
            ]
            for word in words {
                withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
            }
        }
        var document: BSONDocument = ["attempts": .binary(BSONBinary(bytes))]
        if let token { document.append("token", .document(token.document)) }
        return document
    }

    init?(_ document: BSONDocument) {
        guard case .binary(let binary) = document["attempts"], binary.bytes.count % 32 == 0 else {
            return nil
        }
        let words = stride(from: 0, to: binary.bytes.count, by: 8).map { at in
            binary.bytes[at..<at + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        var members: [Member] = []
        for at in stride(from: 0, to: words.count, by: 4) {
            guard let kind = Kind(rawValue: words[at + 3]) else { return nil }
            members.append(
                Member(
                    row: Int64(bitPattern: words[at]),
                    operation: OperationID(instance: words[at + 1], sequence: words[at + 2]),
                    kind: kind))
        }
        self.members = members
        token = document["token"]?.documentValue.map(ResumeToken.init)
    }
}
