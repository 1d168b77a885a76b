import BSONStore
import StitchSync

/// A report as a self-contained HTML page.
struct InspectionPage: Sendable {
    private let inspection: StoreInspection

    init(_ inspection: StoreInspection) { self.inspection = inspection }

    /// The page.
    var html: String {
        let page: HTML = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(inspection.name) · stitchsync inspect</title>
            <style>\(HTML(markup: Self.style))</style>
            </head>
            <body>
            <header><h1>\(inspection.name)</h1>
            <p class="faint">written at \(inspection.time.text) by stitchsync inspect</p></header>
            <main>
            \(tiles)\(findings)\(waits)\(conflicts)\(rejected)\(collections)\(passes)\
            \(subscriptions)\(documents)</main>
            </body>
            </html>

            """
        return page.markup
    }

    // MARK: - Overview

    private var tiles: HTML {
        func sum(_ path: KeyPath<SyncStatus, Int>) -> Int {
            inspection.collections.reduce(0) { $0 + $1.status[keyPath: path] }
        }
        let statistics = inspection.statistics
        let documentCount = inspection.collections.reduce(0) { $0 + $1.documentCount }
        let synced: [(name: String, value: String, look: String)] = [
            ("synced", "\(sum(\.synced))", ""),
            ("pending", "\(sum(\.pending))", sum(\.pending) > 0 ? "wait" : ""),
            ("paused", "\(sum(\.paused))", sum(\.paused) > 0 ? "bad" : ""),
            ("rejected", "\(sum(\.rejected))", sum(\.rejected) > 0 ? "bad" : ""),
        ]
        let counts: [(name: String, value: String, look: String)] =
            [("documents", "\(documentCount)", "")]
            + (inspection.isNeverSynced ? [] : synced) + [
                ("file", Self.size(statistics.fileBytes), ""),
                ("unused in the file", Self.size(statistics.freeBytes), ""),
                ("log file", Self.size(statistics.logBytes), ""),
            ]
        let tiles = counts.map { count -> HTML in
            """
            <div class="tile \(count.look)"><strong>\(count.value)</strong>\
            <span>\(count.name)</span></div>

            """
        }
        return "<section class=\"tiles\">\n\(tiles)</section>\n"
    }

    private var findings: HTML {
        guard !inspection.findings.isEmpty else { return "" }
        let items = inspection.findings.map { finding -> HTML in "<li>\("\(finding)")</li>\n" }
        return """
            <section class="warning"><h2>The structural check found faults</h2>
            <ul>\(items)</ul></section>

            """
    }

    private var waits: HTML {
        if inspection.isNeverSynced {
            return section(
                "Sync",
                "<p>This store was never synced: its documents are on this device only.</p>")
        }
        let items = inspection.collections.flatMap(\.remarks).map { remark -> HTML in
            """
            <li><span class="badge \(remark.state)">\(remark.state)</span> \
            <strong>\(remark.place)</strong> \(prose(remark.text))</li>

            """
        }
        return section(
            "What waits",
            items.isEmpty
                ? "<p>Nothing waits: all changes of this device were sent.</p>"
                : "<ul class=\"waits\">\n\(items)</ul>")
    }

    private var passes: HTML {
        guard !inspection.isNeverSynced else { return "" }
        guard !inspection.passes.isEmpty else {
            return section("Syncs", "<p class=\"faint\">No sync changed anything yet.</p>")
        }
        let groups = PassGroup.groups(of: inspection.passes)
        let isSummed = groups.count < inspection.passes.count
        let titles = ["time (UTC)", "syncs"] + Timeline.lanes.map(\.name)
        let rows = groups.map { group -> HTML in
            let counts = ([group.passes.count] + Timeline.lanes.map(group.count)).map {
                count -> HTML in "<td class=\"number\">\(count)</td>"
            }
            return "<tr><th scope=\"row\" class=\"time\">\(group.timeText)</th>\(counts)</tr>\n"
        }
        return section(
            "Syncs",
            """
            <p class="faint">The newest \(inspection.passes.count.counted("sync")) with changes, \
            the newest first\(isSummed ? "; older ones are summed by hour or by day" : ""). In the \
            picture the height of a bar grows with the logarithm of its count.</p>
            <div class="scroll">\(Timeline(passes: inspection.passes).svg)</div>
            \(table(titles, isOfNumbers: true, rows))
            """)
    }

    private var collections: HTML {
        let isSynced = !inspection.isNeverSynced
        let rows = inspection.collections.map { collection -> HTML in
            let status = collection.status
            let synced = [
                status.synced, status.pending, status.toLook, status.paused, status.rejected,
            ]
            let counts = ([collection.documentCount] + (isSynced ? synced : [])).map {
                count -> HTML in "<td class=\"number\">\(count)</td>"
            }
            return """
                <tr><th scope="row">\(collection.namespace.description)</th>\(counts)\
                <td class="number">\(Self.size(collection.byteCount))</td></tr>

                """
        }
        let titles = ["synced", "pending", "to fetch", "paused", "rejected"]
        return section(
            "Collections",
            table(
                ["collection", "documents"] + (isSynced ? titles : []) + ["size"],
                isOfNumbers: true, rows))
    }

    // MARK: - Needs attention

    private var rejected: HTML {
        let rows = inspection.collections.flatMap(\.rejected).map { write -> HTML in
            """
            <tr><td class="number">\("\(write.id)")</td><td>\(write.namespace.description)</td>\
            <td>\(code(write.documentID))</td><td>\(write.change.rawValue)</td>\
            <td>\(write.reason)</td><td class="time">\(write.time.text)</td>\
            <td>\(edition(write.latestDocument))</td></tr>

            """
        }
        guard !rows.isEmpty else { return "" }
        return section(
            "Rejected writes",
            """
            <p class="faint">The remote rejected these writes; <code>stitchsync retry</code> sends \
            them again or drops them.</p>
            \(table(["number", "collection", "_id", "change", "reason", "at", "wanted"], rows))
            """)
    }

    private var conflicts: HTML {
        let parts = inspection.conflicts.reversed().map {
            compared(ConflictComparison(conflict: $0))
        }
        guard !parts.isEmpty else { return "" }
        let shown = parts.prefix(Self.conflictsShown)
        let rest = parts.dropFirst(Self.conflictsShown)
        let more: HTML =
            rest.isEmpty
            ? ""
            : "<details><summary>\(rest.count) older</summary>\(Array(rest))</details>"
        return section(
            "Newest conflicts",
            """
            <p class="faint">Only fields that differ are shown; a mark shows what is not as the \
            last version that both sides had (base).</p>
            \(Array(shown))\(more)
            """)
    }

    /// The number of conflicts that are not folded.
    private static let conflictsShown = 10

    private func compared(_ comparison: ConflictComparison) -> HTML {
        let conflict = comparison.conflict
        let rows = comparison.lines.map { line -> HTML in
            let cells = comparison.cells(of: line).map { cell -> HTML in
                let value: HTML =
                    cell.value.map(code) ?? "<span class=\"faint\">\(cell.text ?? "")</span>"
                return """
                    <td data-title="\(cell.title)" class="\(cell.isMarked ? "changed" : "")">\
                    \(value)</td>
                    """
            }
            return "<tr><th scope=\"row\">\(line.path)</th>\(cells)</tr>\n"
        }
        return """
            <div class="conflict"><h3>\(conflict.namespace.description) \
            \(code(conflict.documentID))</h3>
            <p><span class="time faint">\(conflict.time.text)</span> \(conflict.answerText)</p>
            \(table(["field", "base", "local", "remote", "result"], rows))</div>

            """
    }

    private var subscriptions: HTML {
        guard let set = inspection.subscriptions else { return "" }
        let rows = set.subscriptions.map { subscription -> HTML in
            """
            <tr><td>\(subscription.name ?? "(none)")</td>\
            <td>\(subscription.query.namespace.description)</td>\
            <td>\(code(.document(subscription.query.filter)))</td></tr>

            """
        }
        return section(
            "Subscriptions",
            """
            <p class="faint">Set \("\(set.version)"): \(set.stateText)</p>
            \(table(["name", "collection", "filter"], rows))
            """)
    }

    // MARK: - Documents

    private var documents: HTML {
        let parts = inspection.collections.filter { $0.status.synced > 0 }.map {
            collection -> HTML in
            let rows = collection.editions.map(row)
            let left = collection.status.synced - collection.editions.count
            let more: HTML =
                left > 0 ? "<p class=\"faint\">and \(left) more (--limit)</p>" : ""
            return """
                <details\(collection.editions.count <= 20 ? " open" : "")>\
                <summary>\(collection.namespace.description): \
                \(collection.status.synced.counted("document"))</summary>
                \(table(["_id", "state", "version", "document"], rows))\(more)</details>

                """
        }
        guard !parts.isEmpty else { return "" }
        return section("Synced documents", "\(parts)")
    }

    private func row(_ editions: DocumentEditions) -> HTML {
        let version = editions.version.version
        let shown: HTML
        if let local = editions.local {
            shown = edition(local)
        } else {
            shown = "<span class=\"faint\">no local document</span>"
        }
        return """
            <tr><td>\(code(editions.documentID))</td>\
            <td><span class="badge \(editions.status.name)">\(editions.status.name)</span></td>\
            <td class="number">\(version.map { "\($0.counter)" } ?? "-")</td>\
            <td>\(shown)</td></tr>

            """
    }
}
