// What a question is limited to: documents, chosen by name, and types of element.

import { $, node } from "./nodes.js";
import { getJson } from "./requests.js";
import { words } from "./words_ask.js";

const MOST_SHOWN = 60;
const KINDS = ["text", "table", "image"];

const chosen = new Map(); // names by document id
const kinds = new Set();
let documents = [];

// As `POST /v1/ask` takes it; what is empty sets no limit.
export function chosenFilters() {
  return { documents: [...chosen.keys()], element_types: KINDS.filter((kind) => kinds.has(kind)) };
}

// Called once.
export function startFilters() {
  $("filter-name").addEventListener("input", drawList);
  $("filters").addEventListener("toggle", () => { if ($("filters").open) load(); });
  $("filters-clear").addEventListener("click", clear);
  $("filter-kinds").append(...KINDS.map((kind) => checkbox(words.kinds[kind], kinds.has(kind), (checked) => {
    if (checked) kinds.add(kind);
    else kinds.delete(kind);
    drawSummary();
  })));
  drawSummary();
}

function clear() {
  chosen.clear();
  kinds.clear();
  for (const box of document.querySelectorAll("#filters input[type=checkbox]")) box.checked = false;
  drawSummary();
}

async function load() {
  try {
    documents = (await getJson("/v1/documents")).documents
      .filter(({ state }) => state === "ready")
      .map(({ document_id: id, names }) => ({ id, name: String(names[0] ?? id.slice(0, 12)), names: names.join("\n").toLowerCase() }));
    const known = new Set(documents.map(({ id }) => id));
    for (const id of chosen.keys()) if (!known.has(id)) chosen.delete(id); // deleted or changed since
    drawSummary();
    drawList();
  } catch {
    $("filter-more").textContent = words.loadFailed;
  }
}

function drawList() {
  const wanted = $("filter-name").value.trim().toLowerCase();
  const found = documents.filter(({ names }) => names.includes(wanted));
  $("filter-documents").replaceChildren(...found.slice(0, MOST_SHOWN).map(({ id, name }) => {
    const item = node("li");
    item.append(checkbox(name, chosen.has(id), (checked) => {
      if (checked) chosen.set(id, name);
      else chosen.delete(id);
      drawSummary();
    }));
    return item;
  }));
  const rest = found.length - MOST_SHOWN;
  $("filter-more").textContent = rest > 0 ? words.more(rest) : found.length ? "" : words.noMatch;
}

function checkbox(text, checked, changed) {
  const made = node("label", "check"), box = node("input");
  box.type = "checkbox";
  box.checked = checked;
  box.addEventListener("change", () => changed(box.checked));
  made.append(box, node("span", "", text));
  return made;
}

function drawSummary() {
  const told = [chosen.size ? words.documents(chosen.size) : words.everything, ...KINDS.filter((kind) => kinds.has(kind)).map((kind) => words.kinds[kind])];
  $("filters-summary").textContent = told.join(" · ");
  $("filters-clear").hidden = !chosen.size && !kinds.size;
  $("filter-chosen").replaceChildren(...[...chosen].map(([id, name]) => {
    const made = node("button", "", name);
    made.type = "button";
    made.setAttribute("aria-label", words.remove(name));
    made.addEventListener("click", () => {
      chosen.delete(id);
      drawSummary();
      drawList();
      $("filter-name").focus();
    });
    return made;
  }));
}
