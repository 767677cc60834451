import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from './json.js';
import { STEPS, type StepName } from './steps.js';

/**
 * One request of the story. Strings may hold `${name}`: a value that an earlier answer supplied, `${run}`: a word unique
 * to this run, `${now+60}`: seconds since the epoch.
 */
export interface Case {
  readonly name: string;
  /** One of `USERS`; null: anonymous. */
  readonly user: string | null;
  readonly method: string;
  /** Below `/api/v1`, or, beginning with `//`, below the server's address. */
  readonly path: string;
  /** Strings are sent as they are, everything else as JSON. In the query of GET, HEAD and OPTIONS, else in the body. */
  readonly params?: JsonObject;
  /** Name of the value → where it is in the answer: `stream.stream_id`, `user_groups.[name=editors].id`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Field → name, content, type. */
  readonly files?: Readonly<Record<string, readonly [name: string, content: FileContent, type: string]>>;
  /** Null: the header is not sent at all. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** The answer lists what a server was seeded with: only keys and types are compared. */
  readonly shape?: boolean;
  /** Only `result` and `code` are compared. */
  readonly loose?: boolean;
  /** Event queues read afterwards. Absent: all of them when the request changed something. */
  readonly watch?: readonly string[];
  readonly host?: string;
  /** A raw `Authorization` header; `basic:EMAIL:KEY` is encoded, `@key:NAME@` is that user's key. */
  readonly auth?: string;
  /** Instead of a form. */
  readonly body?: string;
}

export type FileContent = string | { readonly base64: string };

/** What cannot be said as one request. */
export interface Step {
  readonly step: StepName;
}

export function loadCases(file: string): readonly (Case | Step)[] {
  const items = JSON.parse(readFileSync(file, 'utf8')) as readonly (Case | Step)[];
  for (const item of items) {
    if ('step' in item && !(item.step in STEPS)) throw new Error(`${file} names an unknown step: ${item.step}`);
  }
  return items;
}

export const contentOf = (content: FileContent): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content.base64, 'base64');

/** What a server answered to a case, and which events followed; what only one run knows is replaced by placeholders. */
export interface Answer {
  readonly name: string;
  readonly user: string | null;
  readonly method: string;
  readonly path: string;
  readonly params: JsonObject;
  readonly shape?: boolean;
  readonly loose?: boolean;
  /** Why there is none. */
  readonly skipped?: string;
  /** 0: no answer came. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** What is no JSON is an object of `<text>` and `<length>`; null: empty. */
  readonly body: Json;
  /** Ids among the values saved. */
  readonly saved?: Readonly<Record<string, number>>;
  /** Queue name → its events, where there were any. */
  readonly events?: Readonly<Record<string, readonly JsonObject[]>>;
}

/** The server that answered. */
export interface ServerDescription {
  readonly name: '#server';
  /** User ids by name. */
  readonly saved: Readonly<Record<string, number>>;
}

/** All answers of one run. */
export interface Recording {
  readonly server: ServerDescription;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** Reads JSON lines, the server first. */
export function readRecording(file: string): Recording {
  const [server, ...answers] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)) as [ServerDescription, ...Answer[]];
  return { server, answers: new Map(answers.map((answer) => [answer.name, answer])) };
}
