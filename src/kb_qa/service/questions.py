"""The bodies of `POST /v1/ask` and `POST /v1/search`. What is not named here is refused."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from kb_qa.answers import SESSION_ID, Filters, LevelChoice
from kb_qa.elements import ElementType

MAX_PAGE = 1_000_000

QuestionText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
SessionId = Annotated[str, StringConstraints(pattern=f"^{SESSION_ID}$")]
PageNumber = Annotated[int, Field(ge=1, le=MAX_PAGE)]


class FilterBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    documents: list[Name] = Field(default_factory=list, max_length=200)
    pages: list[PageNumber] = Field(default_factory=list, max_length=5000)
    element_types: list[ElementType] = Field(default_factory=list, max_length=10)
    folder: str = Field(default="", max_length=4096)

    def filters(self) -> Filters:
        return Filters(
            documents=tuple(self.documents),
            pages=tuple(self.pages),
            element_types=tuple(self.element_types),
            folder=self.folder,
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
        if self.whole is not None and (self.filters.documents or self.filters.folder):
            raise ValueError("give whole, or filters on documents, not both")
        return self


class SearchBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    question: QuestionText
    k: int = Field(default=8, ge=1, le=200)
    filters: FilterBody = Field(default_factory=FilterBody)
