import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { answerCalls } from './answer-calls.js';
import { AnswerReader } from './answer-reader.js';
import { openConnection } from './connection.js';

export interface PollsCall {
  readonly port: number;
  /** Poll of each client on its own connection; `{last}` stands for the last received event. */
  readonly polls: readonly string[];
  /** Request that gets an immediate response once all earlier polls are pending. */
  readonly barrier: string;
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
  readonly poll: string;
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

let waiters: Waiter[] = [];
let barrier: string;
let trigger: Socket;
let triggerAnswer: () => void = () => {};
let onAnswer: () => void = () => {};
let lastAnswer: PollAnswer = { head: '', body: '' };

answerCalls({ open, park, fire, sample });

async function open({ port, polls, ...call }: PollsCall): Promise<void> {
  barrier = call.barrier;
  const reader = new AnswerReader(true, () => triggerAnswer());
  trigger = await openConnection(port, (chunk) => reader.take(chunk));
  waiters = [];
  for (let from = 0; from < polls.length; from += OPENING) {
    waiters.push(...(await Promise.all(polls.slice(from, from + OPENING).map((poll) => openWaiter(port, poll)))));
  }
}

async function openWaiter(port: number, poll: string): Promise<Waiter> {
  const socket = await openConnection(port, (chunk) => {
    waiter.answeredAt = performance.now();
    if (waiter.chunks.push(Buffer.from(chunk)) === 1) onAnswer();
  });
  const waiter: Waiter = { socket, poll, last: -1, chunks: [], answeredAt: 0 };
  return waiter;
}

/** Sends every poll and repeats those with an immediate response. Resolves once no response arrives for a while. */
async function park(): Promise<void> {
  let pending = waiters;
  while (pending.length > 0) {
    for (const waiter of pending) {
      waiter.chunks = [];
      waiter.socket.write(waiter.poll.replace('{last}', String(waiter.last)), 'latin1');
    }
    await ask(barrier);
    await new Promise((resolve) => setTimeout(resolve, 200));
    pending = waiters.filter(({ chunks }) => chunks.length > 0);
    for (const waiter of pending) noteEvents(waiter);
  }
}

async function fire({ request }: TriggerCall): Promise<TriggerResult> {
  let missing = waiters.length;
  const all = new Promise<void>((resolve) => {
    onAnswer = () => {
      if (--missing === 0) resolve();
    };
  });
  const startedAt = performance.now();
  const own = ask(request);
  await all;
  await own;
  onAnswer = () => {};
  const times = waiters.map(({ answeredAt }) => answeredAt - startedAt).sort((a, b) => a - b);
  for (const waiter of waiters) noteEvents(waiter);
  return { lastMs: times.at(-1)!, medianMs: times[times.length >> 1]! };
}

/** Returns one of the poll responses. */
function sample(): PollAnswer {
  return lastAnswer;
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

function ask(request: string): Promise<void> {
  return new Promise((resolve) => {
    triggerAnswer = resolve;
    trigger.write(request, 'latin1');
  });
}
