import Testing

@testable import BSONCore
@testable import BSONStore

/// Without these a document would be kept here that MongoDB refuses, and sync would stop there.
///
/// Source: the server's `s2_key_generator.cpp` and `geoparser.cpp`.
struct IndexedPlacesTests {
    private static let open: BSONValue = [
        "type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 1]]],
    ]
    private static let faults: [(BSONValue, String)] = [
        ("here", "geo element must be an array or object: loc: \"here\""),
        (7, "geo element must be an array or object: loc: 7"),
        (["a", 1], "Point must only contain numeric elements, instead got type string"),
        ([[1, 2], [3, 4]], "Point must only contain numeric elements, instead got type array"),
        ([200, 0], "can't project geometry into spherical CRS: "),
        (["type": "Spot", "coordinates": [1, 2]], "unknown GeoJSON type: "),
        (["city": "Graz"], "unknown GeoJSON type: "),
        (
            ["type": "Point", "coordinates": [181, 0]],
            "Longitude/latitude is out of bounds, lng: 181 lat: 0"
        ),
        (
            ["type": "Point", "coordinates": [0, -91]],
            "Longitude/latitude is out of bounds, lng: 0 lat: -91"
        ),
        (
            ["type": "LineString", "coordinates": [[1, 2]]],
            "GeoJSON LineString must have at least 2 vertices"
        ),
        (open, "Loop is not closed, first vertex does not equal last vertex: "),
        (
            ["type": "Polygon", "coordinates": [[[0, 0], [1, 0], [0, 0]]]],
            "Loop must have at least 3 different vertices, 2 unique vertices were provided: "
        ),
    ]
    private static let allowed: [BSONDocument] = [
        [:], ["loc": .null], ["loc": []], ["loc": [:]], ["loc": [16, 48]],
        ["loc": ["lng": 16, "lat": 48]], ["loc": ["type": "Point", "coordinates": [16, 48]]],
        ["loc": ["type": "LineString", "coordinates": [[1, 2], [3, 4]]]],
    ]

    private func collection() throws -> DocumentCollection<BSONDocument> {
        try DocumentStore(at: .inMemory).collection(Namespace("shop", "places"))
    }

    private func fault(_ body: () throws -> Void) -> StoreError? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreError
        }
    }

    @Test("a document whose field is no place is not inserted", arguments: faults.indices)
    func inserts(index: Int) throws {
        let (value, reason) = Self.faults[index]
        let places = try collection()
        try places.createIndex(["loc": "2dsphere"])
        let error = fault { try places.insertMany([["_id": 1, "loc": value]]) }
        #expect(error?.code.rawValue == 16755)
        #expect(error?.message.contains("Can't extract geo keys: { _id: 1, loc: ") == true)
        #expect(error?.message.contains("}  " + reason) == true, "\(error?.message ?? "")")
    }

    @Test("an index over what is no place is not made", arguments: faults.indices)
    func builds(index: Int) throws {
        let places = try collection()
        try places.insertMany([["_id": 1, "loc": Self.faults[index].0]])
        let error = fault { try places.createIndex(["loc": "2dsphere"]) }
        #expect(error?.code.rawValue == 16755)
    }

    @Test("what has no place, or a good one, is let in", arguments: allowed.indices)
    func lets(index: Int) throws {
        let places = try collection()
        try places.createIndex(["loc": "2dsphere"])
        try places.insertMany([Self.allowed[index]])
    }

    @Test("lists of places on the way are looked at one by one")
    func lists() throws {
        let places = try collection()
        try places.createIndex(["a.loc": "2dsphere"])
        try places.insertMany([["a": [["loc": [1, 2]], ["loc": [3, 4]], ["b": 1]]]])
        let error = fault { try places.insertMany([["a": [["loc": [1, 2]], ["loc": "x"]]]]) }
        #expect(error?.code.rawValue == 16755)
    }

    private static let planeFaults: [(BSONValue, Int32, String)] = [
        ([1], 13068, "geo field only has 1 element"),
        (["x": 1], 13068, "geo field only has 1 element"),
        ([1, "a"], 13026, "geo values must be 'legacy coordinate pairs' for 2d indexes"),
        (["x": -15.0, "y": "abc"], 13026, "geo values must be 'legacy coordinate pairs'"),
        ([200, 0], 13027, "point not in interval of [ -180, 180 ]"),
        ([0, -180.5], 13027, "point not in interval of [ -180, 180 ]"),
        ([[1, 2], [3, 400]], 13027, "point not in interval of [ -180, 180 ]"),
        ([[1, 2], 3], 16804, "location object expected, location array not in correct format"),
        (["type": "Point", "coordinates": [1, 2]], 16804, "location object expected"),
    ]
    private static let planeAllowed: [BSONDocument] = [
        [:], ["loc": .null], ["loc": "here"], ["loc": 7], ["loc": []], ["loc": [:]],
        ["loc": [16, 48]], ["loc": ["x": 16, "y": 48]], ["loc": [[1, 2], [3, 4], []]],
        ["loc": [180, -180]], ["loc": ["home": [1, 2], "work": ["x": 3, "y": 4]]],
    ]

    @Test(
        "a document with an invalid place is refused by a 2d index", arguments: planeFaults.indices)
    func planeRefuses(index: Int) throws {
        let (value, code, reason) = Self.planeFaults[index]
        let places = try collection()
        try places.createIndex(["loc": "2d"])
        let error = fault { try places.insertMany([["_id": 1, "loc": value]]) }
        #expect(error?.code.rawValue == code)
        #expect(error?.message.hasPrefix(reason) == true, "\(error?.message ?? "")")
        #expect(try places.find().count() == 0)
    }

    @Test(
        "a document with a valid place or none is kept by a 2d index",
        arguments: planeAllowed.indices)
    func planeAllows(index: Int) throws {
        let places = try collection()
        try places.createIndex(["loc": "2d"])
        try places.insertMany([Self.planeAllowed[index]])
    }

    @Test("a 2d index has bounds of its own")
    func planeBounds() throws {
        let places = try collection()
        try places.createIndexes([["key": ["loc": "2d"], "name": "loc", "min": 0, "max": 10.5]])
        try places.insertMany([["loc": [10.5, 0]]])
        let error = fault { try places.insertMany([["loc": [-1, 0]]]) }
        #expect(error?.message.hasPrefix("point not in interval of [ 0, 10.5 ]") == true)
    }
}
