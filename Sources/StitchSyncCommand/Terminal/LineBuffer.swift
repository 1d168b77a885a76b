/// A line that a person edits, and the place of the cursor in it.
///
/// ```swift
/// var line = LineBuffer("db.items")
/// line.insert(".find()")
/// line.move(to: 0)
/// ```
struct LineBuffer: Equatable {
    /// The characters of the line.
    private(set) var characters: [Character]
    /// The number of characters before the cursor.
    private(set) var cursor: Int
    /// The characters that were cut last.
    private(set) var cut: [Character] = []

    /// Creates a line with the cursor at its end.
    init(_ text: String = "") {
        characters = Array(text)
        cursor = characters.count
    }

    /// The line as a text.
    var text: String { String(characters) }

    /// The part before the cursor.
    var textBeforeCursor: String { String(characters[..<cursor]) }

    /// Replaces the line; the cursor is at its end.
    mutating func replace(with text: String) {
        characters = Array(text)
        cursor = characters.count
    }

    /// Inserts a text at the cursor.
    mutating func insert(_ text: String) {
        characters.insert(contentsOf: text, at: cursor)
        cursor += text.count
    }

    /// Moves the cursor to a place, or to the nearest one in the line.
    mutating func move(to place: Int) { cursor = max(0, min(place, characters.count)) }

    /// Moves the cursor by some characters.
    mutating func move(by count: Int) { move(to: cursor + count) }

    /// Removes the character before the cursor.
    mutating func removeBefore() {
        guard cursor > 0 else { return }
        cursor -= 1
        characters.remove(at: cursor)
    }

    /// Removes the character behind the cursor.
    mutating func removeBehind() {
        guard cursor < characters.count else { return }
        characters.remove(at: cursor)
    }

    /// Cuts the characters between the cursor and a place.
    mutating func cut(to place: Int) {
        let (first, end) = (min(place, cursor), max(place, cursor))
        guard first < end else { return }
        cut = Array(characters[first..<end])
        characters.removeSubrange(first..<end)
        cursor = first
    }

    /// Inserts what was cut last.
    mutating func paste() { insert(String(cut)) }

    /// Exchanges the characters around the cursor.
    mutating func exchange() {
        guard characters.count > 1, cursor > 0 else { return }
        let place = min(cursor, characters.count - 1)
        characters.swapAt(place - 1, place)
        cursor = place + 1
    }

    /// The place of the beginning of the word before the cursor.
    var wordStart: Int {
        var place = cursor
        while place > 0, !Self.isOfWord(characters[place - 1]) { place -= 1 }
        while place > 0, Self.isOfWord(characters[place - 1]) { place -= 1 }
        return place
    }

    /// The place of the end of the word behind the cursor.
    var wordEnd: Int {
        var place = cursor
        while place < characters.count, !Self.isOfWord(characters[place]) { place += 1 }
        while place < characters.count, Self.isOfWord(characters[place]) { place += 1 }
        return place
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "$"
    }
}
