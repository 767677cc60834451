import { topicKey } from '@parley/domain/channels';
import type { HoldId, MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type { Message, PersonalFlags, Submessage } from '@parley/domain/messages';
import type {
  ArchivedMessage,
  ArchiveSelection,
  Hold,
  MessageArchive,
  PurgedCopies,
  Reaction,
} from '@parley/domain/writing';
import { editsOf, holdOf } from './memory-held-messages.js';
import { isMessageTable, type MessageTable, messagesOf } from './messages-of.js';
import { findFlags, holdersOf, isReceived, putFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

interface ArchivedRow extends ArchivedMessage {
  readonly message: Message;
  readonly holders: readonly (readonly [userId: UserId, flags: PersonalFlags, isReceived: boolean])[];
  readonly submessages: readonly Submessage[];
  /** Hold that keeps the copy after its time; null before that time. */
  readonly heldBy: HoldId | null;
  /** Rows by table. */
  readonly rows: readonly (readonly [table: MessageTable, row: unknown])[];
}

declare module './tables.js' {
  interface Tables {
    readonly archivedMessages: Map<MessageId, ArchivedRow>;
  }
}

export class MemoryMessageArchive implements MessageArchive {
  constructor(private readonly unit: MemoryUnit) {}

  async list(
    realmId: RealmId,
    { messageId, channelId, topicKey: key, since }: ArchiveSelection,
    after: number,
    limit: number,
  ): Promise<readonly ArchivedMessage[]> {
    return [...this.unit.read('archivedMessages').values()]
      .filter(({ id, message, heldBy }) => message.realmId === realmId && id > after && heldBy === null)
      .filter(({ id }) => messageId === null || id === messageId)
      .filter((row) => channelId === null || row.channelId === channelId)
      .filter(({ message }) => key === null || (message.channelId !== null && topicKey(message.topic) === key))
      .filter(({ deletedAt }) => since === null || deletedAt >= since)
      .sort((a, b) => a.id - b.id)
      .slice(0, limit)
      .map(({ id, channelId, deletedAt, deletedBy }) => ({ id, channelId, deletedAt, deletedBy }));
  }

  async keep(
    realmId: RealmId,
    ids: readonly MessageId[],
    deletion: Pick<ArchivedMessage, 'deletedAt' | 'deletedBy'>,
  ): Promise<void> {
    for (const message of messagesOf(this.unit, realmId, ids)) {
      const { id, channelId } = message;
      this.unit.change('archivedMessages').set(id, {
        id,
        channelId,
        ...deletion,
        heldBy: null,
        message,
        holders: holdersOf(this.unit, id).map((userId) => [
          userId,
          findFlags(this.unit, userId, id)!,
          isReceived(this.unit, userId, id),
        ]),
        submessages: [...this.unit.read('submessages').values()].filter(({ messageId }) => messageId === id),
        rows: this.unit
          .names()
          .filter(isMessageTable)
          .flatMap((name) => (this.unit.read(name).has(id) ? [[name, this.unit.read(name).get(id)] as const] : [])),
      });
    }
  }

  async restore(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    const rows = [...this.unit.read('archivedMessages').values()]
      .filter(({ id, message, heldBy }) => message.realmId === realmId && ids.includes(id) && heldBy === null)
      .sort((a, b) => a.id - b.id);
    for (const { id, message, holders, submessages, rows: parts } of rows) {
      this.unit.change('messages').set(id, { ...message, version: message.version + 1 });
      for (const [userId, flags, received] of holders) putFlags(this.unit, userId, id, flags, received);
      for (const submessage of submessages) this.unit.change('submessages').set(submessage.id, submessage);
      for (const [name, row] of parts) this.unit.change(name).set(id, row as never);
      this.unit.change('formerHolders').delete(id);
      this.unit.change('archivedMessages').delete(id);
    }
    // Tables keyed by id are ascending.
    if (rows.length > 0) sortById(this.unit.change('messages'));
    return rows.map(({ id }) => id);
  }

  async purge(before: UnixSeconds, limit: number): Promise<PurgedCopies> {
    const archived = this.unit.change('archivedMessages');
    const holds = this.unit.read('rows of hold') as ReadonlyMap<number, Hold>;
    for (const [id, row] of archived) {
      const isReleased = row.heldBy !== null && holds.get(row.heldBy)?.releasedAt !== null;
      if (isReleased) archived.set(id, { ...row, heldBy: null });
    }
    const due = [...archived.values()]
      .filter(({ deletedAt, heldBy }) => deletedAt < before && heldBy === null)
      .sort((a, b) => a.deletedAt - b.deletedAt || a.id - b.id)
      .slice(0, limit);
    return { count: this.remove(due), hasMore: due.length === limit };
  }

  async purgeOfSender(realmId: RealmId, senderId: UserId, after: number, limit: number) {
    const isOfOther = ({ userId }: Reaction) => userId !== senderId;
    const examined = [...this.unit.read('archivedMessages').values()]
      .filter(({ id }) => id > after)
      .sort((a, b) => a.id - b.id)
      .slice(0, limit);
    const own = examined.filter(({ message }) => message.realmId === realmId && message.senderId === senderId);
    const count = this.remove(own);
    const archived = this.unit.change('archivedMessages');
    for (const row of examined.filter(({ message }) => message.realmId === realmId && message.senderId !== senderId)) {
      const rows = row.rows.flatMap(([table, value]) => {
        const rest = table === 'reactions of messages' && (value as readonly Reaction[]).filter(isOfOther);
        return rest ? (rest.length > 0 ? [[table, rest] as const] : []) : [[table, value] as const];
      });
      const hasReactions = rows.some(([table]) => table === 'reactions of messages');
      const submessages = row.submessages.filter((each) => each.senderId !== senderId);
      archived.set(row.id, { ...row, rows, submessages, message: { ...row.message, hasReactions } });
    }
    return { count, held: own.length - count, next: examined.length < limit ? null : examined.at(-1)!.id };
  }

  /** Deletes copies without a hold and marks the others. Returns the number of deleted copies. */
  private remove(copies: readonly ArchivedRow[]): number {
    const archived = this.unit.change('archivedMessages');
    let count = 0;
    for (const row of copies) {
      const hold = holdOf(this.unit, row.message, editsOf(row));
      if (hold) archived.set(row.id, { ...row, heldBy: hold.id });
      else if (archived.delete(row.id)) count++;
    }
    return count;
  }
}

function sortById<V>(table: Map<MessageId, V>): void {
  const entries = [...table].sort(([a], [b]) => a - b);
  table.clear();
  for (const [id, value] of entries) table.set(id, value);
}
