extension Double {
    /// Returns the double with the shortest digits that tell the float from its neighbours: 0.1
    /// for the float 0.1, whose exact value is 0.100000001490116….
    ///
    /// Other programs store 0.1 as this double, so that both find and compare as one number. Whole
    /// numbers, infinities and NaN are the same double and float.
    init(shortest value: Float) {
        let exact = Double(value)
        let isFraction = value.isFinite && value != value.rounded()
        self = isFraction ? Double(value.description) ?? exact : exact
    }
}
