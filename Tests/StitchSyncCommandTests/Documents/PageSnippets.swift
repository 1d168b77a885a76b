import BSONStore
import Foundation
import StitchMongo
import StitchRules
import StitchSync
import StitchSyncTesting
import Testing

/// Keeps the snippets of pages that show a part of a program, so that they are compiled; most are not
/// run, since they speak of things that are not there.
struct PageSnippets {
    private let titles = ConflictHandler<BSONDocument>.remoteWins

    // Docs/FIXTURES.md
    @Test func `my handler keeps both titles`() async throws {
        try await checkConflicts(in: "fixtures/conflicts", handler: titles)
    }

    // Docs/FLEXIBLE-SYNC.md
    private func subscriptions(_ engine: SyncEngine) async throws {
        let items = engine.collection(Namespace("shop", "items"))
        try await items.subscribe(to: ["complexity": ["$lte": 4]], named: "simple-items")
        try await engine.subscriptions.update { set in
            try set.append(name: "mine", in: items, where: ["ownerId": "ann"])
            set.remove(named: "simple-items")
        }
        try await engine.subscriptions.waitForSynchronization(timeout: .seconds(30))
        try await engine.subscriptions.remove(named: "mine")
    }

    // Docs/SYNC.md
    private func rejected(
        _ items: SyncCollection<BSONDocument>, _ item: BSONDocument
    ) async throws {
        for rejected in try await items.rejectedWrites.all() {
            try await items.rejectedWrites.retry(rejected.id)
            try await items.rejectedWrites.retry(rejected.id, as: item)
            try await items.rejectedWrites.discard(rejected.id)
        }
    }

    // Docs/SYNC.md
    private func errors(
        _ engine: SyncEngine, _ show: @escaping @Sendable (String) async -> Void
    ) {
        let listener = engine.addErrorListener { error in
            await show(error.message)
        }
        listener.remove()
    }

    // Docs/RULES.md
    private func rules(
        _ bytes: [UInt8], _ document: BSONDocument, _ stored: BSONDocument, _ changed: BSONDocument
    ) throws {
        let rules = try RuleSet(
            files: ["data_sources/mongodb-atlas/shop/items/rules.json": bytes])
        let access = rules.access(
            to: Namespace("shop", "items"), for: RuleUser(id: "ann", customData: ["team": "red"]))
        let seen = access.visible(document)
        let kept = try access.judge(from: stored, toShown: changed)
        _ = (seen, kept)
    }

    // Docs/RULES.md
    private func ruledRemote(
        _ store: DocumentStore, _ rules: RuleSet, _ changedRules: RuleSet, _ user: RuleUser
    ) {
        let remote = InProcessRemote(
            store: store, rules: rules, user: RuleUser(id: "ann", customData: ["team": "red"]))
        remote.use(changedRules, for: user)
    }

    #if MongoRemote
        // Docs/MONGODB.md
        private func mongo(_ store: DocumentStore) throws {
            let remote = try MongoRemote(
                uri: "mongodb+srv://app:secret@cluster0.example.net/?tls=true")
            let engine = try SyncEngine(store: store, remote: remote)
            _ = engine
        }
    #endif
}
