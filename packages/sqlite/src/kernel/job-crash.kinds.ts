import { jobKind } from '@parley/domain/kernel';

export interface Payload {
  readonly name: string;
  /** So many more follow, each scheduled by the one before it. */
  readonly subscribers: number;
}

const readPayload = (stored: unknown) => stored as Payload;
/** All of the work in one unit. */
export const POST = jobKind<Payload>({ name: 'test.post', readPayload });
/** Work outside of the storage, before the unit. */
export const MAIL = jobKind<Payload>({ name: 'test.mail', readPayload, leaseSeconds: 1 });
