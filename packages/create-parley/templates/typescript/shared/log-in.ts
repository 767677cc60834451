// Stands for your own log-in: here a name is enough. Replace this file before others can reach the server.
import { randomUUID } from 'node:crypto';

export interface Person {
  readonly id: string;
  readonly name: string;
}

declare global {
  var logIns: Map<string, Person> | undefined;
}

// Next.js loads modules several times.
globalThis.logIns ??= new Map();
const sessions = globalThis.logIns;

/** Returns the person who sends the request, `{ id, name }`, or null. */
export function personOf({ headers }: { readonly headers: { readonly cookie?: string | undefined } }): Person | null {
  const [, session] = /(?:^|; )session=([\w-]+)/.exec(headers.cookie ?? '') ?? [];
  return (session && sessions.get(session)) || null;
}

/** Returns a cookie that logs the person in. */
export function startSession(person: Person): string {
  const session = randomUUID();
  sessions.set(session, person);
  return `session=${session}; HttpOnly; SameSite=Lax; Path=/`;
}
