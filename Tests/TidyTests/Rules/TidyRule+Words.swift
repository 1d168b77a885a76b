extension TidyRule {
    /// Words that have a better replacement, each with the files that may use it and why.
    static let words: [TidyRule] = [
        word("try?", instead: "handle or rethrow the error"),
        word("try!", instead: "handle or rethrow the error"),
        word("Task {", instead: "a child task of the caller", allowed: abandoners),
        word("Task (", instead: "a child task of the caller"),
        word("Task . detached", instead: "a child task of the caller"),
        word("@ unchecked", instead: "a value, an actor or Locked", allowed: wrappers),
        word("print (", instead: "the console of the command", allowed: speakers),
        word(
            "fatalError (", instead: "a precondition with a sentence, or an error",
            allowed: ["Examples/"]),
        word("DispatchQueue", instead: "a task or the store's writer thread"),
        word("DispatchSemaphore", instead: "a task or a thread of the store's own"),
        word("Thread . sleep", instead: "an event to wait for"),
        word("sleep (", instead: "an event or a clock that is injected", allowed: pacers),
        word("usleep (", instead: "an event or a clock that is injected"),
        word("ENGINE_VARIANTS", instead: "a patch in Tests/WrongEngines"),
        word(
            "WrongEngine", instead: "a patch in Tests/WrongEngines",
            allowed: ["Tests/WrongEngines/WrongEngine.swift"]),
    ]

    /// Wraps C, whose handles the compiler cannot see through.
    private static let wrappers = [
        "Sources/BSONStore/Core/Threads/Locked.swift",
        "Sources/BSONStore/Core/Threads/ThreadMutex.swift",
        "Sources/BSONStore/Store/SQLite/",
        "Sources/BSONStore/Core/Threads/ThreadCondition.swift",
        "Sources/StitchMongo/MongoClient.swift",
        "Sources/StitchMongo/MongoClientPool.swift",
    ]

    /// Programs whose output is for people.
    private static let speakers = [
        "Examples/", "Benchmarks/", "Fuzz/", "Tests/SyncSimulator/", "Tests/Attacker/",
        "Tests/Sweep/",
    ]

    /// Shells that pace themselves by an injected clock.
    private static let pacers = [
        "Sources/StitchSync/Running/SyncLoop.swift",
        // Waiting by the injected clock, too, for an app that named a time limit.
        "Sources/StitchSync/API/SyncEngine+Waiting.swift",
        // A latency that a benchmark is asked to add.
        "Benchmarks/Sources/BenchmarkRemotes/SlowRemote.swift",
        // The idle time that a benchmark measures.
        "Benchmarks/Sources/DeviceBenchmarks/DeviceFleet.swift",
        "Sources/StitchSync/Support/TimeoutError.swift",
        "Sources/StitchSync/Support/Signal+Waiting.swift",
    ]

    /// Run work, mostly the app's closures, that may outlive the call that started it.
    private static let abandoners = [
        "Sources/StitchSync/Delivery/EventDelivery.swift",
        "Sources/StitchSync/Delivery/EventListenerQueue.swift",
        "Sources/StitchSync/Delivery/ErrorListenerQueue.swift",
        "Sources/StitchSync/Support/TimeoutError.swift",
        // Reads of change streams, which keep their place on the server when the caller leaves.
        "Sources/StitchCommands/AbandonableCall.swift",
        // Calls of a script's thread, which waits for them.
        "Sources/StitchSyncCommand/Shell/BlockingCall.swift",
    ]

    /// A rule against a sequence of tokens; where it has a blank, the code may have one or not.
    private static func word(
        _ word: String, instead: String, allowed: [String] = []
    ) -> TidyRule {
        let sequence = SwiftToken.tokens(of: word)
        let shown = sequence.map(\.text).joined()
        return TidyRule(
            name: "no `\(shown)`; instead: \(instead)",
            broken: [
                SourceFile("Sources/BSONStore/A.swift", "func f() {\n    let a = \(shown) b\n}\n"),
                SourceFile("Tests/BSONStoreTests/A.swift", "let a = \"\\(\(shown) b)\"\n"),
            ],
            kept: [
                SourceFile("Sources/BSONStore/A.swift", "// \(shown)b\nlet a = \"\(shown)b\"\n"),
                SourceFile("Sources/BSONStore/A.swift", "/* /* \(shown)b */ */ let a = 1\n"),
                SourceFile("Sources/BSONStore/A.swift", "let a = #\"\"\(shown)b\"#\n"),
                SourceFile("Sources/BSONStore/A.swift", "let a = try !b() && try (c ?? d)\n"),
                SourceFile("Sources/BSONStore/A.swift", "let a = \"\"\"\n\(shown)b\n\"\"\"\n"),
            ]
        ) { file, _ in
            guard !file.isIn(allowed) else { return [] }
            return occurrences(of: sequence, in: file.tokens).map {
                Finding(line: $0, message: "`\(shown)`; instead: \(instead)")
            }
        }
    }

    /// The lines on which a sequence begins, calls of methods of that name left out.
    static func occurrences(of sequence: [SwiftToken], in tokens: [SwiftToken]) -> [Int] {
        tokens.indices.compactMap { index in
            let here = tokens[index...].prefix(sequence.count)
            let isMeant = zip(here, sequence).allSatisfy { token, wanted in
                token.text == wanted.text && (token.isAttached || !wanted.isAttached)
            }
            guard isMeant, here.count == sequence.count else { return nil }
            let before = index > 0 ? tokens[index - 1].text : ""
            let isCall = sequence.last?.text == "("
            let isMethod = isCall && before == "." && sequence.first?.text != "sleep"
            return before == "func" || isMethod ? nil : tokens[index].line
        }
    }
}
