// Uploads: files dropped or chosen are sent a few at a time, and each is followed until it can be asked or was set aside.

import { askForKey } from "./access.js";
import { streamEvents } from "./events.js";
import { language } from "./language.js";
import { node } from "./nodes.js";
import { send } from "./requests.js";
import { words } from "./words_documents.js";

const SENT_AT_ONCE = 3;
// A browser opens six connections to a host: more streams would leave none for anything else.
const FOLLOWED_AT_ONCE = 2;
const MOST_FILES = 2000; // of one drop
const WAIT_SECONDS = 5; // where the service says nothing of when to come again
const LONGEST_WAIT = 120;
const OVER = new Set(["ready", "quarantined", "failed", "deleted", "known", "aside", "refused", "broken", "cancelled"]);
const PROBLEMS = new Set(["quarantined", "aside", "failed", "refused", "broken"]);

const uploads = []; // what was sent since the page was loaded, newest last
let parts = null;
let changed = () => {};

// The place to drop files on, the button, and the list of what is under way. `whenChanged` is called where a document
// came, or came further.
export function startUploads(whenChanged) {
  changed = whenChanged;
  const element = node("div", "uploads");
  const input = node("input", "chosen");
  Object.assign(input, { type: "file", multiple: true, id: "upload-files", tabIndex: -1, hidden: true });
  input.addEventListener("change", () => {
    addFiles([...input.files], { retry: input.dataset.retry === "1" });
    input.value = "";
    delete input.dataset.retry;
  });
  const drop = node("div", "drop");
  const choose = button(words.choose, () => input.click(), "primary");
  choose.id = "choose-files";
  drop.append(node("p", "", words.drop), choose, node("p", "hint", words.dropHint));
  const list = node("ol", "upload-list");
  list.setAttribute("aria-label", words.uploads);
  const clear = button(words.clear, clearFinished, "plain clear");
  const tally = node("p", "tally");
  tally.setAttribute("role", "status");
  element.append(input, drop, tally, list, clear);
  parts = { element, input, drop, list, clear, tally };
  takeDrops(drop);
  list.append(...uploads.map((upload) => upload.row.element));
  tell();
  return element;
}

// Sends a file that was set aside once more; null lets the reader choose it.
export function uploadAgain(file) {
  if (file) {
    addFiles([file], { retry: true });
    return;
  }
  parts.input.dataset.retry = "1";
  parts.input.click();
}

function button(text, act, className) {
  const made = node("button", className, text);
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

// Files may be dropped anywhere on the view; a file dropped beside it must not replace the page.
function takeDrops(drop) {
  const view = document.getElementById("documents-view");
  let depth = 0;
  const mark = (change) => {
    depth = Math.max(0, depth + change);
    drop.classList.toggle("over", depth > 0);
  };
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  view.ondragenter = (event) => hasFiles(event) && mark(1);
  view.ondragleave = (event) => hasFiles(event) && mark(-1);
  document.ondragover = (event) => hasFiles(event) && event.preventDefault();
  document.ondrop = async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark(-depth);
    if (!view.hidden) addFiles(await droppedFiles(event.dataTransfer));
  };
}

// The files of a drop, those in dropped folders too. Hidden files are left out.
async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const files = [];
  while (entries.length && files.length < MOST_FILES) {
    const entry = entries.shift();
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile) files.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    else entries.push(...(await entriesOf(entry)));
  }
  return files;
}

async function entriesOf(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!part.length) return found;
    found.push(...part);
  }
}

function addFiles(files, { retry = false } = {}) {
  for (const file of files.slice(0, MOST_FILES)) {
    const upload = { file, retry, state: "waiting", detail: {}, aborted: null, row: null };
    upload.row = rowOf(upload);
    uploads.push(upload);
    parts.list.append(upload.row.element);
    show(upload, "waiting");
  }
  work();
}

function work() {
  const sending = uploads.filter((each) => ["sending", "sent"].includes(each.state)).length;
  const next = uploads.filter((each) => each.state === "waiting").slice(0, SENT_AT_ONCE - sending);
  for (const upload of next) sendFile(upload);
  const followed = uploads.filter((each) => each.followed).length;
  const unfollowed = uploads.filter((each) => each.eventsUrl && !each.followed && !OVER.has(each.state));
  for (const upload of unfollowed.slice(0, FOLLOWED_AT_ONCE - followed)) follow(upload);
}

function sendFile(upload) {
  const request = new XMLHttpRequest();
  const name = upload.file.name.toWellFormed?.() ?? upload.file.name;
  request.open("PUT", `/v1/documents/${encodeURIComponent(name)}${upload.retry ? "?retry=1" : ""}`);
  request.setRequestHeader("Accept-Language", language);
  request.setRequestHeader("Content-Type", "application/octet-stream");
  request.upload.addEventListener("progress", ({ loaded }) => show(upload, "sending", { loaded }));
  request.upload.addEventListener("load", () => show(upload, "sent"));
  request.addEventListener("load", () => answered(upload, request));
  request.addEventListener("error", () => show(upload, "broken"));
  upload.abort = () => request.abort();
  show(upload, "sending", { loaded: 0 });
  request.send(upload.file);
}

function answered(upload, request) {
  upload.abort = null;
  const told = jsonOf(request.responseText);
  if (request.status === 200) show(upload, told.state === "quarantined" ? "aside" : "known");
  else if (request.status === 202) taken(upload, told);
  else if ([429, 503].includes(request.status)) pause(upload, request.getResponseHeader("Retry-After"), told.message);
  else {
    if (request.status === 401) askForKey();
    show(upload, "refused", { message: refusalOf(request.status, told), advice: told.advice });
  }
  work();
}

function jsonOf(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

// A refusal in plain words: the service's own of a file, ours where it speaks of the request.
function refusalOf(status, { code, message, advice }) {
  if (advice && message) return message;
  if (status === 413 || code === "limit_exceeded") return words.statusTooLarge;
  if (status === 415) return words.statusKind;
  if (status === 401 || status === 403) return words.statusForbidden;
  return message || words.statusOther(status);
}

function taken(upload, { document_id: documentId, events_url: eventsUrl, state, replaces }) {
  Object.assign(upload, { documentId, eventsUrl, replaces });
  show(upload, OVER.has(state) ? "received" : state);
  changed();
}

// The service is full: the file waits here, as long as the service says, and is sent again.
function pause(upload, told, message) {
  let seconds = Math.min(LONGEST_WAIT, Math.max(1, Number(told) || WAIT_SECONDS));
  const tick = () => {
    if (upload.state === "cancelled") return;
    if (seconds <= 0) {
      show(upload, "waiting");
      work();
      return;
    }
    show(upload, "paused", { seconds, message });
    seconds -= 1;
    upload.timer = setTimeout(tick, 1000);
  };
  tick();
}

async function follow(upload) {
  upload.followed = true;
  const leaving = new AbortController();
  upload.abort = () => leaving.abort();
  try {
    const { body } = await send(upload.eventsUrl, { signal: leaving.signal });
    let last = {};
    await streamEvents(body, (event, data) => {
      if (event === "state") last = data;
      // A file that is read once more is still set aside when it is taken up: only the end settles it.
      if (event === "state" && !OVER.has(data.state) && data.state in words.steps) show(upload, data.state, data);
      if (event === "end") show(upload, OVER.has(data.state) ? data.state : "failed", last);
    });
    if (!OVER.has(upload.state)) later(upload);
  } catch (error) {
    if (error.status === 404) show(upload, "deleted");
    else if (!OVER.has(upload.state)) later(upload);
  }
  upload.followed = false;
  upload.abort = null;
  changed();
  work();
}

// The stream was cut, by a restart or by the limit of a key: what it tells is asked for again a little later.
function later(upload) {
  const { eventsUrl } = upload;
  upload.eventsUrl = "";
  setTimeout(() => {
    upload.eventsUrl = eventsUrl;
    work();
  }, WAIT_SECONDS * 1000);
}

function cancel(upload) {
  upload.abort?.();
  clearTimeout(upload.timer);
  show(upload, "cancelled");
  work();
}

function sendAgain(upload) {
  show(upload, "waiting");
  work();
}

function clearFinished() {
  for (const upload of uploads.filter((each) => OVER.has(each.state))) {
    upload.row.element.remove();
    uploads.splice(uploads.indexOf(upload), 1);
  }
  tell();
  document.getElementById("choose-files").focus();
}

// A row: the file's name and size, how far it is, what it means, and what can be done.
function rowOf(upload) {
  const element = node("li", "upload");
  const name = node("span", "name", upload.file.name);
  const step = node("span", "step");
  const bar = node("progress");
  bar.max = Math.max(1, upload.file.size);
  bar.setAttribute("aria-label", words.progress(upload.file.name));
  const note = node("div", "note");
  const stop = button(words.cancel, () => cancel(upload), "plain");
  const again = button(words.retry, () => sendAgain(upload), "plain");
  for (const each of [stop, again]) each.setAttribute("aria-label", `${each.textContent}: ${upload.file.name}`);
  element.append(name, step, bar, note, stop, again);
  return { element, step, bar, note, stop, again };
}

function show(upload, state, detail = {}) {
  upload.state = state;
  const { element, step, bar, note, stop, again } = upload.row;
  element.className = `upload ${OVER.has(state) ? "over" : ""} ${PROBLEMS.has(state) ? "problem" : ""} ${state}`;
  step.textContent = stepOf(upload, detail);
  const before = ["waiting", "sending", "paused"].includes(state);
  if (before) bar.value = detail.loaded ?? 0;
  else bar.removeAttribute("value"); // under way, nobody knows how far
  bar.hidden = OVER.has(state);
  note.replaceChildren(...notesOf(upload, detail));
  stop.hidden = !["waiting", "sending", "paused"].includes(state);
  again.hidden = !["broken", "cancelled"].includes(state);
  tell();
}

function stepOf(upload, { loaded = 0, seconds = 0 }) {
  const step = words.steps[upload.state] ?? upload.state;
  if (upload.state === "sending") return step(words.size(Math.min(loaded, upload.file.size)), words.size(upload.file.size));
  return upload.state === "paused" ? step(seconds) : step;
}

function notesOf(upload, { message, reason, advice, paused }) {
  const notes = [
    message || reason ? node("p", "why", message || reason) : null,
    advice ? node("p", "advice", advice) : null,
    paused ? node("p", "why", words.workerPaused(paused)) : null,
    upload.replaces && !OVER.has(upload.state) ? node("p", "", words.replaces) : null,
  ];
  return notes.filter(Boolean);
}

function tell() {
  if (!parts) return;
  const done = uploads.filter((each) => OVER.has(each.state)).length;
  parts.tally.textContent = uploads.length ? words.tally(done, uploads.length) : "";
  parts.clear.hidden = done === 0;
  parts.list.hidden = uploads.length === 0;
}

// Leaving the page would cut what is being sent.
addEventListener("beforeunload", (event) => {
  if (uploads.some((each) => ["sending", "waiting"].includes(each.state))) event.preventDefault();
});
