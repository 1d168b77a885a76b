#if CommandLine
    import ArgumentParser

    @main
    struct StitchSyncCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "stitchsync")
    }
#else
    @main
    struct StitchSyncCommand {
        static func main() {}
    }
#endif
