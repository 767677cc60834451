import { type Caller, DomainError, type MessageId, type UnitOfWork } from '@parley/domain/kernel';
import { conversationUrl, loadReadable, messageUrl, participantIdsOf, topicUrl } from '@parley/domain/messages';

/** Address of a message in the system that it was imported from. */
export interface FormerAddress {
  /** Name of the system, such as `slack`. */
  readonly source: string;
  /** End of the URL there, such as `C0123ABCD/p1700000000000100`, or the id of the record. */
  readonly path: string;
}

/** Finds the present address of an imported message. */
export class FindImportedMessage {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Returns a path with a fragment. @throws DomainError UNKNOWN_MESSAGE for both hidden and nonexistent messages */
  execute(caller: Caller, { source, path }: FormerAddress): Promise<string> {
    const { realmId } = caller;
    return this.uow.read(realmId, async (reads) => {
      const actor = await reads.actors.get(caller);
      const batches = (await reads.importBatches.list(realmId)).filter((batch) => isFrom(batch.source, source));
      const records = await reads.importedRecords.list(realmId, 'message', [recordIdOf(source, path)]);
      const found = records.findLast(({ batchId }) => batches.some(({ id }) => id === batchId));
      if (!found) throw new DomainError('UNKNOWN_MESSAGE', 'Invalid message(s)');
      const { message, channel } = await loadReadable(reads, actor, found.targetId as MessageId);
      const narrowUrl = channel
        ? topicUrl(channel, message.topic)
        : conversationUrl((await participantIdsOf(reads, message)) ?? []);
      return messageUrl(narrowUrl, message.id);
    });
  }
}

/** `id`: source of a batch: the name of the system, usually followed by the id of the organization there. */
const isFrom = (id: string, source: string): boolean => id === source || id.startsWith(`${source}:`);

/** Returns the record id for the end of a message URL. */
function recordIdOf(source: string, path: string): string {
  const [, channel, seconds, fraction] = /^([^/]+)\/p(\d{10})(\d{6})$/.exec(path) ?? [];
  if (source === 'slack' && channel !== undefined) return `${channel}/${seconds}.${fraction}`;
  return source === 'discord' ? path.slice(path.lastIndexOf('/') + 1) : path;
}
