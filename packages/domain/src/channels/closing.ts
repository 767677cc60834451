import type { ChannelId, RealmId, UnixSeconds } from '../kernel/ids.js';
import { encodeJob, idPayload, jobKind } from '../kernel/jobs.js';
import type { RealmRow, RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import type { Transaction } from '../kernel/unit-of-work.js';

/** Rule by which a channel, such as that of an order, is archived after days without messages. */
export interface ChannelClosing extends RealmRow {
  /** Id of the channel. */
  readonly id: ChannelId;
  /** Null if only `CloseChannel` closes the channel. */
  readonly afterDays: number | null;
  /** True while the channel is archived by this rule or `CloseChannel`, so that `ReopenChannel` may unarchive it. */
  readonly isClosed: boolean;
}

/** Maximum of `afterDays`. */
export const MAX_CLOSING_DAYS = 3650;

export const CHANNEL_CLOSING_ROWS: RowRules<ChannelClosing> = {
  kind: 'channelClosing',
  owner: 'realm',
  order: ['id'],
};

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    channelClosings: [reads: RealmRowReads<ChannelClosing>, repository: RealmRows<ChannelClosing>];
  }
}

export const CHANNEL_CLOSING_FEATURE = {
  rows: { channelClosings: CHANNEL_CLOSING_ROWS },
  notExported: { channelClosings: 'They are rules of the application. Closed channels are exported as archived ones.' },
};

/** Closes a channel unless it has newer messages. The key is the id of the channel. */
export const CLOSING_JOB = jobKind({
  name: 'channels.close',
  readPayload: idPayload<{ readonly channelId: number }>('channelId'),
});

export const DAY_SECONDS = 86_400;

/** Schedules the next check of a channel, instead of an earlier scheduled one. */
export async function scheduleClosing(tx: Transaction, { id, realmId }: ChannelClosing, dueAt: UnixSeconds) {
  await tx.jobs.schedule(encodeJob(CLOSING_JOB, { realmId, dueAt, payload: { channelId: id }, key: String(id) }));
}

/** Gives a new channel its rule. */
export async function addClosing(
  tx: Transaction,
  { id, realmId }: { readonly id: ChannelId; readonly realmId: RealmId },
  afterDays: number,
  now: UnixSeconds,
): Promise<void> {
  const closing = await tx.channelClosings.add({ realmId, afterDays, isClosed: false }, id);
  await scheduleClosing(tx, closing, now + afterDays * DAY_SECONDS);
}

/** Called when anybody unarchives a channel. The time begins again. */
export async function restartClosing(
  tx: Transaction,
  { id, realmId }: { readonly id: ChannelId; readonly realmId: RealmId },
  now: UnixSeconds,
): Promise<void> {
  const closing = await tx.channelClosings.find(realmId, id);
  if (!closing) return;
  await tx.channelClosings.update({ ...closing, isClosed: false });
  if (closing.afterDays !== null) await scheduleClosing(tx, closing, now + closing.afterDays * DAY_SECONDS);
}
