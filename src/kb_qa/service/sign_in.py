"""How a browser signs in: the key goes once into a request's body, and a cookie that no script reads comes back.

The cookie is needed because a picture's request carries no header of ours. `SameSite=Strict` keeps it at home.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kb_qa.service.encoding import AsciiJSONResponse
from kb_qa.service.key_ring import COOKIE, SESSION_SECONDS, Caller, cookie_of
from kb_qa.service.parts import RequestId, Ring
from kb_qa.service.problems import problem_response

router = APIRouter(prefix="/v1/session")


class SignInBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    key: Annotated[str, Field(min_length=1, max_length=200, repr=False)]


@router.get("")
async def session(request: Request, ring: Ring) -> Response:
    """Whether a key is needed, and whose this browser has."""
    caller: Caller | None = request.state.caller
    name = None if caller is None or not caller.key_id else caller.name
    scopes = [] if caller is None else sorted(caller.scopes)
    needed = await ring.is_needed()
    return AsciiJSONResponse({"key_needed": needed, "signed_in": caller is not None, "name": name, "scopes": scopes})


@router.post("")
async def sign_in(body: SignInBody, request: Request, ring: Ring, request_id: RequestId) -> Response:
    caller = await ring.holder(body.key.strip())
    if caller is None:
        message = "this is no key that opens this knowledge base"
        return problem_response(401, code="unauthorized", message=message, request_id=request_id)
    request.state.caller = caller
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE,
        ring.sessions.begin(caller.key_id),
        max_age=SESSION_SECONDS,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.delete("")
async def sign_out(request: Request, ring: Ring) -> Response:
    ring.sessions.end(cookie_of(request.headers))
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return response
