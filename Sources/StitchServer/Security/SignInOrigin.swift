internal import BSONStore

/// The account with which a sign-in began, and the marks that keep the sign-in valid.
struct SignInOrigin: Sendable, Hashable {
    /// The maximum number of marks, each of a change that the connection's user made.
    private static let marksMax = 16

    /// The random id of the account.
    let accountID: BSONValue?
    /// The user's mark at the sign-in, and those that this connection set since.
    private(set) var marks: [BSONValue?]

    init(accountID: BSONValue?, marks: [BSONValue?]) {
        self.accountID = accountID
        self.marks = marks
    }

    /// Keeps the sign-in valid under a mark that this connection is about to store.
    mutating func add(_ mark: BSONValue) {
        marks = marks.suffix(Self.marksMax - 1) + [mark]
    }
}
