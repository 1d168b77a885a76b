internal import BSONStore

extension CommandCall {
    /// The argument by which a gateway names the user for whom it sends a command.
    static let clientField = "$client"
    /// The field of that argument with the user's key.
    private static let ownerField = "stitchsyncOwner"
    /// The field of that argument for a transaction in which a gateway carries out one write.
    private static let briefField = "stitchsyncIsBrief"

    /// The value of the argument for a user.
    ///
    /// - Parameter isBrief: whether the command belongs to a transaction that carries out one write.
    static func client(of owner: [UInt8], isBrief: Bool) -> BSONDocument {
        [ownerField: .binary(BSONBinary(owner)), briefField: .bool(isBrief)]
    }

    /// What a gateway says about its user; `nil` for another client.
    ///
    /// It counts from an operator only: whoever can be several users takes the turns of all of them.
    private var gatewayClient: BSONDocument? {
        guard
            !server.settings.requiresSignIn
                || connection.state.withLock({ $0.user })?.isOperator == true
        else { return nil }
        return body[Self.clientField]?.documentValue
    }

    /// The key of the user or address that takes turns with others to write.
    ///
    /// A gateway's users are several, although all their commands come by the gateway's own user.
    var writeOwner: [UInt8] {
        let own = connection.owner
        guard case .binary(let key)? = gatewayClient?[Self.ownerField] else { return own }
        return own + [0] + key.bytes
    }

    /// Whether its transaction is a gateway's for one write, which ends soon.
    var isOfBriefTransaction: Bool { gatewayClient?[Self.briefField]?.isTrue == true }
}
