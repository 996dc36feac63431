// Asks, and shows the answer as it comes.

import { streamEvents } from "./events.js";
import { labels } from "./labels.js";
import { $, node } from "./nodes.js";
import { hidePreview, previewOn } from "./preview.js";
import { closeReader, showTarget } from "./reader.js";
import { sendJson, ServiceError } from "./requests.js";
import { citationTarget, figureTarget, sourceTarget } from "./spots.js";

// ---- The answer --------------------------------------------------------------------------------------------------

let answer = emptyAnswer();
let asking = null;
let drawing = 0;

function emptyAnswer() {
  // Spans count characters (code points), JavaScript's strings count UTF-16 units: hence the array.
  return { policy: "strict", letters: [], citations: [], figures: [], uncited: [], sources: [], withheld: [], refusal: null, end: null, error: null };
}

const RECEIVED = {
  queued: (data) => { status(labels.queued(data.position)); },
  start: (data) => {
    status(labels.working);
    answer.policy = String(data.policy ?? "strict");
    keepSession(data.session_id);
    showUnderstood(data);
  },
  sources: (data) => { answer.sources = data.sources ?? []; },
  delta: (data) => { answer.letters.push(...Array.from(String(data.text ?? ""))); status(labels.writing); },
  citation: (data) => { answer.citations.push(data); },
  figure: (data) => { answer.figures.push(data); },
  uncited: (data) => { answer.uncited.push(data); },
  withheld: (data) => { answer.withheld.push(data); },
  refusal: (data) => { answer.refusal = data; },
  end: (data) => { answer.end = data; },
  error: (data) => { answer.error = data; },
};

function received(name, data) {
  if (!Object.hasOwn(RECEIVED, name)) return;
  RECEIVED[name](data);
  drawSoon();
}

function drawSoon() {
  drawing ||= requestAnimationFrame(draw);
}

function draw() {
  cancelAnimationFrame(drawing);
  drawing = 0;
  const focused = document.activeElement?.dataset?.key;
  $("answer").replaceChildren(...answerNodes());
  $("answer").classList.toggle("working", asking !== null);
  $("notices").replaceChildren(...noticeNodes());
  drawReferences();
  drawMaterials();
  if (focused) document.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  markShown();
}

// The text, with figures made clickable, a chip at the end of each cited claim, and what stands for withheld text.
function answerNodes() {
  const { letters } = answer;
  const nodes = [];
  let at = 0;
  const textUpTo = (end) => {
    if (end > at) nodes.push(document.createTextNode(letters.slice(at, end).join("")));
    at = Math.max(at, end);
  };
  for (const insertion of insertions(letters.length)) {
    if (insertion.covers && insertion.at < at) continue;
    textUpTo(Math.min(insertion.at, letters.length));
    const made = insertion.make();
    if (insertion.number) at += markerLength(letters, at, insertion.number);
    if (!insertion.number || !repeats(nodes.at(-1), made)) nodes.push(made);
    at = Math.max(at, insertion.covers ?? 0);
  }
  textUpTo(letters.length);
  return nodes;
}

// The chip takes the place of the marker ` [1]` that the text itself has behind the claim.
function markerLength(letters, at, number) {
  const marker = `[${number}]`;
  const next = letters.slice(at, at + marker.length + 1).join("");
  if (next.startsWith(marker)) return marker.length;
  return next === ` ${marker}` ? marker.length + 1 : 0;
}

// What stands in the text besides itself, in order; at one place a chip comes before the figure that begins there.
function insertions(length) {
  const chips = answer.citations.map((citation, index) => ({
    at: citation.end, rank: 0, number: citation.number, make: () => chip(citation, index),
  }));
  const withheld = answer.withheld.map((item) => ({
    at: item.at ?? length, rank: 1, make: () => node("span", "withheld", item.text),
  }));
  const uncited = answer.uncited.map((item) => ({
    at: item.end, rank: 1, make: () => node("span", "uncited", String(item.text ?? "").trim()),
  }));
  const figures = answer.figures
    .map((figure, index) => ({
      at: figure.start, covers: figure.end, rank: 2,
      make: () => figureNode(figure, index, answer.letters.slice(figure.start, figure.end).join("")),
    }))
    .filter(({ at, covers }) => at < covers && covers <= length);
  return [...chips, ...uncited, ...withheld, ...figures].sort((a, b) => a.at - b.at || a.rank - b.rank);
}

// A claim that rests twice on the very same words shows their number once.
function repeats(last, made) {
  return last?.classList?.contains("chip") && last.textContent === made.textContent && last.title === made.title;
}

function chip(citation, index) {
  const made = node("button", "chip", String(citation.number));
  made.type = "button";
  made.title = `${citation.label ?? ""}\n${shortened(citation.cited_text)}`;
  made.setAttribute("aria-label", labels.citation(citation.number, citation.label ?? ""));
  return opens(made, `citation-${index}`, () => citationTarget(citation));
}

const SUPPORTED = new Set([
  "exact", "rounded", "converted", "counted", "derived", "corrected", "question_echo", "exempt",
]);

// Printed figures lead to their spot, computed ones to their formula; those without support say why, where the policy
// lets them stand.
function figureNode(figure, index, text) {
  const refused = !SUPPORTED.has(figure.status) && answer.policy !== "off";
  const kind = refused ? "unsupported" : figure.derivation ? "derived" : "";
  if (!kind && !figure.support?.some((place) => place.page)) return node("span", "", text);
  const made = node("button", `figure ${kind}`, text);
  made.type = "button";
  made.title = figure.derivation ? labels.formula(text) : labels.figure(text);
  return opens(made, `figure-${index}`, () => figureTarget(figure));
}

// The spot's crop on hover and focus, its page on click.
function opens(button, key, target) {
  button.dataset.key = key;
  previewOn(button, target);
  button.addEventListener("click", (event) => {
    shownKey = key;
    showTarget(target(), { faint: answer.citations.map(citationTarget), focus: event.detail === 0 });
    markShown();
  });
  return button;
}

let shownKey = "";

function markShown() {
  for (const button of document.querySelectorAll("[data-key]")) {
    button.classList.toggle("shown", button.dataset.key === shownKey);
  }
}

function noticeNodes() {
  // Why a sentence is missing, and never the figure that nothing supports.
  const notices = answer.withheld.length ? [notice("withheld", labels.withheld, String(answer.withheld.length))] : [];
  if (answer.refusal) notices.push(notice("calm", labels.refused, answer.refusal.message));
  if (answer.error) {
    const { message, retryable, request_id: request } = answer.error;
    const made = notice("error", labels.failed, `${message ?? ""}${retryable ? ` ${labels.retry}` : ""}`);
    if (request) made.append(node("small", "", `${labels.request} ${request}`));
    notices.push(made);
  } else if (answer.end && answer.end.complete === false) {
    notices.push(notice("error", labels.cut, ""));
  }
  return notices;
}

function notice(kind, title, text) {
  const made = node("div", `notice ${kind}`);
  made.append(node("strong", "", title));
  if (text) made.append(node("span", "", String(text)));
  return made;
}

function drawReferences() {
  const first = new Map();
  answer.citations.forEach((citation, index) => {
    if (!first.has(citation.number)) first.set(citation.number, { citation, index });
  });
  const items = [...first.entries()].sort(([a], [b]) => a - b).map(([, { citation, index }]) => {
    const item = node("li");
    const made = opens(node("button", "chip", String(citation.number)), `reference-${index}`, () => citationTarget(citation));
    made.type = "button";
    made.setAttribute("aria-label", labels.citation(citation.number, citation.label ?? ""));
    const words = node("span");
    words.append(node("b", "", String(citation.label ?? "")), ` ${shortened(citation.cited_text)}`);
    item.append(made, words);
    return item;
  });
  $("references").replaceChildren(...items);
  $("references").hidden = items.length === 0;
}

function shortened(text) {
  const letters = Array.from(String(text ?? "").replace(/\s+/g, " "));
  return letters.length > 160 ? `${letters.slice(0, 160).join("")}…` : letters.join("");
}

function drawMaterials() {
  const items = answer.sources.map((source, index) => {
    const item = node("li");
    const made = opens(node("button", "", String(source.label ?? source.document ?? "")), `source-${index}`, () => sourceTarget(source));
    made.type = "button";
    item.append(made);
    return item;
  });
  $("materials-list").replaceChildren(...items);
  $("materials-count").textContent = `(${items.length})`;
  $("materials").hidden = items.length === 0;
}

// ---- The conversation: one a tab, its id from the service ---------------------------------------------------------

const SESSION = "kb-qa-session";
let session = storedSession();

function storedSession() {
  try {
    return sessionStorage.getItem(SESSION) ?? "";
  } catch {
    return ""; // the browser stores nothing for this page: the conversation lasts as long as the page
  }
}

function keepSession(id) {
  session = typeof id === "string" ? id : "";
  try {
    sessionStorage.setItem(SESSION, session);
  } catch { /* as above */ }
  $("anew").hidden = session === "";
}

// What a follow-up question was taken for, so that a wrong guess is seen.
function showUnderstood(data) {
  const limits = Object.values(data.carried_filters ?? {}).map(String);
  const documents = [...(data.carried_documents ?? []), ...limits].join(", ");
  const told = [data.standalone && labels.understood(data.standalone), documents && labels.stillIn(documents)];
  $("understood").textContent = told.filter(Boolean).join(" · ");
  $("understood").hidden = $("understood").textContent === "";
}

function startAnew() {
  asking?.abort();
  keepSession("");
  $("result").hidden = true;
  status("");
  $("question").value = "";
  $("question").focus();
}

// ---- Asking ------------------------------------------------------------------------------------------------------

function status(text) {
  $("status").textContent = text;
}

async function ask(question) {
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  answer = emptyAnswer();
  shownKey = "";
  $("result").hidden = false;
  closeReader();
  hidePreview();
  $("asked").textContent = question;
  showUnderstood({});
  $("ask").disabled = true;
  $("stop").hidden = false;
  status(labels.working);
  draw();
  let outcome = labels.done;
  try {
    await request(question, mine.signal, (name, data) => { if (asking === mine) received(name, data); });
  } catch (error) {
    if (error.name === "AbortError") outcome = labels.stopped;
    else answer.error ??= { message: "" };
  }
  if (asking !== mine) return;
  asking = null;
  $("ask").disabled = false;
  $("stop").hidden = true;
  if (outcome === labels.done && !answer.end && !answer.error) answer.error = { message: labels.cut, retryable: true };
  status(answer.error ? labels.failed : outcome);
  draw();
}

async function request(question, signal, onEvent) {
  const headers = { Accept: "text/event-stream" };
  try {
    const response = await sendJson("POST", "/v1/ask", { question, session_id: session || null }, { signal, headers });
    await streamEvents(response.body, onEvent);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    onEvent("error", { message: error.message, retryable: error.retryable, request_id: error.requestId });
  }
}

// ---- The view ----------------------------------------------------------------------------------------------------

// Called once, before the first route.
export function startAsking() {
  $("question").placeholder = labels.placeholder;
  $("examples").setAttribute("aria-label", labels.examples);
  for (const example of labels.exampleQuestions) {
    const made = node("button", "", example);
    made.type = "button";
    made.addEventListener("click", () => { $("question").value = example; ask(example); });
    $("examples").append(made);
  }
  $("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = $("question").value.trim();
    if (question) ask(question);
  });
  $("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $("ask-form").requestSubmit();
    }
  });
  $("stop").addEventListener("click", () => asking?.abort());
  $("anew").addEventListener("click", startAnew);
  $("anew").hidden = session === "";
}
