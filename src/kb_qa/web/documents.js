// The list of documents with their states.

import { labels } from "./labels.js";
import { $, node } from "./nodes.js";
import { getJson } from "./requests.js";

const RESTING = new Set(["ready", "quarantined"]);

export async function showDocuments() {
  try {
    const { name, documents } = await getJson("/v1/documents");
    if (name) document.title = `${name} · kb-qa`;
    drawDocuments(documents);
    if (documents.some((item) => !RESTING.has(item.state))) setTimeout(showDocuments, 3000);
  } catch {
    $("documents-empty").textContent = labels.documentsFailed;
    $("documents-empty").hidden = false;
  }
}

function drawDocuments(documents) {
  $("documents").replaceChildren(...documents.map(documentNode));
  $("documents-count").textContent = documents.length ? `(${documents.length})` : "";
  $("documents-empty").hidden = documents.length > 0;
}

function documentNode(item) {
  const made = node("li");
  const name = node("span", "name", item.names[0] ?? item.document_id.slice(0, 12));
  if (item.reason) name.append(node("small", "", item.reason));
  const kind = RESTING.has(item.state) ? item.state : "busy";
  made.append(name);
  if (item.pages) made.append(node("span", "pages", labels.pages(item.pages)));
  made.append(node("span", `state ${kind}`, labels.states[item.state] ?? labels.busy));
  return made;
}
