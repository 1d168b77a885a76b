internal import BSONStore

/// The other places that the stages of a pipeline name.
///
/// They are read from the stages as they are written. A deployment behind a gateway knows stages and
/// options that are refused here, so what a pipeline does there does not depend on whether it can be
/// parsed here.
struct StagePlaces {
    /// The collections that `$out` and `$merge` write.
    private(set) var written: [Namespace] = []
    /// The databases that `$lookup`, `$graphLookup` and `$unionWith` name.
    private(set) var read: [String] = []
    /// Whether a stage reads another collection, of any database.
    private var joins = false

    init(_ call: CommandCall) {
        for (name, argument) in NestedStages.list(call.array("pipeline") ?? []) {
            switch name {
            case "$out": written.append(Self.target(argument, call.database))
            case "$merge":
                let place = argument.documentValue?["into"] ?? argument
                written.append(Self.target(place, call.database))
            case "$lookup", "$graphLookup":
                joins = true
                read += Self.database(argument.documentValue?["from"])
            case "$unionWith":
                joins = true
                read += Self.database(argument)
            default: break
            }
        }
    }

    /// Checks that a pipeline over a collection of the server's own stays in it: beside that collection are
    /// credentials.
    ///
    /// - Throws: 13 (Unauthorized), unless the user may do everything.
    func checkAlone(_ call: CommandCall) throws(CommandFailure) {
        guard joins || !written.isEmpty, call.server.settings.requiresSignIn,
            call.connection.state.withLock({ $0.user })?.isBoundless != true
        else { return }
        throw CommandFailure(
            13,
            "not authorized on \(call.database): a pipeline over a collection of the server's own "
                + "cannot name other collections"
        )
    }

    private static func target(_ place: BSONValue, _ database: String) -> Namespace {
        if let name = place.stringValue { return Namespace(database, name) }
        return Namespace(
            Self.database(place).first ?? database,
            place.documentValue?["coll"]?.stringValue ?? "")
    }

    private static func database(_ place: BSONValue?) -> [String] {
        place?.documentValue?["db"]?.stringValue.map { [$0] } ?? []
    }
}
