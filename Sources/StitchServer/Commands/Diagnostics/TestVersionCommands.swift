internal import BSONStore

/// The commands that drivers' tests of the Stable API need.
///
/// Source: the server's `test_api_version_2.cpp` and `test_deprecation_command.cpp`.
enum TestVersionCommands {
    static let deprecated = CommandDefinition(
        "testDeprecation", aliases: [], [.testOnly, .stable],
        fields: nil, required: [],
        privileges: .access(.read), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server { _ in .ok })

    static let second = CommandDefinition(
        "testVersion2", aliases: [], [.testOnly],
        fields: nil, required: [],
        privileges: .access(.read), underRules: .refused, gateway: .here,
        statements: nil, cursor: .none, .server { _ in .ok })
}
