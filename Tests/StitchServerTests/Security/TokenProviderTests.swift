import BSONStore
import Foundation
import NIOCore
import TestProcesses
import Testing

@testable import StitchServer

/// A token of one identity provider must not count as one of another, and no provider may stop others
/// from signing in.
@Suite(.timeLimit(.minutes(10))) struct TokenProviderTests {
    /// A set with a key; nothing is signed with it.
    private static func set(_ ids: String...) -> String {
        let modulus = String(repeating: "A", count: 342)
        let keys = ids.map { #"{"kty":"RSA","kid":"\#($0)","e":"AQAB","n":"\#(modulus)"}"# }
        return #"{"keys":[\#(keys.joined(separator: ","))]}"#
    }

    private static func coded(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    /// A token without a valid signature.
    private static func token(kid: String?) throws -> WebToken {
        let id = kid.map { #","kid":"\#($0)""# } ?? ""
        let head = coded(#"{"alg":"RS256"\#(id)}"#)
        return try #require(WebToken(head + "." + coded(#"{"sub":"ann"}"#) + ".AAAA"))
    }

    private static func provider(_ address: String, _ certificate: Certificate) throws
        -> TokenProvider
    {
        var provider = TokenProvider(keysFile: "", issuer: "https://id.example", audience: "shop")
        provider.name = "id"
        provider.keys = .address(
            try #require(KeyAddress(address, authorities: certificate.chain)))
        return provider
    }

    private static func download(
        _ address: String, trusting certificate: String?,
        within limit: TimeAmount = .seconds(60)
    ) async throws -> Result<[UInt8], any Error> {
        let address = try #require(KeyAddress(address, authorities: certificate))
        return await withCheckedContinuation { continuation in
            KeyDownload.start(address, within: limit) { continuation.resume(returning: $0) }
        }
    }

    private static func failure(_ result: Result<[UInt8], any Error>) -> KeyDownloadError? {
        guard case .failure(let error) = result else { return nil }
        return error as? KeyDownloadError
    }

    @Test func `keys are downloaded over HTTPS, and wrong answers are refused`() async throws {
        try await Certificate.lend { certificate in
            try await KeyServer.lend(certificate, answering: .content("keys")) { server in
                let address = server.address
                func answer(_ answer: KeyServer.Answer) async throws -> KeyDownloadError? {
                    server.set(answer)
                    return Self.failure(
                        try await Self.download(address, trusting: certificate.chain))
                }
                let content = try await Self.download(address, trusting: certificate.chain).get()
                #expect(content == Array("keys".utf8))
                let numbers = address.replacing("localhost", with: "127.0.0.1")
                #expect(
                    try await Self.download(numbers, trusting: certificate.chain).get() == content)
                #expect(try await answer(.redirect("https://evil.example/")) == .redirect(302))
                #expect(try await answer(.status(404)) == .status(404))
                #expect(try await answer(.zeros(10 << 20)) == .tooLarge)
                #expect(try await answer(.cut) == .incomplete)
                server.set(.silence)
                let late = try await Self.download(
                    address, trusting: certificate.chain, within: .milliseconds(300))
                #expect(Self.failure(late) == .tooSlow)
                // Without the certificate's authority.
                let count = server.requests
                await #expect(throws: (any Error).self) {
                    try await Self.download(address, trusting: nil).get()
                }
                #expect(server.requests == count)
            }
        }
    }

    @Test func `unknown keys are fetched once a minute, and a failed fetch loses none`()
        async throws
    {
        try await Certificate.lend { certificate in
            try await KeyServer.lend(certificate, answering: .content(Self.set("one"))) { server in
                let time = Locked(ContinuousClock.now)
                let lines = Locked<[String]>([])
                let log = ServerLog { _, line in lines.withLock { $0.append(line) } }
                let keys = ProviderKeys(
                    try Self.provider(server.address, certificate), log,
                    now: { time.withLock { $0 } })
                /// Returns the ids of the keys for a token, after a wait if one is needed.
                func ids(_ kid: String?) async throws -> [String?] {
                    let token = try Self.token(kid: kid)
                    do {
                        return try keys.keys(for: token, mayWait: true).map(\.id)
                    } catch let awaited as AwaitedKeys {
                        await withCheckedContinuation { continuation in
                            _ = awaited.subscribe { continuation.resume() }
                        }
                        return try keys.keys(for: token, mayWait: false).map(\.id)
                    }
                }
                keys.prefetch()
                #expect(try await ids("one") == ["one"])
                #expect(try await ids(nil) == ["one"])
                // A flood of invented keys.
                for number in 0..<50 { #expect(try await ids("wrong\(number)") == ["one"]) }
                #expect(server.requests == 1)
                // The provider rotates its key.
                server.set(.content(Self.set("one", "two")))
                time.withLock { $0 += ProviderKeys.pause }
                try await withThrowingTaskGroup { group in
                    for _ in 0..<20 { group.addTask { try await ids("two") } }
                    for try await ids in group { #expect(ids == ["one", "two"]) }
                }
                #expect(server.requests == 2)
                for answer: KeyServer.Answer in [
                    .status(500), .content("garbage"), .content(#"{"keys":[]}"#),
                    .redirect("https://evil.example"),
                ] {
                    server.set(answer)
                    time.withLock { $0 += ProviderKeys.pause }
                    #expect(try await ids("three") == ["one", "two"])
                }
                #expect(server.requests == 6)
                #expect(lines.withLock { $0 }.count { $0.contains("cannot fetch the keys") } == 4)
                // A key that the provider revoked is forgotten within an hour.
                server.set(.content(Self.set("two")))
                time.withLock { $0 += ProviderKeys.ageMax }
                _ = try await ids("one")
                #expect(try await ids("four").contains("two"))
                #expect(server.requests == 7)
            }
        }
    }

    @Test(
        arguments: [
            (#"{}"#, "add \"name\""), ("{", "not a JSON document"),
            (#"{"name": "Id"}"#, "add \"name\""),
            (#"{"name": "id"}"#, "add \"issuer\""),
            (#"{"name": "id", "issuer": "i"}"#, "add \"audience\""),
            (#"{"name": "id", "issuer": "i", "audience": []}"#, "add \"audience\""),
            (#"{"name": "id", "issuer": "i", "audience": ["a", 1]}"#, "add \"audience\""),
            (#"{"name": "id", "issuer": "i", "audience": "a"}"#, "add \"keys\""),
            (
                #"{"name": "id", "issuer": "i", "audience": "a", "keys": "http://x.example/"}"#,
                "https://"
            ),
            (
                #"{"name": "id", "issuer": "i", "audience": "a", "keys": "k", "algorithms": ["none"]}"#,
                "RS256"
            ),
            (
                #"{"name": "id", "issuer": "i", "audience": "a", "keys": "k", "custom_data": {"a": "b.c"}}"#,
                "custom_data"
            ),
            (#"{"name": "id", "isuer": "i"}"#, "no field isuer"),
        ])
    func `a provider without what it needs is refused`(text: String, part: String) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "provider-\(UUID())")
        try Data(text.utf8).write(to: file)
        let error = #expect(throws: UnsafeSettings.self) { try TokenProvider(file: file.path) }
        #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
        try FileManager.default.removeItem(at: file)
    }

    @Test func `only encrypted addresses and those of this machine are fetched from`() {
        for text in [
            "https://id.example/keys", "https://id.example:8443/k?a=b", "http://127.0.0.1:80/",
            "http://localhost/x", "http://[::1]:8080/x",
        ] {
            #expect(KeyAddress(text) != nil, "\(text)")
        }
        for text in [
            "http://id.example/", "http://127.evil.example/", "http://localhost.evil.example/",
            "https://user:pw@id.example/", "https:///x", "file:///etc/passwd", "ftp://localhost/",
            "https://", "",
        ] {
            #expect(KeyAddress(text) == nil, "\(text)")
        }
    }

    @Test func `two providers differ in name and issuer`() throws {
        var one = TokenProvider(keysFile: "k", issuer: "i", audience: "a")
        var two = one
        #expect(throws: UnsafeSettings.self) { try TokenProvider.checkDifferent([one, two]) }
        two.issuer = "j"
        #expect(throws: UnsafeSettings.self) { try TokenProvider.checkDifferent([one, two]) }
        one.name = "one"
        try TokenProvider.checkDifferent([one, two])
    }
}
