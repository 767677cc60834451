import { performance } from 'node:perf_hooks';
import { answerCalls } from './answer-calls.js';
import { type ChatSession, type ParleyPerson, ParleySession, type Received, XmppSession } from './chat-sessions.js';

export type OpenChat =
  | { readonly protocol: 'xmpp'; readonly port: number; readonly room: string; readonly names: readonly string[] }
  | { readonly protocol: 'parley'; readonly port: number; readonly people: readonly ParleyPerson[] };

export interface ConversationResult {
  readonly perSecond: number;
  /** Time from a send to its acknowledgement. */
  readonly sendP50Ms: number;
  /** Time from a send until the last person has the message. */
  readonly deliveryP50Ms: number;
}

/** Time for clients to wait again after a message. */
const SETTLE_MS = 200;

let sessions: readonly ChatSession[] = [];
let last = 0;
let onReceived: (session: ChatSession, received: Received) => void = () => {};

answerCalls({ open, converse, fire });

/** Opens the sessions of a chat. Resolves when everybody waits for messages. */
async function open(call: OpenChat): Promise<void> {
  const take = (session: ChatSession, received: Received) => onReceived(session, received);
  const opened: ChatSession[] = [];
  if (call.protocol === 'xmpp') {
    for (const name of call.names) opened.push(await XmppSession.join(call.port, call.room, name, take));
  } else {
    for (const person of call.people) opened.push(await ParleySession.open(call.port, person, take));
  }
  sessions = opened;
  await settle();
}

/** Sends messages as the first `inFlight` people, each after its previous one was acknowledged. */
async function converse({ inFlight, messages }: { readonly inFlight: number; readonly messages: number }) {
  const listener = sessions.at(-1)!;
  const sentAt = new Map<string, number>();
  const sends: number[] = [];
  const deliveries: number[] = [];
  const startedAt = performance.now();
  const sendNext = (session: ChatSession) => {
    if (sentAt.size === messages) return;
    const mark = nextMark();
    sentAt.set(mark, performance.now());
    session.send(mark);
  };
  await new Promise<void>((resolve) => {
    onReceived = (session, { mark, isAcknowledgement }) => {
      const ms = performance.now() - sentAt.get(mark)!;
      if (session === listener) deliveries.push(ms);
      if (isAcknowledgement) {
        sends.push(ms);
        sendNext(session);
      }
      if (sends.length === messages && deliveries.length === messages) resolve();
    };
    for (const session of sessions.slice(0, inFlight)) sendNext(session);
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await settle();
  return { perSecond: messages / seconds, sendP50Ms: middle(sends), deliveryP50Ms: middle(deliveries) };
}

/** Sends one message. Resolves to the milliseconds until everybody has it. */
async function fire(): Promise<number> {
  const missing = new Set(sessions);
  const startedAt = performance.now();
  const lastMs = await new Promise<number>((resolve) => {
    onReceived = (session, { isForReader }) => {
      if (isForReader && missing.delete(session) && missing.size === 0) resolve(performance.now() - startedAt);
    };
    sessions[0]!.send(nextMark());
  });
  await settle();
  return lastMs;
}

/** A word that nobody wrote before, which identifies the message. */
const nextMark = (): string => `k${String(++last).padStart(8, '0')}z`;

const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!;

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
