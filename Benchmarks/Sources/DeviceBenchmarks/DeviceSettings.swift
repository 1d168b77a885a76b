import BSONStore

/// The subject of a run, from the URI and `key=value` arguments.
struct DeviceSettings {
    /// The server.
    var uri = ""
    /// Devices, each with an engine that runs.
    var devices = 100
    /// Single changes that travel from one device to all others.
    var changes = 50
    /// Seconds over which idle work is counted.
    var idle = 20
    /// Whether each store is a file.
    var hasFiles = true
    /// A collection that no other run has.
    let namespace = Namespace("bench", "items_\(UInt32.random(in: 0...UInt32.max))")

    struct Wrong: Error { let argument: String }

    init(_ arguments: some Sequence<String>) throws {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            switch (parts.first, parts.last.flatMap(Int.init)) {
            case ("devices", let number?): devices = number
            case ("changes", let number?): changes = number
            case ("idle", let number?): idle = number
            case ("store", _): hasFiles = parts.last == "file"
            default:
                guard argument.hasPrefix("stitchsync") else { throw Wrong(argument: argument) }
                uri = argument
            }
        }
    }
}
