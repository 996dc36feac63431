// The answers that the service keeps, newest first; each has its address.

import { $, node } from "./nodes.js";
import { getJson } from "./requests.js";
import { language } from "./language.js";
import { words } from "./words_ask.js";

const PAGE = 10;
const when = new Intl.DateTimeFormat(language === "zh" ? "zh-CN" : "en", { dateStyle: "medium", timeStyle: "short" });

let next = "";

// The first page anew, after an answer was added.
export async function showHistory() {
  await load("", (items) => $("history-list").replaceChildren(...items));
}

// Called once.
export function startHistory() {
  $("history-more").addEventListener("click", async () => {
    const before = $("history-list").children.length;
    await load(next, (items) => $("history-list").append(...items));
    $("history-list").children[before]?.querySelector("a").focus();
  });
}

export function markOpened(answerId) {
  for (const link of document.querySelectorAll("#history-list a")) {
    if (link.hash === `#/answers/${answerId}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

async function load(before, draw) {
  try {
    const page = await getJson(`/v1/answers?limit=${PAGE}${before ? `&before=${encodeURIComponent(before)}` : ""}`);
    next = page.next ?? "";
    draw(page.answers.map(item));
    $("history-problem").hidden = true;
    $("history").hidden = page.answers.length === 0 && !before;
    markOpened(location.hash.split("/")[2]);
  } catch {
    $("history-problem").textContent = words.historyFailed;
    $("history-problem").hidden = false;
  }
  $("history-more").hidden = !next;
}

function item({ id, question, created, refused, complete, documents }) {
  const made = node("li"), link = node("a", "", String(question));
  link.href = `#/answers/${encodeURIComponent(id)}`;
  const about = node("small");
  const told = [when.format(new Date(created * 1000)), ...documents.slice(0, 2), documents.length > 2 && `+${documents.length - 2}`];
  about.append(told.filter(Boolean).join(" · "));
  const state = refused ? words.refused : complete ? "" : words.incomplete;
  if (state) about.append(" · ", node("em", "", state));
  made.append(link, about);
  return made;
}
