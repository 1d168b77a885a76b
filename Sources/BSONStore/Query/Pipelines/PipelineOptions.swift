/// The options for parsing and running a pipeline.
public struct PipelineOptions: Sendable {
    /// Variables that the pipeline can use as `$$name`; their values are constant expressions.
    public var `let`: BSONDocument?
    /// The collation of texts; `nil` for the collection's own.
    public var collation: Collation?
    /// Whether a stage may use up to 1 GiB of memory instead of 100 MiB; nothing is written to
    /// disk.
    public var allowDiskUse: Bool
    /// The index with which the collection is read; `nil` lets the planner choose.
    public var hint: IndexHint?
    /// Additional first stages, by their names with the dollar: each receives its argument and
    /// returns the documents for the next stage.
    public var sources: [String: Source]
    /// The first stages of a server, by their names with the dollar.
    package var serverStages: [String: ServerStage] = [:]

    /// The memory of a stage in bytes.
    package static let bytesMax = PipelineMemory.bytesMax
    /// The memory of a stage that may use the disk, in bytes.
    package static let bytesMaxWithDiskUse = PipelineMemory.bytesMaxWithDiskUse

    /// A function that returns the documents of a first stage for its argument.
    public typealias Source = @Sendable (BSONValue) throws(StoreError) -> [BSONDocument]

    /// Creates options; omitted ones have their defaults.
    public init(
        `let`: BSONDocument? = nil, collation: Collation? = nil, allowDiskUse: Bool = false,
        sources: [String: Source] = [:]
    ) {
        self.let = `let`
        self.collation = collation
        self.allowDiskUse = allowDiskUse
        self.sources = sources
    }

    /// All stages that the caller adds; its own source replaces a server's.
    var added: [String: ServerStage] {
        let own = sources.mapValues { source in
            ServerStage { (argument, _) throws(StoreError) in try source(argument) }
        }
        return serverStages.merging(own) { $1 }
    }

    /// Returns the options with the first stages of a server.
    package func with(_ serverStages: [String: ServerStage]) -> PipelineOptions {
        var options = self
        options.serverStages = serverStages
        return options
    }
}
