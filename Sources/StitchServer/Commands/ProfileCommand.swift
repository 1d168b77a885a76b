internal import BSONStore

/// Says that commands are not profiled.
enum ProfileCommand {
    static let rule = CommandRule(
        "profile", [], fields: ["slowms": .number, "sampleRate": .number, "filter": .any],
        .server { call in
            .reply(["was": 0, "slowms": 100, "sampleRate": 1.0])
        })
}
