internal import BSONStore

/// The check of `create` options that have no effect in this store.
///
/// Source: the server's `create.idl`, `create_command.cpp` and `create_collection.cpp`.
struct CreateOptionsCheck {
    private let call: CommandCall
    private let namespace: Namespace

    init(_ call: CommandCall, _ namespace: Namespace) {
        self.call = call
        self.namespace = namespace
    }

    /// Checks all options.
    ///
    /// - Throws: 14, 40414, 40415, 72 and others with MongoDB's texts, 115 for
    ///   `expireAfterSeconds`.
    func check() throws(CommandFailure) {
        try checkStorage()
        try checkCluster()
        if call.flag("temp") {
            throw CommandFailure(.invalidOptions, "the 'temp' field is an invalid option")
        }
        try checkExpiry()
        try checkIDIndex()
        if let own = call["autoIndexId"], !own.isTrue, namespace.database != "local" {
            throw CommandFailure(
                50001,
                "autoIndexId:false is not allowed for collection \(namespace) because it can be "
                    + "replicated")
        }
    }

    private func checkStorage() throws(CommandFailure) {
        if let value = call["storageEngine"] {
            try FieldKind.document.check(value, named: "create.storageEngine")
            for (engine, options) in value.documentValue ?? [:] {
                guard options.documentValue != nil else {
                    throw CommandFailure(
                        .badValue, "'storageEngine.\(engine)' must be an embedded document")
                }
                guard engine == "wiredTiger" else {
                    throw CommandFailure(
                        .invalidOptions,
                        "\(engine) is not a registered storage engine for this server")
                }
            }
        }
        guard let value = call["indexOptionDefaults"] else { return }
        let field = "create.indexOptionDefaults"
        try FieldKind.document.check(value, named: field)
        try CommandSchema(fields: ["storageEngine": .document], required: [])
            .check(value.documentValue ?? [:], named: field)
    }

    private func checkCluster() throws(CommandFailure) {
        guard let value = call["clusteredIndex"], value != .bool(false) else { return }
        let field = "create.clusteredIndex"
        guard value != .bool(true) else {
            throw CommandFailure(
                5_979_703,
                "The 'clusteredIndex' legacy format {clusteredIndex: <bool>} is only supported for "
                    + "specific internal collections and vice versa")
        }
        guard let index = value.documentValue else {
            throw CommandFailure(
                .typeMismatch,
                "BSON field '\(field)' is the wrong type '\(value.type.alias)', expected types "
                    + "'[bool, object]'")
        }
        try CommandSchema(
            fields: ["v": .number, "key": .document, "name": .string, "unique": .flag],
            required: ["key", "unique"]
        ).check(index, named: field)
        try checkBounds()
        guard call["viewOn"] == nil else {
            throw CommandFailure(
                6_026_500, "The 'clusteredIndex' option is not supported with views")
        }
        guard call["idIndex"] == nil else {
            throw CommandFailure(
                .invalidOptions,
                "The 'clusteredIndex' option is not supported with the 'idIndex' option")
        }
        guard index["unique"]?.isTrue == true else {
            throw CommandFailure(
                5_979_700, "The clusteredIndex option requires unique: true to be specified")
        }
        guard Self.isOfIDs(index["key"]) else {
            throw CommandFailure(
                197, "The clusteredIndex option is only supported for key: {_id: 1}")
        }
        if let version = index["v"]?.wholeNumber, version != 2 {
            throw CommandFailure(
                5_979_704,
                "Invalid clusteredIndex specification \(ShellText.text(of: value)); cannot create a "
                    + "clusteredIndex with v=\(version)")
        }
    }

    /// Refuses a capped clustered collection.
    private func checkBounds() throws(CommandFailure) {
        if call.flag("capped") {
            throw CommandFailure(
                6_127_800,
                "Clustered capped collection only available with 'enableTestCommands' server "
                    + "parameter")
        }
        for (field, code) in [("size", Int32(6_049_200)), ("max", 6_049_204)]
        where call[field] != nil {
            throw CommandFailure(
                code,
                "'\(field)' field for capped collections is not allowed on clustered collections. "
                    + "Did you mean 'capped: true' with 'expireAfterSeconds'?")
        }
    }

    private func checkExpiry() throws(CommandFailure) {
        guard let value = call["expireAfterSeconds"] else { return }
        try FieldKind.number.check(value, named: "create.expireAfterSeconds")
        // The store refuses the time series itself.
        guard call["timeseries"] == nil else { return }
        guard call["clusteredIndex"]?.documentValue != nil else {
            throw CommandFailure(
                .invalidOptions,
                "'expireAfterSeconds' is only supported on time-series collections or when the "
                    + "'clusteredIndex' option is specified")
        }
        throw CommandFailure(115, "collections with 'expireAfterSeconds' are not supported")
    }

    private func checkIDIndex() throws(CommandFailure) {
        guard let value = call["idIndex"] else { return }
        try FieldKind.document.check(value, named: "create.idIndex")
        for field in ["viewOn", "autoIndexId"] where call[field] != nil {
            throw CommandFailure(
                .invalidOptions,
                "'idIndex' is not allowed with '\(field)': \(ShellText.text(of: value))")
        }
        let index = value.documentValue ?? [:]
        guard let key = index["key"], key.documentValue != nil else {
            throw CommandFailure(
                .failedToParse,
                "The 'key' field is a required property of an index specification")
        }
        guard Self.isOfIDs(key) else {
            throw CommandFailure(
                .badValue,
                "The field 'key' for an _id index must be {_id: 1}, but got "
                    + ShellText.text(of: key))
        }
        for (field, _) in index where !["v", "key", "name", "ns", "collation"].contains(field) {
            throw CommandFailure(
                197,
                "The field '\(field)' is not valid for an _id index specification. Specification: "
                    + ShellText.text(of: value))
        }
        try checkCollation(ofIDs: index)
    }

    /// Checks that the `_id` index has the collation of the collection, or names none.
    private func checkCollation(ofIDs index: BSONDocument) throws(CommandFailure) {
        guard let collation = index["collation"]?.documentValue else { return }
        do throws(StoreError) {
            var ofCollection: BSONDocument?
            if let given = call["collation"]?.documentValue {
                ofCollection = try Collation(given).unlessSimple?.document
            }
            guard try Collation(collation).unlessSimple?.document != ofCollection else { return }
            throw StoreError(
                .badValue,
                "The _id index must have the same collation as the collection. Index collation: "
                    + "\(ShellText.text(of: collation)), collection collation: "
                    + ShellText.text(of: ofCollection ?? ["locale": "simple"]))
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func isOfIDs(_ key: BSONValue?) -> Bool {
        guard let key = key?.documentValue, key.count == 1, let order = key["_id"] else {
            return false
        }
        return order.wholeNumber != nil && BSONOrder.compare(order, 1) == .equal
    }
}
