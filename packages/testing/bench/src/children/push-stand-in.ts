import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { answerCalls } from './answer-calls.js';

/** Push service that accepts everything and records when the first notification with each content arrived. */
let arrivals = new Map<string, number>();
let count = 0;

const server = createServer(async (request, response) => {
  const at = performance.timeOrigin + performance.now();
  const body = await text(request);
  if (request.url!.endsWith('/push/notify')) {
    count++;
    const { content } = JSON.parse(body).gcm_payload;
    if (!arrivals.has(content)) arrivals.set(content, at);
  }
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ result: 'success', msg: '', realms: {}, realm: null }));
});

answerCalls({
  listen: () =>
    new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
  /** Resolves once this many notifications have arrived since the last call. Returns their times by content. */
  async arrived(expected: number): Promise<readonly (readonly [string, number])[]> {
    while (count < expected) await new Promise((resolve) => setTimeout(resolve, 5));
    const times = [...arrivals];
    arrivals = new Map();
    count = 0;
    return times;
  },
});
