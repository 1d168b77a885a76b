/// The characters that a search without regard to case treats as one.
///
/// Characters are one if their simple case foldings are equal. Most have one capital and one small
/// letter, which the standard library knows; ``classes`` lists all others.
///
/// Source: Unicode Character Database, CaseFolding.txt, status C and S.
enum CaseVariants {
    /// Returns the other characters that a character is one with.
    static func of(_ character: UInt32) -> [UInt32] {
        switch character {
        // The letters with a third form: K and S.
        case 0x4B, 0x53, 0x6B, 0x73: break
        case 0x41...0x5A, 0x61...0x7A: return [character ^ 0x20]
        case 0..<0x80: return []
        default: break
        }
        if let listed = table[character] { return listed }
        guard let scalar = Unicode.Scalar(character) else { return [] }
        let properties = scalar.properties
        return [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { text in
            let scalars = text.unicodeScalars
            guard let first = scalars.first, scalars.count == 1, first != scalar else { return nil }
            return first.value
        }
    }

    private static let table: [UInt32: [UInt32]] = {
        var table: [UInt32: [UInt32]] = [:]
        for characters in classes + iotaPairs {
            for character in characters {
                table[character] = characters.filter { $0 != character }
            }
        }
        return table
    }()

    /// The sets of three and more, those whose mappings are several characters, and the dotless i,
    /// which is alone.
    private static let classes: [[UInt32]] = [
        [0x4B, 0x6B, 0x212A], [0x53, 0x73, 0x17F], [0xC5, 0xE5, 0x212B], [0xDF, 0x1E9E], [0x131],
        [0x1C4, 0x1C5, 0x1C6], [0x1C7, 0x1C8, 0x1C9], [0x1CA, 0x1CB, 0x1CC],
        [0x1F1, 0x1F2, 0x1F3], [0x345, 0x399, 0x3B9, 0x1FBE], [0x392, 0x3B2, 0x3D0],
        [0x395, 0x3B5, 0x3F5], [0x398, 0x3B8, 0x3D1, 0x3F4], [0x39A, 0x3BA, 0x3F0],
        [0xB5, 0x39C, 0x3BC], [0x3A0, 0x3C0, 0x3D6], [0x3A1, 0x3C1, 0x3F1],
        [0x3A3, 0x3C2, 0x3C3], [0x3A6, 0x3C6, 0x3D5], [0x3A9, 0x3C9, 0x2126],
        [0x412, 0x432, 0x1C80], [0x414, 0x434, 0x1C81], [0x41E, 0x43E, 0x1C82],
        [0x421, 0x441, 0x1C83], [0x422, 0x442, 0x1C84, 0x1C85], [0x42A, 0x44A, 0x1C86],
        [0x462, 0x463, 0x1C87], [0x1C88, 0xA64A, 0xA64B], [0x1E60, 0x1E61, 0x1E9B],
        [0x1FB3, 0x1FBC], [0x1FC3, 0x1FCC], [0x1FF3, 0x1FFC], [0x390, 0x1FD3], [0x3B0, 0x1FE3],
        [0xFB05, 0xFB06],
    ]

    /// Greek letters with an iota below and their capitals with one beside.
    private static let iotaPairs: [[UInt32]] = ([0x1F80, 0x1F90, 0x1FA0] as [UInt32]).flatMap {
        first in (first..<first + 8).map { [$0, $0 + 8] }
    }
}
