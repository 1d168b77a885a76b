internal import BSONStore

/// The operations of a device whose changes it knows already, so that a remote need not report them.
///
/// A device learns what its uploads did from their answers. A remote that leaves the events of these
/// uploads out saves both sides half of the work of an upload. It leaves out operations of the
/// instance after ``last``, each once: what shows an operation again, such as a restored document, is
/// a change that the device does not know.
///
/// ```swift
/// let own = OwnOperations(last: OperationID(instance: 1, sequence: 7), era: 0)
/// print(own.last)  // 1.7
/// ```
///
/// Source: Docs/SYNC.md, "Echoes".
public struct OwnOperations: Sendable, Hashable {
    /// The last operation that the device had named when it asked.
    public let last: OperationID
    /// A number that grows whenever the device looks for an operation whose answer was lost.
    ///
    /// Such an operation may still arrive later, and then must be reported: a remote that keeps what
    /// it left out, such as an open stream, must not go on with it in another era.
    public let era: Int

    /// Makes a value from its parts.
    public init(last: OperationID, era: Int) {
        self.last = last
        self.era = era
    }

    /// Whether what was left out for another value may be left out for this one.
    public func continues(_ other: OwnOperations) -> Bool {
        last.instance == other.last.instance && era == other.era
    }
}
