"""The HTTP service: questions over server-sent events, stored answers, documents, pictures, and the page."""

from kb_qa.service.app import create_app

__all__ = ["create_app"]
