# No compiler is needed: the native packages are precompiled for this Node. Versions are exact: change them deliberately, and run the tests on the new version.
FROM node:24.11.1-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY bin bin
RUN node bin/install.mjs --running
COPY tsconfig.json LICENSE ./
COPY src src
COPY migrations migrations
COPY locales locales
COPY wordpress-plugin wordpress-plugin
RUN npm run --silent build && node bin/bundle.mjs /bundle

FROM node:24.11.1-bookworm-slim
LABEL org.opencontainers.image.title="Fasti" \
  org.opencontainers.image.description="A REST API for events on WordPress data, without WordPress" \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="0.1.0"
# The first process of a container cannot be killed from within, not even by the watchdog. tini is that process, and forwards signals.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/* /usr/local/lib/node_modules/npm /opt/yarn-*
ENV NODE_ENV=production TZ=UTC HOST=0.0.0.0 DATABASE_URL=sqlite:/data/fasti.sqlite UPLOADS_DIR=/data/uploads BACKUPS_DIR=/data/backups
WORKDIR /app
RUN install -d -o node -g node -m 700 /data
COPY --from=build /bundle ./
RUN ln -s /app/bin/fasti /usr/local/bin/fasti
USER node
VOLUME /data
EXPOSE 8080
# For information only. A process that hangs is killed by its watchdog (WATCHDOG_SECONDS) and restarted by `restart: unless-stopped`.
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "dist/src/cli.js"]
# Creates a site if the database is empty, and serves it.
CMD ["start"]
