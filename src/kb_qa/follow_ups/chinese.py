"""Chinese follow-ups: 那2023年呢？ 净利润呢？ P6呢？ 它的毛利率是多少？ 增长了多少？"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from kb_qa.follow_ups.carrying import Edit, FollowUp, edited, new_period, other_year, same_kind_edits
from kb_qa.follow_ups.parts import Part, PartKind, alike, is_measure, of_kind, parts_in, replaced, rest_of, single

_LEAD = re.compile(
    r"(?:那么|那(?![个家些种项位]|一?年(?![假终薪底初报龄限级会]))|还有|以及|另外|请问|换成|改成|谢谢|好的|嗯|[，,、\s])+"
)
_PARTICLE = re.compile(r"[呢吗呀啊\s]*$")
_NE = re.compile(r"呢[？?。！!\s]*$")
_ENDS = "？?。！!. \u3000"
_ASK = re.compile(
    r"(?:分别|大概|一共|总共|共)*(?:是|为|有|达到?|占|需要?|可以?|能|享受?|规定)*(?:多少|几|什么|怎样|怎么样|如何|多[大高长久快]|谁|哪)"
)
_QUESTION_WORD = re.compile(
    r"多少|什么|怎|如何|几|哪|谁|为何|是否|有没有|能不能|能否|可不可以|多[大高长久快]|吗|其[他它余中]|别的|相比|对比|两者|二者|前者|后者|[这那]些"
)
# Only what fits any measure: 几天 and 多久 ask a question of their own.
_ASK_TAIL = re.compile(r"(?:分别)?(?:是|为|有|达到?)?多少(?:元|万元|亿元|美元|钱)?$")
_MEASURED = re.compile(r"(?:多少|几)(?:[个名位天元万亿人次家台件]{0,2})(?P<object>[\u4e00-\u9fff]{2,8})$")
_CHANGE = re.compile(
    r"(?:总共|一共|又|大概)?(?:(?:比|较)(?:上年|去年|前一年|上一?季度|上月)(?:同期)?)?(?:同比|环比)?(?:增长|增加|增幅|增速|下降|降低|降幅|减少|上升|上涨|下跌|提高|变化|变动|涨|跌)"
    r"(?:了|率|幅|额|值|趋势|情况|的?原因|多少|如何|怎|百分|吗|$)"
)
_WHY_CHANGE = re.compile(rf"(?:为什么|为何|怎么)(?:会)?{_CHANGE.pattern}")
_COMPARED = re.compile(r"(?:和|与|跟|同|比|较|相比|对比)(?P<rest>.+)$")
_LIKE = re.compile(r"(?:相比|相比较|比较?|对比)?(?:如何|怎么样|怎样|有什么变化)?$")
_PRONOUN = re.compile(r"它们?(?P<own1>的)?|[他她]们?(?P<own2>的)?|其(?![他中它实余次])")
_COMPANY = re.compile(r"(?:该|这家|那家|这个|这一|上述)(?:公司|集团|企业|银行)")
_THAT_PERIOD = re.compile(r"(?:当年|那一?年|同一?年|该年度?|这一年|同一时期|该期间)(?![度内均比假终薪底初报龄限级会])")
_DEMONSTRATIVE = re.compile(
    r"(?:该|这个|那个|这项|那项|这份|那份|这种|上述|此)(?P<noun>政策|制度|规定|条款|产品|项目|部门|岗位|职级|系统|服务|流程|链接|合同"
    r"|文件|报告|手册|假期|补贴|津贴|方案|标准|指标|奖金|功能|账户|申请|费用)"
)
_SHIFTED = re.compile(r"(?:(?P<before>前一年|上一年|上年|再前一年)|(?P<after>后一年|次年|下一年|第二年))(?:度)?")
_PART_OF_A_FIRM = re.compile("(?:部门?|分部|公司|集团|板块|业务|地区|市场|门店|工厂|分行|支行|子公司|产品线?)$")
_GENERAL = re.compile("公司|集团|我们|企业|单位|员工|职工|人员|本[行部司]|全[国年体]|每")
_KIND_OF_THING = re.compile("[\u4e00-\u9fff]{1,8}(?=的)")  # X200打印机的保修期
_FUNCTION = re.compile(r"(?:请问|关于|对于|那么?|所以|因此|那|在|和|与|比|较|，|,|\s)*")
_BREAK = re.compile(r"[的在对关于根据按照请问是与和及，,、\s《》“”]")


@dataclass(frozen=True)
class _Topic:
    """One Chinese question: `body` before its question words, `subject` and `measure` within it as places of `text`."""

    text: str

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        return parts_in(self.text)

    def of(self, kind: PartKind) -> tuple[Part, ...]:
        return of_kind(self.parts, kind)

    @cached_property
    def body(self) -> tuple[int, int]:
        lead = _LEAD.match(self.text)
        start = lead.end() if lead else 0
        ask = _ASK.search(self.text, start)
        end = ask.start() if ask else len(self.text.rstrip(_ENDS))
        return start, end

    @cached_property
    def measure(self) -> tuple[int, int] | None:
        start, end = self.body
        asked = _MEASURED.search(self.text.rstrip(_ENDS))
        if asked:
            return asked.span("object")
        if re.search("[对于]", self.text[start:end]):
            return None  # 差旅政策对酒店标准有什么规定: of what, and for what
        inside = [part.end for part in self.parts if start <= part.start and part.end <= end]
        of = self.text.rfind("的", start, end)
        start = max([start, of + 1, *inside])
        if self.text[start : start + 1] == "度":
            start += 1
        return (start, end) if end > start and is_measure(self.text[start:end]) else None

    @cached_property
    def subject(self) -> str:
        """Whose measure it is, in the question's words, without period: `公司`, `P5`, `上海分公司`. May be empty."""
        place = self.subject_place
        return self.text[place[0] : place[1]] if place else ""

    @cached_property
    def subject_place(self) -> tuple[int, int] | None:
        named = single(of_kind(self.parts, "name")) or single(of_kind(self.parts, "code"))
        if named:
            kind = _KIND_OF_THING.match(self.text, named.end)
            return named.start, kind.end() if kind else named.end
        start, stop = self.body[0], self.measure[0] if self.measure else self.body[1]
        if self.measure and self.measure[0] > self.body[1]:
            stop = self.body[1]
        for part in self.of("period"):
            if part.start == start:
                start = part.end
            elif start < part.start < stop:
                stop = part.start
        words = self.text[start:stop]
        left = len(words) - len(words.lstrip("的度在，, "))
        words = words.strip("的度在，, ")
        if not self.measure:
            words = re.split(r"[对在的里中]|关于", words)[0]
        return (start + left, start + left + len(words)) if words and "的" not in words else None

    @property
    def phrase(self) -> str:
        """Subject, period and measure: what a change is a change of. Empty where no measure is asked for."""
        return self.phrase_in(single(self.of("period")))

    def phrase_in(self, period: Part | None) -> str:
        if self.measure is None:
            return ""
        measure = self.text[self.measure[0] : self.measure[1]]
        when = period.text if period else ""
        if not when and self.subject:
            return f"{self.subject}的{measure}"
        return f"{self.subject}{when}的{measure}" if when else measure

    def run_before(self, noun: str) -> str:
        """The words of the question that end in `noun` and begin before it: `差旅政策` for `政策`."""
        for match in re.finditer(re.escape(noun), self.text):
            run = _BREAK.split(self.text[: match.start()])[-1]
            if 0 < len(run) <= 12 and re.fullmatch(r"[\w\u4e00-\u9fff-]+", run):
                return run + noun
        return ""


def follow_up(asked: str, source: str) -> FollowUp | None:
    """`asked` after `source`, one sentence each; None where it is no follow-up, or nobody can say what it takes up."""
    topic = _Topic(source)
    bare = _PARTICLE.sub("", asked.rstrip(_ENDS))
    lead = _LEAD.match(bare)
    phrase = bare[lead.end() :] if lead else bare
    marked = _NE.search(asked) is not None or lead is not None
    shifted = _SHIFTED.fullmatch(phrase)
    if shifted and marked:
        return other_year(topic.text, topic.of("period"), -1 if shifted["before"] else 1, mark="？")
    return (
        _compared(phrase, topic)
        or _changed(phrase, topic)
        or _referring(phrase, topic, asked.rstrip(_ENDS)[len(bare) :])
        or _fragment(phrase, topic, marked=marked)
    )


def _compared(phrase: str, topic: _Topic) -> FollowUp | None:
    """和2023年相比呢？ 比2023年增长了多少？ need both periods."""
    match = _COMPARED.match(phrase)
    own = parts_in(phrase)
    if match is None or len(own) != 1 or own[0].kind != "period" or not topic.phrase:
        return None
    after = phrase[own[0].end :]
    if own[0].start > 2 or not (_LIKE.fullmatch(after) or _CHANGE.match(after)):
        return None
    end = "相比如何" if re.fullmatch(r"(?:相比|相比较|比较?|对比)?", after) else after
    if end == "相比如何" and phrase[0] in "比较":
        return FollowUp(f"{topic.phrase}与{own[0].text}相比如何？", continues=True)
    return FollowUp(f"{topic.phrase}{phrase[: own[0].end]}{end}？", continues=True)


def _changed(phrase: str, topic: _Topic) -> FollowUp | None:
    """增长了多少？ 2023年增长了多少？ 为什么下降？ have no subject: it is the measure asked for before."""
    own = parts_in(phrase)
    period = own[0] if own and own[0].kind == "period" and own[0].start == 0 else None
    rest = phrase[period.end :] if period else phrase
    if not (_CHANGE.match(rest) or _WHY_CHANGE.match(rest)) or of_kind(own, "name", "code", "region"):
        return None
    if len(rest) > 14 or of_kind(own, "figure"):
        return None
    before = topic.phrase_in(period or single(topic.of("period")))
    return FollowUp(f"{before}{rest}？", continues=True) if before else None


def _referring(phrase: str, topic: _Topic, particle: str) -> FollowUp | None:
    """Pronouns and 该公司, 当年, 这项政策: the words that the earlier question had."""
    found = _resolved(phrase, topic)
    return FollowUp(f"{found}{particle if '吗' in particle else ''}？", continues=True) if found else None


def _resolved(phrase: str, topic: _Topic) -> str:
    own = parts_in(phrase)
    period = single(topic.of("period"))
    that = _THAT_PERIOD.search(phrase)
    if that and period and not of_kind(own, "period"):
        rest = phrase[that.end() :].lstrip("的")
        if that.start() == 0 and topic.measure and is_measure(rest):
            return replaced(topic.text, [(*topic.measure, rest)]).rstrip(_ENDS)
        owner = topic.subject if that.start() == 0 and _asks_for_measure(rest) else ""
        return _said(phrase, that, owner + period.text)
    noun = _DEMONSTRATIVE.search(phrase)
    if noun:
        words = topic.run_before(noun["noun"])
        return _said(phrase, noun, words) if words else ""
    match = _COMPANY.match(phrase) or _PRONOUN.search(phrase)
    if match is None or not _FUNCTION.fullmatch(rest_of(phrase[: match.start()], parts_in(phrase[: match.start()]))):
        return ""
    if of_kind(own, "name", "code") and own[0].start < match.start():
        return ""
    rest = phrase[match.end() :]
    if not rest:
        return ""
    if is_measure(rest) and topic.measure and not own:  # 它的毛利率呢
        return replaced(topic.text, [(*topic.measure, rest)]).rstrip(_ENDS)
    owns = phrase[: match.end()].endswith("的")
    if not owns and _CHANGE.match(rest) and topic.phrase:
        return _said(phrase, match, topic.phrase_in(None if of_kind(own, "period") else period))
    words = _antecedent(match[0], topic)
    if not words:
        return ""
    when = period.text if period and not of_kind(own, "period") and _asks_for_measure(rest) else ""
    return _said(phrase, match, words + when + ("的" if owns or (when and not rest.startswith("的")) else ""))


def _antecedent(pronoun: str, topic: _Topic) -> str:
    if pronoun[0] in "他她" and re.search(r"谁|叫什么", topic.text):
        return topic.text[slice(*topic.body)].rstrip("是叫的")
    if len({part.text for part in topic.of("name")}) > 1:
        return ""
    return topic.subject


def _asks_for_measure(rest: str) -> bool:
    tail = _ASK_TAIL.search(rest)
    return tail is not None and is_measure(rest[: tail.start()])


def _fragment(phrase: str, topic: _Topic, *, marked: bool) -> FollowUp | None:
    """Each part takes the place of the earlier question's part of that kind; what else is said, of its measure."""
    tail = _ASK_TAIL.search(phrase)
    phrase = phrase[: tail.start()] if tail else phrase
    own = parts_in(phrase)
    noun = re.sub(r"^(?:在|按|对|用)|[的度]|\s", "", rest_of(phrase, own))
    if not phrase or _QUESTION_WORD.search(phrase) or len(phrase) > 40 or of_kind(own, "figure"):
        return None
    if not marked and (noun or {part.kind for part in own} - {"period", "code"}):
        return None  # says what it asks for
    edits = same_kind_edits(own, topic.parts)
    if edits is None:
        return None
    for part in own:
        change = _placed(part, topic)
        if change is None:
            return None
        edits += change
    if noun:
        change = _noun(noun, topic, named=bool(of_kind(own, "name", "code")))
        if change is None:
            return None
        edits += change
    return edited(topic.text, edits, mark="？") if edits else None


def _placed(part: Part, topic: _Topic) -> list[Edit] | None:
    """A part for which the earlier question has none of its kind is put before its measure, or in front."""
    old = topic.of(part.kind)
    start = topic.body[0]
    if part.kind == "period":
        one = single(old)
        if old:
            return None if one is None else [(one.start, one.end, new_period(part, one, han=True))]
        return [(start, start, part.text)]
    if old:
        return []  # `same_kind_edits` has put it in its place
    if part.kind == "region" and topic.measure:
        return [(topic.measure[0], topic.measure[0], f"{part.text}的")]
    if part.kind == "name" and topic.subject_place and not topic.of("code"):
        return [(*topic.subject_place, part.text)]
    if topic.subject or not topic.measure or topic.measure[0] > topic.body[1]:
        return None
    return [(topic.measure[0], topic.measure[0], f"{part.text}的")]


def _noun(noun: str, topic: _Topic, *, named: bool) -> list[Edit] | None:
    if len(noun) > 12:
        return None
    if is_measure(noun):
        if topic.measure is None or not alike(noun, topic.text[slice(*topic.measure)]):
            return None
        return [(*topic.measure, noun)]
    place = topic.subject_place
    if named or place is None or topic.of("code") or topic.of("name"):
        return None
    if topic.measure is None and topic.text[place[1] : place[1] + 1] != "的":
        return None
    return [(*place, noun)] if _same_sort(noun, topic.subject) else None


def _same_sort(noun: str, subject: str) -> bool:
    """Whether both can be asked the same: two proper names, two departments. 公司 goes with no name at all."""
    if _PART_OF_A_FIRM.search(noun):
        return True
    return subject[-1] == noun[-1] or not (_GENERAL.search(subject) or max(len(noun), len(subject)) > 5)


def _said(phrase: str, match: re.Match[str], words: str) -> str:
    return f"{phrase[: match.start()]}{words}{phrase[match.end() :]}"
