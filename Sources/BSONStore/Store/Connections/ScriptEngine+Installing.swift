#if Scripts
    import BSONScript
#endif

extension ScriptEngine {
    /// Installs the engine once; without the trait `Scripts` queries with scripts are refused.
    static let installation: Void = {
        #if Scripts
            install { (text) throws(StoreError) in try Script(text) }
        #endif
    }()
}
