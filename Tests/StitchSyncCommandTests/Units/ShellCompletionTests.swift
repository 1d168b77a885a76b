#if CommandLine
    import BSONStore
    import Testing

    @testable import StitchSyncCommand

    /// Without this Tab would complete names that the place does not take.
    @Suite struct ShellCompletionTests {
        @Test func `names are completed by their place`() {
            let completion = ShellCompletion(
                databases: { ["shop", "school"] }, collections: { ["items", "item.parts"] },
                sample: { _ in [["name": "a", "size": ["width": 1]]] })
            let table: [(String, [String])] = [
                ("use sh", ["shop"]),
                ("show co", ["collections"]),
                ("db.ite", ["item.parts", "items"]),
                ("db.items.findOneAndD", ["items.findOneAndDelete"]),
                ("db.item.parts.dropIndexe", ["item.parts.dropIndexes"]),
                ("db.items.find({ a: f(1), si", ["size", "size.width"]),
                ("db.items.aggregate([{ $unw", ["$unwind"]),
                ("db.items.updateOne({}, { $setO", ["$setOnInsert"]),
                ("db.items.find().lim", ["limit"]),
                ("const a = printj", ["printjson"]),
            ]
            for (text, candidates) in table {
                #expect(completion(text).candidates == candidates, "\(text)")
            }
        }
    }
#endif
