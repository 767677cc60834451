import type { AppendedCopy, CopyRepository, FlagsCopy } from '@parley/domain/exports';
import type { IdKind, MessageId, Ordinal, RealmId, RecipientId, UserId } from '@parley/domain/kernel';
import type { MessageEdit, MessageIdRange, OrdinalRange, Viewer } from '@parley/domain/messages';
import { appendMessage } from './memory-messages.js';
import { messagesOf } from './messages-of.js';
import { findFlags, holdersOf, NO_FLAGS, putFlags } from './personal-rows.js';
import { ascending, keyOf, type MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly olderRanges: Map<MessageId, MessageIdRange & { readonly realmId: RealmId }>;
  }
}

/** Counter names that differ from the name of the kind. */
const COUNTERS: Partial<Record<IdKind, string>> = { scheduled: 'scheduling' };

export class MemoryCopies implements CopyRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async listMessageIds(realmId: RealmId, after: number, limit: number) {
    const all = [...this.unit.read('messages').values()].filter(({ id }) => id > after).slice(0, limit);
    const ids = all.filter((message) => message.realmId === realmId).map(({ id }) => id);
    return { ids, reached: all.length < limit ? null : all.at(-1)!.id };
  }

  async listReceivedRecipients({ realmId, userId }: Viewer): Promise<readonly RecipientId[]> {
    const spans = [...this.unit.read('spans').values()];
    const own = spans.filter((span) => span.realmId === realmId && span.userId === userId);
    return [...new Set(own.map(({ recipientId }) => recipientId))].sort(ascending);
  }

  async countSentTo(realmId: RealmId, recipientIds: readonly RecipientId[]): Promise<number> {
    const counters = this.unit.read('counters');
    const recipients = this.unit.read('recipients');
    return recipientIds
      .filter((id) => recipients.get(id)?.realmId === realmId)
      .reduce((sum, id) => sum + (counters.get(keyOf('ordinal', id)) ?? 0), 0);
  }

  async listRanges(realmId: RealmId): Promise<readonly MessageIdRange[]> {
    const ranges = [...this.unit.read('olderRanges').values()].filter((range) => range.realmId === realmId);
    return ranges.map(({ first, last }) => ({ first, last })).sort((a, b) => a.first - b.first);
  }

  async noteRange(realmId: RealmId, range: MessageIdRange): Promise<void> {
    this.unit.change('olderRanges').set(range.first, { ...range, realmId });
  }

  async listFlagging(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly UserId[]>> {
    const flagging = new Map<MessageId, readonly UserId[]>();
    for (const { id } of messagesOf(this.unit, realmId, ids)) {
      const userIds = holdersOf(this.unit, id);
      if (userIds.length > 0) flagging.set(id, userIds);
    }
    return flagging;
  }

  async lastId(kind: IdKind): Promise<number> {
    return this.unit.read('counters').get(COUNTERS[kind] ?? kind) ?? 0;
  }

  async raiseIds(kind: IdKind, least: number): Promise<void> {
    if ((await this.lastId(kind)) < least - 1) this.unit.change('counters').set(COUNTERS[kind] ?? kind, least - 1);
  }

  async appendMessages(messages: readonly AppendedCopy[], rangeStart: MessageId): Promise<readonly Ordinal[]> {
    const last = messages.at(-1);
    if (last) await this.noteRange(last.realmId, { first: rangeStart, last: last.id });
    return messages.map(({ id, ...copy }) => {
      const row = { ...copy, readBy: [], exceptions: new Map() };
      return appendMessage(this.unit, row, id).ordinal;
    });
  }

  async putEdits(_realmId: RealmId, messageId: MessageId, edits: readonly MessageEdit[]): Promise<void> {
    this.unit.change('edits of messages').set(messageId, [...edits]);
  }

  async putReceived(
    { realmId, userId }: Viewer,
    recipientId: RecipientId,
    received: readonly OrdinalRange[],
    read: readonly OrdinalRange[],
  ): Promise<void> {
    const holds = (ranges: readonly OrdinalRange[], ordinal: number) =>
      ranges.some(({ first, last }) => first <= ordinal && ordinal <= last);
    for (const message of messagesOf(this.unit, realmId)) {
      if (message.sentRecipientId !== recipientId || !holds(received, message.ordinal)) continue;
      const known = findFlags(this.unit, userId, message.id) ?? NO_FLAGS;
      const flags = { ...known, read: holds(read, message.ordinal), channelWildcardMentioned: message.mentionsChannel };
      putFlags(this.unit, userId, message.id, flags, true);
    }
  }

  async putFlags(_realmId: RealmId, rows: readonly FlagsCopy[]): Promise<void> {
    for (const { userId, messageId, flags } of rows) {
      const known = findFlags(this.unit, userId, messageId) ?? NO_FLAGS;
      const { read, channelWildcardMentioned } = flags.historical ? flags : known;
      putFlags(this.unit, userId, messageId, { ...flags, read, channelWildcardMentioned });
    }
  }
}
