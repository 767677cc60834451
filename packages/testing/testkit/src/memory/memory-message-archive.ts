import { topicKey } from '@parley/domain/channels';
import type { MessageId, RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import type {
  ArchivedMessage,
  ArchiveSelection,
  Message,
  MessageArchive,
  PersonalFlags,
  Reaction,
  Submessage,
} from '@parley/domain/messages';
import { isMessageTable, type MessageTable, messagesOf } from './messages-of.js';
import { findFlags, holdersOf, isReceived, putFlags } from './personal-rows.js';
import type { MemoryUnit } from './tables.js';

interface ArchivedRow extends ArchivedMessage {
  readonly message: Message;
  readonly holders: readonly (readonly [userId: UserId, flags: PersonalFlags, isReceived: boolean])[];
  readonly submessages: readonly Submessage[];
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
      .filter(({ id, message }) => message.realmId === realmId && id > after)
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
      .filter(({ id, message }) => message.realmId === realmId && ids.includes(id))
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

  async purge(before: UnixSeconds, limit: number): Promise<number> {
    const archived = this.unit.change('archivedMessages');
    const due = [...archived.values()]
      .filter(({ deletedAt }) => deletedAt < before)
      .sort((a, b) => a.deletedAt - b.deletedAt || a.id - b.id)
      .slice(0, limit);
    for (const { id } of due) archived.delete(id);
    return due.length;
  }

  async purgeOfSender(realmId: RealmId, senderId: UserId, after: number, limit: number) {
    const archived = this.unit.change('archivedMessages');
    const isOfOther = ({ userId }: Reaction) => userId !== senderId;
    const examined = [...archived.values()]
      .filter(({ id }) => id > after)
      .sort((a, b) => a.id - b.id)
      .slice(0, limit);
    const own = examined.filter(({ message }) => message.realmId === realmId && message.senderId === senderId);
    for (const { id } of own) archived.delete(id);
    for (const row of examined.filter(({ message }) => message.realmId === realmId && message.senderId !== senderId)) {
      const rows = row.rows.flatMap(([table, value]) => {
        const rest = table === 'reactions of messages' && (value as readonly Reaction[]).filter(isOfOther);
        return rest ? (rest.length > 0 ? [[table, rest] as const] : []) : [[table, value] as const];
      });
      const hasReactions = rows.some(([table]) => table === 'reactions of messages');
      const submessages = row.submessages.filter((each) => each.senderId !== senderId);
      archived.set(row.id, { ...row, rows, submessages, message: { ...row.message, hasReactions } });
    }
    return { count: own.length, next: examined.length < limit ? null : examined.at(-1)!.id };
  }
}

function sortById<V>(table: Map<MessageId, V>): void {
  const entries = [...table].sort(([a], [b]) => a - b);
  table.clear();
  for (const [id, value] of entries) table.set(id, value);
}
