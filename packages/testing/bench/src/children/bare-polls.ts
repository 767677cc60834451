import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerCalls } from './answer-calls.js';

export interface PollAnswer {
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Minimal long polling: every GET for events waits until something is posted. */
let parked: ServerResponse[] = [];
let answer: PollAnswer = { headers: [], body: '' };

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  if (request.method === 'GET' && request.url!.startsWith('/api/v1/events')) {
    parked.push(response);
    return;
  }
  request.resume();
  response.writeHead(200, { 'Content-Length': 2 }).end('{}');
  if (request.method !== 'POST') return;
  const waiting = parked;
  parked = [];
  for (const each of waiting) each.writeHead(200, [...answer.headers]).end(answer.body);
});

answerCalls({
  listen: () =>
    new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
    }),
  answerWith: (given: PollAnswer) => {
    answer = given;
  },
});
