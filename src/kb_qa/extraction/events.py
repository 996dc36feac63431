"""Questions whether something happened: sentences that say it did, and not that it may, might or did not."""

from __future__ import annotations

import re
from functools import lru_cache

# What did not happen, or has not yet, or is only a rule of how it would be treated.
_NOT_SAID = re.compile(
    r"(?ai)\b(?:(?-i:may)|might|could|would|should|if|whether|unless|no|not|none|never|neither|nor|without|cannot|any"
    r"|potential|potentially|possible|possibly|hypothetical|prospective|risks?|uncertaint(?:y|ies))\b|n't\b"
    r"|\bto (?:acquire|merge|repurchase|buy back|launch|appoint|adopt)\b"
    r"|未(?!来)|没有|无|不(?!断|仅|但)|可能|如果|若|或将|拟"
)
_HAPPENED = re.compile(
    r"(?ai)\b(?:announced|launched|introduced|acquired|completed|closed|entered into|approved|authori[sz]ed"
    r"|adopted|established|initiated|commenced|began|started|implemented|published|released|joined|appointed|named"
    r"|elected|promoted|resigned|retired|stepped down|succeeded|departed|ceased|purchased|repurchased|bought back"
    r"|sold|merged|agreed|signed|filed|unveiled|formed|created|hired|replaced|has been|have been|became|becomes"
    r"|continue[sd]?|undertak(?:e|es|en|ing)|committed)\b"
    r"|宣布|推出|发布|完成|收购了?|签订|签署|批准|通过|任命|聘任|辞去|辞职|离任|回购了?|设立|启动|上市|建立"
)
_OWN = re.compile(
    r"(?ai)\b(?:we|our|us|the (?:company|group|bank|corporation|trust|board|directors?))\b|公司|集团|本行|我们|董事会"
)
_CHANGES = re.compile(
    r"(?ai)\b(?:appoint(?:ed|ment)?|named|elected|promoted|hired|joined|resign(?:ed|ation|s)?|retire(?:d|s|ment)?"
    r"|stepped down|succeed(?:ed|s)?|successor|depart(?:ed|ure)|ceased|replaced|transition(?:ed)?|assumed the role)\b"
    r"|任命|聘任|选举|辞去|辞职|离任|退休|接任|变更"
)
_LEADERSHIP = re.compile(
    r"(?ai)\b(?:leadership|management|executive|board|officers?|directors?)\b.*"
    r"\b(?:changed|changes?|appointed|left|resigned|new)\b"
    r"|\bchanges? (?:in|to|of) (?:the )?(?:leadership|management|board)\b|管理层变动|高管变动|人事变动"
)
_PRODUCTS = re.compile(
    r"(?ai)\b(?:products?|services?|models?)\b.*\b(?:launch|introduc|releas|unveil)\w*|推出.{0,6}产品|新产品"
)
_LAUNCHED = re.compile(
    r"(?ai)\b(?:launch(?:ed|es)?|introduc(?:ed|es)|unveil(?:ed|s)?|releas(?:ed|es)|brought to market)\b"
    r"|推出|发布|上市"
)
_TITLE = re.compile(
    r"(?ai)\b(?:chief [a-z]+(?: [a-z]+)? officer|c[efot]o|president|chair(?:man|woman|person)?"
    r"|(?:non-executive |independent |managing |executive )*directors?|(?:general|legal) counsel|treasurer"
    r"|secretary|board member|head of|trustee)\b|董事|总裁|总经理|首席|主席|监事"
)
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][A-Za-z0-9]+|[A-Za-z]+\d|《[^》]+》|“[^”]+”|\"[^\"]+\"|[\u4e00-\u9fff]{2}")


def is_said_to_happen(sentence: str) -> bool:
    """Whether a sentence says that something was done, or is the case, beyond doubt and negation."""
    return _NOT_SAID.search(sentence) is None and _HAPPENED.search(sentence) is not None


def is_own(sentence: str) -> bool:
    """Whether a sentence tells of the one who reports."""
    return _OWN.search(sentence) is not None


@lru_cache(maxsize=256)
def event_of(question: str) -> str:
    """`leadership` or `launch` where a question asks for the names in such events; empty for others."""
    if _LEADERSHIP.search(question):
        return "leadership"
    return "launch" if _PRODUCTS.search(question) else ""


def tells(event: str, sentence: str) -> bool:
    """Whether a sentence tells of such an event, with a name in it."""
    happened = (_CHANGES, _TITLE) if event == "leadership" else (_LAUNCHED,)
    return all(pattern.search(sentence) for pattern in (*happened, _NAME)) and _NOT_SAID.search(sentence) is None
