// What the page says around a question: the box, its filters, what becomes of it, and what was asked before.

import { inLanguage } from "./language.js";

const WORDS = {
  en: {
    placeholder: "What would you like to know?", followUp: "Ask on, or something new",
    queued: (position) => `Waiting: number ${position} in line…`,
    asking: "Reading the documents…", writing: "Writing…", done: "Done.", stopped: "Stopped. The answer is not complete.",
    failed: "The answer could not be completed", opened: "Answer opened.", notFound: "There is no answer with this address.",
    everything: "All documents", documents: (n) => (n === 1 ? "1 document" : `${n} documents`),
    kinds: { text: "Text", table: "Tables", image: "Images" },
    more: (n) => `${n} more: type to narrow`, noMatch: "No document of this name.", loadFailed: "The documents could not be listed.",
    remove: (name) => `Remove ${name}`,
    refused: "no answer", incomplete: "incomplete", nothingAsked: "Nothing was asked yet.",
    historyFailed: "The earlier answers could not be loaded.",
    copied: "Copied.", notCopied: "The browser did not allow copying.",
    marked: "Highlighted PDF", markedOf: (name) => `Highlighted PDF: ${name}`,
  },
  zh: {
    placeholder: "想了解什么？", followUp: "继续追问，或另问一个问题",
    queued: (position) => `正在排队（第 ${position} 位）……`,
    asking: "正在查阅文档……", writing: "正在作答……", done: "完成。", stopped: "已停止，答案不完整。",
    failed: "答案未能完成", opened: "已打开答案。", notFound: "没有这个地址的答案。",
    everything: "全部文档", documents: (n) => `${n} 份文档`,
    kinds: { text: "文本", table: "表格", image: "图片" },
    more: (n) => `还有 ${n} 份，请输入名称查找`, noMatch: "没有这个名称的文档。", loadFailed: "文档列表加载失败。",
    remove: (name) => `移除 ${name}`,
    refused: "未能回答", incomplete: "不完整", nothingAsked: "还没有提过问题。",
    historyFailed: "历史答案加载失败。",
    copied: "已复制。", notCopied: "浏览器不允许复制。",
    marked: "标注 PDF", markedOf: (name) => `标注 PDF：${name}`,
  },
};

export const words = inLanguage(WORDS);
