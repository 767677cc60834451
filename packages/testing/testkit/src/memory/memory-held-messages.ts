import type { FileId, MessageId, RealmId } from '@parley/domain/kernel';
import type { Message, MessageEdit } from '@parley/domain/messages';
import {
  covers,
  type HeldMessage,
  type HeldMessageReads,
  type HeldPage,
  type Hold,
  type HoldFacts,
} from '@parley/domain/writing';
import { messagesOf } from './messages-of.js';
import { ascending, type MemoryUnit } from './tables.js';

/** Returns a hold in force that covers the message, or null. `edits`: those of the message, deleted or not. */
export function holdOf(unit: MemoryUnit, message: Message, edits: readonly MessageEdit[]): Hold | null {
  const facts = factsOf(unit, message, edits);
  const holds = [...(unit.read('rows of hold') as ReadonlyMap<number, object> as ReadonlyMap<number, Hold>).values()];
  const inForce = holds.filter(({ realmId, releasedAt }) => realmId === message.realmId && releasedAt === null);
  return inForce.find((hold) => covers(hold, facts)) ?? null;
}

export const isHeld = (unit: MemoryUnit, message: Message): boolean =>
  holdOf(unit, message, unit.read('edits of messages').get(message.id) ?? []) !== null;

function factsOf(unit: MemoryUnit, message: Message, edits: readonly MessageEdit[]): HoldFacts {
  const former = edits.flatMap(({ channel }) => channel?.from ?? []);
  const recipient = unit.read('recipients').get(message.recipientId);
  return {
    ...message,
    channelIds: message.channelId === null ? former : [message.channelId, ...former],
    participantIds: recipient?.kind === 'direct' ? recipient.userIds : [],
  };
}

export class MemoryHeldMessages implements HeldMessageReads {
  constructor(private readonly unit: MemoryUnit) {}

  async filter(realmId: RealmId, ids: readonly MessageId[]): Promise<readonly MessageId[]> {
    return messagesOf(this.unit, realmId, ids)
      .filter((message) => isHeld(this.unit, message))
      .map(({ id }) => id);
  }

  async holdsFile(realmId: RealmId, id: FileId): Promise<boolean> {
    const links = [...this.unit.read('files of messages')].filter(([, ids]) => ids.includes(id)).map(([key]) => key);
    const ids = [...links, ...(this.unit.read('formerFileMessages').get(id) ?? [])];
    const copies = ids.flatMap((messageId) => this.unit.read('archivedMessages').get(messageId) ?? []);
    return (
      messagesOf(this.unit, realmId, ids).some((message) => isHeld(this.unit, message)) ||
      copies.some((copy) => copy.message.realmId === realmId && holdOf(this.unit, copy.message, editsOf(copy)) !== null)
    );
  }

  async list(hold: Hold, after: number, limit: number): Promise<HeldPage> {
    return this.page(hold, after, limit, messagesOf(this.unit, hold.realmId), (message) => ({
      message,
      edits: this.unit.read('edits of messages').get(message.id) ?? [],
      deletion: null,
    }));
  }

  async listCopies(hold: Hold, after: number, limit: number): Promise<HeldPage> {
    const copies = [...this.unit.read('archivedMessages').values()].filter(
      ({ message }) => message.realmId === hold.realmId,
    );
    return this.page(hold, after, limit, copies, (copy) => ({
      message: copy.message,
      edits: editsOf(copy),
      deletion: { deletedAt: copy.deletedAt, deletedBy: copy.deletedBy },
    }));
  }

  async listFiles(realmId: RealmId, ids: readonly MessageId[]): Promise<ReadonlyMap<MessageId, readonly FileId[]>> {
    const files = new Map<MessageId, readonly FileId[]>();
    for (const messageId of ids) {
      const former = [...this.unit.read('formerFileMessages')].filter(([, each]) => each.includes(messageId));
      const linked = this.unit.read('files of messages').get(messageId) ?? [];
      const all = [...new Set([...linked, ...former.map(([id]) => id)])]
        .filter((id) => this.unit.read('files').get(id)?.file.realmId === realmId)
        .sort(ascending);
      if (all.length > 0) files.set(messageId, all);
    }
    return files;
  }

  private page<Row extends { readonly id: MessageId }>(
    hold: Hold,
    after: number,
    limit: number,
    rows: readonly Row[],
    open: (row: Row) => {
      readonly message: Message;
      readonly edits: readonly MessageEdit[];
      readonly deletion: HeldMessage['deletion'];
    },
  ): HeldPage {
    const examined = rows
      .filter(({ id }) => id > after)
      .sort((a, b) => a.id - b.id)
      .slice(0, limit);
    const held = examined.map(open).flatMap(({ message, edits, deletion }) => {
      if (!covers(hold, factsOf(this.unit, message, edits))) return [];
      const { id, senderId, channelId, recipientId, topic, content, renderedContent, sentAt } = message;
      return { id, senderId, channelId, recipientId, topic, content, renderedContent, sentAt, edits, deletion };
    });
    return { held, next: examined.length < limit ? null : examined.at(-1)!.id };
  }
}

/** Returns the edits of a deleted message. */
export const editsOf = ({
  rows,
}: {
  readonly rows: readonly (readonly [table: string, row: unknown])[];
}): readonly MessageEdit[] =>
  (rows.find(([table]) => table === 'edits of messages')?.[1] as readonly MessageEdit[] | undefined) ?? [];
