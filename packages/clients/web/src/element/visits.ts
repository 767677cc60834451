/** Conversation of a visitor, as the host's page responds. */
export interface Visit {
  readonly channel: string | null;
  readonly topic: string | null;
}

const NOTHING: Visit = { channel: null, topic: null };

/** Visits by address, so that two elements of a page do not start two visitors. */
const visits = new Map<string, Promise<Visit>>();

/**
 * Requests the visitor's conversation from the host application, which starts a visitor unless the browser has one, and
 * sets a cookie. Other responses than JSON select no conversation.
 */
export function visit(address: string): Promise<Visit> {
  const found = visits.get(address);
  if (found) return found;
  const started = start(address).catch((error) => {
    console.error('<parley-chat>:', error);
    visits.delete(address);
    return NOTHING;
  });
  visits.set(address, started);
  return started;
}

/** Requests again next time, since the host may have logged a user in. */
export const forgetVisit = (address: string): boolean => visits.delete(address);

async function start(address: string): Promise<Visit> {
  // Another origin would neither receive the cookie nor see the request of this page.
  const url = new URL(address, location.href);
  if (url.origin !== location.origin) throw new Error('The address of `visitor` belongs to another origin.');
  const headers = { 'X-Requested-With': 'XMLHttpRequest' };
  const response = await fetch(url, { method: 'POST', headers, credentials: 'same-origin' });
  if (!response.ok) throw new Error(`The visit was refused: ${response.status}.`);
  const body: Partial<Record<keyof Visit, unknown>> = await response.json();
  return { channel: textOf(body.channel), topic: textOf(body.topic) };
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : null;
