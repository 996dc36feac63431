// Asks, and follows an answer: one that is being written here, elsewhere, or was stored.

import { emptyAnswer, isClosed, take } from "./answer.js";
import { drawAnswer } from "./answer_view.js";
import { drawThread, forgetConversation, keepTurn, sessionId } from "./conversation.js";
import { streamEvents } from "./events.js";
import { showExamples } from "./examples.js";
import { chosenFilters, startFilters } from "./filters.js";
import { markOpened, showHistory, startHistory } from "./history.js";
import { offer, startKeeping } from "./keep.js";
import { $ } from "./nodes.js";
import { forgetShown, listenToKeys } from "./pointing.js";
import { closeReader } from "./reader.js";
import { send, sendJson, ServiceError } from "./requests.js";
import { goTo, replaceAddress } from "./router.js";
import { words } from "./words_ask.js";

const STREAM = { Accept: "text/event-stream" };
const ATTEMPTS = 3; // to read on in an answer whose connection broke

let answer = emptyAnswer();
let state = ""; // "asking", "writing", "done" or "stopped"; empty where no answer is shown
let reading = null;
let drawing = 0;
let mayAsk = false; // the service has said that it wants no key, or was given one
let waiting = ""; // the question that was asked before

function status(text) {
  if ($("status").textContent !== text) $("status").textContent = text;
}

// ---- Showing what comes

function drawSoon() {
  drawing ||= requestAnimationFrame(draw);
}

function draw() {
  cancelAnimationFrame(drawing);
  drawing = 0;
  drawAnswer(answer, state, () => ask(answer.question));
  const isOver = state === "done" || state === "stopped";
  offer(answer, isOver);
  $("result").setAttribute("aria-busy", String(!isOver));
}

function begin(question, first) {
  reading?.abort();
  reading = new AbortController();
  answer = emptyAnswer(question);
  state = "asking";
  forgetShown();
  closeReader();
  $("ask-view").classList.add("answered");
  $("result").hidden = false;
  $("filters").open = false;
  $("ask").disabled = first;
  $("stop").hidden = !first;
  drawThread("");
  draw();
  return reading;
}

function received(name, data, id, isMine) {
  take(answer, name, data, id);
  if (name === "queued") status(words.queued(answer.position));
  if (name === "start") started(isMine);
  if (name === "delta") {
    state = "writing";
    status(words.writing);
  }
  drawSoon();
}

// Once it has an id, the address is its own: it can be reloaded, sent and gone back to.
function started(isMine) {
  if (isMine) {
    status(words.asking);
    keepTurn(answer);
    if (answer.id) goTo(`#/answers/${answer.id}`);
    $("question").value = "";
    $("question").placeholder = words.followUp;
  }
  drawThread(answer.id);
  document.title = `${answer.question} · kb-qa`;
}

// ---- Asking

async function ask(question) {
  const mine = begin(question, true);
  status(words.asking);
  const body = { question, session_id: sessionId(), filters: chosenFilters() };
  const connect = () => sendJson("POST", "/v1/ask", body, { signal: mine.signal, headers: STREAM });
  await follow(mine, connect, true);
  if (reading !== mine) return;
  finish(mine);
  status(answer.error ? words.failed : words[state]);
  $("ask").disabled = false;
  $("stop").hidden = true;
  showHistory();
}

// Reads the events that `connect` gives; where the connection breaks, on from the last one.
async function follow(mine, connect, isMine) {
  for (let attempt = 0; attempt <= ATTEMPTS && !mine.signal.aborted && !isClosed(answer); attempt += 1) {
    try {
      const response = await (attempt ? reconnected(mine, attempt) : connect());
      await streamEvents(response.body, (name, data, id) => { if (reading === mine) received(name, data, id, isMine); });
    } catch (error) {
      if (mine.signal.aborted) return;
      if (error instanceof ServiceError) refusedBy(error, mine);
      else if (!answer.id) return take(answer, "error", { message: "", retryable: true });
      else continue;
    }
    if (attempt || !answer.id) return; // it was read to what is its end now
  }
}

async function reconnected(mine, attempt) {
  await new Promise((done) => { setTimeout(done, 300 * attempt); });
  return send(`/v1/answers/${answer.id}/events`, {
    signal: mine.signal, headers: { ...STREAM, "Last-Event-ID": String(answer.lastEvent) },
  });
}

function refusedBy(error, mine) {
  if (reading !== mine) return;
  take(answer, "error", { message: error.message, retryable: error.retryable, request_id: error.requestId });
}

function finish(mine) {
  state = mine.signal.aborted ? "stopped" : "done";
  draw();
}

// ---- What the address says

// The answer of this id, as it is stored or as it is being written.
export async function showAnswer(answerId) {
  markOpened(answerId);
  if (answer.id === answerId && state) return;
  const mine = begin("", false);
  $("ask").disabled = false;
  status("");
  const connect = () => send(`/v1/answers/${answerId}/events`, { signal: mine.signal, headers: STREAM });
  await follow(mine, connect, false);
  if (reading !== mine) return;
  finish(mine);
  status(answer.error && !answer.id ? words.notFound : words.opened);
}

// Where the reader left off: the way back from the documents.
export function currentAddress() {
  return state && answer.id ? `#/answers/${answer.id}` : "#/";
}

export function showEmpty() {
  if (!state) return;
  reading?.abort();
  reading = null;
  state = "";
  answer = emptyAnswer();
  closeReader();
  $("ask-view").classList.remove("answered");
  $("result").hidden = true;
  $("ask").disabled = false;
  $("stop").hidden = true;
  status("");
  markOpened("");
  document.title = "kb-qa";
}

function startAnew() {
  forgetConversation();
  showEmpty();
  replaceAddress("#/");
  $("question").value = "";
  $("question").placeholder = words.placeholder;
  $("question").focus();
}

// ---- The view

// Called once the reader may ask.
export function welcome() {
  mayAsk = true;
  if (waiting) ask(waiting);
  waiting = "";
  showHistory();
  showExamples((question) => {
    $("question").value = question;
    ask(question);
  });
}

// Called once, before the first route.
export function startAsking() {
  $("question").placeholder = sessionId() ? words.followUp : words.placeholder;
  $("anew").hidden = !sessionId();
  $("ask-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = $("question").value.trim();
    if (!mayAsk) waiting = question;
    else if (question) ask(question);
  });
  $("question").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      $("ask-form").requestSubmit();
    }
  });
  $("stop").addEventListener("click", () => reading?.abort());
  $("anew").addEventListener("click", startAnew);
  listenToKeys($("question"));
  startFilters();
  startHistory();
  startKeeping();
}
