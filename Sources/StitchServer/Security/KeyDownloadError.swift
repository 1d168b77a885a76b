/// The reason why keys could not be fetched.
enum KeyDownloadError: Error, CustomStringConvertible, Sendable, Hashable {
    case noServer, malformed, empty, tooMany, tooLarge, tooSlow, incomplete
    case redirect(Int)
    case status(Int)

    /// The largest number of keys of an address.
    static let keysMax = 64

    var description: String {
        switch self {
        case .noServer: "the program was built without a server"
        case .malformed: "the answer is not a JSON Web Key Set"
        case .empty: "the answer has no signing key"
        case .tooMany: "the answer has more than \(Self.keysMax) signing keys"
        case .tooLarge: "the answer is too large"
        case .tooSlow: "the answer did not arrive in time"
        case .incomplete: "the connection was closed before the end of the answer"
        case .redirect(let code):
            "the answer is a redirect (\(code)), which is not followed; name the final address"
        case .status(let code): "the answer has the status \(code) instead of 200"
        }
    }
}
