import Testing

@testable import BSONCore
@testable import BSONStore

/// A wrong hash would refuse every sign-in, or open a user's store with another secret.
@Suite struct SHA256Tests {
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Source: NIST's examples for FIPS 180-4; those of one and of two blocks' edge by Python's hashlib.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 55),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
        ),
        (
            String(repeating: "a", count: 64),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
        ),
    ])
    func `known hashes come out`(_ text: String, _ expected: String) {
        #expect(Self.hexadecimal(SHA256.hash(Array(text.utf8))) == expected)
    }

    /// Source: RFC 4231, cases 2, 6 (a key longer than a block) and 7.
    @Test(arguments: [
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "This is a test using a larger than block-size key and a larger than block-size data. "
                + "The key needs to be hashed before being used by the HMAC algorithm.",
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ])
    func `known codes come out`(_ key: [UInt8], _ text: String, _ expected: String) {
        #expect(Self.hexadecimal(SHA256.code(Array(text.utf8), key: key)) == expected)
    }

    /// Source: RFC 7914, section 11, and draft-josefsson-pbkdf2-test-vectors with SHA-256.
    @Test(arguments: [
        ("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
        (
            "Password", "NaCl", 80_000,
            "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"
        ),
        ("password", "salt", 1, "120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b"),
        (
            "password", "salt", 4_096,
            "c5e478d59288c841aa530db6845c4c8d962893a001ce4e11a4963873aa98134a"
        ),
        ("x", "yy", 3, "53c1df38c02013114aea0a5f2a4b6a410968655a6591604838da03b5a6bb662a"),
        (
            String(repeating: "p", count: 100), String(repeating: "s", count: 70), 5,
            "358a1d92331a8dc6e2e811b782e5654b6a627cfe47d260ffba86c523670ff9e4"
        ),
    ])
    func `known keys come out`(
        _ secret: String, _ salt: String, _ rounds: Int, _ expected: String
    ) {
        let key = SHA256.derivedKey(
            of: Array(secret.utf8), salt: Array(salt.utf8), rounds: Int32(rounds))
        #expect(Self.hexadecimal(key) == expected)
    }

    @Test func `bytes are equal only if all of them are`() {
        let bytes = SHA256.hash([1])
        #expect(SHA256.areEqual(bytes, bytes) && SHA256.areEqual([], []))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(!SHA256.areEqual(bytes, other))
        }
        #expect(!SHA256.areEqual(bytes, bytes + [0]) && !SHA256.areEqual(bytes, []))
    }

    @Test func `empty bytes, keys and secrets have results, too`() {
        #expect(SHA256.code([], key: []).count == 32)
        #expect(SHA256.derivedKey(of: [], salt: [1], rounds: 2).count == 32)
    }
}
