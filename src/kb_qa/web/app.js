// The page: a question and its answer, the documents, and beside them the spot on the page that a figure came from.
// Everything that comes from a document, a file name, a model or the service is put in with textContent, never as HTML.

import { whenSignedIn } from "./access.js";
import { currentAddress, showAnswer, showEmpty, startAsking, welcome } from "./ask.js";
import { showDispute } from "./dispute.js";
import { showDocument } from "./document_view.js";
import { showDocuments } from "./documents.js";
import { labels } from "./labels.js";
import { language, switchLanguage } from "./language.js";
import { $ } from "./nodes.js";
import { onRoute } from "./router.js";

const VIEWS = { ask: "ask-view", answer: "ask-view", dispute: "ask-view", documents: "documents-view", document: "documents-view" };

const SHOWN = {
  ask: () => showEmpty(),
  answer: ({ answerId }) => showAnswer(answerId),
  documents: () => showDocuments(),
  document: ({ documentId, page }) => showDocument({ documentId, page: Number(page ?? 1) }),
  dispute: ({ answerId, n }) => showDispute({ answerId, n: Number(n) }),
};

function show(route) {
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== VIEWS[route.name];
  for (const link of document.querySelectorAll("header nav a")) {
    if (link.dataset.view === VIEWS[route.name]) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.querySelector("header nav a").href = VIEWS[route.name] === "ask-view" ? "#/" : currentAddress();
  $("asking").hidden = route.name === "dispute";
  $("dispute").hidden = route.name !== "dispute";
  $("document").hidden = route.name !== "document";
  $("documents-list").hidden = route.name !== "documents";
  SHOWN[route.name]?.(route);
}

function start() {
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
  for (const element of document.querySelectorAll("[data-label]")) element.textContent = labels[element.dataset.label];
  $("language").addEventListener("click", switchLanguage);
  startAsking();
  whenSignedIn(() => {
    onRoute(show);
    welcome();
  });
}

start();
