import BSONStore
import Foundation
import Testing

@testable import StitchServer

/// What OpenSSL says of sums and signatures is asked for in the right way.
@Suite struct SignatureTests {
    /// Tokens that another library signed, with their public keys.
    private static func tokens() throws -> [(algorithm: String, key: BSONDocument, token: String)] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "fixtures/server/tokens.json")
        let document = try BSONDocument(
            extendedJSON: String(contentsOf: file, encoding: .utf8))
        return try #require(document["tokens"]?.arrayValue).map { entry in
            let entry = try #require(entry.documentValue)
            return (
                try #require(entry["algorithm"]?.stringValue),
                try #require(entry["key"]?.documentValue),
                try #require(entry["token"]?.stringValue)
            )
        }
    }

    @Test("A token of each algorithm is the key's, and no other is")
    func tokensOfEachAlgorithm() throws {
        let tokens = try Self.tokens()
        #expect(Set(tokens.map(\.algorithm)) == Set(WebKey.Algorithm.allCases.map(\.rawValue)))
        let keys = try tokens.map { try #require(WebKey($0.key)) }
        for (index, (name, _, text)) in tokens.enumerated() {
            let token = try #require(WebToken(text))
            #expect(token.isSigned(by: [keys[index]]), "\(name)")
            for (other, key) in keys.enumerated() where !key.algorithms.contains(token.algorithm) {
                #expect(!token.isSigned(by: [key]), "\(name) by the key of \(tokens[other])")
            }
            for algorithm in WebKey.Algorithm.allCases where algorithm != token.algorithm {
                #expect(
                    !keys[index].verifies(token.signature, of: token.signed, algorithm)
                        || !keys[index].algorithms.contains(algorithm), "\(name) as \(algorithm)")
            }
            for place in stride(from: 0, to: token.signature.count, by: 7) {
                var wrong = token.signature
                wrong[place] ^= 1
                #expect(
                    !keys[index].verifies(wrong, of: token.signed, token.algorithm),
                    "\(name), byte \(place)")
            }
            for wrong in [[], Array(token.signature.dropLast()), token.signature + [0]] {
                #expect(!keys[index].verifies(wrong, of: token.signed, token.algorithm), "\(name)")
            }
            #expect(
                !keys[index].verifies(token.signature, of: token.signed + [0], token.algorithm),
                "\(name)")
        }
    }

    @Test("A point beside its curve is no key")
    func pointsBesideTheCurve() throws {
        for (name, key, text) in try Self.tokens() where name.hasPrefix("ES") {
            var wrong = key
            wrong["y"] = key["x"]
            let token = try #require(WebToken(text))
            let read = try #require(WebKey(wrong))
            #expect(!token.isSigned(by: [read]), "\(name)")
        }
    }

    /// Source: RFC 1321, RFC 3174, FIPS 180-4; RFC 2202 and RFC 4231, case 2; RFC 6070, case 2, and
    /// RFC 7914, section 11, of which the first half.
    @Test("Sums, keyed sums and derived keys are those of their standards")
    func sums() throws {
        let text = Array("abc".utf8)
        #expect(try DigestAlgorithm.md5.sum(text).hexadecimal == "900150983cd24fb0d6963f7d28e17f72")
        #expect(try DigestAlgorithm.md5.sum([]).hexadecimal == "d41d8cd98f00b204e9800998ecf8427e")
        #expect(
            try DigestAlgorithm.sha1.sum(text).hexadecimal
                == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            try DigestAlgorithm.sha256.sum(text).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let (key, question) = (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8))
        #expect(
            try DigestAlgorithm.sha1.code(question, key: key).hexadecimal
                == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
        #expect(
            try DigestAlgorithm.sha256.code(question, key: key).hexadecimal
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let (secret, salt) = (Array("password".utf8), Array("salt".utf8))
        #expect(
            try DigestAlgorithm.sha1.derivedKey(secret, salt: salt, iterations: 2).hexadecimal
                == "ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957")
        #expect(
            try DigestAlgorithm.sha256.derivedKey(
                Array("passwd".utf8), salt: salt, iterations: 1
            ).hexadecimal == "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
    }

    @Test("A sum of parts is the sum of the whole")
    func runningSums() throws {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        let digest = try RunningDigest(.md5)
        for part in [bytes[..<1], bytes[1..<1], bytes[1..<700], bytes[700...]] {
            try part.withUnsafeBytes { try digest.add($0) }
        }
        #expect(try digest.sum() == DigestAlgorithm.md5.sum(bytes))
    }
}
