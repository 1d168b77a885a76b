/// A stemmer for French words.
///
/// Source: Snowball, "French stemming algorithm", in the form that MongoDB's libstemmer has.
struct FrenchStemmer {
    private var letters: [Unicode.Scalar]
    /// The starts of the regions in which suffixes may be changed: for verbs, first and second.
    private var verbs = 0
    private var first = 0
    private var second = 0

    /// Returns the stem of a word in lower case that still has its marks.
    static func stem(of word: String) -> String {
        var stem = FrenchStemmer(word)
        stem.run()
        var view = String.UnicodeScalarView()
        view.append(contentsOf: stem.letters)
        return String(view)
    }

    private init(_ word: String) { letters = StemWord(word).letters }

    private static let vowels = Set("aeiouyâàëéêèïîôûù".unicodeScalars)
    private static let unmarked: [Unicode.Scalar: Unicode.Scalar] = [
        "I": "i", "U": "u", "Y": "y",
    ]
    private static let keptBeforeS = Set("aiouès".unicodeScalars)

    private mutating func run() {
        markConsonants()
        markRegions()
        if standard() || verbOfI() || verb() {
            if letters.last == "Y" {
                letters[letters.count - 1] = "i"
            } else if letters.last == "ç" {
                letters[letters.count - 1] = "c"
            }
        } else {
            residual()
        }
        for suffix in ["enn", "onn", "ett", "ell", "eill"] where ends(with: suffix) {
            letters.removeLast()
            break
        }
        removeAccent()
        for index in letters.indices {
            if let vowel = Self.unmarked[letters[index]] { letters[index] = vowel }
        }
    }

    private func isVowel(_ index: Int) -> Bool {
        letters.indices.contains(index) && Self.vowels.contains(letters[index])
    }

    /// Marks vowels that stand for consonants by upper case.
    private mutating func markConsonants() {
        for index in letters.indices {
            let next = index + 1
            if isVowel(index), next < letters.count {
                if letters[next] == "u", isVowel(index + 2) {
                    letters[next] = "U"
                } else if letters[next] == "i", isVowel(index + 2) {
                    letters[next] = "I"
                } else if letters[next] == "y" {
                    letters[next] = "Y"
                }
            }
            if letters[index] == "y", isVowel(next) { letters[index] = "Y" }
            if letters[index] == "q", next < letters.count, letters[next] == "u" {
                letters[next] = "U"
            }
        }
    }

    private mutating func markRegions() {
        let end = letters.count
        let starts = ["par", "col", "tap"].contains { letters.starts(with: $0.unicodeScalars) }
        if starts || isVowel(0) && isVowel(1) && end > 2 {
            verbs = 3
        } else {
            verbs = letters.indices.dropFirst().first { isVowel($0) }.map { $0 + 1 } ?? end
        }
        first = region(after: 0) ?? end
        second = first < end || region(after: 0) != nil ? region(after: first) ?? end : end
    }

    /// Returns the place behind the first consonant that follows a vowel.
    private func region(after start: Int) -> Int? {
        guard let vowel = (start..<letters.count).first(where: { isVowel($0) }) else { return nil }
        return (vowel..<letters.count).first { !isVowel($0) }.map { $0 + 1 }
    }

    // MARK: - Suffixes

    private func ends(with suffix: String, from limit: Int = 0) -> Bool {
        let suffix = suffix.unicodeScalars
        return letters.count - limit >= suffix.count
            && letters.suffix(suffix.count).elementsEqual(suffix)
    }

    /// Returns the longest of some suffixes that the word has behind a place.
    private func longest(_ suffixes: [String], from limit: Int = 0) -> String? {
        suffixes.filter { ends(with: $0, from: limit) }
            .max { $0.unicodeScalars.count < $1.unicodeScalars.count }
    }

    /// Replaces a suffix that begins in a region; returns `false` if there is none.
    private mutating func replace(
        _ suffix: String, in region: Int, by text: String = ""
    ) -> Bool {
        let start = letters.count - suffix.unicodeScalars.count
        guard ends(with: suffix), start >= region else { return false }
        letters.replaceSubrange(start..., with: text.unicodeScalars)
        return true
    }

    private static func words(_ text: String) -> [String] {
        text.split { $0 == " " }.map(String.init)
    }

    private enum Step {
        case delete, actor, logie, ution, ence, ement, ity, ive, eaux, aux, euse, issement
        case amment, emment, ment
    }

    private static let steps: [String: Step] = {
        let lists: [(Step, String)] = [
            (.delete, "ance iqUe isme able iste eux ances iqUes ismes ables istes"),
            (.actor, "atrice ateur ation atrices ateurs ations"), (.logie, "logie logies"),
            (.ution, "usion ution usions utions"), (.ence, "ence ences"),
            (.ement, "ement ements"), (.ity, "ité ités"), (.ive, "if ive ifs ives"),
            (.eaux, "eaux"), (.aux, "aux"), (.euse, "euse euses"),
            (.issement, "issement issements"), (.amment, "amment"), (.emment, "emment"),
            (.ment, "ment ments"),
        ]
        var steps: [String: Step] = [:]
        for (step, list) in lists { for word in words(list) { steps[word] = step } }
        return steps
    }()
    private static let stepSuffixes = Array(steps.keys)

    private mutating func standard() -> Bool {
        guard let suffix = longest(Self.stepSuffixes), let step = Self.steps[suffix] else {
            return false
        }
        switch step {
        case .delete: return replace(suffix, in: second)
        case .actor:
            guard replace(suffix, in: second) else { return false }
            _ = replace("ic", in: second) || replace("ic", in: 0, by: "iqU")
            return true
        case .logie: return replace(suffix, in: second, by: "log")
        case .ution: return replace(suffix, in: second, by: "u")
        case .ence: return replace(suffix, in: second, by: "ent")
        case .ement: return removeEment(suffix)
        case .ity: return removeIty(suffix)
        case .ive:
            guard replace(suffix, in: second) else { return false }
            if replace("at", in: second) {
                _ = replace("ic", in: second) || replace("ic", in: 0, by: "iqU")
            }
            return true
        case .eaux: return replace(suffix, in: 0, by: "eau")
        case .aux: return replace(suffix, in: first, by: "al")
        case .euse: return replace(suffix, in: second) || replace(suffix, in: first, by: "eux")
        case .issement:
            let before = letters.count - suffix.unicodeScalars.count - 1
            guard before >= 0, !isVowel(before) else { return false }
            return replace(suffix, in: first)
        // The remainder is a participle, whose own suffix is removed next.
        case .amment: _ = replace(suffix, in: verbs, by: "ant")
        case .emment: _ = replace(suffix, in: verbs, by: "ent")
        case .ment:
            let before = letters.count - suffix.unicodeScalars.count - 1
            if isVowel(before), before >= verbs { _ = replace(suffix, in: 0) }
        }
        return false
    }

    private mutating func removeEment(_ suffix: String) -> Bool {
        guard replace(suffix, in: verbs) else { return false }
        switch longest(["iv", "eus", "abl", "iqU", "ièr", "Ièr"]) {
        case "iv"?: if replace("iv", in: second) { _ = replace("at", in: second) }
        case "eus"?: _ = replace("eus", in: second) || replace("eus", in: first, by: "eux")
        case "abl"?: _ = replace("abl", in: second)
        case "iqU"?: _ = replace("iqU", in: second)
        case let other?: _ = replace(other, in: verbs, by: "i")
        case nil: break
        }
        return true
    }

    private mutating func removeIty(_ suffix: String) -> Bool {
        guard replace(suffix, in: second) else { return false }
        switch longest(["abil", "ic", "iv"]) {
        case "abil"?: _ = replace("abil", in: second) || replace("abil", in: 0, by: "abl")
        case "ic"?: _ = replace("ic", in: second) || replace("ic", in: 0, by: "iqU")
        default: _ = replace("iv", in: second)
        }
        return true
    }

    private static let suffixesOfI = words(
        """
        îmes ît îtes i ie ies ir ira irai iraIent irais irait iras irent irez iriez irions irons \
        iront is issaIent issais issait issant issante issantes issants isse issent isses issez \
        issiez issions issons it
        """)

    private mutating func verbOfI() -> Bool {
        guard letters.count >= verbs, let suffix = longest(Self.suffixesOfI, from: verbs) else {
            return false
        }
        let before = letters.count - suffix.unicodeScalars.count - 1
        guard before >= verbs, !isVowel(before) else { return false }
        return replace(suffix, in: verbs)
    }

    private static let suffixesOfE = words(
        """
        é ée ées és èrent er era erai eraIent erais erait eras erez eriez erions erons eront ez iez
        """)
    private static let suffixesOfA = words(
        """
        âmes ât âtes a ai aIent ais ait ant ante antes ants as asse assent asses assiez assions
        """)
    private static let suffixesOfVerbs = ["ions"] + suffixesOfE + suffixesOfA

    private mutating func verb() -> Bool {
        guard letters.count >= verbs, let suffix = longest(Self.suffixesOfVerbs, from: verbs)
        else { return false }
        if suffix == "ions" { return replace(suffix, in: second) }
        guard replace(suffix, in: verbs) else { return false }
        if Self.suffixesOfA.contains(suffix) { _ = replace("e", in: verbs) }
        return true
    }

    private mutating func residual() {
        if letters.count > 1, letters.last == "s",
            !Self.keptBeforeS.contains(letters[letters.count - 2])
        {
            letters.removeLast()
        }
        guard letters.count >= verbs,
            let suffix = longest(["ion", "ier", "ière", "Ier", "Ière", "e", "ë"], from: verbs)
        else { return }
        switch suffix {
        case "ion":
            let before = letters.count - 4
            guard before >= verbs, "st".unicodeScalars.contains(letters[before]) else { return }
            _ = replace(suffix, in: second)
        case "e": letters.removeLast()
        case "ë": if ends(with: "guë", from: verbs) { letters.removeLast() }
        default: _ = replace(suffix, in: verbs, by: "i")
        }
    }

    /// Removes the accent from an e that only consonants follow.
    private mutating func removeAccent() {
        guard let index = letters.indices.last(where: { isVowel($0) }),
            index < letters.count - 1, letters[index] == "é" || letters[index] == "è"
        else { return }
        letters[index] = "e"
    }
}
