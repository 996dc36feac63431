// The conversation of this tab: the id of its session, and what was asked in it, each with its answer's address.

import { $, node } from "./nodes.js";

const SESSION = "kb-qa-session", THREAD = "kb-qa-thread";
const MOST = 20;

let session = stored(SESSION) ?? "";
let thread = storedThread();

function stored(name) {
  try {
    return sessionStorage.getItem(name);
  } catch {
    return null; // the browser stores nothing for this page: the conversation lasts as long as the page
  }
}

function storedThread() {
  try {
    const found = JSON.parse(stored(THREAD) ?? "[]");
    return Array.isArray(found) ? found.filter(({ id }) => /^[0-9a-f]{32}$/.test(id)) : [];
  } catch {
    return [];
  }
}

function store() {
  try {
    sessionStorage.setItem(SESSION, session);
    sessionStorage.setItem(THREAD, JSON.stringify(thread));
  } catch { /* as above */ }
}

export function sessionId() {
  return session || null;
}

// An answer began: its session is gone on with, whichever it is.
export function keepTurn({ session: id, id: answerId, question }) {
  if (id !== session) thread = [];
  session = id;
  if (answerId && !thread.some((turn) => turn.id === answerId)) thread = [...thread, { id: answerId, question }].slice(-MOST);
  store();
  $("anew").hidden = session === "";
}

export function forgetConversation() {
  session = "";
  thread = [];
  store();
  $("anew").hidden = true;
}

// The earlier questions of the conversation that the answer belongs to.
export function drawThread(answerId) {
  const at = thread.findIndex(({ id }) => id === answerId);
  $("thread-list").replaceChildren(...thread.slice(0, Math.max(at, 0)).map(({ id, question }) => {
    const item = node("li"), link = node("a", "", String(question));
    link.href = `#/answers/${id}`;
    item.append(link);
    return item;
  }));
  $("thread").hidden = at < 1;
}
