# syncscan for CI systems that run jobs in images:
#     docker build -t syncscan . && docker run --rm -v "$PWD:/src" syncscan check
FROM python:3.12-slim AS build
COPY . /syncscan
RUN python -m venv /opt/syncscan && /opt/syncscan/bin/pip install --no-cache-dir /syncscan

FROM python:3.12-slim
# git is for `--since` and for baselines across renames. The mounted folder belongs to another user.
RUN apt-get update && apt-get install --no-install-recommends -y git && rm -rf /var/lib/apt/lists/* \
    && git config --system --add safe.directory /src
COPY --from=build /opt/syncscan /opt/syncscan
RUN ln -s /opt/syncscan/bin/syncscan /usr/local/bin/syncscan && useradd --create-home syncscan
USER syncscan
WORKDIR /src
ENTRYPOINT ["syncscan"]
CMD ["--help"]
