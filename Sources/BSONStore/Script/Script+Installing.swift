internal import BSONQuery

/// Makes `Script` the script engine of this process; queries call it once, before their first script.
///
/// C finds it by name, so that no module above has to install it: see `BSONCoreC.h`.
@_cdecl("bsonstore_install_scripts")
public func installScripts() {
    ScriptEngine.install { (text) throws(StoreError) in try Script(text) }
}
