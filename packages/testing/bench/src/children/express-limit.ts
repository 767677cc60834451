import type { AddressInfo } from 'node:net';
import express from 'express';
import { answerCalls } from './answer-calls.js';

/** Express as in a tutorial: the baseline of a program that mounts Parley. */
const app = express();
let page: Buffer = Buffer.alloc(0);

app.post('/api/v1/messages', express.urlencoded({ extended: false }), (_request, response) => {
  response.json({ result: 'success', msg: '', id: 1 });
});
app.get('/api/v1/messages', (_request, response) => {
  response.type('application/json').send(page);
});

answerCalls({
  listen: () =>
    new Promise<number>((resolve) => {
      const server = app.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
  serve: (body: Uint8Array) => {
    page = Buffer.from(body);
  },
});
