/// Says how a pipeline is read and run.
public struct PipelineOptions: Sendable {
    /// Variables that the pipeline can use as `$$name`; their values are constant expressions.
    public var `let`: BSONDocument?
    /// How texts compare; without one, by their bytes.
    public var collation: Collation?
    /// Whether the collection's own collation holds where none is given; not where a command says
    /// `{locale: "simple"}`.
    public var inheritsCollation = true
    /// Lets stages hold up to 1 GiB in memory instead of 100 MiB; nothing is written to disk.
    public var allowDiskUse: Bool
    /// Which index the documents of the collection are read by; without one, the planner chooses.
    public var hint: IndexHint?
    /// First stages beyond those of the library, by their names with the dollar: each is given its
    /// argument and gives the documents that the next stage gets.
    public var sources: [String: Source]

    /// Makes the documents of a first stage of its argument.
    public typealias Source = @Sendable (BSONValue) throws(StoreError) -> [BSONDocument]

    /// Makes options; what is left out has its default.
    public init(
        `let`: BSONDocument? = nil, collation: Collation? = nil, allowDiskUse: Bool = false,
        sources: [String: Source] = [:]
    ) {
        self.let = `let`
        self.collation = collation
        self.allowDiskUse = allowDiskUse
        self.sources = sources
    }
}
