public import BSONStore

/// Describes one conflict: how it comes to be, who answers it, and what must come of it.
///
/// A fixture is read from JSON; see Docs/FIXTURES.md.
public struct ConflictFixture: Sendable {
    /// The file it was read from; empty for one that was not read from a file.
    public var file: String
    /// What it shows, in one sentence.
    public var name: String
    /// Who answers conflicts.
    public var handler: FixtureHandler
    /// What both sides hold when the sync begins.
    public var start: FixtureStart
    /// What happens then, in order.
    public var steps: [FixtureStep]
    /// What must have come of it.
    public var expectation: FixtureExpectation

    /// The document that the fixture is about.
    public var documentID: BSONValue { start.documentID }
}

extension ConflictFixture: CustomStringConvertible {
    /// The file and the name.
    public var description: String { file.isEmpty ? name : "\(file): \(name)" }
}

/// What both sides hold, and what they agreed on before.
public struct FixtureStart: Sendable {
    /// The document's `_id`.
    public var documentID: BSONValue
    /// What both sides agreed on; `nil` when the device never had the document from the remote.
    public var base: BSONDocument?
    /// The version of the base at the remote; `nil` for a document without one.
    public var baseVersion: BSONValue?
    /// The local document, changed from the base while the device was offline.
    public var local: BSONDocument?
    /// The remote document, changed from the base by somebody else.
    public var remote: BSONDocument?
    /// What the remote's change did to the version.
    public var remoteVersion: FixtureVersion
}

/// Says what a change at the remote does to the document's version.
public enum FixtureVersion: Sendable {
    /// Another device wrote: the counter grows by one, the lineage stays.
    case next
    /// Another device inserted the document anew: another lineage, from counter 0.
    case fresh
    /// A tool that knows nothing of versions set fields: the version stays as it is.
    case same
    /// A tool replaced the document: there is no version.
    case none
    /// The version field holds this value.
    case value(BSONValue)
}

/// Names who answers conflicts.
public enum FixtureHandler: Sendable {
    /// `ConflictHandler.remoteWins`.
    case remoteWins
    /// `ConflictHandler.localWins`.
    case localWins
    /// `ConflictHandler.newest(by:)`, with the path.
    case newest(String)
    /// `ConflictHandler.mergeFields`, and who is asked about overlaps.
    indirect case mergeFields(counters: [String], arrays: [String], overlaps: FixtureHandler)
    /// These answers in turn, the last one for ever.
    case answers([Answer])
    /// The handler of the app that runs the fixture.
    case app
    /// The app set no handler: conflicts wait.
    case missing

    /// One answer.
    public enum Answer: Sendable {
        /// Keep the local edition.
        case useLocal
        /// Take the remote edition.
        case useRemote
        /// Keep this document.
        case use(BSONDocument)
        /// Delete on both sides.
        case delete
        /// Throw an error.
        case fail
    }
}

/// What must have come of a conflict.
public struct FixtureExpectation: Sendable {
    /// The questions to the handler, in order.
    public var calls: [Call]
    /// The local document.
    public var local: BSONDocument?
    /// The remote document, without its version.
    public var remote: BSONDocument?
    /// The remote document's version; not looked at unless told.
    public var version: Version?
    /// All events since the sync began, as `reason operation pending|settled`; not looked at unless
    /// told.
    public var events: [String]?
    /// The codes of all errors that were told.
    public var errors: [String]
    /// How the document stands: `synced`, `pending`, `paused`, `conflicted`, `stale`, `notSynced`.
    public var state: String

    /// One question to the handler.
    public struct Call: Sendable {
        /// What both sides agreed on.
        public var base: BSONDocument?
        /// The local edition.
        public var local: BSONDocument?
        /// The remote edition.
        public var remote: BSONDocument?
        /// The local change may have landed.
        public var mayHaveLanded: Bool
    }

    /// A version, as far as a fixture can know it.
    public enum Version: Sendable, Hashable {
        /// There is none.
        case none
        /// The counter, and whether the lineage is the base's.
        case counted(Int64, isSameLineage: Bool)
        /// The version field holds this value.
        case value(BSONValue)
    }
}
