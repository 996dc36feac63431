# kb-qa as a container: not root, a root file system that may be read-only, everything that changes in the volume /data.
# docs/operations.md says how it is run; compose.yaml runs it so.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
RUN python -m venv /opt/kb-qa
COPY requirements.lock ./
RUN /opt/kb-qa/bin/pip install -r requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY ingest ingest
RUN /opt/kb-qa/bin/pip install --no-deps .
# The default embedding model is made here, because the running container can write to its volume only.
RUN KB_QA_MODELS=/opt/kb-qa/models /opt/kb-qa/bin/kb-qa prepare

FROM python:${PYTHON}-slim
RUN groupadd --system --gid 10001 kb-qa \
    && useradd --system --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin kb-qa \
    && install --directory --owner=10001 --group=10001 --mode=0700 /data
COPY --from=build /opt/kb-qa /opt/kb-qa
ENV PATH=/opt/kb-qa/bin:$PATH \
    HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    KB_QA_KB=/data/kb \
    KB_QA_MODELS=/opt/kb-qa/models \
    KB_QA_HOST=0.0.0.0 \
    KB_QA_LOG_FORMAT=json
USER 10001:10001
WORKDIR /tmp
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('KB_QA_PORT', '8000') + '/healthz', timeout=4)"]
ENTRYPOINT ["kb-qa"]
CMD ["serve"]
