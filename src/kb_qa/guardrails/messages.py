"""What a reader sees in place of an answer, or of one sentence, that no material supports."""

from __future__ import annotations

_REFUSALS = {
    "zh-Hans": "材料中未找到相关信息。",
    "zh-Hant": "材料中未找到相關資訊。",
    "en": "Not found in the materials.",
    "ja": "資料に該当する情報が見つかりませんでした。",
    "ko": "자료에서 관련 정보를 찾을 수 없습니다.",
    "de": "In den Unterlagen nicht gefunden.",
    "fr": "Introuvable dans les documents.",
    "es": "No se encontró en los materiales.",
}
_WEAK = {
    "zh-Hans": "材料中未找到相关信息。已检索{count}份文档，最接近的段落也与问题无关。",
    "zh-Hant": "材料中未找到相關資訊。已檢索{count}份文件，最接近的段落也與問題無關。",
    "en": "Not found in the materials. {count} documents were searched, and even the nearest passages are about"
    " something else.",
    "ja": "資料に該当する情報が見つかりませんでした。{count}件の文書を検索しましたが、"
    "最も近い箇所も質問とは関係がありません。",
    "ko": "자료에서 관련 정보를 찾을 수 없습니다. 문서 {count}건을 검색했으나"
    " 가장 가까운 구절도 질문과 관련이 없습니다.",
    "de": "In den Unterlagen nicht gefunden. {count} Dokumente wurden durchsucht; auch die nächsten Stellen handeln von"
    " anderem.",
    "fr": "Introuvable dans les documents. {count} documents ont été consultés ; même les passages les plus proches"
    " parlent d'autre chose.",
    "es": "No se encontró en los materiales. Se consultaron {count} documentos; ni los pasajes más cercanos tratan de"
    " esto.",
}
_WITHHELD = {
    "zh-Hans": "〔该数字在材料中未找到依据，已略去〕",
    "zh-Hant": "〔該數字在材料中找不到依據，已略去〕",
    "en": "[withheld: this figure was not found in the materials]",
    "ja": "〔資料で確認できない数値のため省略〕",
    "ko": "[자료에서 확인되지 않은 수치는 생략]",
    "de": "[nicht belegt, ausgelassen]",
    "fr": "[chiffre non trouvé dans les documents]",
    "es": "[cifra no encontrada en los materiales]",
}
_RECOMPUTED = {
    "zh-Hans": "〔按算式重算〕",
    "zh-Hant": "〔按算式重算〕",
    "en": " [recomputed]",
    "ja": "〔再計算〕",
    "ko": " [재계산]",
    "de": " [neu berechnet]",
    "fr": " [recalculé]",
    "es": " [recalculado]",
}
_UNCITED = {
    "zh-Hans": "〔未注明出处〕",
    "zh-Hant": "〔未註明出處〕",
    "en": " [no source given]",
    "ja": "〔出典なし〕",
    "ko": " [출처 없음]",
    "de": " [ohne Quelle]",
    "fr": " [sans source]",
    "es": " [sin fuente]",
}
_TRADITIONAL_TAGS = frozenset({"zh-tw", "zh-hk", "zh-mo", "zh-hant"})


def refusal_text(language_tag: str) -> str:
    """The text of a refusal; `zh` means simplified Chinese, an unknown language gets English."""
    return _REFUSALS[_known(language_tag)]


def weak_text(language_tag: str, count: int) -> str:
    """The text of a refusal where passages were found, but no evidence; `count` documents were searched."""
    return _WEAK[_known(language_tag)].format(count=count)


def withheld_text(language_tag: str) -> str:
    """The text in place of one unit that was withheld."""
    return _WITHHELD[_known(language_tag)]


def recomputed_text(language_tag: str) -> str:
    """What stands behind a printed result that was replaced by the recomputed one: it is never done silently."""
    return _RECOMPUTED[_known(language_tag)]


def uncited_text(language_tag: str) -> str:
    """What stands behind a statement that cites nothing."""
    return _UNCITED[_known(language_tag)]


def _known(language_tag: str) -> str:
    tag = language_tag.lower().replace("_", "-")
    language = tag.partition("-")[0]
    if language == "zh":
        return "zh-Hant" if any(tag.startswith(each) for each in _TRADITIONAL_TAGS) else "zh-Hans"
    return language if language in _REFUSALS else "en"
