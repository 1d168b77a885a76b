import BSONStore
import Testing

/// Without these a filter would find other documents than MongoDB does.
@Suite struct FilterMatchingTests {
    /// A filter with documents that pass it and documents that do not, in Extended JSON.
    struct Case: Sendable, CustomTestStringConvertible {
        let filter: String
        let passing: [String]
        let failing: [String]

        var testDescription: String { filter }

        init(_ filter: String, _ passing: [String], not failing: [String] = []) {
            self.filter = filter
            self.passing = passing
            self.failing = failing
        }
    }

    @Test func `an empty name is a name like any other`() async throws {
        let filter = try Filter(["": 1])
        #expect(filter.matches(["": 1]) && filter.matches(["": [2, 1]]))
        #expect(!filter.matches(["": 2]) && !filter.matches(["a": 1]))
        #expect(try Filter(["": nil]).matches(["a": 1]))
        let store = try DocumentStore(at: .inMemory)
        let things = store.collection(Namespace("app", "things"))
        try await things.insertMany([["_id": 1, "": 1], ["_id": 2, "": 2], ["_id": 3]])
        #expect(try things.find(["": 1]).fetch().map { $0["_id"] } == [1])
        #expect(try things.find(["": ["$ne": 1]]).fetch().map { $0["_id"] } == [2, 3])
    }

    @Test func `many alternatives of one field find what a few find`() throws {
        let values: [BSONValue] = [nil, "x", 2.5, [1, 2], ["b": 1], .objectID(.init())]
        let documents: [BSONDocument] =
            values.map { ["a": $0] } + values.map { ["a": [$0]] }
            + [[:], ["a": "X"], ["a": 41], ["a": 7.0], ["a": [9]], ["\u{E9}": 1], ["e\u{301}": 1]]
        // One name in another spelling is another field.
        let odd: [BSONDocument] = [["a": 41], ["\u{E9}": 1], ["a.0": 1], ["a": ["$gt": 40]]]
        for extra in [[]] + odd.map({ [$0] }) {
            let alternatives =
                (0..<40).map { ["a": .int32($0)] as BSONDocument } + values.map { ["a": $0] }
                + extra
            let many = try Filter(["$or": .array(BSONArray(alternatives.map { .document($0) }))])
            let few = try alternatives.map { try Filter($0) }
            for document in documents {
                #expect(
                    many.matches(document) == few.contains { $0.matches(document) }, "\(document)")
            }
        }
        let spellings = (0..<40).map { ["\u{E9}": .int32($0)] as BSONDocument } + [["e\u{301}": 77]]
        let filter = try Filter(["$or": .array(BSONArray(spellings.map { .document($0) }))])
        #expect(filter.matches(["e\u{301}": 77]) && !filter.matches(["\u{E9}": 77]))
    }

    @Test(arguments: equality + comparison + arrays + logic + others)
    func `a filter finds what MongoDB finds`(_ example: Case) throws {
        let filter = try Filter(BSONDocument(extendedJSON: example.filter))
        for text in example.passing {
            #expect(filter.matches(try BSONDocument(extendedJSON: text)), "\(text)")
        }
        for text in example.failing {
            #expect(!filter.matches(try BSONDocument(extendedJSON: text)), "\(text)")
        }
    }

    static let equality = [
        Case("{}", ["{}", #"{"a":1}"#]),
        Case(
            #"{"a":1}"#,
            [
                #"{"a":1}"#, #"{"a":1.0}"#, #"{"a":{"$numberLong":"1"}}"#,
                #"{"a":{"$numberDecimal":"1.00"}}"#, #"{"a":[2,1]}"#,
            ],
            not: ["{}", #"{"a":2}"#, #"{"a":"1"}"#, #"{"a":[[1]]}"#, #"{"a":true}"#]),
        Case(#"{"a":"x"}"#, [#"{"a":"x"}"#, #"{"a":["x"]}"#], not: [#"{"a":"X"}"#]),
        Case(
            #"{"a":null}"#, ["{}", #"{"a":null}"#, #"{"a":[1,null]}"#],
            not: [#"{"a":0}"#, #"{"a":[]}"#, #"{"a":{}}"#]),
        Case(
            #"{"a.b":null}"#,
            [
                "{}", #"{"a":1}"#, #"{"a":null}"#, #"{"a":{}}"#, #"{"a":[{"b":null}]}"#,
                #"{"a":[{}]}"#, #"{"a":[{"b":1},{}]}"#,
            ],
            not: [#"{"a":[]}"#, #"{"a":[1]}"#, #"{"a":[[]]}"#, #"{"a":[{"b":1}]}"#]),
        Case(
            #"{"a":{"b":1,"c":2}}"#, [#"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":1.0,"c":2}}"#],
            not: [#"{"a":{"c":2,"b":1}}"#, #"{"a":{"b":1}}"#]),
        Case(
            #"{"a":[1,2]}"#, [#"{"a":[1,2]}"#, #"{"a":[[1,2],3]}"#],
            not: [#"{"a":[2,1]}"#, #"{"a":[1,2,3]}"#, #"{"a":1}"#]),
        Case(#"{"a":[]}"#, [#"{"a":[]}"#, #"{"a":[[]]}"#], not: ["{}", #"{"a":[1]}"#]),
        Case(
            #"{"a.b":1}"#,
            [
                #"{"a":{"b":1}}"#, #"{"a":[{"b":1}]}"#, #"{"a":[{"b":2},{"b":[1]}]}"#,
                #"{"a":[5,{"b":1}]}"#,
            ],
            not: [#"{"a":[[{"b":1}]]}"#, #"{"a.b":1}"#, #"{"a":{"b":2}}"#]),
        Case(
            #"{"a.0":1}"#, [#"{"a":[1,2]}"#, #"{"a":{"0":1}}"#, #"{"a":[{"0":1}]}"#],
            not: [#"{"a":[2,1]}"#, #"{"a":[[1]]}"#, #"{"a":1}"#]),
        Case(
            #"{"a.1.b":1}"#,
            [#"{"a":[0,{"b":1}]}"#, #"{"a":[0,[{"b":1}]]}"#, #"{"a":[{"1":{"b":1}}]}"#],
            not: [#"{"a":[{"b":1},0]}"#, #"{"a":[0,{"b":2}]}"#]),
        Case(#"{"a.00":1}"#, [#"{"a":{"00":1}}"#], not: [#"{"a":[1]}"#]),
        Case(
            #"{"a":{"$eq":{"$numberDouble":"NaN"}}}"#,
            [#"{"a":{"$numberDouble":"NaN"}}"#, #"{"a":{"$numberDecimal":"NaN"}}"#],
            not: [#"{"a":1}"#, "{}"]),
        Case(
            #"{"a":0}"#, [#"{"a":{"$numberDouble":"-0.0"}}"#, #"{"a":{"$numberDecimal":"-0"}}"#]),
        Case(
            #"{"a":{"$numberDecimal":"0.1"}}"#, [#"{"a":{"$numberDecimal":"0.10"}}"#],
            not: [#"{"a":0.1}"#]),
        Case(
            #"{"a":{"$numberLong":"9007199254740993"}}"#,
            [#"{"a":{"$numberLong":"9007199254740993"}}"#],
            not: [#"{"a":9007199254740992.0}"#]),
        Case(
            #"{"a":{"$oid":"000000000000000000000001"}}"#,
            [#"{"a":{"$oid":"000000000000000000000001"}}"#],
            not: [#"{"a":{"$oid":"000000000000000000000002"}}"#]),
        Case(
            #"{"a":{"$binary":{"base64":"AQI=","subType":"00"}}}"#,
            [#"{"a":{"$binary":{"base64":"AQI=","subType":"00"}}}"#],
            not: [#"{"a":{"$binary":{"base64":"AQI=","subType":"80"}}}"#]),
    ]

    static let comparison = [
        Case(
            #"{"a":{"$gt":5}}"#,
            [#"{"a":6}"#, #"{"a":5.5}"#, #"{"a":{"$numberDecimal":"5.01"}}"#, #"{"a":[1,9]}"#],
            not: [#"{"a":5}"#, #"{"a":"6"}"#, "{}", #"{"a":null}"#, #"{"a":[1,2]}"#]),
        Case(#"{"a":{"$gte":5}}"#, [#"{"a":5}"#, #"{"a":5.0}"#], not: [#"{"a":4.99}"#]),
        Case(
            #"{"a":{"$lt":5}}"#, [#"{"a":4}"#, #"{"a":-1}"#],
            not: [#"{"a":5}"#, "{}", #"{"a":null}"#, #"{"a":{"$numberDouble":"NaN"}}"#]),
        Case(#"{"a":{"$lte":5}}"#, [#"{"a":5}"#], not: [#"{"a":{"$numberDouble":"NaN"}}"#]),
        Case(
            #"{"a":{"$lte":{"$numberDouble":"NaN"}}}"#, [#"{"a":{"$numberDouble":"NaN"}}"#],
            not: [#"{"a":1}"#, "{}"]),
        Case(#"{"a":{"$gt":1,"$lt":3}}"#, [#"{"a":2}"#, #"{"a":[0,4]}"#], not: [#"{"a":3}"#]),
        Case(#"{"a":{"$gt":"b"}}"#, [#"{"a":"c"}"#, #"{"a":"ba"}"#], not: [#"{"a":"B"}"#]),
        Case(
            #"{"a":{"$gte":null}}"#, [#"{"a":null}"#, "{}"], not: [#"{"a":1}"#, #"{"a":[1]}"#]),
        Case(#"{"a":{"$lt":null}}"#, [], not: [#"{"a":null}"#, "{}", #"{"a":1}"#]),
        Case(
            #"{"a":{"$gt":{"$date":"2024-01-01T00:00:00Z"}}}"#,
            [#"{"a":{"$date":"2024-01-01T00:00:00.001Z"}}"#],
            not: [#"{"a":{"$timestamp":{"t":2000000000,"i":1}}}"#, #"{"a":2000000000000}"#]),
        Case(#"{"a":{"$gt":[1,2]}}"#, [#"{"a":[1,3]}"#, #"{"a":[2]}"#], not: [#"{"a":[1,2]}"#]),
        Case(#"{"a":{"$lt":{"b":2}}}"#, [#"{"a":{"b":1}}"#], not: [#"{"a":{"b":2}}"#]),
        Case(#"{"a":{"$gt":false}}"#, [#"{"a":true}"#], not: [#"{"a":false}"#, #"{"a":1}"#]),
        Case(
            #"{"a":{"$gt":{"$minKey":1}}}"#, [#"{"a":1}"#, #"{"a":null}"#, "{}"],
            not: [#"{"a":{"$minKey":1}}"#]),
        Case(#"{"a":{"$ne":1}}"#, ["{}", #"{"a":2}"#, #"{"a":[2]}"#], not: [#"{"a":[1,2]}"#]),
        Case(#"{"a":{"$ne":null}}"#, [#"{"a":1}"#, #"{"a":[]}"#], not: ["{}", #"{"a":[null]}"#]),
        Case(
            #"{"a":{"$in":[1,"x",null]}}"#,
            [#"{"a":1.0}"#, #"{"a":"x"}"#, "{}", #"{"a":null}"#, #"{"a":[5,"x"]}"#],
            not: [#"{"a":2}"#, #"{"a":[]}"#]),
        Case(#"{"a":{"$in":[]}}"#, [], not: ["{}", #"{"a":1}"#]),
        Case(#"{"a":{"$in":[[1,2]]}}"#, [#"{"a":[1,2]}"#], not: [#"{"a":[1]}"#]),
        Case(
            #"{"a":{"$in":[{"$regularExpression":{"pattern":"^x","options":""}},1]}}"#,
            [#"{"a":"xy"}"#, #"{"a":1}"#], not: [#"{"a":"yx"}"#]),
        Case(#"{"a":{"$nin":[1,2]}}"#, ["{}", #"{"a":3}"#], not: [#"{"a":1}"#, #"{"a":[3,2]}"#]),
    ]

    static let arrays = [
        Case(
            #"{"a":{"$elemMatch":{"$gt":1,"$lt":3}}}"#, [#"{"a":[0,2]}"#],
            not: [#"{"a":[0,4]}"#, #"{"a":2}"#, #"{"a":[[2]]}"#, "{}"]),
        Case(
            #"{"a":{"$elemMatch":{"b":1,"c":2}}}"#, [#"{"a":[{"b":1,"c":2}]}"#],
            not: [#"{"a":[{"b":1},{"c":2}]}"#, #"{"a":{"b":1,"c":2}}"#]),
        Case(
            #"{"a":{"$elemMatch":{"$or":[{"b":1},{"c":2}]}}}"#, [#"{"a":[{"c":2}]}"#],
            not: [#"{"a":[{"c":1}]}"#]),
        Case(#"{"a":{"$elemMatch":{"0":1}}}"#, [#"{"a":[[1]]}"#], not: [#"{"a":[1]}"#]),
        Case(
            #"{"a":{"$elemMatch":{"$not":{"$gt":5}}}}"#, [#"{"a":[1,9]}"#],
            not: [#"{"a":[9]}"#, #"{"a":[]}"#]),
        Case(
            #"{"a.b":{"$elemMatch":{"c":1}}}"#, [#"{"a":[{"b":[{"c":1}]}]}"#],
            not: [#"{"a":[{"b":{"c":1}}]}"#]),
        Case(
            #"{"a":{"$all":[1,2]}}"#, [#"{"a":[2,3,1]}"#],
            not: [#"{"a":[1]}"#, #"{"a":1}"#, "{}"]),
        Case(#"{"a":{"$all":[1]}}"#, [#"{"a":1}"#, #"{"a":[1]}"#]),
        Case(#"{"a":{"$all":[[1,2]]}}"#, [#"{"a":[1,2]}"#, #"{"a":[[1,2]]}"#]),
        Case(#"{"a":{"$all":[]}}"#, [], not: ["{}", #"{"a":[]}"#, #"{"a":1}"#]),
        Case(
            #"{"a":{"$all":[{"$elemMatch":{"b":1}},{"$elemMatch":{"b":2}}]}}"#,
            [#"{"a":[{"b":1},{"b":2}]}"#], not: [#"{"a":[{"b":1}]}"#]),
        Case(
            #"{"a":{"$size":2}}"#, [#"{"a":[1,2]}"#, #"{"a":[[],[]]}"#],
            not: [#"{"a":[1]}"#, #"{"a":"ab"}"#, #"{"a":[[1,2]]}"#, "{}"]),
        Case(#"{"a":{"$size":0}}"#, [#"{"a":[]}"#], not: ["{}", #"{"a":null}"#]),
    ]

    static let logic = [
        Case(#"{"$and":[{"a":1},{"b":2}]}"#, [#"{"a":1,"b":2}"#], not: [#"{"a":1}"#]),
        Case(#"{"$or":[{"a":1},{"b":2}]}"#, [#"{"a":1}"#, #"{"b":2}"#], not: [#"{"a":2}"#, "{}"]),
        Case(#"{"$nor":[{"a":1},{"b":2}]}"#, ["{}", #"{"a":2}"#], not: [#"{"b":2}"#]),
        Case(#"{"a":{"$not":{"$gt":5}}}"#, ["{}", #"{"a":"x"}"#, #"{"a":5}"#], not: [#"{"a":6}"#]),
        Case(
            #"{"a":{"$not":{"$gt":1,"$lt":5}}}"#, [#"{"a":9}"#, "{}"],
            not: [#"{"a":3}"#, #"{"a":[0,9]}"#]),
        Case(
            #"{"a":1,"b":{"$gt":1},"c":{"$exists":false}}"#, [#"{"b":2,"a":1}"#],
            not: [#"{"a":1,"b":2,"c":null}"#, #"{"a":1,"b":1}"#, "{}"]),
        Case(
            #"{"$or":[{"a":1},{"$and":[{"b":1},{"$nor":[{"c":1}]}]}]}"#,
            [#"{"a":1}"#, #"{"b":1}"#], not: [#"{"b":1,"c":1}"#]),
        Case(#"{"$comment":"why","a":1}"#, [#"{"a":1}"#], not: ["{}"]),
    ]

    static let others = [
        Case(#"{"a":{"$exists":true}}"#, [#"{"a":null}"#, #"{"a":[]}"#], not: ["{}"]),
        Case(#"{"a":{"$exists":0}}"#, ["{}"], not: [#"{"a":null}"#]),
        Case(
            #"{"a.b":{"$exists":true}}"#, [#"{"a":[{},{"b":1}]}"#],
            not: [#"{"a":[]}"#, #"{"a":[1]}"#, #"{"a":{}}"#]),
        Case(
            #"{"a":{"$type":"number"}}"#,
            [#"{"a":1}"#, #"{"a":1.5}"#, #"{"a":{"$numberDecimal":"1"}}"#, #"{"a":["x",1]}"#],
            not: [#"{"a":"1"}"#, "{}"]),
        Case(#"{"a":{"$type":"array"}}"#, [#"{"a":[]}"#, #"{"a":[[1]]}"#], not: [#"{"a":1}"#]),
        Case(
            #"{"a":{"$type":["string",8]}}"#, [#"{"a":"x"}"#, #"{"a":true}"#], not: [#"{"a":1}"#]),
        Case(#"{"a":{"$type":-1}}"#, [#"{"a":{"$minKey":1}}"#], not: [#"{"a":{"$maxKey":1}}"#]),
        Case(
            #"{"a":{"$mod":[4,1]}}"#,
            [#"{"a":5}"#, #"{"a":5.9}"#, #"{"a":{"$numberDecimal":"9"}}"#, #"{"a":[2,1]}"#],
            not: [#"{"a":4}"#, #"{"a":"5"}"#, #"{"a":{"$numberDouble":"Infinity"}}"#, "{}"]),
        Case(#"{"a":{"$mod":[-1,0]}}"#, [#"{"a":{"$numberLong":"-9223372036854775808"}}"#]),
        Case(
            #"{"a":{"$regex":"^ab","$options":"i"}}"#, [#"{"a":"ABc"}"#, #"{"a":[1,"abc"]}"#],
            not: [#"{"a":"xab"}"#, #"{"a":1}"#]),
        Case(
            #"{"a":{"$regularExpression":{"pattern":"b+","options":""}}}"#,
            [
                #"{"a":"abbc"}"#,
                #"{"a":{"$regularExpression":{"pattern":"b+","options":""}}}"#,
            ],
            not: [#"{"a":"ac"}"#, #"{"a":{"$regularExpression":{"pattern":"b+","options":"i"}}}"#]),
        Case(
            #"{"a":{"$not":{"$regularExpression":{"pattern":"^x","options":""}}}}"#,
            ["{}", #"{"a":"y"}"#, #"{"a":1}"#], not: [#"{"a":"x"}"#]),
    ]
}
