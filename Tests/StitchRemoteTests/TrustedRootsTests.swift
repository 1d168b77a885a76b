#if Remote
    import Foundation
    import StitchSync
    import Testing

    @testable import StitchRemote

    /// Without these an app that trusts a certificate of its own could trust none, or the system's.
    @Suite struct TrustedRootsTests {
        private static func pem(_ encoded: String) -> String {
            "-----BEGIN CERTIFICATE-----\n\(encoded)\n-----END CERTIFICATE-----\n"
        }

        private static func roots(_ text: String) throws(RemoteError) -> [[UInt8]]? {
            try TrustedRoots(file: nil, texts: [text])?.certificates
        }

        @Test func `without a name there are no roots`() throws {
            #expect(try TrustedRoots(file: nil, texts: []) == nil)
        }

        @Test func `certificates are read from between their lines`() throws {
            let text =
                "issued to me\n" + Self.pem("AQID\nBA==") + "\nand the next\n" + Self.pem("BQ==")
            #expect(try Self.roots(text) == [[1, 2, 3, 4], [5]])
            let windows = text.replacing("\n", with: "\r\n")
            #expect(try Self.roots(windows) == [[1, 2, 3, 4], [5]])
        }

        @Test(
            "what is no certificate is refused, with its place",
            arguments: [
                ("", "there is no certificate"),
                ("AQID", "there is no certificate"),
                (
                    Self.pem("AQID").replacing("CERTIFICATE", with: "PRIVATE KEY"),
                    "there is no certificate"
                ),
                (Self.pem("AQID") + Self.pem("?"), "certificate 2 is not base64"),
                (Self.pem(""), "certificate 1 is not base64"),
                ("-----BEGIN CERTIFICATE-----\nAQID\n", "the last one has no end"),
            ])
        func refused(_ text: String, _ reason: String) {
            let error = #expect(throws: RemoteError.self) { try Self.roots(text) }
            #expect(error?.message.contains(reason) == true, "\(error?.message ?? "-")")
            #expect(error?.message.contains("trustedRoots[0]") == true)
            #expect(error?.errorClass == .rejected)
        }

        @Test func `comments of a file may be in any encoding`() throws {
            let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).pem")
            try (Data([0x4D, 0xFC, 0x0A]) + Data(Self.pem("AQID").utf8)).write(to: file)
            defer { unlink(file.path) }
            #expect(try TrustedRoots(file: file.path, texts: [])?.certificates == [[1, 2, 3]])
        }

        @Test func `PEM that is not X 509 is refused`() {
            var options = ServerRemote.Options()
            options.trustedRoots = [Self.pem("AQID")]
            let error = #expect(throws: RemoteError.self) {
                try ServerRemote("stitchsync://h/?tls=true", options: options)
            }
            #expect(error?.message.contains("the trusted certificate 1 cannot be read") == true)
        }
    }
#endif
