/// The search for the name that a person may have meant.
enum NearestName {
    /// Returns the nearest of some names; `nil` if none is within two changes, of a short name one,
    /// or shares the start.
    static func of(_ name: String, among names: [String]) -> String? {
        let ranked = names.map { (distance(name, $0), $0) }.sorted { $0.0 < $1.0 }
        if let (distance, nearest) = ranked.first, distance <= min(2, name.count / 2) {
            return nearest
        }
        return names.first { name.count >= 3 && $0.hasPrefix(name) }
    }

    /// Returns the number of characters to insert, delete, replace, or swap with the next one.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var before: [Int] = []
        var row = Array(0...right.count)
        for index in left.indices {
            var next = [index + 1]
            for column in right.indices {
                let change = row[column] + (left[index] == right[column] ? 0 : 1)
                var best = min(change, row[column + 1] + 1, next[column] + 1)
                if index > 0, column > 0, left[index] == right[column - 1],
                    left[index - 1] == right[column]
                {
                    best = min(best, before[column - 1] + 1)
                }
                next.append(best)
            }
            (before, row) = (row, next)
        }
        return row[right.count]
    }
}
