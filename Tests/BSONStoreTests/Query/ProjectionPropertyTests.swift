import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a projection could lose fields, or show some that it should not.
@Suite struct ProjectionPropertyTests {
    private static let paths = ["a", "b", "c", "a.b", "b.c", "a.b.c", "c.0"]

    private static func projection(
        _ random: inout RandomBSON, _ number: Int32
    ) throws -> Projection? {
        var document = BSONDocument()
        for _ in 0...random.number(0..<3) {
            let path = random.pick(paths)
            if document[path] == nil { document.append(path, .int32(number)) }
        }
        do throws(StoreError) {
            return try Projection(document)
        } catch {
            #expect([31249, 31250].contains(error.code.rawValue))
            return nil
        }
    }

    @Test(arguments: 0..<20)
    func `a projection of a projected document changes nothing`(_ seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed))
        for number in [0, 1] as [Int32] {
            for _ in 0..<100 {
                guard let projection = try Self.projection(&random, number) else { continue }
                let once = try projection.apply(to: random.document(depth: 3))
                try once.withUnsafeBytes { try BSONValidator.validate($0) }
                #expect(try projection.apply(to: once) == once)
            }
        }
    }

    @Test(arguments: 0..<20)
    func `inclusion and exclusion of top-level fields share a document`(_ seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed) + 500)
        let included = try Projection(["a": 1, "b": 1, "_id": 0])
        let excluded = try Projection(["a": 0, "b": 0])
        for _ in 0..<100 {
            let document = random.document(depth: 2)
            let (left, right) = (
                try included.apply(to: document), try excluded.apply(to: document)
            )
            let joined = document.map { element in
                left.contains(key: element.key) ? left[element.key] : right[element.key]
            }
            #expect(joined == document.map(\.value))
            #expect(left.count + right.count == document.count)
        }
    }

    @Test(arguments: 0..<10)
    func `a projection with every operator is total`(_ seed: Int) throws {
        var random = RandomBSON(seed: UInt64(seed) + 900)
        let filter = try Filter(["a": ["$gte": 0]])
        let projections = try [
            Projection(["a": ["$slice": [-2, 1]], "b.c": ["$slice": 1]]),
            Projection(["a": ["$elemMatch": ["b": 1]], "c": 0]),
            Projection(["a.$": 1, "b": 1]), Projection(["n": "$a.b", "b.x": ["$eq": ["$a", 1]]]),
            Projection(["_id": 0, "b": ["$elemMatch": ["$gt": 0]], "c": ["$slice": 1]]),
        ]
        for _ in 0..<200 {
            let document = random.document(depth: 3)
            for projection in projections {
                do throws(StoreError) {
                    let result = try projection.apply(to: document, matching: filter)
                    #expect(result.byteCount >= 5)
                } catch {
                    #expect([51246, 51247].contains(error.code.rawValue))
                }
            }
        }
    }
}
