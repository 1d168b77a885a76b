/// Holds what an expression can see beside the current document.
struct ExpressionFrame: Sendable {
    /// `$$ROOT`.
    var root: BSONDocument
    /// `$$NOW`, one for a whole command.
    var now: BSONDatetime
    /// `$$CLUSTER_TIME`; `nil` where there is none.
    var clusterTime: BSONTimestamp?
    /// The values of the variables by slot, `nil` for missing.
    var values: [BSONValue?]
    /// How texts compare where the expression's scope does not say it.
    var collation: Collation?
    /// What `$meta` tells about the document, by the name it is asked for.
    var metadata: [String: BSONValue] = [:]

    /// Takes the parts; those that are left out are empty or the beginning of 1970.
    init(
        root: BSONDocument = BSONDocument(), now: BSONDatetime = BSONDatetime(milliseconds: 0),
        clusterTime: BSONTimestamp? = nil, values: [BSONValue?] = [], collation: Collation? = nil
    ) {
        self.root = root
        self.now = now
        self.clusterTime = clusterTime
        self.values = values
        self.collation = collation
    }
}
