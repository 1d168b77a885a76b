internal import BSONStore

/// The commands that drivers' tests of the Stable API need.
///
/// Source: the server's `test_api_version_2.cpp` and `test_deprecation_command.cpp`.
enum TestVersionCommands {
    static let deprecated = CommandDefinition(
        "testDeprecation", [.testOnly, .stable], .server { _ in .ok })

    static let second = CommandDefinition("testVersion2", [.testOnly], .server { _ in .ok })
}
