package import BSONStore

/// A part of `stitchsync serve` and of gateways that MongoDB does not have, by its name in the reply to
/// `hello`.
///
/// Source: Docs/SERVER.md.
package enum ServerExtension: String, Sendable, CaseIterable {
    /// The command `stitchsyncTombstones`.
    case tombstones
    /// Later messages of a connection are carried out while an earlier one waits.
    case concurrent
    /// The option of change streams that leaves out a device's own changes.
    case echoFilter
    /// The option of change streams that shortens events to what a device needs.
    case briefEvents
    /// The command `stitchsyncReportBacklog`.
    case backlogs

    /// Whether a reply to `hello` names the extension.
    package func isNamed(in hello: BSONDocument?) -> Bool {
        hello?["stitchsync"]?.documentValue?[rawValue]?.int64Value == 1
    }
}
