extension StoreCatalogue {
    /// Latchkey's own stores, the preferred one first.
    public static let standard = StoreCatalogue([])
}
