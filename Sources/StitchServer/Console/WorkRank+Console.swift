internal import BSONStore

extension WorkRank {
    /// The size of a body up to which its command decides: those that end other work are small.
    private static let bodyBytesMax = 4_096

    /// Returns the kind of work of a request of the console's pages.
    ///
    /// Whatever runs, an administrator can sign in, see it and end it.
    init(_ request: ConsoleRequest) {
        switch request.path {
        case "/api/signin", "/api/signout", "/api/session", "/api/stats": self = .vital
        case "/api/command" where request.body.count <= Self.bodyBytesMax:
            let fields = Result { () throws(ConsoleFault) in try request.document() }.value
            let name = fields?["command"]?.documentValue?.keys.first ?? ""
            // The refusal of an unknown command, or of a body without a command, takes no time.
            self = WorkRank(command: name, ofOperator: true)
        default: self = .ofOperator
        }
    }
}
