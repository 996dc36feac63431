// What the page says of an answer, its figures and its references.

import { inLanguage } from "./language.js";

const SUPPORTED = new Set([
  "exact", "rounded", "converted", "counted", "derived", "corrected", "question_echo", "exempt",
]);

const WORDS = {
  en: {
    kinds: { text: "text", table: "table", image: "image" },
    withheld: "[withheld]",
    understood: (text) => `Understood as: ${text}`, stillIn: (names) => `Only in: ${names}`,
    citation: (n, label) => `Citation ${n}: ${label}`,
    verdicts: {
      exact: "as printed", rounded: "rounded", converted: "another unit", counted: "counted", derived: "computed",
      corrected: "corrected to the print", conflict: "the sources disagree", unsure: "not surely read",
      unsupported: "without a source", misbound: "the source says it of something else",
      contradicted: "the source says the opposite", wrong_citation: "stands elsewhere than cited",
      false_precision: "more precise than the source",
    },
    because: {
      unsupported: "It held a figure that is neither printed in the sources nor computed from them.",
      misbound: "It held a figure that the sources print of something else.",
      contradicted: "The sources say it in the other direction.",
      false_precision: "It was more precise than the sources.",
      wrong_citation: "Its figure does not stand in what was cited.",
      uncited: "It held a figure and cited nothing.",
      conflict: "The sources disagree about it.",
      low_confidence: "Its figure was recognised in a picture, and not surely enough.",
      scale: "Its figure had another scale than the sources.", currency: "Its figure had another currency than the sources.",
      ambiguous: "The scale of its figure is stated twice, and differently.",
      result: "A computation in it gives another result.",
    },
    becauseElse: "A figure in it could not be traced to the sources.",
    refused: "No answer from these documents",
    searched: (n) => `Searched: ${n === 1 ? "1 document" : `${n} documents`}`, within: (names) => `within ${names}`,
    missing: (names) => `Named in no passage: ${names}`,
    nearest: "What comes nearest", noNearest: "No passage came near.",
    failed: "The answer could not be completed", cut: "The answer was cut off and is not complete.",
    incomplete: "This answer was not written to its end.",
    retry: "Trying again may help.", again: "Ask again", request: "Request",
    references: "References", figures: "Figures in this answer", places: "All places",
    placesOf: (raw) => `All places that tell the measure of ${raw}`,
    materials: "Passages that were read", crop: (label) => `Picture of ${label}`,
    gone: "There is no answer with this address.", loadFailed: "The answer could not be loaded.",
  },
  zh: {
    kinds: { text: "文本", table: "表格", image: "图片" },
    withheld: "［未显示］",
    understood: (text) => `理解为：${text}`, stillIn: (names) => `仅限：${names}`,
    citation: (n, label) => `引用 ${n}：${label}`,
    verdicts: {
      exact: "与原文一致", rounded: "四舍五入", converted: "单位换算", counted: "清点所得", derived: "计算所得",
      corrected: "已按原文更正", conflict: "材料之间不一致", unsure: "识别不确定",
      unsupported: "没有出处", misbound: "材料中所指不同", contradicted: "与材料相反",
      wrong_citation: "不在所引之处", false_precision: "比材料更精确",
    },
    because: {
      unsupported: "句中有数字既不在材料中，也无法由材料算出。",
      misbound: "句中的数字在材料中指的是别的内容。",
      contradicted: "材料所述方向相反。",
      false_precision: "句中的数字比材料更精确。",
      wrong_citation: "句中的数字不在所引材料中。",
      uncited: "句中有数字，却没有引用材料。",
      conflict: "材料之间不一致。",
      low_confidence: "句中的数字识别自图片，把握不足。",
      scale: "句中数字的数量级与材料不同。", currency: "句中数字的币种与材料不同。",
      ambiguous: "句中数字的单位在材料中有两种说法。",
      result: "句中的计算结果不符。",
    },
    becauseElse: "句中有数字无法追溯到材料。",
    refused: "这些文档无法回答",
    searched: (n) => `已查阅：${n} 份文档`, within: (names) => `范围：${names}`,
    missing: (names) => `材料中没有提到：${names}`,
    nearest: "最接近的内容", noNearest: "没有接近的内容。",
    failed: "答案未能完成", cut: "答案被截断，并不完整。",
    incomplete: "这个答案没有写完。",
    retry: "可以稍后重试。", again: "重新提问", request: "请求编号",
    references: "引用", figures: "答案中的数字", places: "所有出处",
    placesOf: (raw) => `${raw} 所指内容的所有出处`,
    materials: "查阅过的材料", crop: (label) => `${label} 的图片`,
    gone: "没有这个地址的答案。", loadFailed: "答案加载失败。",
  },
};

const told = inLanguage(WORDS);

export const words = {
  ...told,
  supported: SUPPORTED,
  verdict: ({ status }, verdict) => (
    told.verdicts[["conflict", "unsure"].includes(verdict) ? verdict : status] ?? told.verdicts[verdict] ?? told.verdicts.unsupported
  ),
  withheldBecause: (code) => (Object.hasOwn(told.because, code) ? told.because[code] : told.becauseElse),
};
