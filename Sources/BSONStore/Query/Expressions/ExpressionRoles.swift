/// The roles of the user whose command computes expressions.
package enum ExpressionRoles {
    /// The value of `$$USER_ROLES` in this thread or task; empty without a user.
    @TaskLocal package static var current = BSONArray()
}
