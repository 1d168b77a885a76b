// WireBenchmarks URI FOLDER SERVER [n=10000] [size=250] [changes=500] [rounds=3]
//     [file=100] [rows=subscribed,merge,file,one,stream]
// The ways of documents between devices and `stitchsync serve`, over ServerRemote, with a durable file
// on each device. Scripts/bench-wire runs it and the baseline of the same run.

let settings = try WireSettings(CommandLine.arguments.dropFirst())
let report = WireReport()
for _ in 0..<settings.rounds { try await WireRound(settings, report).run() }
report.print()
