#if CommandLine
    import ArgumentParser

    /// The tool of this package, for a look into stores and for trying out sync.
    @main
    struct StitchSyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stitchsync",
            abstract: "Keep documents in step between store files.",
            version: "0.1.0",
            subcommands: [
                ImportCommand.self, FindCommand.self, SyncCommand.self, StatusCommand.self,
                FixtureCommand.self,
                DemoCommand.self, DemoDeviceCommand.self,
            ] + servers)

        /// What needs SwiftNIO and is there only with the trait `Server`.
        private static var servers: [any ParsableCommand.Type] {
            #if Server
                [ServeCommand.self]
            #else
                []
            #endif
        }
    }
#else
    /// Without the trait `CommandLine` there is no tool.
    @main
    struct StitchSyncCommand {
        static func main() {}
    }
#endif
