/** Lower bound for Express: one route that sends the same bytes for every request. Started by service.mjs. */
import { readFileSync } from 'node:fs';
import express from 'express';

const { PORT, ANSWER } = process.env;
const { status, headers, body } = JSON.parse(readFileSync(ANSWER, 'utf8'));
const bytes = Buffer.from(body, 'base64');

const app = express();
app.set('etag', false);
app.disable('x-powered-by');
app.get('/{*path}', (_req, res) => {
  res.status(status).set(headers).send(bytes);
});
app.post('/{*path}', express.json(), (_req, res) => {
  res.status(status).set(headers).send(bytes);
});
app.listen(Number(PORT), '127.0.0.1');
