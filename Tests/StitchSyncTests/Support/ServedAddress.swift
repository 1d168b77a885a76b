/// A server on this machine, and how a remote is to talk to it.
struct ServedAddress: Sendable {
    let port: Int
    /// The name and password of a user of the database `admin`.
    var user: (name: String, password: String)?
    /// Whether a request is repeated after a failed connection; that hides losses from tests.
    var repeats = true
    /// Whether a remote stays with this address, such as a proxy's, whatever the server says of itself.
    var isOnly = false
    /// Whether a batch is one `bulkWrite` command; `nil` leaves it to the server's version.
    var inBulk: Bool?

    init(port: Int) { self.port = port }

    /// The address as a connection string.
    var uri: String {
        let user = user.map { "\($0.name):\($0.password)@" } ?? ""
        let options =
            (self.user == nil ? [] : ["authSource=admin"])
            + (repeats ? [] : ["retryWrites=false", "retryReads=false"])
            + (isOnly ? ["directConnection=true"] : [])
        return "mongodb://\(user)127.0.0.1:\(port)/?" + options.joined(separator: "&")
    }
}
