/// Are there for the tests of drivers only, about the stable API.
///
/// Source: the server's `test_api_version_2.cpp` and `test_deprecation_command.cpp`.
enum TestVersionCommands {
    static let deprecated = CommandDefinition(
        "testDeprecation", [.testOnly, .stable], .server { _ in .ok })

    static let second = CommandDefinition("testVersion2", [.testOnly], .server { _ in .ok })
}
