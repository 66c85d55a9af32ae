# A shell in which Lamina builds, and all its tests run:
#
#   docker build -t lamina .
#   docker run --rm -it -v "$PWD":/lamina lamina
FROM debian:12
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates git python3
COPY tools/install-deps.sh /tmp/
RUN /tmp/install-deps.sh --dev && rm -rf /var/lib/apt/lists/*
# The sources belong to another user than root.
RUN git config --system --add safe.directory /lamina
WORKDIR /lamina
CMD ["bash"]
