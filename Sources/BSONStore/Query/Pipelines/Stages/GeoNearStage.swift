/// A stage that provides a collection's documents by their distance from a point, nearest first.
///
/// Source: MongoDB manual, "$geoNear"; the server's `document_source_geo_near.cpp`.
struct GeoNearStage: PipelineSourceStage {
    private let near: Expression
    private let distanceField: String?
    private let locationField: String?
    private let bounds: [(name: String, value: Expression)]
    private let multiplier: Double
    private let isSpherical: Bool
    private let key: String?
    private let filter: Filter

    static func parse(
        _ value: BSONValue, _ parser: PipelineParser
    ) throws(StoreError) -> [any PipelineStage] {
        [try GeoNearStage(ExpressionArguments.fields(of: value, named: "$geoNear"), parser)]
    }

    private init(_ options: BSONDocument, _ parser: PipelineParser) throws(StoreError) {
        try Self.rejectOtherOptions(options)
        guard let near = options["near"] else {
            throw .location(5_860_400, "$geoNear requires a 'near' argument")
        }
        self.near = try Expression(near, in: parser.scope)
        // Optional since MongoDB 8.1.
        distanceField = try Self.text(
            "distanceField", options,
            .location(16606, "$geoNear requires that the 'distanceField' option is a String")
        ).map(Self.path)
        var bounds: [(name: String, value: Expression)] = []
        for name in ["minDistance", "maxDistance"] {
            guard let value = options[name] else { continue }
            bounds.append(("$" + name, try Expression(value, in: parser.scope)))
        }
        self.bounds = bounds
        multiplier = try Self.multiplier(options)
        isSpherical = options["spherical"].map(PredicateParser.isTrue) ?? false
        locationField = try Self.text(
            "includeLocs", options,
            .location(
                16607, "$geoNear requires that 'includeLocs' option is a String")
        ).map(Self.path)
        key = try Self.text(
            "key", options,
            StoreError(
                .typeMismatch,
                "$geoNear parameter 'key' must be of type string but found type: "
                    + (options["key"]?.type.alias ?? "")))
        guard key != "" else {
            throw StoreError(.badValue, "$geoNear parameter 'key' cannot be the empty string")
        }
        if let key { _ = try ExpressionPath(key) }
        guard let query = options["query"] else {
            filter = try parser.filter([:])
            return
        }
        guard let query = query.documentValue else {
            throw StoreError(.typeMismatch, "query must be an object")
        }
        filter = try parser.filter(query)
    }

    /// Throws for options that older versions of the command accepted, and for unknown ones.
    private static func rejectOtherOptions(_ options: BSONDocument) throws(StoreError) {
        let former: [(String, Int32, String)] = [
            (
                "collation", 40227,
                "$geoNear does not accept the 'collation' parameter. Instead, specify a collation "
                    + "for the entire aggregation command."
            ),
            (
                "limit", 50858,
                "$geoNear no longer supports the 'limit' parameter. Use a $limit stage instead."
            ),
            (
                "num", 50857,
                "$geoNear no longer supports the 'num' parameter. Use a $limit stage instead."
            ),
            ("start", 50856, "$geoNear no longer supports the 'start' argument."),
        ]
        for (name, code, text) in former where options[name] != nil {
            throw .location(code, text)
        }
        for name in options.keys where !known.contains(Name(name)) {
            throw StoreError(.badValue, "Unknown argument to $geoNear: \(name)")
        }
    }

    private static let known: Set<Name> = [
        "near", "distanceField", "maxDistance", "minDistance", "distanceMultiplier", "query",
        "spherical", "includeLocs", "uniqueDocs", "key",
    ]

    private static func path(_ text: String) throws(StoreError) -> String {
        _ = try ExpressionPath(text)
        return text
    }

    private static func text(
        _ name: String, _ options: BSONDocument, _ fault: StoreError
    ) throws(StoreError) -> String? {
        guard let value = options[name] else { return nil }
        guard let text = value.stringValue else { throw fault }
        return text
    }

    private static func multiplier(_ options: BSONDocument) throws(StoreError) -> Double {
        guard let value = options["distanceMultiplier"] else { return 1 }
        guard value.isNumber else {
            throw StoreError(.typeMismatch, "distanceMultiplier must be a number")
        }
        let number = GeoParser.number(value)
        guard number >= 0 else {
            throw StoreError(.badValue, "distanceMultiplier must be nonnegative")
        }
        return number
    }

    func forEach(
        _ run: PipelineRun, _ body: (BSONDocument) throws(StoreError) -> Bool
    ) throws(StoreError) {
        let (path, near) = try prepare(run)
        var memory = run.memory("$geoNear")
        var found: [Found] = []
        let selection = AggregationSelection(filter: filter, frame: run.frame)
        try run.source.forEach(run.namespace, selection) { (document) throws(StoreError) in
            guard let (distance, place) = near.nearest(in: document, at: path) else { return true }
            let shown = try self.document(document, distance, place)
            found.append(
                Found(
                    distance: distance, number: found.count, place: place.compacted(),
                    document: try memory.keep(shown)))
            return true
        }
        // Documents with the same distance keep the order in which they were read.
        found.sort {
            if WorkBudget.isOver() { return false }
            return ($0.distance, $0.number) < ($1.distance, $1.number)
        }
        try WorkBudget.check()
        for one in found {
            run.metadata = [
                "geoNearDistance": .double(one.distance * multiplier), "geoNearPoint": one.place,
            ]
            guard try body(one.document) else { return }
        }
    }

    private struct Found {
        let distance: Double
        let number: Int
        let place: BSONValue
        let document: BSONDocument
    }

    /// Determines the field to measure and the center.
    private func prepare(
        _ run: PipelineRun
    ) throws(StoreError) -> (path: FieldPath, near: GeoNear) {
        do throws(StoreError) {
            guard let indexes = try run.source.placeIndexes(run.namespace) else {
                throw StoreError(
                    .namespaceNotFound,
                    "$geoNear requires a geo index to run, but \(run.namespace) does not exist")
            }
            let path = try field(indexes, run)
            let near = try center(run)
            let kinds = indexes.joined().filter { $0.path.hasSameBytes(as: path) }.map(\.kind)
            guard kinds.contains(where: near.isMeasured) else { throw GeoNear.noIndex }
            return (try FieldPath(path), near)
        } catch {
            throw error.during(.preparation)
        }
    }

    private func document(
        _ document: BSONDocument, _ distance: Double, _ place: BSONValue
    ) throws(StoreError) -> BSONDocument {
        var document = document
        do throws(BSONError) {
            if let distanceField {
                try document.set(path: distanceField, to: .double(distance * multiplier))
            }
            if let locationField { try document.set(path: locationField, to: place) }
        } catch {
            throw StoreError(.pathNotViable, error.message)
        }
        return document
    }

    /// Returns the center and the bounds of the distance.
    private func center(_ run: PipelineRun) throws(StoreError) -> GeoNear {
        let place = try near.evaluate(BSONDocument(), run.frame) ?? .null
        guard place.type == .document || place.type == .array else {
            throw near.readsDocument
                ? .location(5_860_402, "$geoNear requires a constant near argument")
                : .location(
                    5_860_401,
                    "$geoNear requires near argument to be a GeoJSON object or a legacy "
                        + "point(array)")
        }
        var asked: BSONDocument = [isSpherical ? "$nearSphere" : "$near": place]
        for (name, expression) in bounds {
            let value = try expression.evaluate(BSONDocument(), run.frame) ?? .null
            guard !expression.readsDocument else {
                throw .location(
                    name == "$minDistance" ? 7_555_701 : 7_555_702,
                    "$geoNear requires a constant \(name.dropFirst())")
            }
            guard value.isNumber else {
                throw StoreError(
                    .typeMismatch, "$geoNear requires \(name) to evaluate to a number")
            }
            guard GeoParser.number(value) >= 0 else {
                throw StoreError(.badValue, "\(name.dropFirst()) must be nonnegative")
            }
            asked.append(name, value)
        }
        return try GeoNear(asked)
    }

    /// Returns the field to measure: the named one, or that of the only index of its kind; 2d
    /// indexes have priority over 2dsphere.
    ///
    /// Source: the server's `get_executor.cpp`, `extractGeoNearFieldFromIndexes`.
    private func field(
        _ indexes: [[GeoIndexField]], _ run: PipelineRun
    ) throws(StoreError) -> String {
        if let key { return key }
        for kind in [GeoIndexField.Kind.plane, .sphere] {
            let fields = indexes.compactMap { keys in keys.first { $0.kind == kind }?.path }
            guard fields.count < 2 else {
                throw StoreError(
                    .indexNotFound,
                    "There is more than one \(kind.rawValue) index on \(run.namespace); unsure which to use "
                        + "for $geoNear")
            }
            if let field = fields.first { return field }
        }
        throw StoreError(
            .indexNotFound,
            "$geoNear requires a 2d or 2dsphere index, but none were found")
    }
}
