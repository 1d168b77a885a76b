// The declarations of Apple's UIKit that our code uses.
@_exported public import Foundation

public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

@available(iOS 2, tvOS 9, *)
@MainActor
public final class UIApplication {
    public static let shared = UIApplication()
    public nonisolated static let didEnterBackgroundNotification = Notification.Name("background")
    public nonisolated static let willEnterForegroundNotification = Notification.Name("foreground")

    @available(iOS 4, tvOS 9, *)
    public func beginBackgroundTask(
        withName name: String?, expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    @available(iOS 4, tvOS 9, *)
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
