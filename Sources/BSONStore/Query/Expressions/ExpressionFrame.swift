/// The variables that an expression sees in addition to the current document.
package struct ExpressionFrame: Sendable {
    /// `$$ROOT`.
    var root: BSONDocument
    /// `$$NOW`, the same for a whole command; `nil` if the command has none.
    var now: BSONDatetime?
    /// `$$CLUSTER_TIME`; `nil` if there is none.
    var clusterTime: BSONTimestamp?
    /// `$$USER_ROLES`.
    var userRoles = ExpressionRoles.current
    /// The values of the variables by slot, `nil` for missing.
    var values: [BSONValue?]
    /// The collation if the expression's scope does not define one.
    var collation: Collation?
    /// The values of `$meta` for the document, by name.
    var metadata: [String: BSONValue] = [:]

    /// Creates a frame; omitted parts are empty, the running command's or the beginning of 1970.
    init(
        root: BSONDocument = BSONDocument(), now: BSONDatetime? = BSONDatetime(milliseconds: 0),
        clusterTime: BSONTimestamp? = CommandTime.current?.clusterTime,
        values: [BSONValue?] = [], collation: Collation? = nil
    ) {
        self.root = root
        self.now = now
        self.clusterTime = clusterTime
        self.values = values
        self.collation = collation
    }
}
