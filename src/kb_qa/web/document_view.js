// What the parser saw of a document.

export function showDocument({ documentId, page }) {
  void [documentId, page];
}
