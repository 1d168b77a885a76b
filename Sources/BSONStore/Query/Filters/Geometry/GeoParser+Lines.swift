extension GeoParser {
    /// The coordinate system in which the order of a ring's vertices matters.
    private static let strictWinding = "urn:x-mongodb:crs:strictwinding:EPSG:4326"

    /// Whether the object's coordinate system defines the part to the left of a ring as its inside.
    package static func keepsOrder(
        _ document: BSONDocument, allowed: Bool
    ) throws(StoreError) -> Bool {
        guard let system = document["crs"] else { return false }
        guard let system = system.documentValue else {
            throw fault("GeoJSON CRS must be an object, instead got type \(name(system))")
        }
        guard system["type"]?.stringValue == "name" else {
            throw fault("GeoJSON CRS must have field \"type\": \"name\"")
        }
        guard let properties = system["properties"]?.documentValue else {
            throw fault(
                "CRS must have field \"properties\" which is an object, instead got type "
                    + name(system["properties"]))
        }
        guard let text = properties["name"]?.stringValue else {
            throw fault(
                "In CRS, \"properties.name\" must be a string, instead got type "
                    + name(properties["name"]))
        }
        switch text {
        case "urn:ogc:def:crs:OGC:1.3:CRS84", "EPSG:4326": return false
        case strictWinding:
            guard allowed else {
                throw fault("Strict winding order CRS is only supported by polygon")
            }
            return true
        default: throw fault("Unknown CRS name: \(text)")
        }
    }

    /// Parses the points of an array of coordinates.
    static func places(_ value: BSONValue?) throws(StoreError) -> [GeoPoint] {
        guard let array = value?.arrayValue else {
            throw fault(
                "GeoJSON coordinates must be an array of coordinates, instead got type "
                    + name(value))
        }
        var points: [GeoPoint] = []
        for member in array {
            try WorkBudget.spend()
            guard member.type == .array else {
                throw fault(
                    "GeoJSON coordinates must be an array, instead got type \(name(member))")
            }
            points.append(try onGlobe(flatPoint(member, allowsMore: true)))
        }
        return points
    }

    /// Parses the vertices of a line, without consecutive duplicates.
    static func line(_ value: BSONValue?) throws(StoreError) -> [GeoPoint] {
        let vertices = withoutRepeats(try places(value))
        guard vertices.count >= 2 else {
            throw fault(
                "GeoJSON LineString must have at least 2 vertices, instead got \(vertices.count) "
                    + "vertices: \(value.map { ShellText.text(of: $0) } ?? "")")
        }
        return vertices
    }

    private static func withoutRepeats(_ points: [GeoPoint]) -> [GeoPoint] {
        var kept: [GeoPoint] = []
        for point in points where kept.last != point { kept.append(point) }
        return kept
    }

    /// Parses a polygon with its holes.
    static func polygon(_ value: BSONValue?) throws(StoreError) -> GeoShape {
        guard let array = value?.arrayValue else {
            throw fault("Polygon coordinates must be an array, instead got type \(name(value))")
        }
        var loops: [GeoLoop] = []
        for member in array {
            let loop = GeoLoop(try ring(member))
            if let first = loops.first,
                !loop.vertices.allSatisfy({
                    first.contains($0) || first.isOnEdge($0)
                })
            {
                throw fault(
                    "Secondary loops not contained by first exterior loop - secondary loops must "
                        + "be holes: \(ShellText.text(of: member)) first loop: "
                        + (array[0].map { ShellText.text(of: $0) } ?? ""))
            }
            for (place, other) in loops.enumerated() {
                try check(loop, beside: other, isFirst: place == 0)
            }
            loops.append(loop)
        }
        guard let first = loops.first else { throw fault("Polygon has no loops.") }
        return .polygon(first, holes: Array(loops.dropFirst()))
    }

    /// Checks that a hole crosses no other ring and shares no edge with it, that it shares at most
    /// one corner with the outer ring, and that it lies in no other hole, nor another in it.
    ///
    /// Source: RFC 7946, section 3.1.6; the server's `geoparser.cpp`,
    /// `parseGeoJSONPolygonCoordinates`.
    private static func check(
        _ hole: GeoLoop, beside other: GeoLoop, isFirst: Bool
    ) throws(StoreError) {
        let shared = Set(hole.vertices).intersection(other.vertices)
        guard !isFirst || shared.count < 2 else {
            throw fault(
                "Polygon isn't normalized: every loop of this polygon shares at most one vertex "
                    + "with its parent loop")
        }
        let edges = other.edges
        for (a, b) in hole.edges {
            let isCrossed = edges.contains { edge in
                if WorkBudget.isOver() { return false }
                return GeoRelation.cross((a, b), edge) || (a, b) == edge || (b, a) == edge
                    || [a, b].allSatisfy {
                        $0.angle(toArc: edge.0, edge.1) < GeoPoint.tolerance
                    }
            }
            try WorkBudget.check()
            guard !isCrossed else {
                throw fault("Polygon isn't valid: loops cross or share an edge")
            }
        }
        guard !isFirst else { return }
        func lies(_ inner: GeoLoop, in outer: GeoLoop) -> Bool {
            inner.vertices.contains { outer.contains($0) && !outer.isOnEdge($0) }
        }
        guard !lies(hole, in: other), !lies(other, in: hole) else {
            throw fault("Polygon interior loops cannot be nested")
        }
    }

    /// Parses a polygon whose inside lies to the left of its one ring.
    static func strictPolygon(_ value: BSONValue?) throws(StoreError) -> GeoShape {
        guard let array = value?.arrayValue else {
            throw fault(
                "Coordinates of polygon must be an array, instead got type \(name(value))")
        }
        guard array.count == 1, let only = array[0] else {
            throw fault(
                "Only one simple loop is allowed in a big polygon, instead provided "
                    + "\(array.count) loops: \(ShellText.text(of: .array(array)))")
        }
        return .polygon(GeoLoop(try ring(only), keepsOrder: true), holes: [])
    }

    /// Parses the vertices of a closed ring, without the last one.
    private static func ring(_ value: BSONValue) throws(StoreError) -> [GeoPoint] {
        let points = try places(value)
        let shown = ShellText.text(of: value)
        guard let first = points.first, let last = points.last else {
            throw fault("Loop has no vertices: \(shown)")
        }
        guard first == last else {
            throw fault(
                "Loop is not closed, first vertex does not equal last vertex: \(shown)")
        }
        let vertices = Array(withoutRepeats(points).dropLast())
        guard vertices.count >= 3 else {
            throw fault(
                "Loop must have at least 3 different vertices, \(vertices.count) unique vertices "
                    + "were provided: \(shown)")
        }
        let flaw = GeoLoop.fault(in: vertices)
        try WorkBudget.check()
        if let reason = flaw {
            throw fault("Loop is not valid: \(shown) \(reason)")
        }
        return vertices
    }
}
