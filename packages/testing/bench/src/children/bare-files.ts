import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCalls } from './answer-calls.js';

/** Serves a file without checks: the upper limit of Node. */
let path = '';

const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': statSync(path).size });
  createReadStream(path).pipe(response);
});

answerCalls({
  listen: (file: string) =>
    new Promise<number>((resolve) => {
      path = file;
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
});
