/// The letters of a word while a stemmer changes its end.
struct StemWord {
    private(set) var letters: [Unicode.Scalar] = []

    /// Creates a word from a text whose marks may stand behind their letters.
    init(_ word: String) {
        for scalar in word.unicodeScalars {
            if Self.marks.contains(scalar), let last = letters.last,
                let whole = Self.composed[last]?[scalar]
            {
                letters[letters.count - 1] = whole
            } else {
                letters.append(scalar)
            }
        }
    }

    private static let marks: ClosedRange<Unicode.Scalar> = "\u{300}"..."\u{36F}"

    /// Letters with marks by their two parts.
    private static let composed: [Unicode.Scalar: [Unicode.Scalar: Unicode.Scalar]] = {
        var composed: [Unicode.Scalar: [Unicode.Scalar: Unicode.Scalar]] = [:]
        let letters = "àáâãäåçèéêëìíîïñòóôõöùúûüăőűğşșţțйё"
        for letter in (letters + letters.uppercased()).unicodeScalars {
            let parts = UnicodeDecomposition.scalars(String(letter))
            if parts.count == 2 { composed[parts[0], default: [:]][parts[1]] = letter }
        }
        return composed
    }()

    var count: Int { letters.count }

    var text: String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: letters)
        return String(view)
    }

    /// The letter at a place, `nil` outside of the word.
    subscript(_ index: Int) -> Unicode.Scalar? {
        get { letters.indices.contains(index) ? letters[index] : nil }
        set {
            guard let newValue, letters.indices.contains(index) else { return }
            letters[index] = newValue
        }
    }

    /// Whether the word has a letter of a set at a place.
    func has(_ set: Set<Unicode.Scalar>, at index: Int) -> Bool {
        self[index].map(set.contains) ?? false
    }

    /// Whether the word has a letter at a place that is not of a set.
    func lacks(_ set: Set<Unicode.Scalar>, at index: Int) -> Bool {
        self[index].map { !set.contains($0) } ?? false
    }

    func starts(with text: String) -> Bool { letters.starts(with: text.unicodeScalars) }

    /// Whether the word without its last letters ends with a text.
    func ends(with text: String, before tail: Int = 0) -> Bool {
        let text = text.unicodeScalars
        return letters.count >= text.count + tail
            && letters[..<(letters.count - tail)].suffix(text.count).elementsEqual(text)
    }

    /// Replaces the last letters by a text.
    mutating func replaceLast(_ count: Int, by text: String = "") {
        letters.replaceSubrange(max(0, letters.count - count)..., with: text.unicodeScalars)
    }

    mutating func removeFirst() { letters.removeFirst() }

    /// Removes the letters before the last ones.
    mutating func remove(_ count: Int, before tail: Int) {
        let end = max(0, letters.count - tail)
        letters.removeSubrange(max(0, end - count)..<end)
    }

    /// Removes a suffix that begins in a region; returns `false` if there is none.
    mutating func remove(_ suffix: String, from region: Int = 0) -> Bool {
        let count = suffix.unicodeScalars.count
        guard ends(with: suffix), letters.count - count >= region else { return false }
        replaceLast(count)
        return true
    }

    mutating func exchange(_ others: [Unicode.Scalar: Unicode.Scalar]) {
        for index in letters.indices { exchange(at: index, others) }
    }

    mutating func exchange(at index: Int, _ others: [Unicode.Scalar: Unicode.Scalar]) {
        if let other = others[letters[index]] { letters[index] = other }
    }

    /// Returns the place behind the first letter outside of a set that follows one inside it.
    func region(_ vowels: Set<Unicode.Scalar>, after start: Int = 0) -> Int? {
        guard start <= letters.count,
            let vowel = (start..<letters.count).first(where: { vowels.contains(letters[$0]) })
        else { return nil }
        return (vowel..<letters.count).first { !vowels.contains(letters[$0]) }.map { $0 + 1 }
    }

    /// Returns the start of the region for suffixes in Danish, Norwegian and Swedish.
    func nordicRegion(_ vowels: Set<Unicode.Scalar>) -> Int {
        guard letters.count >= 3, let region = region(vowels) else { return letters.count }
        return max(region, 3)
    }

    /// Returns the start of the region for verb suffixes in Romance languages other than French.
    func verbRegion(_ vowels: Set<Unicode.Scalar>) -> Int {
        guard letters.count > 1 else { return letters.count }
        let rest = 2..<letters.count
        let found: Int? =
            switch (has(vowels, at: 0), has(vowels, at: 1)) {
            case (_, false): rest.first { vowels.contains(letters[$0]) }
            case (true, true): rest.first { !vowels.contains(letters[$0]) }
            case (false, true): rest.first
            }
        return found.map { $0 + 1 } ?? letters.count
    }
}

/// A list of suffixes with the step for each, to find the longest that a word has.
struct StemSuffixes<Step: Sendable>: Sendable {
    private let byLast: [Unicode.Scalar: [(letters: [Unicode.Scalar], step: Step)]]

    /// Splits texts of suffixes at blanks.
    init(_ lists: [(Step, String)]) {
        var byLast: [Unicode.Scalar: [(letters: [Unicode.Scalar], step: Step)]] = [:]
        for (step, list) in lists {
            for suffix in list.split(separator: " ") {
                let letters = Array(suffix.unicodeScalars)
                guard let last = letters.last else { continue }
                byLast[last, default: []].append((letters, step))
            }
        }
        self.byLast = byLast.mapValues { suffixes in
            suffixes.sorted { $0.letters.count > $1.letters.count }
        }
    }

    /// Returns the suffix that a word, without its last letters, has behind a place.
    func longest(
        in word: StemWord, from limit: Int = 0, before tail: Int = 0
    ) -> (count: Int, step: Step)? {
        let end = word.count - tail
        guard end > limit, let last = word[end - 1], let suffixes = byLast[last] else { return nil }
        for (letters, step) in suffixes
        where end - limit >= letters.count
            && word.letters[(end - letters.count)..<end].elementsEqual(letters)
        {
            return (letters.count, step)
        }
        return nil
    }
}
