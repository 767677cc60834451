import type { TestReply } from './test-reply.js';

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect by their assertions.
export type Wire = any;

/** Expects an error response with exactly these fields, because strict clients reject others. */
export function expectRefusal(
  reply: TestReply,
  msg: string,
  { status = 400, code = 'BAD_REQUEST', ...extra }: { status?: number; code?: string; [field: string]: unknown } = {},
): void {
  expect({ status: reply.status, body: reply.body }).toEqual({
    status,
    body: { result: 'error', msg, code, ...extra },
  });
}

export function expectPage(reply: TestReply, text: string, status = 200): void {
  expect(reply.body).toContain(text);
  expect(reply.status).toBe(status);
}

/** Expects a page that logs nobody in. */
export function expectRefused(reply: TestReply, text: string, status = 400): void {
  expectPage(reply, text, status);
  expect(String(reply.headers['set-cookie'] ?? '')).not.toContain('sessionid=');
}

/** Fields of a success response without the envelope. */
export function fieldsOf(reply: TestReply): Record<string, Wire> {
  const { result, msg, ...fields } = reply.body;
  expect({ status: reply.status, result, msg }).toEqual({ status: 200, result: 'success', msg: '' });
  return fields;
}

/** Error for a parameter outside its list of values (protocol §3). */
export const notListed = (name: string): string => `Invalid ${name}: Value error, Not in the list of possible values`;
