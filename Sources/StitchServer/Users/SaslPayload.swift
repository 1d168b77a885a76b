internal import BSONStore

/// The conversion between SASL messages and commands.
enum SaslPayload {
    /// Returns the user name in a first message; `nil` without one.
    static func user(_ request: BSONDocument) throws(CommandFailure) -> String? {
        guard request["mechanism"] != .string(AnonymousSignIn.mechanism) else { return nil }
        let payload = try bytes(request["payload"])
        guard request["mechanism"] == "PLAIN" else {
            return try ScramConversation.user(payload)
        }
        let parts = payload.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return parts.count == 3 ? String(validating: parts[1], as: UTF8.self) : nil
    }

    static func bytes(_ value: BSONValue?) throws(CommandFailure) -> [UInt8] {
        switch value {
        case .binary(let payload): return payload.bytes
        case .string(let text): return ScramCredential.bytes(text) ?? []
        default:
            throw CommandFailure(
                .typeMismatch, "the payload of a SASL message must be binary")
        }
    }

    /// - Parameter given: the received payload; clients that send a string, as libmongoc does for
    ///   `PLAIN`, expect a string.
    static func reply(
        _ payload: [UInt8], isDone: Bool, like given: BSONValue? = nil
    ) -> BSONDocument {
        let isText = given?.stringValue != nil
        return [
            "conversationId": 1, "done": .bool(isDone),
            "payload": isText
                ? .string(ScramCredential.text(payload)) : .binary(BSONBinary(payload)),
        ]
    }
}
