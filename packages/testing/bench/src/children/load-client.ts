import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { answerCalls } from './answer-calls.js';
import { type AnswerHead, AnswerReader } from './answer-reader.js';
import { openConnection } from './connection.js';

/** Target and requests. */
export interface LoadCall {
  readonly port: number;
  /** Complete requests, sent in order by any free connection. */
  readonly requests: readonly string[];
  /** Number of connections with a pending response. */
  readonly inFlight: number;
  /** Requests started per second regardless of responses; absent to send as fast as responses arrive. */
  readonly perSecond?: number;
  /** Stop condition: duration or number of responses. */
  readonly until: { readonly seconds: number } | { readonly answers: number };
}

export interface LoadResult {
  readonly answers: number;
  /** Time from the first request to the last response. */
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

answerCalls({ load });

async function load({ port, requests, inFlight, until, perSecond }: LoadCall): Promise<LoadResult> {
  const maxAnswers = 'answers' in until ? until.answers : Number.POSITIVE_INFINITY;
  const sockets: Socket[] = [];
  const latencies: number[] = [];
  let asked = 0;
  let startedAt = 0;
  let lastAt = 0;
  let deadline = Number.POSITIVE_INFINITY;

  const workers: { ask: () => void; done: Promise<void> }[] = [];
  for (let n = 0; n < inFlight; n++) workers.push(await openWorker());
  startedAt = performance.now();
  if ('seconds' in until) deadline = startedAt + until.seconds * 1000;
  for (const { ask } of workers) ask();
  try {
    await Promise.all(workers.map(({ done }) => done));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))]!;
  return { answers: latencies.length, seconds: (lastAt - startedAt) / 1000, p50Ms: at(0.5), p99Ms: at(0.99) };

  async function openWorker() {
    let askedAt = 0;
    let finish!: () => void;
    let fail!: (error: Error) => void;
    const done = new Promise<void>((resolve, reject) => {
      finish = resolve;
      fail = reject;
    });
    done.catch(() => {}); // Prevents an unhandled rejection before anything awaits it.
    const reader = new AnswerReader(false, (head, body) => {
      lastAt = performance.now();
      latencies.push(lastAt - askedAt);
      if (head.status !== 200) fail(refusal(head, body));
      else ask();
    });
    const socket = await openConnection(port, (chunk) => {
      try {
        reader.take(chunk);
      } catch (error) {
        fail(error as Error);
      }
    });
    sockets.push(socket);
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('The server closed the connection')));

    function ask(): void {
      if (asked >= maxAnswers || performance.now() >= deadline) {
        finish();
        return;
      }
      const text = requests[asked % requests.length]!;
      // Measured from the due time, including the wait for a free connection.
      askedAt = perSecond === undefined ? performance.now() : startedAt + (asked * 1000) / perSecond;
      asked++;
      const early = askedAt - performance.now();
      if (early < 1) socket.write(text, 'latin1');
      else setTimeout(() => socket.write(text, 'latin1'), early);
    }
    return { ask, done };
  }
}

const refusal = ({ status }: AnswerHead, body: Buffer): Error =>
  new Error(`A request failed with status ${status}: ${body.toString('utf8', 0, 500)}`);
