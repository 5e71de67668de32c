# Node and one bundle, nothing else: no shell, no package manager, no compiler.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY hack/build.ts hack/licences.ts hack/
COPY hack/image hack/image
COPY src src
RUN node hack/build.ts
RUN node hack/licences.ts
RUN hack/image/tree.sh /usr/local/bin/node dist /tree

FROM scratch
COPY --from=build /tree /
USER 65532:65532
WORKDIR /app
EXPOSE 9443 8080 8081
# How much memory that is, and what else was tried: hack/bench/results/runtime.md. With one arena of malloc V8's threads share what
# each of them would keep in one of its own.
ENV MALLOC_ARENA_MAX=1
# The program reads files, and neither writes any nor starts processes or threads.
ENTRYPOINT ["/usr/local/bin/node", "--permission", "--allow-fs-read=*", "--max-semi-space-size=4", "--max-old-space-size=256", "/app/main.js"]
