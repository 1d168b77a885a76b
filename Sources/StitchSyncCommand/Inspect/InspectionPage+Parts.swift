import BSONStore

/// The small parts and the style of the page.
extension InspectionPage {
    /// The maximum number of shown characters of a document.
    private static let shownMax = 600

    func section(_ title: String, _ body: HTML) -> HTML {
        "<section><h2>\(title)</h2>\n\(body)</section>\n"
    }

    /// - Parameter isOfNumbers: whether all columns but the first hold numbers.
    func table(_ titles: [String], isOfNumbers: Bool = false, _ rows: [HTML]) -> HTML {
        let head = titles.enumerated().map { index, title -> HTML in
            let look = isOfNumbers && index > 0 ? "number" : "text"
            return "<th scope=\"col\" class=\"\(look)\">\(title)</th>"
        }
        return """
            <div class="scroll"><table><thead><tr>\(head)</tr></thead>
            <tbody>
            \(rows)</tbody></table></div>

            """
    }

    /// Returns a text whose commands stand between backticks.
    func prose(_ text: String) -> HTML {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map {
            index, part -> HTML in
            index.isMultiple(of: 2) ? "\(String(part))" : "<code>\(String(part))</code>"
        }
        return "\(parts)"
    }

    func code(_ value: BSONValue) -> HTML {
        "<code>\(Self.cut(value.extendedJSON(.relaxed)))</code>"
    }

    func edition(_ document: BSONDocument?) -> HTML {
        guard let document else { return "<span class=\"faint\">no document</span>" }
        let text = Self.cut(document.extendedJSON(.relaxed))
        return "<code class=\"document\">\(text)</code>"
    }

    private static func cut(_ text: String) -> String {
        text.count <= shownMax ? text : text.prefix(shownMax) + " …"
    }

    /// Returns a size in readable units.
    static func size(_ bytes: Int) -> String {
        if bytes < 1024 { return "\(bytes) B" }
        if bytes < 1024 * 1024 { return "\(bytes / 1024) KiB" }
        let tenths = bytes * 10 / (1024 * 1024)
        return "\(tenths / 10).\(tenths % 10) MiB"
    }

    static let style = """
        :root { --back: #f6f7f9; --card: #fff; --ink: #1c2330; --faint: #5d6778; --line: #dde1e8;
          --sent: #2f6fdd; --received: #1f9d6b; --conflicts: #c77700; --stopped: #c23a3a; --errors: #8a4fc7; }
        @media (prefers-color-scheme: dark) { :root { --back: #12151b; --card: #1b2029;
          --ink: #e6e9ef; --faint: #9aa5b5; --line: #303846; --sent: #6ea0ff; --received: #4fcf9b;
          --conflicts: #f0ab45; --stopped: #f07a7a; --errors: #bf92f0; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--ink);
          font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
        header, main { max-width: 1100px; margin: 0 auto; padding: 0 16px; }
        header { padding-top: 20px; }
        h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
        h2 { margin: 0 0 8px; font-size: 1.1rem; }
        p { margin: 0 0 10px; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
          padding: 14px 16px; margin: 14px 0; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(110px, 1fr)); gap: 10px;
          background: none; border: 0; padding: 0; }
        .tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
          padding: 10px 14px; }
        .tile strong { display: block; font-size: 1.35rem; white-space: nowrap; }
        .tile span, .faint { color: var(--faint); }
        .tile.wait strong { color: var(--conflicts); }
        .tile.bad strong { color: var(--stopped); }
        .warning { border-color: var(--stopped); }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; }
        th, td { padding: 6px 10px; border-bottom: 1px solid var(--line); text-align: left;
          vertical-align: top; }
        tbody tr:last-child > * { border-bottom: 0; }
        thead th { color: var(--faint); font-weight: 600; white-space: nowrap; }
        .number { text-align: right; font-variant-numeric: tabular-nums; }
        code { font: 12.5px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
          overflow-wrap: anywhere; }
        td code { display: inline-block; max-width: 460px; }
        td code.document { min-width: 150px; }
        .time { white-space: nowrap; }
        summary { cursor: pointer; font-weight: 600; padding: 4px 0; }
        .badge { border: 1px solid currentColor; border-radius: 99px; padding: 0 8px;
          font-size: .85em; white-space: nowrap; }
        .badge.synced { color: var(--received); }
        .badge.pending, .badge.stale, .badge.deleted { color: var(--conflicts); }
        .badge.paused, .badge.conflicted, .badge.rejected, .badge.stopped { color: var(--stopped); }
        .waits { list-style: none; margin: 0; padding: 0; }
        .waits li { padding: 6px 0; border-bottom: 1px solid var(--line); }
        .waits li:last-child { border-bottom: 0; }
        .conflict { margin: 0 0 18px; }
        .conflict h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
        .conflict table { table-layout: fixed; min-width: 700px; }
        .conflict th[scope=row] { font-weight: 600; overflow-wrap: anywhere; }
        .changed code { border-left: 3px solid var(--conflicts); padding-left: 6px; font-weight: 700; }
        @media (max-width: 720px) {
          .conflict table { min-width: 0; }
          .conflict thead { display: none; }
          .conflict tbody, .conflict tr, .conflict td, .conflict th { display: block; }
          .conflict td { border: 0; padding: 2px 0 2px 12px; }
          .conflict td::before { content: attr(data-title) ": "; color: var(--faint); }
        }
        .timeline { display: block; min-width: 640px; width: 100%; height: auto; }
        .timeline text { fill: var(--ink); font-size: 12px; }
        .timeline text.faint { fill: var(--faint); font-size: 11px; }
        .timeline .rule { stroke: var(--line); }
        .timeline .sent { fill: var(--sent); } .timeline .received { fill: var(--received); }
        .timeline .conflicts { fill: var(--conflicts); } .timeline .stopped { fill: var(--stopped); }
        .timeline .errors { fill: var(--errors); }
        """
}
