import type { Caller } from '../../kernel/caller.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId, UserId } from '../../kernel/ids.js';
import type { UnitOfWork } from '../../kernel/unit-of-work.js';
import { loadReadable } from '../load-access.js';
import { participantIdsOf } from '../message-people.js';

/** So many people are asked about at once. */
const STEP = 500;

/** Who has read a message (messages §14). */
export class ListReaders {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** Ascending. @throws DomainError UNKNOWN_MESSAGE, READ_RECEIPTS_DISABLED */
  execute(caller: Caller, { messageId }: { readonly messageId: MessageId }): Promise<readonly UserId[]> {
    return this.uow.read(async (reads) => {
      const actor = await reads.actors.get(caller);
      const { realmId } = actor;
      const { message } = await loadReadable(reads, actor, messageId);
      if (!(await reads.realms.get(realmId)).settings.enableReadReceipts) {
        throw new DomainError('READ_RECEIPTS_DISABLED', 'Read receipts are disabled in this organization.');
      }
      const candidates =
        (await participantIdsOf(reads, message)) ??
        (await reads.users.listEntries(realmId)).filter(({ isActive }) => isActive).map(({ id }) => id);
      const readers: UserId[] = [];
      for (let at = 0; at < candidates.length; at += STEP) {
        if (at > 0) await reads.yield();
        const some = candidates.slice(at, at + STEP).filter((id) => id !== message.senderId);
        const flags = await reads.personal.listFlagsOf(realmId, some, [messageId]);
        const read = some.filter((id) => flags.get(id)?.get(messageId)?.read === true);
        const muting = await reads.personal.filterMuting({ realmId, userId: actor.id }, read);
        for (const { id, isActive, settings } of await reads.users.list(realmId, read)) {
          if (isActive && settings.sendReadReceipts && !muting.has(id)) readers.push(id);
        }
      }
      return readers;
    });
  }
}
