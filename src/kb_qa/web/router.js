// What the address says is shown: #/, #/answers/ID, #/answers/ID/figures/N, #/documents, #/documents/ID[/pages/N].

const ROUTES = [
  { name: "ask", pattern: /^#?\/?$/ },
  { name: "answer", pattern: /^#\/answers\/(?<answerId>[0-9a-f]{32})$/ },
  { name: "dispute", pattern: /^#\/answers\/(?<answerId>[0-9a-f]{32})\/figures\/(?<n>[1-9][0-9]{0,5})$/ },
  { name: "documents", pattern: /^#\/documents$/ },
  { name: "document", pattern: /^#\/documents\/(?<documentId>[0-9a-f]{64})(?:\/pages\/(?<page>[1-9][0-9]{0,5}))?$/ },
];

export function routeOf(hash) {
  for (const { name, pattern } of ROUTES) {
    const found = pattern.exec(hash);
    if (found) return { name, ...found.groups };
  }
  return { name: "ask" };
}

// Calls `go(route)` now and whenever the address changes.
export function onRoute(go) {
  addEventListener("hashchange", () => go(routeOf(location.hash)));
  go(routeOf(location.hash));
}

// A new step in the browser's history, without calling anybody: what it says is shown already.
export function goTo(hash) {
  if (location.hash !== hash) history.pushState(null, "", hash);
}

// Changes the address without a new step in the browser's history, and without calling anybody.
export function replaceAddress(hash) {
  history.replaceState(null, "", hash);
}
