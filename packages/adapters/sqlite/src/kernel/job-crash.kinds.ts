import { jobKind } from '@parley/domain/kernel';

export interface Payload {
  readonly name: string;
  /** Number of further jobs, each scheduled by its predecessor. */
  readonly subscribers: number;
}

const readPayload = (stored: unknown) => stored as Payload;
/** Job that does all work in one unit. */
export const POST = jobKind<Payload>({ name: 'test.post', readPayload, leaseSeconds: 1, inOrder: true });
/** Job that works outside the storage before its unit. */
export const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload, leaseSeconds: 1 });
