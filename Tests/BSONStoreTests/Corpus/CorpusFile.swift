import Foundation

/// One file of the BSON corpus, or of our own vectors, which have the same shape.
///
/// Source: mongodb/specifications, `source/bson-corpus/bson-corpus.md`.
struct CorpusFile: Decodable {
    struct Valid: Decodable, Sendable {
        let description: String
        let canonicalBSON: String
        let canonicalJSON: String?
        let relaxedJSON: String?
        let degenerateBSON: String?
        let degenerateJSON: String?
        let convertedBSON: String?
        let convertedJSON: String?
        let lossy: Bool?

        private enum CodingKeys: String, CodingKey {
            case description, lossy
            case canonicalBSON = "canonical_bson"
            case canonicalJSON = "canonical_extjson"
            case relaxedJSON = "relaxed_extjson"
            case degenerateBSON = "degenerate_bson"
            case degenerateJSON = "degenerate_extjson"
            case convertedBSON = "converted_bson"
            case convertedJSON = "converted_extjson"
        }
    }

    struct DecodeError: Decodable, Sendable {
        let description: String
        let bson: String
    }

    struct ParseError: Decodable, Sendable {
        let description: String
        let string: String
    }

    let description: String
    let type: String
    let deprecated: Bool?
    let valid: [Valid]?
    let decodeErrors: [DecodeError]?
    let parseErrors: [ParseError]?

    private enum CodingKeys: String, CodingKey {
        case description, deprecated, valid, decodeErrors, parseErrors
        case type = "bson_type"
    }

    init(contentsOf file: URL) throws {
        self = try JSONDecoder().decode(CorpusFile.self, from: Data(contentsOf: file))
    }
}

/// Finds the folders that hold vectors.
enum CorpusFolder {
    private static let packageRoot = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The specification's corpus: `BSON_CORPUS_DIR`, else beside the package; it may be absent.
    static let specification: URL =
        if let path = ProcessInfo.processInfo.environment["BSON_CORPUS_DIR"] {
            URL(filePath: path)
        } else {
            packageRoot.appending(path: "../shared/bson-corpus").standardizedFileURL
        }

    /// The project's own vectors.
    static let own = packageRoot.appending(path: "fixtures/bson")

    /// The names of the vector files in a folder, sorted; empty where there is no folder.
    static func files(in folder: URL) -> [String] {
        let names =
            FileManager.default.enumerator(atPath: folder.path)?
            .compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".json") && !$0.contains("/") }.sorted()
    }
}
