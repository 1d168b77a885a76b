#if CommandLine
    import ArgumentParser
    import BSONStore
    import Foundation

    /// The command that shows two devices which work offline and sync.
    struct DemoCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demo",
            abstract: "Show two devices that work offline and sync with a remote.",
            discussion: """
                Devices A and B are processes, each with a store file of its own; both sync with \
                one remote. A imports a file and syncs, then B syncs. Both go offline and edit. A \
                is killed with pending changes and started again. Both go online and resolve their \
                conflicts by merging fields. For one document the conflict handler fails, so it is \
                paused and later resumed. At the end all three must hold the same documents. With \
                `--remote server` the remote is behind a `stitchsync serve`, which is killed while \
                both devices are offline, and started again. With `--remote gateway` each device \
                connects to a gateway of its own (`serve --upstream`) as a user under rules; the \
                gateways are killed, too, and each device continues at the other one.

                Example:
                  stitchsync demo fixtures/demo/documents.jsonl --work demo-work

                Exit code: 0 when all three hold the same documents, 1 when not, 64 for a wrong \
                command line.
                """)

        @Argument(help: "Documents in mongoexport's format, one per line.", completion: .file())
        var input: String

        @Option(help: "The folder for the demo's stores; replaces those of an earlier demo.")
        var work = "demo-work"

        @Option(
            help: "The kind of remote: a store file that both devices open, a server, or gateways.")
        var remote = DemoRemote.file

        func run() async throws {
            var conductor = DemoConductor(
                input: input, files: DemoFiles(folder: work), remote: remote, console: .standard)
            guard try await conductor.run() else { throw ExitCode.failure }
        }
    }

    /// A device of the demo: it reads orders from standard input and reports on standard output.
    struct DemoDeviceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demo-device", abstract: "Run a device of the demo.",
            shouldDisplay: false)

        @Argument var device: DemoPlan.Device

        @Option var work: String

        @Option var remote: String?

        @Option var refusing: String?

        func run() async throws {
            let console = Console.standard
            let device = try await DemoDevice(
                device, files: DemoFiles(folder: work),
                remote: remote ?? DemoFiles(folder: work).remote,
                refusing: try refusing.map { try ExtendedJSONArgument.value($0) }, console: console,
                report: { (count) throws(CommandError) in
                    try Self.report(.reached(count), console)
                })
            try await hear(device, console)
            await device.close()
        }

        private func hear(_ device: DemoDevice, _ console: Console) async throws {
            var orders = LineReader(.input)
            while let line = try orders.next() {
                guard case .bytes(let bytes) = line.content else { break }
                let order = try JSONDecoder().decode(DeviceOrder.self, from: Data(bytes))
                do {
                    let tally = try await device.carryOut(order)
                    try Self.report(.finished(tally), console)
                } catch {
                    try Self.report(.failed("\(error)"), console)
                }
            }
        }

        private static func report(
            _ report: DeviceReport, _ console: Console
        ) throws(CommandError) {
            do {
                let text = try JSONEncoder().encode(report)
                try console.output.write(Array(text) + [UInt8(ascii: "\n")])
            } catch {
                throw CommandError("cannot report to the demo: \(error)")
            }
        }
    }

    extension DemoPlan.Device: ExpressibleByArgument {}

    extension DemoRemote: ExpressibleByArgument {}
#endif
