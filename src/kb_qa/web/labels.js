// What the page itself says, in the reader's language; each part has its own words in `words_….js`.

import { inLanguage } from "./language.js";

const LABELS = {
  en: {
    otherLanguage: "中文", brief: "Answers from your documents. Every figure leads to its spot on the page.",
    key: "Access key", signIn: "Sign in", signOut: "Sign out", wrongKey: "This key does not open these documents.",
    failed: "That did not work.",
    question: "Your question", ask: "Ask", stop: "Stop", anew: "New conversation", examples: "For example",
    thread: "Earlier in this conversation", filterName: "Find a document", filterKinds: "Look in",
    filterDocuments: "Documents to look in", clear: "Everything again",
    references: "References", figures: "Figures in this answer", materials: "Passages that were read",
    copyText: "Copy", copyMarkdown: "Copy as Markdown", copyLink: "Copy link", print: "Print",
    history: "Earlier answers", older: "Older", source: "On the page",
    hint: "Point at a figure or a citation to see where it is printed; click it to open its page here.",
    keys: "Keys: / question · j k citations · Esc close",
    documents: "Documents", noDocuments: "No documents yet. Add some with: kb-qa ingest FOLDER",
    documentsFailed: "The list of documents could not be loaded.",
    pages: (n) => (n === 1 ? "1 page" : `${n} pages`),
    states: { ready: "ready", quarantined: "set aside", received: "waiting", stored: "waiting" }, busy: "being read",
  },
  zh: {
    otherLanguage: "English", brief: "答案出自您的文档，每个数字都能回到它在页面上的位置。",
    key: "访问密钥", signIn: "登录", signOut: "退出", wrongKey: "该密钥无法打开这些文档。",
    failed: "操作未能完成。",
    question: "您的问题", ask: "提问", stop: "停止", anew: "新对话", examples: "例如",
    thread: "本次对话的前文", filterName: "查找文档", filterKinds: "查找范围",
    filterDocuments: "限定文档", clear: "恢复全部",
    references: "引用", figures: "答案中的数字", materials: "查阅过的材料",
    copyText: "复制", copyMarkdown: "复制为 Markdown", copyLink: "复制链接", print: "打印",
    history: "历史答案", older: "更早", source: "原文位置",
    hint: "指向数字或引用编号，即可看到它印在何处；点击后在此打开该页。",
    keys: "快捷键：/ 提问 · j k 引用 · Esc 关闭",
    documents: "文档", noDocuments: "还没有文档。请先运行：kb-qa ingest 文件夹",
    documentsFailed: "文档列表加载失败。",
    pages: (n) => `${n} 页`,
    states: { ready: "可查询", quarantined: "已隔离", received: "等待中", stored: "等待中" }, busy: "处理中",
  },
};

export const labels = inLanguage(LABELS);
