import Foundation
import Testing

/// A source that must not compile, with the expected messages behind its lines.
struct WrongSource {
    private static let mark = "// error:"

    /// The parts of the expected messages by line, from 1.
    let expected: [Int: String]
    private let root: URL
    private let path: String

    /// Reads a source below `fixtures/typed`.
    init(_ name: String) throws {
        root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        path = root.appending(path: "fixtures/typed/\(name)").path
        let lines = try String(contentsOfFile: path, encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false)
        var expected: [Int: String] = [:]
        for (index, line) in lines.enumerated() {
            guard let mark = line.range(of: Self.mark) else { continue }
            expected[index + 1] = line[mark.upperBound...].trimmingCharacters(in: .whitespaces)
        }
        self.expected = expected
    }

    /// Checks the types of the source and returns the compiler's errors by line.
    func errors() throws -> [Int: [String]] {
        let products = try Self.products()
        let plugin = products.appending(path: "BSONMacros-tool")
        var arguments = [
            "swiftc", "-typecheck", "-swift-version", "6", "-I",
            products.appending(path: "Modules").path,
        ]
        for folder in ["BSONCoreC/include", "BSONStoreCSQLite"] {
            arguments += ["-I", root.appending(path: "Sources/\(folder)").path]
        }
        if FileManager.default.fileExists(atPath: plugin.path) {
            arguments += ["-load-plugin-executable", plugin.path + "#BSONMacros"]
        }
        arguments.append(path)
        let compiler = Process()
        compiler.executableURL = URL(filePath: "/usr/bin/env")
        compiler.arguments = arguments
        let output = Pipe()
        compiler.standardError = output
        try compiler.run()
        let text = try output.fileHandleForReading.readToEnd() ?? Data()
        compiler.waitUntilExit()
        return Self.errors(in: String(decoding: text, as: UTF8.self), of: path)
    }

    /// The folder of the built modules: that of the program that runs the tests.
    private static func products() throws -> URL {
        var folder = URL(filePath: try #require(CommandLine.arguments.first))
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let modules = folder.appending(path: "Modules/BSONStore.swiftmodule")
            if FileManager.default.fileExists(atPath: modules.path) { return folder }
        }
        throw CocoaError(.fileNoSuchFile)
    }

    private static func errors(in text: String, of path: String) -> [Int: [String]] {
        var errors: [Int: [String]] = [:]
        for line in text.split(separator: "\n") where line.hasPrefix(path + ":") {
            let parts = line.dropFirst(path.count + 1).split(separator: ":", maxSplits: 3)
            guard parts.count == 4, let number = Int(parts[0]), parts[2] == " error" else {
                continue
            }
            errors[number, default: []].append(String(parts[3].dropFirst()))
        }
        return errors
    }
}
