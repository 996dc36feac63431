// The words of the view of one figure: everywhere it is told, and what its reader decides.

import { inLanguage } from "./language.js";

const LOCALES = { en: "en-GB", zh: "zh-CN" };

const WORDS = {
  en: {
    back: "Back to the answer", figureOf: (n, all) => `Figure ${n} of ${all}`, previous: "Previous figure", next: "Next figure",
    asked: (question) => `Asked: ${question}`, said: "The answer says", failed: "The places of this figure could not be loaded.", missing: "There is no such figure.",
    conflict: "The documents disagree",
    conflictText: (said) => `They do not tell the same value here: ${said}.`,
    valueIn: (value, where) => `${value} in ${where}`, and: "; ",
    agreeing: (n) => (n === 1 ? "One place tells this figure. Nothing contradicts it." : `All ${n} places tell the same. Nothing contradicts it.`),
    ownOnly: "The answer rests on what is printed below. Nothing else was found that tells the same.",
    nowhere: "No place in the documents was found that tells this.",
    others: (n) => (n === 1 ? "One place tells the same measure with another value that does not contradict it." : `${n} places tell the same measure with other values that do not contradict it.`),
    derived: (formula) => `It was computed: ${formula}`,
    places: "Where it is told", badges: { support: "the answer rests on this", agrees: "says the same", contradicts: "says otherwise", other: "same measure" },
    open: "Open on the page", picture: (value, where) => `${value} as printed in ${where}`, noPicture: "There is no picture of this place.", pictureGone: "This page is not there any more.",
    printed: (text) => `printed “${text}”`, scale: (text) => `counted in “${text}”`,
    decide: "Your decision", accept: "Accept", reject: "Reject", note: "Note", noteHint: "Why, or what to check (optional)", saveNote: "Save note",
    saved: "Saved.", saveFailed: (why) => `Not saved: ${why}`, readOnly: "Your key may read decisions, but not make them.", noteNeeded: "A note needs some words.",
    kinds: { accept: "Accepted", reject: "Rejected", note: "Noted" }, undecided: "Nobody has decided on this figure yet.",
    decided: (kind, when, by) => [kind, by && `by ${by}`, when && `on ${when}`].filter(Boolean).join(" "),
    record: "Download the record", ofAnswer: "of this answer", ofAll: "of all answers", csv: "table (CSV)", jsonl: "data (JSON Lines)",
    statuses: {
      exact: "printed exactly so", rounded: "rounded from what is printed", converted: "converted from what is printed",
      counted: "counted in the documents", derived: "computed", corrected: "corrected to what is printed",
      question_echo: "repeated from the question", exempt: "claims nothing", unsupported: "no support found",
      misbound: "the figure of another thing", contradicted: "contradicted by the documents", wrong_citation: "cited at the wrong place",
      false_precision: "more exact than what is printed", conflict: "documents disagree", unparsed: "its value could not be read",
      low_confidence: "read with low confidence",
    },
    locale: LOCALES.en,
  },
  zh: {
    back: "返回答案", figureOf: (n, all) => `第 ${n} 个数字，共 ${all} 个`, previous: "上一个数字", next: "下一个数字",
    asked: (question) => `问题：${question}`, said: "答案中写道", failed: "无法加载该数字的出处。", missing: "没有这个数字。",
    conflict: "文档之间不一致",
    conflictText: (said) => `此处各文档给出的数值不同：${said}。`,
    valueIn: (value, where) => `${where} 为 ${value}`, and: "；",
    agreeing: (n) => (n === 1 ? "有一处给出该数字，没有相反的记载。" : `${n} 处记载一致，没有相反的记载。`),
    ownOnly: "答案以下方印刷的内容为依据，未找到给出同一内容的其他位置。",
    nowhere: "文档中未找到给出该数字的位置。",
    others: (n) => `另有 ${n} 处给出同一指标的其他数值，但并不矛盾。`,
    derived: (formula) => `该数字由计算得出：${formula}`,
    places: "出处", badges: { support: "答案的依据", agrees: "记载一致", contradicts: "记载不同", other: "同一指标" },
    open: "在页面中查看", picture: (value, where) => `${where} 中印刷的 ${value}`, noPicture: "此处没有图片。", pictureGone: "该页面已不存在。",
    printed: (text) => `原文为“${text}”`, scale: (text) => `单位依据“${text}”`,
    decide: "您的判断", accept: "认可", reject: "不认可", note: "备注", noteHint: "理由或需要核对之处（可不填）", saveNote: "保存备注",
    saved: "已保存。", saveFailed: (why) => `未能保存：${why}`, readOnly: "您的密钥只能查看判断，不能作出判断。", noteNeeded: "请填写备注内容。",
    kinds: { accept: "已认可", reject: "不认可", note: "已备注" }, undecided: "尚无人对该数字作出判断。",
    decided: (kind, when, by) => [kind, by && `${by}`, when].filter(Boolean).join(" · "),
    record: "下载记录", ofAnswer: "本答案", ofAll: "全部答案", csv: "表格（CSV）", jsonl: "数据（JSON Lines）",
    statuses: {
      exact: "与原文一致", rounded: "由原文数值取整", converted: "由原文数值换算", counted: "由文档计数", derived: "计算得出",
      corrected: "已按原文更正", question_echo: "重复问题中的数字", exempt: "不作断言", unsupported: "未找到依据",
      misbound: "属于另一事项的数字", contradicted: "与文档相反", wrong_citation: "引用位置有误",
      false_precision: "比原文更精确", conflict: "文档之间不一致", unparsed: "无法读出数值", low_confidence: "识读置信度低",
    },
    locale: LOCALES.zh,
  },
};

export const words = inLanguage(WORDS);
