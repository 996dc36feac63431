// The list of documents: what state each is in, how well it was read, and what can be done about one that was not.

import { labels } from "./labels.js";
import { $, node } from "./nodes.js";
import { getJson, send } from "./requests.js";
import { mayWrite } from "./rights.js";
import { startUploads, uploadAgain } from "./uploads.js";
import { words } from "./words_documents.js";

const RESTING = new Set(["ready", "quarantined"]);
const GRADES = ["poor", "fair", "good"];
const LOOK_MILLISECONDS = 3000;
const FEW = 8; // so many are seen at a glance, without searching and sorting

let shown = null; // {rows, parts, writes} of the list once it is built
let removed = new Set(); // ids that were deleted here; a list that was under way may still name them
let timer = 0;

export async function showDocuments() {
  clearTimeout(timer);
  const writes = await mayWrite();
  if (shown?.writes !== writes) shown = built(writes);
  await refresh();
}

function built(writes) {
  const section = $("documents-list");
  const heading = node("h2", "", `${words.title} `);
  heading.id = "documents-title";
  heading.tabIndex = -1;
  const parts = {
    count: withId("documents-count", node("span", "count")), list: withId("documents", node("ul")),
    empty: withId("documents-empty", node("p", "quiet")), told: node("p", "told"), finder: finder(() => draw()),
  };
  heading.append(parts.count);
  parts.told.setAttribute("role", "status");
  const uploads = writes ? [startUploads(() => refresh())] : [];
  section.replaceChildren(heading, ...uploads, parts.told, parts.empty, parts.finder.element, parts.list);
  return { parts, writes, rows: new Map(), documents: [] };
}

function withId(id, element) {
  element.id = id;
  return element;
}

// The box to search in and the order to sort by.
function finder(changed) {
  const element = node("div", "finder");
  const search = node("input");
  Object.assign(search, { type: "search", placeholder: words.search, maxLength: 200 });
  search.setAttribute("aria-label", words.search);
  const sort = node("select");
  sort.setAttribute("aria-label", words.sort);
  for (const [value, text] of Object.entries(words.sorts)) sort.append(new Option(text, value));
  search.addEventListener("input", changed);
  sort.addEventListener("change", changed);
  const order = node("label", "sort", `${words.sort} `);
  order.append(sort);
  element.append(search, order);
  return { element, search, sort };
}

async function refresh() {
  clearTimeout(timer);
  const { parts } = shown;
  try {
    const { name, documents } = await getJson("/v1/documents");
    if (name) document.title = `${name} · kb-qa`;
    const listed = new Set(documents.map((item) => item.document_id));
    removed = new Set([...removed].filter((id) => listed.has(id)));
    shown.documents = documents.filter((item) => !removed.has(item.document_id));
    draw();
    if (isShown() && documents.some((item) => !RESTING.has(item.state))) timer = setTimeout(refresh, LOOK_MILLISECONDS);
  } catch {
    parts.empty.textContent = words.failed;
    parts.empty.hidden = false;
  }
}

function isShown() {
  return !$("documents-view").hidden && !$("documents-list").hidden;
}

function draw() {
  const { parts, documents, rows, writes } = shown;
  const wanted = parts.finder.search.value.trim().toLowerCase();
  const found = documents.filter((item) => item.names.some((name) => name.toLowerCase().includes(wanted)));
  const key = SORTS[parts.finder.sort.value];
  const sorted = [...found].sort((one, other) => compare(key(one), key(other)) || compare(nameOf(one), nameOf(other)));
  const kept = new Map(sorted.map((item) => [item.document_id, rowOf(item, rows.get(item.document_id))]));
  place(parts.list, [...kept.values()].map((row) => row.element));
  shown.rows = kept;
  parts.count.textContent = documents.length ? `(${documents.length})` : "";
  parts.finder.element.hidden = documents.length <= FEW;
  const nothing = documents.length ? words.noneFound : writes ? `${words.none} ${words.noneByCommand}` : words.noneReadOnly;
  parts.empty.textContent = nothing;
  parts.empty.hidden = sorted.length > 0;
}

const SORTS = {
  name: nameOf,
  attention: (item) => (item.state === "quarantined" ? 0 : RESTING.has(item.state) ? 2 : 1),
  quality: (item) => (item.quality ? GRADES.indexOf(item.quality.grade) : GRADES.length),
  pages: (item) => -item.pages,
  dated: (item) => -Number((item.dated || "0").replaceAll("-", "")),
};

function compare(one, other) {
  return typeof one === "string" ? one.localeCompare(other, undefined, { numeric: true }) : one - other;
}

function nameOf(item) {
  return item.names[0] ?? item.document_id.slice(0, 12);
}

// A row stays as it is while its document does: what is open or has the focus in it stays so.
function rowOf(item, known) {
  const told = JSON.stringify(item);
  if (known?.told === told) return known;
  const element = documentNode(item);
  if (known?.element.querySelector("details")?.open) element.querySelector("details")?.setAttribute("open", "");
  return { told, element };
}

function place(list, elements) {
  const [held, kept] = [document.activeElement, new Set(elements)];
  for (const child of [...list.children]) if (!kept.has(child)) child.remove();
  elements.forEach((element, index) => {
    if (list.children[index] !== element) list.insertBefore(element, list.children[index] ?? null);
  });
  if (held !== document.activeElement && held.isConnected) held.focus();
}

function documentNode(item) {
  const made = node("li");
  const kind = RESTING.has(item.state) ? item.state : "busy";
  const name = node(item.state === "ready" ? "a" : "span", "name", nameOf(item));
  if (item.state === "ready") name.href = `#/documents/${item.document_id}`;
  const state = node("span", `state ${kind}`, words.states[item.state] ?? labels.busy);
  const head = node("div", "head");
  head.append(name, state);
  made.append(head, node("p", "facts", factsOf(item)));
  if (item.reason) made.append(rejection(item));
  const quality = qualityNode(item);
  if (quality) made.append(quality);
  made.append(actions(item));
  return made;
}

function factsOf(item) {
  const facts = [
    item.pages && words.pages(item.pages), !item.pages && item.chunks && words.passages(item.chunks),
    item.size && words.size(item.size), item.dated && words.dated(item.dated),
    item.names.length > 1 && words.alsoNamed(item.names.slice(1).join(", ")),
  ];
  return facts.filter(Boolean).join(" · ");
}

function rejection(item) {
  const made = node("div", "rejection");
  made.append(node("p", "why", item.reason));
  if (item.advice) {
    const advice = node("p", "advice");
    advice.append(node("strong", "", `${words.advice}: `), item.advice);
    made.append(advice);
  }
  return made;
}

// The grade of the worst page, the counts by grade, the reasons and what else is worth knowing of the document.
export function qualityNode({ quality, flags = [], pages }) {
  if (!quality && !flags.length) return null;
  const made = node("details", "quality");
  const summary = node("summary");
  if (quality) summary.append(node("span", `grade ${quality.grade}`, words.grades[quality.grade] ?? quality.grade));
  else summary.append(node("span", "grade", words.notes));
  const list = node("ul");
  if (quality) {
    const doubtful = GRADES.filter((grade) => grade !== "good" && quality.pages[grade]);
    if (doubtful.length) summary.append(` ${doubtful.map((grade) => words.gradeOf(quality.pages[grade], pages, grade)).join(", ")}`);
    list.append(...quality.reasons.map(({ reason, pages: on }) => node("li", "", words.reasonOn(reason, on))));
  }
  list.append(...flags.map((flag) => node("li", "", flag)));
  if (!list.children.length) return plainGrade(quality);
  made.append(summary, list);
  return made;
}

function plainGrade(quality) {
  const made = node("p", "quality");
  made.append(node("span", `grade ${quality.grade}`, words.grades[quality.grade] ?? quality.grade));
  return made;
}

function actions(item) {
  const made = node("p", "row-actions");
  if (item.state === "ready") made.append(link(words.open, `#/documents/${item.document_id}`, nameOf(item)));
  if (RESTING.has(item.state)) made.append(link(words.original, item.file_url, nameOf(item)));
  if (!shown.writes) return made;
  if (item.state === "quarantined") made.append(action(words.again, nameOf(item), () => tryAgain(item)));
  made.append(action(words.remove, nameOf(item), () => askToRemove(item), "danger"));
  return made;
}

function link(text, href, name) {
  const made = node("a", "", text);
  made.href = href;
  made.setAttribute("aria-label", `${text}: ${name}`);
  return made;
}

function action(text, name, act, className = "") {
  const made = node("button", `plain ${className}`, text);
  made.type = "button";
  made.setAttribute("aria-label", `${text}: ${name}`);
  made.addEventListener("click", act);
  return made;
}

// The service's own copy is sent again, so that nobody has to look for the file; without one, the reader chooses it.
async function tryAgain(item) {
  try {
    const copy = await (await send(item.file_url)).blob();
    uploadAgain(new File([copy], nameOf(item)));
  } catch {
    tell(words.noCopy);
    uploadAgain(null);
  }
}

function askToRemove(item) {
  const dialog = node("dialog", "confirm");
  const title = node("h2", "", words.confirmTitle(nameOf(item)));
  title.id = "confirm-title";
  dialog.setAttribute("aria-labelledby", title.id);
  const keep = action(words.keep, nameOf(item), () => dialog.close());
  const confirm = action(words.confirm, nameOf(item), () => dialog.close("remove"), "danger");
  const buttons = node("div", "actions");
  buttons.append(keep, confirm);
  dialog.append(title, node("p", "", words.confirmText), buttons);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (dialog.returnValue === "remove") remove(item);
  });
  document.body.append(dialog);
  dialog.showModal();
  keep.focus();
}

async function remove(item) {
  const following = shown.rows.get(item.document_id)?.element.nextElementSibling?.querySelector("a, button");
  removed.add(item.document_id);
  shown.documents = shown.documents.filter((each) => each !== item && each.document_id !== item.document_id);
  draw();
  (following ?? $("documents-title")).focus();
  try {
    await send(`/v1/documents/${item.document_id}`, { method: "DELETE" });
    tell(words.removed(nameOf(item)));
  } catch (error) {
    if (error.status === 404) return; // it was gone already
    tell(words.removeFailed(nameOf(item), error.message));
    removed.delete(item.document_id);
    refresh();
  }
}

function tell(text) {
  shown.parts.told.textContent = text;
}
