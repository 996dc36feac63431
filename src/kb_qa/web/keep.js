// What a reader takes along: the answer as text, as Markdown, on paper, and the originals with its passages marked.

import { list, plainText } from "./answer.js";
import { $, node } from "./nodes.js";
import { send } from "./requests.js";
import { words } from "./words_ask.js";

let kept = null;

// Offers what can be kept of the answer; nothing before it has an address and an end.
export function offer(answer, isDone) {
  kept = answer;
  $("keep").hidden = !isDone || !answer.id;
  $("keep-status").textContent = "";
  $("keep-marked").replaceChildren(...(isDone ? markedLinks(answer) : []));
}

// Called once.
export function startKeeping() {
  $("copy-text").addEventListener("click", () => copy(async () => plainText(kept)));
  $("copy-markdown").addEventListener("click", () => copy(async () => (await send(`/v1/answers/${kept.id}/answer.md`)).text()));
  $("copy-link").addEventListener("click", () => copy(async () => `${location.origin}${location.pathname}#/answers/${kept.id}`));
  $("print").addEventListener("click", () => print());
}

function markedLinks({ id, citations }) {
  const documents = new Map();
  for (const { document_id: document, document: name, regions } of citations) {
    if (list(regions).some((region) => region?.bbox)) documents.set(String(document), String(name ?? ""));
  }
  return [...documents].map(([document, name]) => {
    const link = node("a", "", documents.size > 1 ? words.markedOf(name) : words.marked);
    link.href = `/v1/answers/${id}/highlighted.pdf?document=${encodeURIComponent(document)}`;
    link.download = "";
    return link;
  });
}

async function copy(text) {
  let told = words.copied;
  $("keep-status").textContent = "";
  try {
    await write(await text());
  } catch {
    told = words.notCopied;
  }
  $("keep-status").textContent = told;
}

// Browsers have a clipboard for pages of this machine and of https alone; others get the older way.
async function write(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = node("textarea");
  box.value = text;
  document.body.append(box);
  box.select();
  const done = document.execCommand("copy");
  box.remove();
  if (!done) throw new Error("not copied");
  return undefined;
}
