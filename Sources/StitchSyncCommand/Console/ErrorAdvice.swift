/// What a person can do about an error, added to its message.
///
/// The errors of connections and of SQLite are known by their texts only.
enum ErrorAdvice {
    private static let table: [(texts: [String], advice: String)] = [
        (
            ["Connection refused"],
            "nothing listens there; start `stitchsync serve`, or check the host and the port"
        ),
        (
            ["CERTIFICATE_VERIFY_FAILED", "certificate verify failed", "unable to verify"],
            "the server's certificate is not trusted; name its authority's certificate by "
                + "?tlsCAFile=FILE in the address"
        ),
        (
            ["handshakeFailed", "WRONG_VERSION_NUMBER", "EOF during handshake"],
            "the server may not offer TLS, or not trust this client; try the address without tls, "
                + "or name certificates by ?tlsCAFile=FILE"
        ),
        (
            ["no answer yet"],
            "a server listens there, but does not answer as MongoDB does; check the port, and add "
                + "?tls=true if it wants TLS"
        ),
        (
            ["Address already in use"],
            "another process has the port; stop it, or name another port (--port, --metrics-port "
                + "or --console; 0 is any free one)"
        ),
        (
            ["file is not a database"],
            "the file is not a store, or it is encrypted: only the app with the key can open it"
        ),
    ]

    /// Returns the advice for a message; `nil` if there is none.
    static func advice(for message: String) -> String? {
        table.first { $0.texts.contains { message.contains($0) } }?.advice
    }
}
