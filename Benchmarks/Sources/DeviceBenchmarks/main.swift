// DeviceBenchmarks URI [devices=100] [changes=50] [idle=20] [store=file]
// Runs many devices in one process, each with a store and a remote of its own: threads, memory and work
// of the process while all are idle, and how long a change of one takes until all others have it.
// Scripts/bench-devices runs it against `stitchsync serve`.

let settings = try DeviceSettings(CommandLine.arguments.dropFirst())
try await DeviceFleet(settings).run()
