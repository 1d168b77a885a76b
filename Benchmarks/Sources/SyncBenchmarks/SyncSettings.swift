/// What a run is about, from `key=value` arguments.
struct SyncSettings {
    /// Bytes of a document, about.
    var size = 1024
    /// Documents.
    var count = 5_000
    /// Milliseconds that each request to the remote takes longer.
    var latencyMS = 0
    /// The milliseconds of latency that the matrix is run with; empty runs the workloads instead.
    var latencies: [Int] = []
    /// Only workloads whose name holds this.
    var only = ""

    init(_ arguments: some Sequence<String>) {
        for argument in arguments {
            let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "size": size = Int(parts[1]) ?? size
            case "n": count = Int(parts[1]) ?? count
            case "latency": latencyMS = Int(parts[1]) ?? latencyMS
            case "matrix":
                latencies = parts[1].split(separator: ",").compactMap { Int($0) }
            case "only": only = parts[1]
            default: continue
            }
        }
    }
}
