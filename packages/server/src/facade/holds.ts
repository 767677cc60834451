import type { ChannelId, HoldId, MessageId, RealmId, UnitOfWork, UnixSeconds } from '@parley/domain/kernel';
import { CreateHold, type Hold, type HoldCriteria, ListHolds, ReleaseHold } from '@parley/domain/writing';
import { HeldReader } from '@parley/transfer/exports';
import type { Resolve } from '../kernel/resolve.js';
import { object, optional, valueType } from '../kernel/values.js';
import { type AuditTrail, byApplication } from '../observation/audit-trail.js';
import { CHANNEL, ID, invalidArgument, PERSON, properties, TEXT } from './argument-types.js';
import { heldArchive } from './held-archive.js';
import { Addresses, type PersonRef } from './references.js';

/** Messages to hold. All given criteria must match, and at least one is required. */
export interface HoldToCreate {
  readonly realm: string;
  /** Up to 1000 characters. */
  readonly reason: string;
  /** Author, or participant of the direct conversation: an external id, or Parley's own id as a number. */
  readonly person?: PersonRef;
  /** Name or id of the present or a former channel. */
  readonly channel?: string | number;
  readonly messageId?: number;
  /** Earliest time of sending. */
  readonly since?: Date;
  /** Latest time of sending. */
  readonly until?: Date;
}

export interface HoldRef {
  readonly realm: string;
  readonly id: number;
}

/** Null: no such criterion. */
export interface MessageHold {
  readonly id: number;
  readonly reason: string;
  readonly personId: number | null;
  readonly channelId: number | null;
  readonly messageId: number | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly createdAt: Date;
  /** Owner who created the hold; null for the application and the operator. */
  readonly createdBy: number | null;
  /** Null while the hold is in force. */
  readonly releasedAt: Date | null;
  readonly releasedBy: number | null;
}

/** Orders to keep messages whatever deletes them (docs/personal-data.md), without permission checks. */
export interface Holds {
  /**
   * Keeps messages that match, with their edits and files, whoever deletes them, unseen by members. Later messages too.
   * @throws DomainError INVALID_HOLD, UNKNOWN_USER, UNKNOWN_CHANNEL, UNKNOWN_MESSAGE, TOO_MANY_HOLDS
   */
  create(hold: HoldToCreate): Promise<MessageHold>;
  /** Returns all holds, oldest first, with released ones. */
  list(realm: string): Promise<readonly MessageHold[]>;
  /**
   * Ends a hold. Purges and erasures that it held up continue within an hour.
   * @throws DomainError UNKNOWN_HOLD, HOLD_RELEASED
   */
  release(hold: HoldRef): Promise<MessageHold>;
  /**
   * Returns a ZIP archive of what a hold in force keeps, as a lazy stream: lines of JSON, an email per message, files
   * and their SHA-256 (docs/personal-data.md). An unknown hold is an error of the first read.
   */
  export(hold: HoldRef): AsyncIterable<Uint8Array>;
}

const DATE = valueType<Date>('a date', (value) => value instanceof Date && !Number.isNaN(value.getTime()));
const HOLD = object({
  realm: TEXT,
  reason: TEXT,
  person: optional(PERSON),
  channel: optional(CHANNEL),
  messageId: optional(ID),
  since: optional(DATE),
  until: optional(DATE),
});
const REFERENCE = object({ realm: TEXT, id: ID });

const dateOf = (at: UnixSeconds | null): Date | null => (at === null ? null : new Date(at * 1000));
const secondsOf = (date: Date | undefined): UnixSeconds | null =>
  date === undefined ? null : Math.floor(date.getTime() / 1000);

export const presentHold = ({ realmId: _, createdAt, releasedAt, since, until, ...hold }: Hold): MessageHold => ({
  ...hold,
  since: dateOf(since),
  until: dateOf(until),
  createdAt: new Date(createdAt * 1000),
  releasedAt: dateOf(releasedAt),
});

/** @throws DomainError INVALID_ARGUMENT */
async function channelIdOf(
  uow: UnitOfWork,
  realmId: RealmId,
  channel: string | number | undefined,
): Promise<ChannelId | null> {
  if (channel === undefined) return null;
  if (typeof channel === 'number') return channel as ChannelId;
  const found = await uow.read(realmId, ({ channels }) => channels.findByName(realmId, channel));
  if (!found) throw invalidArgument(`channel: there is no channel '${channel}'.`);
  return found.id;
}

export function holdsOf(resolve: Resolve, uow: UnitOfWork, audits: AuditTrail): Holds {
  const addresses = resolve(Addresses);
  return {
    async create(given) {
      const { realm, reason, person, channel, messageId, since, until } = properties('The hold', HOLD, given);
      const realmId = await addresses.realmId(realm);
      const [personId = null] = await addresses.userIds(realmId, 'person', person === undefined ? [] : [person]);
      const criteria: HoldCriteria = {
        personId,
        channelId: await channelIdOf(uow, realmId, channel),
        messageId: (messageId as MessageId | undefined) ?? null,
        since: secondsOf(since),
        until: secondsOf(until),
      };
      const create = () => resolve(CreateHold).execute({ realmId, userId: null }, { ...criteria, reason });
      return presentHold(await audits.run(byApplication('holds.create'), create));
    },
    async list(realm) {
      const by = { realmId: await addresses.realmId(realm), userId: null };
      return (await resolve(ListHolds).execute(by)).map(presentHold);
    },
    async release(ref) {
      const { realm, id } = properties('The hold', REFERENCE, ref);
      const by = { realmId: await addresses.realmId(realm), userId: null };
      const operation = { ...byApplication('holds.release'), target: { hold_id: String(id) } };
      const release = () => resolve(ReleaseHold).execute(by, { holdId: id as HoldId });
      return presentHold(await audits.run(operation, release));
    },
    async *export(ref) {
      const { realm, id } = properties('The hold', REFERENCE, ref);
      const realmId = await addresses.realmId(realm);
      const operation = { ...byApplication('holds.export'), target: { hold_id: String(id) }, reads: realmId };
      // Recorded before the first byte.
      await audits.run(operation, async () => {});
      yield* heldArchive(resolve(HeldReader), { realmId, holdId: id as HoldId });
    },
  };
}
