/// Knows the languages of text indexes, their words without meaning and English stems.
enum TextLanguage {
    /// The full name of a language that may be named, by name or code; `nil` for others.
    ///
    /// Source: MongoDB manual, "Text Search Languages on Self-Managed Deployments".
    static func name(of language: String) -> String? {
        let lower = language.lowercased()
        return codes[lower] ?? (codes.values.contains(lower) ? lower : nil)
    }

    /// Whether stems are made before marks are taken away, which tell forms of words apart.
    static func stemsWithMarks(_ language: String) -> Bool { language == "french" }

    /// The stem of a folded word; `nil` for one that does not count in the language.
    static func stem(_ word: String, in language: String) -> String? {
        if language == "french" {
            return frenchStopWords.contains(word.lowercased()) ? nil : FrenchStem.stem(of: word)
        }
        guard language == "english" else { return word }
        let bare = word.hasSuffix("'s") ? String(word.dropLast(2)) : word
        guard !bare.isEmpty, !stopWords.contains(bare.lowercased()) else { return nil }
        return EnglishStem.stem(of: bare)
    }

    private static let codes = [
        "none": "none", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish",
        "fr": "french", "de": "german", "hu": "hungarian", "it": "italian", "nb": "norwegian",
        "pt": "portuguese", "ro": "romanian", "ru": "russian", "es": "spanish", "sv": "swedish",
        "tr": "turkish",
    ]

    private static let frenchStopWords = Set(
        """
        ai aie aient aies ait as au aura aurai auraient aurais aurait auras aurez auriez aurions \
        aurons auront aux avaient avais avait avec avez aviez avions avons ayant ayez ayons c ce \
        ceci celà ces cet cette d dans de des du elle en es est et eu eue eues eurent eus eusse \
        eussent eusses eussiez eussions eut eux eûmes eût eûtes furent fus fusse fussent fusses \
        fussiez fussions fut fûmes fût fûtes ici il ils j je l la le les leur leurs lui m ma mais \
        me mes moi mon même n ne nos notre nous on ont ou par pas pour qu que quel quelle quelles \
        quels qui s sa sans se sera serai seraient serais serait seras serez seriez serions serons \
        seront ses soi soient sois soit sommes son sont soyez soyons suis sur t ta te tes toi ton \
        tu un une vos votre vous y à étaient étais était étant étiez étions été étée étées étés \
        êtes
        """.split { $0 == " " }.map(String.init))

    private static let stopWords = Set(
        """
        a about above after again against all am an and any are aren't as at be because been \
        before being below between both but by can't cannot could couldn't did didn't do does \
        doesn't doing don't down during each few for from further had hadn't has hasn't have \
        haven't having he he'd he'll he's her here here's hers herself him himself his how how's \
        i i'd i'll i'm i've if in into is isn't it it's its itself let's me more most mustn't my \
        myself no nor not of off on once only or other ought our ours ourselves out over own same \
        shan't she she'd she'll she's should shouldn't so some such than that that's the their \
        theirs them themselves then there there's these they they'd they'll they're they've this \
        those through to too under until up very was wasn't we we'd we'll we're we've were \
        weren't what what's when when's where where's which while who who's whom why why's with \
        won't would wouldn't you you'd you'll you're you've your yours yourself yourselves
        """.split { $0 == " " }.map(String.init))
}

/// Reduces English words to their stems.
///
/// Source: M. F. Porter, "An algorithm for suffix stripping", 1980.
enum EnglishStem {
    static func stem(of word: String) -> String {
        var letters = Array(word.utf8)
        guard letters.count > 2, letters.allSatisfy({ $0 < 0x80 }) else { return word }
        plural(&letters)
        past(&letters)
        if letters.last == y, hasVowel(letters.dropLast()) { letters[letters.count - 1] = i }
        for (suffix, replacement) in doubled where replace(suffix, by: replacement, 0, &letters) {
            break
        }
        for (suffix, replacement) in single where replace(suffix, by: replacement, 0, &letters) {
            break
        }
        for suffix in dropped where ends(letters, suffix) {
            let stem = letters.dropLast(suffix.utf8.count)
            let keeps = suffix == "ion" && !(stem.last == s || stem.last == t)
            if measure(stem) > 1, !keeps { letters = Array(stem) }
            break
        }
        trim(&letters)
        return String(decoding: letters, as: UTF8.self)
    }

    private static let (e, i, l, s, t, y, z) = (
        UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "l"), UInt8(ascii: "s"),
        UInt8(ascii: "t"), UInt8(ascii: "y"), UInt8(ascii: "z")
    )
    private static let doubled = [
        ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"),
        ("izer", "ize"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"),
        ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
        ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
        ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
    ]
    private static let single = [
        ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
        ("ful", ""), ("ness", ""),
    ]
    private static let dropped = [
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion",
        "ou", "ism", "ate", "iti", "ous", "ive", "ize",
    ]

    private static func plural(_ letters: inout [UInt8]) {
        if ends(letters, "sses") || ends(letters, "ies") {
            letters.removeLast(2)
        } else if letters.last == s, !ends(letters, "ss") {
            letters.removeLast()
        }
    }

    private static func past(_ letters: inout [UInt8]) {
        if ends(letters, "eed") {
            if measure(letters.dropLast(3)) > 0 { letters.removeLast() }
            return
        }
        for suffix in ["ed", "ing"] where ends(letters, suffix) {
            let stem = letters.dropLast(suffix.utf8.count)
            guard hasVowel(stem) else { return }
            letters = Array(stem)
            if ends(letters, "at") || ends(letters, "bl") || ends(letters, "iz") {
                letters.append(e)
            } else if hasDouble(letters), let last = letters.last, ![l, s, z].contains(last) {
                letters.removeLast()
            } else if measure(letters[...]) == 1, endsShort(letters[...]) {
                letters.append(e)
            }
            return
        }
    }

    private static func trim(_ letters: inout [UInt8]) {
        if letters.last == e {
            let stem = letters.dropLast()
            let count = measure(stem)
            if count > 1 || (count == 1 && !endsShort(stem)) { letters = Array(stem) }
        }
        if letters.last == l, hasDouble(letters), measure(letters[...]) > 1 {
            letters.removeLast()
        }
    }

    /// Exchanges a suffix when what is before it is long enough; `true` when it was there.
    private static func replace(
        _ suffix: String, by replacement: String, _ least: Int, _ letters: inout [UInt8]
    ) -> Bool {
        guard ends(letters, suffix) else { return false }
        let stem = letters.dropLast(suffix.utf8.count)
        if measure(stem) > least { letters = Array(stem) + Array(replacement.utf8) }
        return true
    }

    private static func ends(_ letters: [UInt8], _ suffix: String) -> Bool {
        letters.count > suffix.utf8.count
            && letters.suffix(suffix.utf8.count)
                .elementsEqual(suffix.utf8)
    }

    private static func isConsonant(_ letters: ArraySlice<UInt8>, _ index: Int) -> Bool {
        switch letters[index] {
        case UInt8(ascii: "a"), e, i, UInt8(ascii: "o"), UInt8(ascii: "u"): false
        case y: index == letters.startIndex || !isConsonant(letters, index - 1)
        default: true
        }
    }

    /// How often a vowel is followed by a consonant.
    private static func measure(_ letters: ArraySlice<UInt8>) -> Int {
        var count = 0
        var wasVowel = false
        for index in letters.indices {
            let isVowel = !isConsonant(letters, index)
            if wasVowel, !isVowel { count += 1 }
            wasVowel = isVowel
        }
        return count
    }

    private static func hasVowel(_ letters: ArraySlice<UInt8>) -> Bool {
        letters.indices.contains { !isConsonant(letters, $0) }
    }

    private static func hasDouble(_ letters: [UInt8]) -> Bool {
        letters.count > 1 && letters[letters.count - 1] == letters[letters.count - 2]
            && isConsonant(letters[...], letters.count - 1)
    }

    /// Whether the end is consonant, vowel, consonant, the last not w, x or y.
    private static func endsShort(_ letters: ArraySlice<UInt8>) -> Bool {
        let last = letters.endIndex - 1
        guard letters.count >= 3, isConsonant(letters, last), !isConsonant(letters, last - 1),
            isConsonant(letters, last - 2)
        else { return false }
        return ![UInt8(ascii: "w"), UInt8(ascii: "x"), y].contains(letters[last])
    }
}
