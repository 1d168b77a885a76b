internal import BSONStore
internal import StitchConsoleC

/// The files of the console's pages, which the compiler embeds.
enum ConsoleFiles {
    /// Returns the file of a path; `nil` for another path.
    static func file(_ path: String) -> ConsoleAnswer? {
        let wanted = path.hasSameBytes(as: "/") ? "/index.html" : path
        for index in 0..<stitch_console_page_count() {
            let page = stitch_console_page(index)
            guard let name = page.path, String(cString: name).hasSameBytes(as: wanted) else {
                continue
            }
            let bytes = UnsafeBufferPointer(start: page.bytes, count: Int(page.count))
            return ConsoleAnswer(status: 200, type: type(of: wanted), body: Array(bytes))
        }
        return nil
    }

    private static func type(of path: String) -> String {
        if path.hasByteSuffix(".html") { return "text/html" }
        if path.hasByteSuffix(".css") { return "text/css" }
        if path.hasByteSuffix(".js") { return "text/javascript" }
        return path.hasByteSuffix(".svg") ? "image/svg+xml" : "application/octet-stream"
    }
}
