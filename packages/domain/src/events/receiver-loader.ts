import type { PersonalFlags } from '../messages/message.js';
import type { EventLoop } from '../shared/event-loop.js';
import type { EventSeq, MessageId, RealmId, UserId } from '../shared/ids.js';
import type { Repositories, UnitOfWork } from '../shared/unit-of-work.js';
import { accessChanges, inaccessibleUserIdsByGuest } from '../users/accessible-users.js';
import type { Role } from '../users/role.js';
import { type EventNeeds, type Receiver, receiverWithoutLookups } from './receiver.js';

/** Somebody an event is to be presented to. */
export interface ReceiverRequest {
  readonly userId: UserId;
  readonly role: Role;
  /** A guest who may not know everybody. */
  readonly isLimitedGuest: boolean;
  readonly needs: EventNeeds;
  /** Of the event; null: it is not logged. */
  readonly seq: EventSeq | null;
}

interface Waiting extends ReceiverRequest {
  readonly resolve: (receiver: Receiver) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up what receivers of events are told of themselves: once for all who are told in the same turn of the event loop,
 * which is to say for everybody whom a commit concerns.
 */
export class ReceiverLoader {
  private readonly waiting = new Map<RealmId, Waiting[]>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly eventLoop: EventLoop,
  ) {}

  load(realmId: RealmId, request: ReceiverRequest): Promise<Receiver> {
    return new Promise((resolve, reject) => {
      const waiting = this.waiting.get(realmId);
      if (waiting) waiting.push({ ...request, resolve, reject });
      else {
        this.waiting.set(realmId, [{ ...request, resolve, reject }]);
        this.run(realmId).catch(reject);
      }
    });
  }

  private async run(realmId: RealmId): Promise<void> {
    await this.eventLoop.nextTurn();
    const batch = this.waiting.get(realmId)!;
    this.waiting.delete(realmId);
    try {
      const receivers = await this.uow.read((repositories) => receiversOf(repositories, realmId, batch));
      batch.forEach(({ resolve }, index) => {
        resolve(receivers[index]!);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}

/** In the order they were asked for. A constant number of statements. */
async function receiversOf(
  repositories: Repositories,
  realmId: RealmId,
  batch: readonly ReceiverRequest[],
): Promise<readonly Receiver[]> {
  const guests = batch.filter(({ isLimitedGuest }) => isLimitedGuest);
  const named = unique(guests.flatMap(({ needs }) => needs.userIds ?? []));
  const namedTo = unique(guests.flatMap(({ userId, needs }) => (needs.userIds ? [userId] : [])));
  const inaccessible = await inaccessibleUserIdsByGuest(repositories, realmId, namedTo, named);

  const changing = guests.filter(({ needs, seq }) => needs.access && seq !== null);
  const changes = await accessChanges(
    repositories,
    realmId,
    changing.map(({ userId, needs, seq }) => ({ guestId: userId, ...needs.access!, at: seq! })),
  );
  const changeOf = new Map(changing.map((request, index) => [request, changes[index]!]));

  const flagged = batch.filter(({ needs }) => needs.messageIds);
  const messageIds = unique(flagged.flatMap(({ needs }) => needs.messageIds!));
  const flags =
    messageIds.length === 0
      ? new Map<UserId, ReadonlyMap<MessageId, PersonalFlags>>()
      : await repositories.personal.listFlagsOf(realmId, unique(flagged.map(({ userId }) => userId)), messageIds);

  return batch.map((request) => {
    const { userId, role } = request;
    const plain = receiverWithoutLookups(userId, role);
    return {
      ...plain,
      inaccessible: (request.isLimitedGuest && inaccessible.get(userId)) || plain.inaccessible,
      flags: flags.get(userId) ?? plain.flags,
      ...changeOf.get(request),
    };
  });
}

const unique = <T>(values: readonly T[]): T[] => [...new Set(values)];
