# Builds with the compilers that native modules may need, runs without them. Versions are exact: change them deliberately, and run the tests on the new one.
FROM node:24.11.1-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY bin bin
RUN node bin/install.mjs
COPY tsconfig.json ./
COPY src src
COPY migrations migrations
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:24.11.1-bookworm-slim
# The first process of a container can neither be killed from within nor by the watchdog; tini is that process, and passes signals on.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production TZ=UTC HOST=0.0.0.0 DATABASE_URL=sqlite:/data/fasti.sqlite UPLOADS_DIR=/data/uploads
WORKDIR /app
RUN install -d -o node -g node -m 700 /data
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY locales locales
COPY bin/fasti bin/fasti
RUN ln -s /app/bin/fasti /usr/local/bin/fasti
USER node
VOLUME /data
EXPOSE 8080
# Tells whoever looks. What restarts a process that hangs is its watchdog (WATCHDOG_SECONDS), with `restart: unless-stopped`.
HEALTHCHECK --interval=15s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/health/live`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "dist/src/cli.js"]
# Makes a site where the database is empty, and serves it.
CMD ["start"]
