import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

it('the receiver in the documentation accepts a message that arrives in parts, wherever it is divided', async () => {
  const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? [];
  const code = example.replace('.listen(3000)', ".listen(0, '127.0.0.1', function () { console.log(this.address().port) })");
  const receiver = spawn(process.execPath, ['--input-type=module', '-e', code], { env: { SECRET }, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = await once(receiver.stdout, 'data');
    const payload = JSON.stringify({ type: 'venue.updated', data: { id: 1, record: { venue: 'Caffè è qui' } } });
    const sent = (at: number) => {
      const now = new Date();
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(SECRET).sign('msg_1', now, payload),
      };
      return new Promise((resolve, reject) => {
        const message = request({ host: '127.0.0.1', port: Number(port), method: 'POST', headers }, (answer) =>
          resolve(answer.resume().statusCode),
        );
        message.on('error', reject);
        // Each part is a chunk of its own (RFC 9112, 7.1).
        message.write(Buffer.from(payload).subarray(0, at));
        message.end(Buffer.from(payload).subarray(at));
      });
    };
    const inLetter = Buffer.from(payload).indexOf('è') + 1;
    expect([await sent(5), await sent(inLetter)]).toEqual([204, 204]);
  } finally {
    receiver.kill();
  }
});
