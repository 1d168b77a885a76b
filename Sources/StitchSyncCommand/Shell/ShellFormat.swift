/// The way in which a shell writes results.
enum ShellFormat: Sendable {
    /// As MongoDB's shell.
    case shell
    /// As relaxed Extended JSON.
    case relaxed
    /// As canonical Extended JSON.
    case canonical
}
