// The shared expenses of a group of users: PASSWORD=… Expenses USER add AMOUNT WHAT | list | sync
#if Remote
    import BSONStore
    import Foundation
    import StitchRemote
    import StitchSync

    let words = Array(CommandLine.arguments.dropFirst())
    let environment = ProcessInfo.processInfo.environment
    guard words.count >= 2 else {
        print("usage: PASSWORD=… Expenses USER add AMOUNT WHAT | list | sync")
        exit(64)
    }
    let user = words[0]
    let server = environment["SERVER"] ?? "stitchsync://127.0.0.1:27017"

    let store = try DocumentStore(at: .file("\(user).stitch"))
    let remote = try ServerRemote(
        server, signIn: .user(user, password: environment["PASSWORD"] ?? ""))
    let engine = try SyncEngine(store: store, remote: remote)
    let profiles = engine.collection(Namespace("app", "profiles"), of: Profile.self)
    let expenses = engine.collection(Namespace("app", "expenses"), of: Expense.self)

    await expenses.configure(
        conflictHandler: .mergeFields(),
        errorListener: { error, _ in
            let refused = error.compensatingWrites
            if refused.isEmpty { print("sync: \(error.message)") }
            for write in refused { print("refused: \(write.reason)") }
        })

    switch (words[1], words.count) {
    case ("add", 4):
        guard let amount = Decimal(string: words[2]) else {
            print("\(words[2]) is not an amount")
            exit(64)
        }
        guard let profile = try profiles.findOne(id: .string(user)) else {
            print("the group of \(user) is not known yet: sync first")
            exit(1)
        }
        try await expenses.insertOne(
            Expense(group: profile.group, payer: user, amount: amount, what: words[3]))
    case ("list", 2):
        for expense in try expenses.find().fetch() {
            print("\(expense.payer) paid \(expense.amount) for \(expense.what)")
        }
    case ("sync", 2):
        try await profiles.subscribe(named: "my profile", waitForSync: .never)
        try await expenses.subscribe(named: "my group's expenses", waitForSync: .never)
        let (report, _) = try await engine.syncUntilQuiet()
        await engine.flushEvents()
        guard report.reachedRemote else { exit(1) }
        print("\(report.uploaded) sent, \(report.taken) taken")
    default:
        print("Expenses cannot \(words.dropFirst().joined(separator: " "))")
        exit(64)
    }
    await engine.close()
    await remote.close()
#else
    print("Expenses needs the package trait Remote")
#endif
