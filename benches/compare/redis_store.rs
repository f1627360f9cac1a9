pub(crate) fn section() -> String {
    String::new()
}
