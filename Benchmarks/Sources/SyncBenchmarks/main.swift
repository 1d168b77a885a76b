import BSONStore
import Foundation
import StitchSync

// SyncBenchmarks [size=1024] [n=5000] [change=100] [latency=0] [only=TEXT]
// SyncBenchmarks matrix=0,50,200 [size=1024] [n=5000]
// Prints a line per workload: name, wall and CPU nanoseconds per document, requests, commits.
// The shape is that of the ancestor's performance tests; Scripts/bench-sync runs it beside C.

let settings = SyncSettings(CommandLine.arguments.dropFirst())
if settings.latencies.isEmpty {
    try await SyncWorkloads(settings).run()
} else {
    try await SyncMatrix(settings: settings).run()
}
