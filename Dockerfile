# The dashboard as an image: docker build -t attention-explained:0.1.0 .
# Run it alone:  docker run --rm -p 127.0.0.1:8501:8501 --read-only --tmpfs /tmp attention-explained:0.1.0
# The tag fixes Python and Debian; a rebuild takes their security fixes.
FROM python:3.13-slim-bookworm

WORKDIR /app

# Fonts for the figures that readers take home.
COPY packages.txt ./
RUN apt-get update \
    && xargs -a packages.txt apt-get install -y --no-install-recommends \
    && rm -rf /var/lib/apt/lists/*

# A layer of its own, and the longest: it is built again only when a pin moves. The file also says where the CPU build
# of PyTorch is; the plain one would bring gigabytes of CUDA.
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt

COPY LICENSE streamlit_app.py ./
COPY .streamlit .streamlit
COPY core core
COPY pages pages
COPY server server
COPY ui ui
# Where the file system is read-only, Python could not keep what it compiled.
RUN python -m compileall -q core pages server ui streamlit_app.py \
    && useradd --uid 10001 --no-create-home --home-dir /tmp --shell /usr/sbin/nologin dashboard

ENV HOME=/tmp \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

# By number, so that an orchestrator can see that it is not root.
USER 10001:10001

EXPOSE 8501

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as ask; ask.urlopen('http://127.0.0.1:8501/healthz', timeout=4)"]

# The welcome would name an address that is right in the container only. No file changes in an image, so none is watched.
CMD ["python", "-m", "streamlit", "run", "streamlit_app.py", "--server.address", "0.0.0.0", "--server.port", "8501", "--server.headless", "true", "--server.fileWatcherType", "none", "--logger.hideWelcomeMessage", "true"]
