import Testing

@testable import BSONCore
@testable import BSONStore

/// A wrong hash would open a user's store with another secret, or with none on the next version.
@Suite struct SlowHashTests {
    /// Source: RFC 7914, section 11, and draft-josefsson-pbkdf2-test-vectors with SHA-256.
    @Test(arguments: [
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
    func `known hashes come out`(
        _ secret: String, _ salt: String, _ rounds: Int, _ expected: String
    ) {
        let hash = SlowHash.bytes(
            of: Array(secret.utf8), salt: Array(salt.utf8), rounds: Int32(rounds))
        let text = hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(text == expected)
    }

    @Test func `an empty secret has a hash, too`() {
        #expect(SlowHash.bytes(of: [], salt: [1], rounds: 2).count == 32)
    }
}
