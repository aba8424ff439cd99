# The page for visitors, as a user without rights on a root that cannot be written:
#   docker build -t ask-the-graph .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --memory 4g -p 7860:7860 ask-the-graph
FROM python:3.12-slim

WORKDIR /app
COPY requirements.lock .
# every file by its hash; torch from its own index: the builds for processors alone are a tenth of the size
RUN pip install --no-cache-dir --disable-pip-version-check --no-deps --require-hashes -r requirements.lock \
    && pip install --no-cache-dir --disable-pip-version-check --no-deps \
        --index-url https://download.pytorch.org/whl/cpu torch==2.13.0
COPY app.py README.md LICENSE ./
COPY assets assets
COPY kgdemo kgdemo
RUN python -m compileall -q kgdemo app.py

# nothing is kept on the disk but what gradio writes while a visitor uploads
ENV KGDEMO_PROFILE=public KGDEMO_CACHE= KGDEMO_LOG=json \
    GRADIO_SERVER_NAME=0.0.0.0 GRADIO_TEMP_DIR=/tmp/gradio HOME=/tmp PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
EXPOSE 7860
HEALTHCHECK --start-period=60s --interval=30s --timeout=5s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7860/healthz', timeout=4)"]
CMD ["python", "app.py"]
