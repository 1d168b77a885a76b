import BSONStore
import BenchmarkBaseline
import Foundation

/// Holds one benchmark document in all the forms that the rows need.
final class Subject {
    let name: String
    let document: BSONDocument
    let bytes: [UInt8]
    /// The document for the baseline in C; lives as long as the process.
    let baseline: OpaquePointer
    let tree: Tree
    let pairs: [(String, BSONValue)]
    let lastKey: String
    let canonical: String
    let relaxed: String

    init(name: String, document: BSONDocument) {
        self.name = name
        self.document = document
        bytes = Array(document.bytes)
        guard let opened = baseline_open(bytes, bytes.count) else {
            preconditionFailure("The baseline opens \(name)")
        }
        baseline = opened
        tree = Tree(document)
        pairs = document.map { ($0.key, $0.value) }
        lastKey = document.keys.last ?? ""
        canonical = Self.json(opened, 0)
        relaxed = Self.json(opened, 1)
    }

    private static func json(_ baseline: OpaquePointer, _ relaxed: Int32) -> String {
        var count = 0
        guard let text = baseline_json(baseline, relaxed, &count) else { return "" }
        return String(
            decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// The documents of MongoDB's driver benchmark, or ones of the same shape.
    static func all() -> [Subject] {
        let root =
            ProcessInfo.processInfo.environment["BENCH_DATA_DIR"] ?? "../shared/bench-data"
        return [
            ("flat", "flat_bson.json", GeneratedDocument.flat()),
            ("deep", "deep_bson.json", GeneratedDocument.deep()),
            ("full", "full_bson.json", GeneratedDocument.full()),
        ].map { name, file, generated in
            Subject(name: name, document: read("\(root)/\(file)") ?? generated)
        }
    }

    private static func read(_ path: String) -> BSONDocument? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        var size = 0
        let parsed = data.withUnsafeBytes { text in
            baseline_parse(text.baseAddress?.assumingMemoryBound(to: CChar.self), data.count, &size)
        }
        guard let parsed else { return nil }
        defer { free(parsed) }
        do {
            return try BSONDocument(
                validating: UnsafeRawBufferPointer(start: parsed, count: size))
        } catch {
            preconditionFailure("\(path): \(error)")
        }
    }
}

/// Holds values as an app has them: strings and numbers, nested documents as lists.
enum Tree {
    case value(BSONValue)
    case document([(String, Tree)])
    case array([Tree])

    init(_ document: BSONDocument) {
        self = .document(
            document.map { key, value in
                switch value {
                case .document(let nested): (key, Tree(nested))
                case .array(let array):
                    (key, .array(array.map { Tree(["": $0]).onlyChild }))
                default: (key, .value(value))
                }
            })
    }

    private var onlyChild: Tree {
        if case .document(let pairs) = self, let first = pairs.first { return first.1 }
        return self
    }

    /// Encodes through the public builder with keys that are only known at run time.
    func encoded() -> BSONDocument {
        BSONDocument.build(reservingBytes: 8192) { builder in write(to: &builder) }
    }

    private func write(to builder: inout BSONDocumentBuilder) {
        guard case .document(let pairs) = self else { return }
        for (key, tree) in pairs {
            switch tree {
            case .value(let value): builder.append(key, value)
            case .document: builder.appendDocument(key) { tree.write(to: &$0) }
            case .array(let values):
                builder.appendArray(key) { builder in
                    for (index, value) in values.enumerated() {
                        builder.append(at: index, value.asValue)
                    }
                }
            }
        }
    }

    private var asValue: BSONValue {
        switch self {
        case .value(let value): value
        case .document: .document(encoded())
        case .array(let values): .array(BSONArray(values.map(\.asValue)))
        }
    }
}
