// What the page says, in the browser's language. The example questions are about the sample documents; the last one has
// no answer there, to show how that looks.

import { inLanguage } from "./language.js";

const LABELS = {
  en: {
    otherLanguage: "中文",
    key: "Access key", signIn: "Sign in", signOut: "Sign out", wrongKey: "This key does not open these documents.",
    tagline: "Answers from your documents. Every figure leads to its spot on the page.",
    question: "Your question", ask: "Ask", stop: "Stop", anew: "New conversation", examples: "Examples",
    placeholder: "What would you like to know?",
    understood: (text) => `Understood as: ${text}`, stillIn: (names) => `Only in: ${names}`,
    queued: (position) => `Waiting: number ${position} in line…`,
    working: "Reading the documents…", writing: "Writing…", done: "Done.", stopped: "Stopped. The answer is not complete.",
    materials: "Passages that were read",
    documents: "Documents", noDocuments: "No documents yet. Add some with: kb-qa ingest FOLDER",
    documentsFailed: "The list of documents could not be loaded.",
    refused: "No answer from these documents", withheld: "Held back: a figure without a source",
    failed: "The answer could not be completed", cut: "The answer was cut off and is not complete.",
    retry: "Trying again may help.", request: "Request", pages: (n) => (n === 1 ? "1 page" : `${n} pages`),
    citation: (n, label) => `Citation ${n}: ${label}`, figure: (raw) => `Where ${raw} is printed`,
    formula: (raw) => `How ${raw} was computed`,
    states: { ready: "ready", quarantined: "set aside", received: "waiting", stored: "waiting" }, busy: "being read",
    exampleQuestions: [
      "What were Northfell's net sales in 2024?", "How long is the password reset link valid?",
      "What were Northfell's net sales in 2019?",
    ],
  },
  zh: {
    otherLanguage: "English",
    key: "访问密钥", signIn: "登录", signOut: "退出", wrongKey: "该密钥无法打开这些文档。",
    tagline: "答案出自您的文档，每个数字都能回到它在页面上的位置。",
    question: "您的问题", ask: "提问", stop: "停止", anew: "新对话", examples: "示例",
    placeholder: "想了解什么？",
    understood: (text) => `理解为：${text}`, stillIn: (names) => `仅限：${names}`,
    queued: (position) => `正在排队（第 ${position} 位）……`,
    working: "正在查阅文档……", writing: "正在作答……", done: "完成。", stopped: "已停止，答案不完整。",
    materials: "查阅过的材料",
    documents: "文档", noDocuments: "还没有文档。请先运行：kb-qa ingest 文件夹",
    documentsFailed: "文档列表加载失败。",
    refused: "这些文档无法回答", withheld: "未显示：有数字没有出处",
    failed: "答案未能完成", cut: "答案被截断，并不完整。",
    retry: "可以稍后重试。", request: "请求编号", pages: (n) => `${n} 页`,
    citation: (n, label) => `引用 ${n}：${label}`, figure: (raw) => `${raw} 的出处`,
    formula: (raw) => `${raw} 的算式`,
    states: { ready: "可查询", quarantined: "已隔离", received: "等待中", stored: "等待中" }, busy: "处理中",
    exampleQuestions: ["P5的基本工资是多少？", "公司2025年的营业收入是多少？", "P9的基本工资是多少？"],
  },
};

export const labels = inLanguage(LABELS);
