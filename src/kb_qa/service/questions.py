"""The bodies of `POST /v1/ask` and `POST /v1/search`. What is not named here is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from kb_qa.answers import MAX_QUESTION, SESSION_ID, Filters, LevelChoice
from kb_qa.elements import ElementType
from kb_qa.errors import InputError
from kb_qa.search_filters import MAX_PAGE, MOST_PAGES, span

QuestionText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUESTION)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
SessionId = Annotated[str, StringConstraints(pattern=f"^{SESSION_ID}$")]
PageNumber = Annotated[int, Field(ge=1, le=MAX_PAGE)]
DateText = Annotated[str, StringConstraints(max_length=40)]


class FilterBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    documents: list[Name] = Field(default_factory=list, max_length=200)
    pages: list[PageNumber] = Field(default_factory=list, max_length=MOST_PAGES)
    element_types: list[ElementType] = Field(default_factory=list, max_length=10)
    folder: str = Field(default="", max_length=4096)
    since: DateText = ""
    until: DateText = ""

    @model_validator(mode="after")
    def _spans_days(self) -> FilterBody:
        try:
            self.since, self.until = span(self.since, self.until)
        except InputError as error:
            raise ValueError(str(error)) from error
        return self

    def filters(self) -> Filters:
        return Filters(
            documents=tuple(self.documents),
            pages=tuple(self.pages),
            element_types=tuple(self.element_types),
            folder=self.folder,
            since=self.since,
            until=self.until,
        )


class AskBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    question: QuestionText
    session_id: SessionId | None = None
    filters: FilterBody = Field(default_factory=FilterBody)  # made, not copied, each time
    level: LevelChoice = "auto"
    whole: Name | None = None  # the document that is asked about as a whole

    @model_validator(mode="after")
    def _is_about_one_document(self) -> AskBody:
        if self.whole is not None and self.filters.filters().choose_documents:
            raise ValueError("give whole, or filters on documents, not both")
        return self


class SearchBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    question: QuestionText
    k: int = Field(default=8, ge=1, le=200)
    filters: FilterBody = Field(default_factory=FilterBody)
