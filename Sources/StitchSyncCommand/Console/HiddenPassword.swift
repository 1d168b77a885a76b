import Foundation

/// The removal of passwords in addresses from what the tool says about them.
///
/// A mistyped address is quoted by many errors: as a path, an option or an unknown argument.
enum HiddenPassword {
    /// The text in the place of a password.
    private static let mark = "(hidden)"

    /// Returns a text without the passwords of addresses in it.
    ///
    /// - Parameter given: texts from the user that the text may quote: arguments and environment.
    static func hidden(in text: String, given: [String] = HiddenPassword.given) -> String {
        var text = text
        for argument in given where !argument.hasPrefix("{") && !argument.hasPrefix("[") {
            guard let password = password(in: argument[...]) else { continue }
            // Wherever it occurs, unless it is so short that other words contain it.
            text = text.replacing(":\(password)@", with: ":\(mark)@")
            if password.count >= 4 { text = text.replacing(password, with: mark) }
        }
        return hiddenInWords(text)
    }

    /// The command line and the address in the environment.
    static var given: [String] {
        let upstream = ProcessInfo.processInfo.environment["STITCHSYNC_UPSTREAM"]
        return CommandLine.arguments.dropFirst() + [upstream].compactMap { $0 }
    }

    /// Warns on standard error of an address that holds a password.
    static func warn(of place: String) throws {
        guard place.contains("://"), password(in: place[...]) != nil else { return }
        try Console.standard.warn(
            "note: other users of this machine can see the password in the address")
    }

    private static func hiddenInWords(_ text: String) -> String {
        var result = ""
        var rest = text[...]
        while !rest.isEmpty {
            let word = rest.prefix { !isBetweenWords($0) }
            if let password = password(in: word) {
                result += word[..<password.startIndex] + mark + word[password.endIndex...]
            } else {
                result += word
            }
            rest = rest[word.endIndex...]
            if let between = rest.popFirst() { result.append(between) }
        }
        return result
    }

    private static func isBetweenWords(_ character: Character) -> Bool {
        character.isWhitespace || "\"'`<>".contains(character)
    }

    /// Returns the part of an address between the user name and the last `@`, whatever the scheme
    /// is and however it is written.
    private static func password(in address: Substring) -> Substring? {
        guard let at = address.lastIndex(of: "@") else { return nil }
        var user = address[..<at]
        if let scheme = user.firstRange(of: ":/") {
            user = user[scheme.upperBound...].drop { $0 == "/" }
        }
        guard let colon = user.firstIndex(of: ":") else { return nil }
        let password = user[user.index(after: colon)...]
        return password.isEmpty || password == mark ? nil : password
    }
}
