import Testing

/// Without these a wrong name or type would be found by users, not by the compiler.
@Suite struct TypedCompileErrorTests {
    @Test func `wrong names and types do not compile, with these messages`() throws {
        try check("Wrong.swift", least: 40)
    }

    #if Macros
        @Test func `the macro refuses what it cannot make a document of`() throws {
            try check("WrongDocuments.swift", least: 15)
        }
    #endif

    private func check(_ name: String, least: Int) throws {
        let source = try WrongSource(name)
        let errors = try source.errors()
        #expect(source.expected.count >= least)
        for (line, message) in source.expected.sorted(by: { $0.key < $1.key }) {
            let found = errors[line] ?? []
            #expect(
                !message.isEmpty && found.contains { $0.contains(message) },
                "\(name):\(line): \(found)")
        }
        for (line, found) in errors where source.expected[line] == nil {
            Issue.record("\(name):\(line): \(found)")
        }
    }
}
