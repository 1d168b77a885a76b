internal import BSONStore

/// The stages after `$changeStream`, run on each event.
struct EventPipeline: Sendable {
    /// The allowed stages, which turn one event into at most one.
    private static let allowed: Set<String> = [
        "$addFields", "$match", "$project", "$replaceRoot", "$replaceWith", "$redact", "$set",
        "$unset", SplitEvent.stage,
    ]

    /// The aliases of stages, whose errors name the original.
    private static let standsFor = [
        "$bucket": "$group", "$count": "$group", "$sortByCount": "$group",
    ]

    /// Whether large events are split.
    let splits: Bool
    private let pipeline: Pipeline
    private let current: Locked<BSONDocument?>

    /// Parses the stages.
    ///
    /// - Throws: 20 (IllegalOperation) for stages that a stream cannot have, and the errors of
    ///   the stages.
    init(_ stages: BSONArray, _ options: PipelineOptions) throws {
        var kept: [BSONValue] = [[ChangeStreamStage.name: [:]]]
        var splits = false
        for stage in stages {
            guard let name = stage.documentValue?.keys.first, name.hasBytePrefix("$") else {
                kept.append(stage)
                continue
            }
            guard !splits else {
                throw CommandFailure(
                    7_182_802, "\(SplitEvent.stage) must be the last stage in the pipeline")
            }
            guard name != ChangeStreamStage.name else { throw ChangeStreamStage.mustBeFirst }
            guard Self.allowed.contains(name) else {
                // An unknown stage has an error of its own.
                _ = try Pipeline(BSONArray([stage]), options: options)
                throw CommandFailure(
                    .illegalOperation,
                    "\(Self.standsFor[name] ?? name) is not permitted in a $changeStream pipeline")
            }
            guard name == SplitEvent.stage else {
                kept.append(stage)
                continue
            }
            try SplitEvent.check(stage.documentValue?[name] ?? .null)
            splits = true
        }
        self.splits = splits
        let current = Locked<BSONDocument?>(nil)
        self.current = current
        var options = options
        let source: PipelineOptions.Source = { value throws(StoreError) in
            guard let event = current.withLock({ $0 }) else { return [] }
            return [event]
        }
        options.sources[ChangeStreamStage.name] = source
        pipeline = try Pipeline(BSONArray(kept), options: options)
    }

    /// Returns the event after the stages; `nil` when they filter it out.
    ///
    /// - Throws: 280 (ChangeStreamFatalError) when they change its `_id`.
    func pass(_ event: BSONDocument, _ transaction: ReadTransaction) throws -> BSONDocument? {
        current.withLock { $0 = event }
        // Else each stream would keep its last event.
        defer { current.withLock { $0 = nil } }
        let namespace = Namespace("admin", "$cmd.aggregate")
        // `$changeStreamSplitLargeEvent` cuts the event afterwards.
        guard let passed = try transaction.firstWhole(namespace, pipeline) else { return nil }
        guard let id = event["_id"], passed["_id"] == id else {
            throw CommandFailure(
                280,
                "Encountered an event whose _id field, which contains the resume token, was "
                    + "modified by the pipeline. Modifying the _id field of an event makes it "
                    + "impossible to resume the stream from that point. Only transformations that "
                    + "retain the unmodified _id field are allowed. Expected: "
                    + Self.text(event) + " but found: "
                    + Self.text(passed))
        }
        return passed
    }

    private static func text(_ event: BSONDocument) -> String {
        ShellText.text(of: .document(BSONDocument(event.filter { $0.key == "_id" }.map { $0 })))
    }
}
