@_exported public import BSONCore
