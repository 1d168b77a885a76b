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
            \(tiles)\(findings)\(timeline)\(collections)\(paused)\(rejected)\(conflicts)\
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
        let counts: [(name: String, value: String, look: String)] = [
            (
                "documents",
                "\(inspection.collections.reduce(0) { $0 + $1.documentCount })", ""
            ),
            ("synced", "\(sum(\.synced))", ""),
            ("pending", "\(sum(\.pending))", sum(\.pending) > 0 ? "wait" : ""),
            ("paused", "\(sum(\.paused))", sum(\.paused) > 0 ? "bad" : ""),
            ("rejected", "\(sum(\.rejected))", sum(\.rejected) > 0 ? "bad" : ""),
            ("file", Self.size(statistics.fileBytes), ""),
            ("free in file", Self.size(statistics.freeBytes), ""),
            ("log", Self.size(statistics.logBytes), ""),
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

    private var timeline: HTML {
        guard !inspection.passes.isEmpty else {
            return section("Timeline", "<p class=\"faint\">No pass is recorded yet.</p>")
        }
        return section(
            "Timeline",
            """
            <p class="faint">The newest \(inspection.passes.count) passes with changes; the \
            height of a bar grows with the logarithm of its count. Times are UTC.</p>
            <div class="scroll">\(Timeline(passes: inspection.passes).svg)</div>
            """)
    }

    private var collections: HTML {
        let rows = inspection.collections.map { collection -> HTML in
            let status = collection.status
            let counts = [
                collection.documentCount, status.synced, status.pending, status.toLook,
                status.paused, status.rejected,
            ].map { count -> HTML in "<td class=\"number\">\(count)</td>" }
            return """
                <tr><th scope="row">\(collection.namespace.description)</th>\(counts)\
                <td class="number">\(Self.size(collection.byteCount))</td></tr>

                """
        }
        let titles = [
            "collection", "documents", "synced", "pending", "to look", "paused", "rejected", "size",
        ]
        return section("Collections", table(titles, isOfNumbers: true, rows))
    }

    // MARK: - Needs attention

    private var paused: HTML {
        let rows = inspection.collections.flatMap { collection in
            collection.paused.map { id, reason -> HTML in
                """
                <tr><td>\(collection.namespace.description)</td><td>\(code(id))</td>\
                <td><span class="badge paused">\(reason.code.rawValue)</span> \(reason.message)</td>\
                </tr>

                """
            }
        }
        guard !rows.isEmpty else { return "" }
        return section(
            "Paused",
            """
            <p class="faint">Sync neither uploads nor downloads these until they are resumed \
            (stitchsync resume) or written to.</p>
            \(table(["collection", "_id", "reason"], rows))
            """)
    }

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
            "Rejected",
            """
            <p class="faint">The remote rejected these writes; stitchsync retry retries or \
            discards them.</p>
            \(table(["number", "collection", "_id", "change", "reason", "at", "wanted"], rows))
            """)
    }

    private var conflicts: HTML {
        let rows = inspection.conflicts.reversed().map { conflict -> HTML in
            """
            <tr><td>\(conflict.namespace.description)</td><td>\(code(conflict.documentID))</td>\
            <td class="time">\(conflict.time.text)</td><td>\(edition(conflict.base))</td>\
            <td>\(edition(conflict.local))</td><td>\(edition(conflict.remote))</td>\
            <td>\(conflict.answerText)</td></tr>

            """
        }
        guard !rows.isEmpty else { return "" }
        return section(
            "Newest conflicts",
            table(
                ["collection", "_id", "at", "base", "local", "remote", "resolution"], rows))
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
                \(table(["_id", "state", "version", "lineage", "document"], rows))\(more)</details>

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
            <td><code>\(String((version?.lineage ?? "").prefix(8)))</code></td>\
            <td>\(shown)</td></tr>

            """
    }
}
