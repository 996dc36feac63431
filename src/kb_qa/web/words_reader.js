// What the reader and the card over a citation say.

import { inLanguage } from "./language.js";

const WORDS = {
  en: {
    region: "Source page", close: "Close", pages: "Pages of the document", noLabel: "Source",
    pageOf: (number, count, label) => (label && label !== String(number) ? `Page ${label} (${number} of ${count})` : `Page ${number} of ${count}`),
    previousPage: "Previous page", nextPage: "Next page",
    zoomIn: "Larger", zoomOut: "Smaller", fit: "Fit width",
    placeOf: (at, count) => `Place ${at} of ${count}`, previousPlace: "Previous place", nextPlace: "Next place",
    operands: "What it was computed from",
    wholePage: "Whole page", original: "Original file",
    noPages: "This document has no pages to show. These are the quoted words.",
    noPlace: "The place of these words on a page is not known.",
    noPicture: "There is no picture of this page. The quoted words stand above.",
    failed: "The pages of this document could not be loaded.",
    more: (count) => (count === 1 ? "and one more place" : `and ${count} more places`),
  },
  zh: {
    region: "原文页面", close: "关闭", pages: "文档的各页", noLabel: "出处",
    pageOf: (number, count, label) => (label && label !== String(number) ? `页码 ${label}（第 ${number} / ${count} 页）` : `第 ${number} / ${count} 页`),
    previousPage: "上一页", nextPage: "下一页",
    zoomIn: "放大", zoomOut: "缩小", fit: "适合宽度",
    placeOf: (at, count) => `位置 ${at} / ${count}`, previousPlace: "上一处", nextPlace: "下一处",
    operands: "由以下数字算出",
    wholePage: "整页图片", original: "原始文件",
    noPages: "此文档没有可显示的页面，以下是引用的原文。",
    noPlace: "这些文字在页面上的位置未知。",
    noPicture: "此页没有图片，引用的原文见上。",
    failed: "无法加载此文档的页面。",
    more: (count) => `另有 ${count} 处`,
  },
};

export const words = inLanguage(WORDS);
