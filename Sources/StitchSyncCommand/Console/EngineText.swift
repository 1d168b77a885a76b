/// A text of the sync engine, which names calls of Swift, in the words of the command line.
enum EngineText {
    /// The calls that texts of the engine advise, and the commands that do the same.
    private static let table: [(call: String, command: String)] = [
        (
            "connect to the remote from before again, or call adoptRemote() to upload what is "
                + "here, or replaceFromRemote() to take what is there",
            "sync with the original remote again, or run `stitchsync resolve --remote adopt` to "
                + "upload the local documents, or `stitchsync resolve --remote replace` to take "
                + "the remote's"
        ),
        (
            "unexplainedIDs lists them, resolveUnexplained(_:) removes or uploads them",
            "`stitchsync status` counts them, `stitchsync resolve --missing` keeps, removes or "
                + "uploads them"
        ),
        ("check the file with verify(), then", "check the file with `stitchsync verify`, then"),
        ("call resumeSync(of:)", "see `stitchsync resume`"),
        ("with resumeSync(of:)", "with `stitchsync resume`"),
        ("sign in, call noteSignIn(), and wait again", "sign in with --user"),
    ]

    /// Returns a text with commands in place of calls.
    static func translated(_ text: String) -> String {
        var text = text
        for (call, command) in table { text = text.replacing(call, with: command) }
        return text.replacing(
            #/write through engine\.collection\(Namespace\(.*?\)\), or desync its documents first/#,
            with: "write to it with `stitchsync insert`, `update` or `delete`, or in the shell "
                + "outside of a transaction")
    }
}
