import { users } from '../../kernel/audience.js';
import type { Caller } from '../../kernel/caller.js';
import type { Clock } from '../../kernel/clock.js';
import { DomainError } from '../../kernel/errors.js';
import type { MessageId, UserId } from '../../kernel/ids.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import type { MessageFilter } from '../message-page-reads.js';
import { publishMutedUsers } from '../muted-user-events.js';
import { requireMutable, requireRoomForMutedUser } from '../muted-users.js';

/** How many messages are marked before others get their turn. */
const MESSAGES_AT_A_TIME = 2000;

/** What somebody writes arrives read from now on, and what they wrote before is read (users §10). */
export class MuteUser {
  static readonly inject = ['unitOfWork', 'clock'] as const;
  constructor(
    private readonly uow: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError CANNOT_MUTE_SELF, UNKNOWN_USER, NOT_PERMITTED, USER_ALREADY_MUTED, TOO_MANY_MUTED_USERS */
  execute(caller: Caller, { userId: senderId }: { readonly userId: UserId }): Promise<void> {
    return this.uow.write(async (tx) => {
      const actor = await tx.actors.get(caller);
      if (senderId === actor.id) throw new DomainError('CANNOT_MUTE_SELF', 'Cannot mute self');
      await requireMutable(tx, actor, senderId);
      const muted = await tx.personal.listMutedSenders(caller);
      if (muted.some(({ userId }) => userId === senderId)) {
        throw new DomainError('USER_ALREADY_MUTED', 'User already muted');
      }
      requireRoomForMutedUser(muted);
      await tx.personal.muteSender(caller, senderId, this.clock.now());
      await markAllReadOf(tx, caller, senderId);
      await publishMutedUsers(tx, actor);
    });
  }
}

async function markAllReadOf(tx: Transaction, { realmId, userId }: Caller, senderId: UserId): Promise<void> {
  const viewer = { realmId, userId };
  const filter: MessageFilter = { conditions: [{ kind: 'sender', userId: senderId }], scope: 'own' };
  const messageIds: MessageId[] = [];
  for (;;) {
    const unread = await tx.personal.listUnread(viewer, MESSAGES_AT_A_TIME, filter);
    const changed = await tx.personal.setRead(
      viewer,
      unread.map(({ id }) => id),
      true,
    );
    if (changed.length === 0) break;
    messageIds.push(...changed);
    await tx.yield();
  }
  if (messageIds.length === 0) return;
  messageIds.sort((a, b) => a - b);
  await tx.events.append(realmId, {
    event: { type: 'message.flag_changed', op: 'add', flag: 'read', messageIds, all: false, details: [] },
    audience: users([userId]),
  });
}
