// The declarations of Apple's Security framework that our code uses. On Apple's platforms strings, data and
// arrays are bridged to these types of Core Foundation; here they are the same types.
public import Dispatch
public import Foundation

public typealias CFString = String
public typealias CFData = Data
public typealias CFArray = [SecCertificate]
public typealias OSStatus = Int32

public final class CFAllocator {}
public final class CFError {}
public final class SecCertificate {}
public final class SecPolicy {}
public final class SecTrust {}

public var errSecSuccess: OSStatus { 0 }

@available(macOS 10.6, iOS 2, tvOS 2, watchOS 2, *)
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData)
    -> SecCertificate?
{ nil }

@available(macOS 10.6, iOS 2, tvOS 2, watchOS 2, *)
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy { SecPolicy() }

@available(macOS 10.6, iOS 6, tvOS 6, watchOS 2, *)
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: SecPolicy) -> OSStatus { 0 }

@available(macOS 10.3, iOS 2, tvOS 2, watchOS 2, *)
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchors: CFArray?) -> OSStatus { 0 }

@available(macOS 10.6, iOS 2, tvOS 2, watchOS 2, *)
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ only: Bool) -> OSStatus { 0 }

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool { false }

public final class sec_protocol_options_t { public init() {} }
public final class sec_protocol_metadata_t {}
public final class sec_trust_t {}
public enum tls_protocol_version_t { case TLSv12, TLSv13 }

public typealias sec_protocol_verify_complete_t = (Bool) -> Void
public typealias sec_protocol_verify_t = (
    sec_protocol_metadata_t, sec_trust_t, @escaping sec_protocol_verify_complete_t
) -> Void

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public func sec_trust_copy_ref(_ trust: sec_trust_t) -> Unmanaged<SecTrust> {
    .passRetained(SecTrust())
}

@available(macOS 10.15, iOS 13, tvOS 13, watchOS 6, *)
public func sec_protocol_options_set_min_tls_protocol_version(
    _ options: sec_protocol_options_t, _ version: tls_protocol_version_t
) {}

@available(macOS 10.14, iOS 12, tvOS 12, watchOS 5, *)
public func sec_protocol_options_set_verify_block(
    _ options: sec_protocol_options_t, _ verify: @escaping sec_protocol_verify_t,
    _ queue: DispatchQueue
) {}
