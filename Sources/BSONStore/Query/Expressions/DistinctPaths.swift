/// Paths of which none leads through another.
struct DistinctPaths {
    private var paths: Set<Name> = []
    /// The first path in order that leads through each place.
    private var through: [Name: String] = [:]

    /// Adds a path, or returns the first one in order that equals it, leads through it or through
    /// which it leads.
    mutating func clash(with path: [String]) throws(StoreError) -> String? {
        try WorkBudget.spend(1 + path.count >> 3)
        let text = path.joined(separator: ".")
        if paths.contains(text) { return text }
        var places: [String] = []
        var place = ""
        for part in path.dropLast() {
            place += places.isEmpty ? part : ".\(part)"
            places.append(place)
        }
        if let clash = places.first(where: { paths.contains($0) }) ?? through[text] {
            return clash
        }
        paths.insert(text)
        for place in places where through[place].map({ text.bytesPrecede($0) }) ?? true {
            through[place] = text
        }
        return nil
    }
}
