/// The way in which a shell writes results.
enum ShellFormat: Sendable {
    /// As MongoDB's shell.
    case shell
    /// As MongoDB's shell, and the documents of a cursor or a list as a table.
    case table
    /// As relaxed Extended JSON.
    case relaxed
    /// As canonical Extended JSON.
    case canonical

    /// Whether values are written as MongoDB's shell writes them.
    var isShell: Bool {
        switch self {
        case .shell, .table: true
        case .relaxed, .canonical: false
        }
    }
}
