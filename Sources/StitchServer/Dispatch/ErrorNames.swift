internal import BSONStore

/// Names MongoDB's error numbers.
///
/// Source: `src/mongo/base/error_codes.yml` of the server, version 7.0.
enum ErrorNames {
    /// The name, `Location…` for numbers that have none.
    static func name(of code: Int32) -> String {
        names[code] ?? StoreError.Code(rawValue: code).description
    }

    private static let names: [Int32: String] = [
        0: "OK", 6: "HostUnreachable", 7: "HostNotFound", 8: "UnknownError",
        11: "UserNotFound", 13: "Unauthorized", 17: "ProtocolError",
        18: "AuthenticationFailed", 19: "CannotReuseObject", 22: "InvalidBSON",
        23: "AlreadyInitialized", 24: "LockTimeout", 31: "RoleNotFound",
        43: "CursorNotFound", 45: "UserDataInconsistent", 46: "LockBusy",
        50: "MaxTimeMSExpired", 51: "ManualInterventionRequired", 58: "InvalidLength",
        59: "CommandNotFound", 61: "ShardKeyNotFound", 62: "OplogOperationUnsupported",
        63: "StaleShardVersion", 64: "WriteConcernTimeout", 65: "MultipleErrorsOccurred",
        68: "IndexAlreadyExists", 69: "AuthSchemaIncompatible", 70: "ShardNotFound",
        71: "ReplicaSetNotFound", 74: "NodeNotFound", 76: "NoReplicationEnabled",
        79: "UnknownReplWriteConcern", 82: "NoProgressMade",
        85: "IndexOptionsConflict", 86: "IndexKeySpecsConflict", 89: "NetworkTimeout",
        91: "ShutdownInProgress", 92: "RoleDataInconsistent",
        93: "InvalidReplicaSetConfig", 94: "NotYetInitialized",
        96: "OperationFailed", 97: "NoProjectionFound", 100: "UnsatisfiableWriteConcern",
        104: "UnknownFeatureCompatibilityVersion", 107: "ConflictingServiceContext",
        110: "NetworkInterfaceExceededTimeLimit", 112: "WriteConflict",
        115: "CommandNotSupported", 117: "ConflictingOperationInProgress",
        118: "NamespaceNotSharded", 119: "InvalidSyncSource",
        123: "NotAReplicaSet", 125: "CommandFailed", 126: "RateLimitExceeded",
        131: "LocationOfCollectionChanged", 133: "FailedToSatisfyReadPreference",
        134: "ReadConcernMajorityNotAvailableYet", 136: "CappedPositionLost",
        138: "IncompatibleElectionProtocol", 146: "ExceededMemoryLimit",
        148: "ReadConcernMajorityNotEnabled", 151: "ViewDepthLimitExceeded",
        159: "DurationOverflow", 165: "ViewPipelineMaxSizeExceeded",
        166: "CommandNotSupportedOnView", 167: "OptionNotSupportedOnView",
        171: "CannotIndexParallelArrays", 175: "QueryPlanKilled", 177: "InvalidPath",
        189: "PrimarySteppedDown", 195: "RetryChangeStream",
        197:
            "InvalidIndexSpecificationOption", 202: "NetworkInterfaceExceededTimeLimit",
        211: "KeyNotFound", 215: "DuplicateSession", 216: "AuthenticationRestrictionUnmet",
        217: "IncompleteTransactionHistory", 221: "StaleDbVersion",
        222: "ChangeStreamFatalError", 225: "TransactionTooOld", 226: "AtomicityFailure",
        228: "NotARetryableWriteCommand", 229: "BadChunkData", 232: "TooManySubPipelines",
        234: "RetryableWriteInCatalog", 235: "CatalogInconsistency",
        237: "CursorKilled", 238: "NotImplemented", 239: "SnapshotTooOld",
        241: "ConversionFailure", 244: "TransactionAborted", 246: "SnapshotUnavailable",
        248: "TransactionCoordinatorSteppingDown", 251: "NoSuchTransaction",
        254: "ReplayClientRequired", 256: "TransactionCommitted", 257: "TransactionTooLarge",
        258: "UnknownFeatureCompatibilityVersion", 259: "KeyedExecutorRetry",
        260: "InvalidResumeToken", 261: "TooManyLogicalSessions",
        262: "ExceededTimeLimit", 263: "OperationNotSupportedInTransaction",
        264: "TooManyFilesOpen", 267: "PreparedTransactionInProgress",
        269: "CannotRefreshDueToLocksHeld", 276: "CannotBackup", 280: "ChangeStreamFatalError",
        286: "ChangeStreamHistoryLost", 287: "TransactionCoordinatorReachedAbortDecision",
        290: "TransactionExceededLifetimeLimitSeconds",
        292: "QueryExceededMemoryLimitNoDiskUseAllowed",
        303: "ObjectIsBusy", 309: "CannotDropShardKeyIndex",
        310: "CannotConvertIndexToUnique", 311: "IndexModified",
        312: "InvalidTimeZone", 317: "InvalidNumberOfReplicas",
        322: "APIStrictError", 323: "APIDeprecationError", 324: "APIMismatchError",
        327: "APIVersionError", 350: "ReauthenticationRequired",
        352: "UnsupportedOpQueryCommand", 361: "InterruptedDueToTimeseriesBucketsFrozen",
        376: "ChangeStreamNotEnabled", 391: "ReauthenticationRequired",
        9001: "SocketException", 10003: "CannotGrowDocumentInCappedNamespace",
        10107: "NotWritablePrimary", 10058: "LegacyNotPrimary", 11600: "InterruptedAtShutdown",
        11601: "Interrupted", 11602: "InterruptedDueToReplStateChange",
        12586: "BackgroundOperationInProgressForDatabase",
        12587: "BackgroundOperationInProgressForNamespace", 12051: "CursorInUse",
        13388: "StaleConfig", 13435: "NotPrimaryNoSecondaryOk",
        13436: "NotPrimaryOrSecondary", 14031: "OutOfDiskSpace",
        17280: "KeyTooLong", 46841: "ClientMarkedKilled", 31082: "SearchNotEnabled",
    ]
}
