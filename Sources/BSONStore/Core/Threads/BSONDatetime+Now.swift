extension BSONDatetime {
    /// The current time of the system's clock.
    public static var now: BSONDatetime { WallClock.now }
}
