internal import BSONStore

/// The check whether the only member can satisfy a write concern.
enum WriteConcernCheck {
    /// Returns the `writeConcernError` for a command that asks for more members than there are; the
    /// command still runs.
    ///
    /// Source: the server's `replication_coordinator_impl.cpp`.
    static func error(_ call: CommandCall, _ rule: CommandDefinition) -> BSONValue? {
        guard rule.traits.contains(.takesWriteConcern),
            let wanted = call.document("writeConcern")?["w"]
        else { return nil }
        if let name = wanted.stringValue {
            guard name != "majority" else { return nil }
            return text(
                79, "UnknownReplWriteConcern",
                "No write concern mode named '\(name)' found in replica set configuration", wanted)
        }
        guard let members = wanted.wholeNumber, members > 1 else { return nil }
        return text(
            100, "UnsatisfiableWriteConcern", "Not enough data-bearing nodes", wanted)
    }

    private static func text(
        _ code: Int32, _ name: String, _ message: String, _ wanted: BSONValue
    ) -> BSONValue {
        [
            "code": .int32(code), "codeName": .string(name), "errmsg": .string(message),
            "errInfo": [
                "writeConcern": ["w": wanted, "wtimeout": 0, "provenance": "clientSupplied"]
            ],
        ]
    }
}
