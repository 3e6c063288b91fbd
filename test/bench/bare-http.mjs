/** Lower bound for Node's own server: sends the same bytes for every request. Started by service.mjs. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { PORT, ANSWER } = process.env;
const { status, headers, body } = JSON.parse(readFileSync(ANSWER, 'utf8'));
const bytes = Buffer.from(body, 'base64');

createServer((_req, res) => {
  res.writeHead(status, headers).end(bytes);
}).listen(Number(PORT), '127.0.0.1');
