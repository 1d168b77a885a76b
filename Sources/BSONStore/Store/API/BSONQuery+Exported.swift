@_exported public import BSONQuery
