import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { answerCalls } from './answer-calls.js';
import { AnswerReader } from './answer-reader.js';
import { openConnection, RequestLine } from './connection.js';

export interface WaitCall {
  readonly port: number;
  /** Poll or stream of each client on its own connection; `{last}` stands for the last received event. */
  readonly requests: readonly string[];
  /** Request that gets an immediate response once all earlier polls are pending. */
  readonly barrier: string;
  /** True for streams, which begin once. */
  readonly areStreams: boolean;
}

export interface TriggerCall {
  /** Request that makes the server respond to all polls. */
  readonly request: string;
}

export interface TriggerResult {
  /** Time from writing the request to the response of the last poll. */
  readonly lastMs: number;
  readonly medianMs: number;
}

interface Waiter {
  readonly socket: Socket;
  readonly request: string;
  /** Last received event. */
  last: number;
  /** Chunks received since the poll, parsed later to avoid delaying other clients. */
  chunks: Buffer[];
  answeredAt: number;
}

interface PollAnswer {
  readonly head: string;
  readonly body: string;
}

/** Maximum number of connections opened concurrently, since the listener's backlog is short. */
const OPENING = 100;
const PATIENCE_MS = 60_000;
const HEARTBEAT = 'event: heartbeat\ndata: {"type":"heartbeat"}\n\n';

let waiters: Waiter[] = [];
let areStreams: boolean;
/** True after the first heartbeat of every stream. */
let haveBegun = false;
let barrier: string;
let port: number;
let onAnswer: () => void = () => {};
let lastAnswer: PollAnswer = { head: '', body: '' };

answerCalls({ open, park, fire, sample });

async function open({ requests, ...call }: WaitCall): Promise<void> {
  ({ port, barrier, areStreams } = call);
  waiters = [];
  for (let from = 0; from < requests.length; from += OPENING) {
    const some = requests.slice(from, from + OPENING);
    waiters.push(...(await Promise.all(some.map((request) => openWaiter(request)))));
  }
}

async function openWaiter(request: string): Promise<Waiter> {
  const socket = await openConnection(port, (chunk) => {
    if (haveBegun && chunk.length === HEARTBEAT.length && chunk.toString('latin1') === HEARTBEAT) return;
    waiter.answeredAt = performance.now();
    if (waiter.chunks.push(Buffer.from(chunk)) === 1) onAnswer();
  });
  const waiter: Waiter = { socket, request, last: -1, chunks: [], answeredAt: 0 };
  return waiter;
}

/** Sends every poll and repeats those with an immediate response. Resolves once no response arrives for a while. */
async function park(): Promise<void> {
  if (areStreams) return beginStreams();
  let pending = waiters;
  while (pending.length > 0) {
    for (const waiter of pending) {
      waiter.chunks = [];
      waiter.socket.write(waiter.request.replace('{last}', String(waiter.last)), 'latin1');
    }
    const line = await RequestLine.open(port);
    await line.ask(barrier);
    line.close();
    await new Promise((resolve) => setTimeout(resolve, 200));
    pending = waiters.filter(({ chunks }) => chunks.length > 0);
    for (const waiter of pending) noteEvents(waiter);
  }
}

/** Resolves when each client has received data. @throws Error after `PATIENCE_MS` */
function allAnswers(): Promise<void> {
  for (const waiter of waiters) waiter.chunks = [];
  let missing = waiters.length;
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error(`${missing} of ${waiters.length} clients received nothing`));
    const impatience = setTimeout(giveUp, PATIENCE_MS);
    onAnswer = () => {
      if (--missing > 0) return;
      clearTimeout(impatience);
      resolve();
    };
  });
}

/** @throws Error for a response without a heartbeat */
async function beginStreams(): Promise<void> {
  if (haveBegun) return;
  const all = allAnswers();
  for (const waiter of waiters) waiter.socket.write(waiter.request.replace('{last}', '-1'), 'latin1');
  await all;
  // A heartbeat may arrive after the headers.
  await new Promise((resolve) => setTimeout(resolve, 200));
  for (const { chunks } of waiters) {
    const begun = Buffer.concat(chunks).toString();
    if (!begun.endsWith(HEARTBEAT)) throw new Error(`A stream did not begin: ${begun}`);
  }
  haveBegun = true;
}

async function fire({ request }: TriggerCall): Promise<TriggerResult> {
  const all = allAnswers();
  // A new connection, because the server closes idle ones.
  const line = await RequestLine.open(port);
  const startedAt = performance.now();
  const own = line.ask(request);
  await all;
  await own;
  line.close();
  onAnswer = () => {};
  const times = waiters.map(({ answeredAt }) => answeredAt - startedAt).sort((a, b) => a - b);
  for (const waiter of waiters) (areStreams ? checkFrame : noteEvents)(waiter);
  return { lastMs: times.at(-1)!, medianMs: times[times.length >> 1]! };
}

/** Returns one of the poll responses. */
function sample(): PollAnswer {
  return lastAnswer;
}

/** @throws Error without exactly one complete event */
function checkFrame({ chunks }: Waiter): void {
  const received = Buffer.concat(chunks).toString().replace(HEARTBEAT, '');
  if (!/^id: \d+\ndata: \{"type":"message".*\}\n\n$/.test(received)) throw new Error(`Not an event: ${received}`);
}

/** @throws Error if the response is incomplete or an error */
function noteEvents(waiter: Waiter): void {
  let answer: PollAnswer | null = null;
  const reader = new AnswerReader(true, (head, body) => {
    if (head.status !== 200) throw new Error(`A poll failed with status ${head.status}: ${body}`);
    answer = { head: head.text, body: body.toString() };
  });
  for (const chunk of waiter.chunks) reader.take(chunk);
  if (!answer) throw new Error('A poll response arrived in several parts');
  lastAnswer = answer;
  const { events } = JSON.parse(lastAnswer.body) as { events?: readonly { readonly id: number }[] };
  for (const { id } of events ?? []) waiter.last = Math.max(waiter.last, id);
}
