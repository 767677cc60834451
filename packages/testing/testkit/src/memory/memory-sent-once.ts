import type { RealmId, UnixSeconds, UserId } from '@parley/domain/kernel';
import {
  type Echo,
  type ExternalSend,
  type FirstSend,
  MAX_REMEMBERED_SENDS,
  type SentOnceRepository,
} from '@parley/domain/writing';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly sentOnce: Map<string, FirstSend>;
    readonly externalSends: Map<string, ExternalSend>;
  }
}

const echoKey = (realmId: RealmId, userId: UserId, { queueId, localId }: Echo): string =>
  JSON.stringify([realmId, userId, queueId, localId]);

export class MemorySentOnce implements SentOnceRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, userId: UserId, echo: Echo): Promise<FirstSend | null> {
    return this.unit.read('sentOnce').get(echoKey(realmId, userId, echo)) ?? null;
  }

  async findExternal(realmId: RealmId, externalId: string): Promise<ExternalSend | null> {
    return this.unit.read('externalSends').get(`${realmId} ${externalId}`) ?? null;
  }

  async putExternal(send: ExternalSend): Promise<void> {
    const { realmId, externalId } = send;
    if ((await this.findExternal(realmId, externalId)) !== null) return;
    this.unit.change('externalSends').set(`${realmId} ${externalId}`, send);
  }

  async put(send: FirstSend): Promise<void> {
    const { realmId, userId } = send;
    this.unit.change('sentOnce').set(echoKey(realmId, userId, send), send);
    const ofSender = [...this.unit.read('sentOnce').values()]
      .filter((row) => row.realmId === realmId && row.userId === userId)
      .sort((a, b) => b.messageId - a.messageId);
    this.remove(ofSender.slice(MAX_REMEMBERED_SENDS));
  }

  async removeBefore(realmId: RealmId, time: UnixSeconds, limit: number): Promise<void> {
    const expired = [...this.unit.read('sentOnce').values()]
      .filter((row) => row.realmId === realmId && row.sentAt < time)
      .sort((a, b) => a.sentAt - b.sentAt);
    this.remove(expired.slice(0, limit));
  }

  private remove(rows: readonly FirstSend[]): void {
    for (const row of rows) this.unit.change('sentOnce').delete(echoKey(row.realmId, row.userId, row));
  }
}
