extension BSONDatetime {
    /// The time of the system's clock.
    public static var now: BSONDatetime { WallClock.now }
}
