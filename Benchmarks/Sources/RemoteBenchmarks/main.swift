import Foundation

// RemoteBenchmarks URI [n=10000] [size=1024] [latencies=0,50] [changes=500]
// Carries documents up and down a MongoDB deployment, and single changes from one device to another.
// Each latency is what a request takes longer. Scripts/bench-remote runs it against `stitchsync serve`.

let settings = try RemoteSettings(CommandLine.arguments.dropFirst())
for latency in settings.latencies {
    try await CarryingRows(settings: settings, latencyMS: latency).run()
}
try await PropagationRow(settings: settings).run()
