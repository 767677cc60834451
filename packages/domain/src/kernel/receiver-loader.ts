import type { DeliveryFeatures, ReceiverRequest } from './delivery-features.js';
import type { EventLoop } from './event-loop.js';
import type { RealmId } from './ids.js';
import type { Receiver } from './receiver.js';
import type { UnitOfWork } from './unit-of-work.js';

interface Waiting extends ReceiverRequest {
  readonly resolve: (receiver: Receiver) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Looks up what events depend on of those who receive them: once for all receivers of the same turn of the event loop, which is
 * to say for everybody whom a commit concerns.
 */
export class ReceiverLoader {
  private readonly waiting = new Map<RealmId, Waiting[]>();

  constructor(
    private readonly uow: UnitOfWork,
    private readonly eventLoop: EventLoop,
    private readonly features: Pick<DeliveryFeatures, 'loadReceivers'>,
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
      const receivers = await this.uow.read((repositories) =>
        this.features.loadReceivers(repositories, realmId, batch),
      );
      batch.forEach(({ resolve }, index) => {
        resolve(receivers[index]!);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
