internal import BSONStore

/// The changes that a stream leaves out, since the device that reads it made them itself.
///
/// A device names its last operation when it opens a stream. An operation is one write of a device; the
/// version of a document names the one that wrote it: the number of the device's instance, and the
/// operation's number in it. The device knows what its later operations did from their answers, so the
/// event of each is left out, once: a document that is restored with an old version is a change that
/// the device does not know.
///
/// Source: Docs/SERVER.md, "Change streams".
struct EchoFilter: Sendable {
    /// The option of `$changeStream` with the device's last operation.
    static let option = "stitchsyncLastOperation"
    /// The part of `hello`'s answer that says that the server knows the option.
    static let feature = "echoFilter"

    /// One write of a device.
    struct Operation: Hashable {
        /// The number of the device's instance.
        let instance: UInt64
        /// The number of the operation in the instance.
        let number: UInt64

        /// Reads the 16 bytes; `nil` for any other value.
        init?(_ value: BSONValue?) {
            guard case .binary(let binary)? = value, binary.bytes.count == 16 else { return nil }
            func part(_ range: Range<Int>) -> UInt64 {
                binary.bytes[range].reduce(0) { $0 << 8 | UInt64($1) }
            }
            instance = part(0..<8)
            number = part(8..<16)
        }

        /// Reads the operation that wrote a document; `nil` if its version names none.
        init?(of document: BSONDocument?) {
            self.init(document?[EchoFilter.versionField]?.documentValue?["op"])
        }
    }

    /// The field with a document's version.
    static let versionField = StoreTombstone.versionField
    /// The largest number of ranges: an operation that was never carried out leaves a gap.
    private static let rangesMax = 1_000

    private let instance: UInt64
    /// The numbers of the operations whose events are not left out, in ascending ranges: those up to the
    /// named one, and those that were left out already.
    private var known: [ClosedRange<UInt64>]

    /// Reads the option.
    ///
    /// - Throws: 14 (TypeMismatch) unless it is a binary value of 16 bytes.
    init(_ value: BSONValue) throws(CommandFailure) {
        guard let last = Operation(value) else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '\(ChangeStreamStage.name).\(Self.option)' must be an operation: 16 "
                    + "bytes, the number of the device's instance and that of its last operation")
        }
        instance = last.instance
        known = [0...last.number]
    }

    /// Returns whether a change of the feed is left out.
    mutating func leavesOut(_ change: StoreChange) -> Bool {
        let operation = Operation(of: change.after)
        // Another writer's change leaves the version as it was.
        return operation != Operation(of: change.before) && leavesOut(operation)
    }

    /// Returns whether what an operation did is left out; never what none did.
    mutating func leavesOut(_ operation: Operation?) -> Bool {
        guard let operation, operation.instance == instance else { return false }
        let number = operation.number
        // The first range begins with 0, so there is one that does not begin later.
        let before = known.lastIndex { $0.lowerBound <= number } ?? 0
        guard known[before].upperBound < number else { return false }
        let after = before + 1
        let isBehind = known[before].upperBound + 1 == number
        let isAhead = after < known.count && known[after].lowerBound - 1 == number
        switch (isBehind, isAhead) {
        case (true, true):
            known[before] = known[before].lowerBound...known[after].upperBound
            known.remove(at: after)
        case (true, false): known[before] = known[before].lowerBound...number
        case (false, true): known[after] = number...known[after].upperBound
        case (false, false): known.insert(number...number, at: after)
        }
        if known.count > Self.rangesMax {
            // What is in the first gap is told from now on.
            let second = known.remove(at: 1)
            known[0] = 0...second.upperBound
        }
        return true
    }
}
