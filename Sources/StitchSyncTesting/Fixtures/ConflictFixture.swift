public import BSONStore

/// The script of one conflict: its start, its steps, its handler and the expected outcome.
///
/// The fixture is read from JSON; see Docs/FIXTURES.md.
///
/// ```swift
/// for fixture in try ConflictFixture.load("fixtures/conflicts") {
///     try await fixture.check(handler: .mergeFields())
/// }
/// ```
public struct ConflictFixture: Sendable {
    /// The file of the fixture; empty for a fixture from another source.
    public var file: String
    /// The point of the fixture, in one sentence.
    public var name: String
    /// The conflict handler.
    public var handler: FixtureHandler
    /// The documents of both sides when the sync begins.
    public var start: FixtureStart
    /// The events after the start, in order.
    public var steps: [FixtureStep]
    /// The expected outcome.
    public var expectation: FixtureExpectation

    /// The `_id` of the fixture's document.
    public var documentID: BSONValue { start.documentID }
}

extension ConflictFixture: CustomStringConvertible {
    /// The file and the name.
    public var description: String { file.isEmpty ? name : "\(file): \(name)" }
}

/// The documents of both sides at the start, and their common base.
///
/// ```swift
/// let start = try ConflictFixture.load("fixtures/conflicts")[0].start
/// print(start.base ?? [:], start.local ?? [:], start.remote ?? [:])
/// ```
public struct FixtureStart: Sendable {
    /// The document's `_id`.
    public var documentID: BSONValue
    /// The confirmed edition; `nil` when the device never downloaded the document.
    public var base: BSONDocument?
    /// The base's version field at the remote; `nil` for a document without the field.
    public var baseVersion: BSONValue?
    /// The local document, changed from the base while the device was offline.
    public var local: BSONDocument?
    /// The remote document, changed from the base by another client.
    public var remote: BSONDocument?
    /// The effect of the remote's change on the version field.
    public var remoteVersion: FixtureVersion
}

/// The effect of a remote change on the document's version field.
///
/// ```swift
/// fixture.steps.append(.remote(.delete, .next))
/// fixture.steps.append(.remote(.insert(["_id": 1]), .fresh))
/// ```
public enum FixtureVersion: Sendable {
    /// Another device wrote the document: the counter grows by one, the lineage stays.
    case next
    /// Another device inserted the document again: a new lineage begins with counter 0.
    case fresh
    /// A tool without support for versions set fields: the version stays unchanged.
    case same
    /// A tool replaced the document: the version field is missing.
    case none
    /// The version field holds this value.
    case value(BSONValue)
}

/// The conflict handler of a fixture.
///
/// ```swift
/// fixture.handler = .mergeFields(counters: ["votes"], arrays: [], overlaps: .localWins)
/// ```
public enum FixtureHandler: Sendable {
    /// `ConflictHandler.remoteWins`.
    case remoteWins
    /// `ConflictHandler.localWins`.
    case localWins
    /// `ConflictHandler.newest(by:)` with this path.
    case newest(String)
    /// `ConflictHandler.mergeFields` with its counters, arrays and handler of overlaps.
    indirect case mergeFields(
        counters: [String], arrays: [String], arraysByID: [String] = [], overlaps: FixtureHandler)
    /// A handler that returns these answers in turn and repeats the last one.
    case answers([Answer])
    /// The handler of the app that runs the fixture.
    case app
    /// No handler: conflicts wait.
    case missing

    /// One answer of a scripted handler.
    ///
    /// ```swift
    /// fixture.handler = .answers([.fail, .useLocal])
    /// ```
    public enum Answer: Sendable {
        /// Keep the local edition.
        case useLocal
        /// Take the remote edition.
        case useRemote
        /// Store this document on both sides.
        case use(BSONDocument)
        /// Delete the document on both sides.
        case delete
        /// Throw an error.
        case fail
    }
}

/// The expected outcome of a fixture.
///
/// Numbers are compared by value: the int32 3 is the int64 3 that a Swift `Int` is stored as.
///
/// ```swift
/// fixture.expectation.local = ["_id": 1, "votes": 3]
/// fixture.expectation.remote = fixture.expectation.local
/// fixture.expectation.state = "synced"
/// ```
public struct FixtureExpectation: Sendable {
    /// The calls of the conflict handler, in order; `nil` skips the comparison.
    public var calls: [Call]?
    /// The local document; `nil` when it must be absent.
    public var local: BSONDocument?
    /// The remote document without its version field; `nil` when it must be absent.
    public var remote: BSONDocument?
    /// The remote document's version; `nil` skips the comparison.
    public var version: Version?
    /// All events since the sync began, as `reason operation pending|settled`; `nil` skips the
    /// comparison.
    public var events: [String]?
    /// The codes of all reported errors.
    public var errors: [String]
    /// The document's state: `synced`, `pending`, `paused`, `conflicted`, `stale` or `notSynced`.
    public var state: String

    /// One call of the conflict handler.
    ///
    /// ```swift
    /// for call in fixture.expectation.calls ?? [] {
    ///     print(call.local ?? [:], call.remote ?? [:])
    /// }
    /// ```
    public struct Call: Sendable {
        /// The base edition.
        public var base: BSONDocument?
        /// The local edition.
        public var local: BSONDocument?
        /// The remote edition.
        public var remote: BSONDocument?
        /// Whether the remote may have applied the local change.
        public var mayHaveLanded: Bool
    }

    /// An expected version, without the parts that differ between runs.
    ///
    /// ```swift
    /// fixture.expectation.version = .counted(1, isSameLineage: true)
    /// ```
    public enum Version: Sendable, Hashable {
        /// The version field is missing.
        case none
        /// The version has this counter, and the base's lineage or another.
        case counted(Int64, isSameLineage: Bool)
        /// The version field holds this value.
        case value(BSONValue)
    }
}
