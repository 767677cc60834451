import { readFileSync } from 'node:fs';
import type { Json, JsonObject } from './json.js';
import { STEPS, type StepName } from './steps.js';

/**
 * Request of the story. Strings may contain `${name}`: a value from an earlier response, `${run}`: a word unique to
 * this run, `${now+60}`: seconds since the epoch.
 */
export interface Case {
  readonly name: string;
  /** One of `USERS`; null for anonymous. */
  readonly user: string | null;
  readonly method: string;
  /** Path below `/api/v1`, or below the server's address if it begins with `//`. */
  readonly path: string;
  /**
   * Strings are sent verbatim, other values as JSON. Sent in the query of GET, HEAD and OPTIONS, otherwise in the
   * body.
   */
  readonly params?: JsonObject;
  /** Path in the response by name of the value: `stream.stream_id`, `user_groups.[name=editors].id`. */
  readonly save?: Readonly<Record<string, string>>;
  /** Name, content and type by field. */
  readonly files?: Readonly<Record<string, readonly [name: string, content: FileContent, type: string]>>;
  /** Null omits the header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  /** True if the response lists seeded data: only keys and types are compared. */
  readonly shape?: boolean;
  /** True to compare only `result` and `code`. */
  readonly loose?: boolean;
  /** Event queues to read afterwards. If absent: all queues after a change. */
  readonly watch?: readonly string[];
  readonly host?: string;
  /** Raw `Authorization` header; `basic:EMAIL:KEY` is encoded, `@key:NAME@` is that user's key. */
  readonly auth?: string;
  /** Body instead of a form. */
  readonly body?: string;
}

export type FileContent = string | { readonly base64: string };

/** Action of more than one request. */
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

/** Response to a case with the following events; values specific to a run are replaced by placeholders. */
export interface Answer {
  readonly name: string;
  readonly user: string | null;
  readonly method: string;
  readonly path: string;
  readonly params: JsonObject;
  readonly shape?: boolean;
  readonly loose?: boolean;
  /** Reason for skipping the case. */
  readonly skipped?: string;
  /** 0 without a response. */
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An object with `<text>` and `<length>` if the text is not JSON; null if empty. */
  readonly body: Json;
  /** Saved ids. */
  readonly saved?: Readonly<Record<string, number>>;
  /** Events by queue name, for queues with events. */
  readonly events?: Readonly<Record<string, readonly JsonObject[]>>;
}

/** Server that responded. */
export interface ServerDescription {
  readonly name: '#server';
  /** User ids by name. */
  readonly saved: Readonly<Record<string, number>>;
}

/** All responses of one run. */
export interface Recording {
  readonly server: ServerDescription;
  readonly answers: ReadonlyMap<string, Answer>;
}

/** Reads JSON lines, starting with the server description. */
export function readRecording(file: string): Recording {
  const [server, ...answers] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line)) as [ServerDescription, ...Answer[]];
  return { server, answers: new Map(answers.map((answer) => [answer.name, answer])) };
}
