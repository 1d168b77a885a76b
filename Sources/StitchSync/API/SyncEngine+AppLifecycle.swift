#if canImport(UIKit) && !os(watchOS)
    internal import BSONStore
    internal import UIKit

    extension SyncEngine {
        /// Suspends the engine whenever the app enters the background, and resumes it when the app
        /// returns; ends when its task is cancelled.
        ///
        /// ```swift
        /// .task { await engine.suspendInBackground() }  // on the app's first view
        /// ```
        ///
        /// An app extension has no `UIApplication`; it closes its engine when its work is done.
        @available(iOSApplicationExtension, unavailable)
        @available(tvOSApplicationExtension, unavailable)
        @MainActor
        public func suspendInBackground() async {
            let (phases, continuation) = AsyncStream.makeStream(of: Bool.self)
            let observers = [
                UIApplication.didEnterBackgroundNotification: true,
                UIApplication.willEnterForegroundNotification: false,
            ].map { name, isBackground in
                NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
                    _ in continuation.yield(isBackground)
                }
            }
            defer {
                for observer in observers { NotificationCenter.default.removeObserver(observer) }
            }
            for await isInBackground in phases {
                if isInBackground { await suspendWithTimeToEnd() } else { resume() }
            }
        }

        /// Suspends the engine, for which the system lets the app run some seconds longer.
        @MainActor
        private func suspendWithTimeToEnd() async {
            let application = UIApplication.shared
            var time = UIBackgroundTaskIdentifier.invalid
            time = application.beginBackgroundTask(withName: "StitchSync") {
                application.endBackgroundTask(time)
                time = .invalid
            }
            do {
                try await suspend()
            } catch {
                // The task was cancelled: the engine is suspended, and the running pass is its last.
            }
            if time != .invalid { application.endBackgroundTask(time) }
        }
    }
#endif
