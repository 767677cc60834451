import type {
  DataOwnerIds,
  DataOwnerKind,
  DataOwnerRef,
  HostData,
  HostDataRepository,
  MessageId,
  RealmId,
  UserId,
} from '@parley/domain/kernel';
import { keyOf, type MemoryUnit } from './tables.js';

interface Row {
  readonly realmId: RealmId;
  /** Set for the data of a user. */
  readonly userId: UserId | null;
  readonly data: HostData;
}

declare module './tables.js' {
  interface Tables {
    /** Data of messages. */
    readonly 'host data of messages': Map<MessageId, Row>;
    /** Other data, by kind and id of the object. */
    readonly hostData: Map<string, Row>;
  }
}

export class MemoryHostData implements HostDataRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list<K extends DataOwnerKind>(realmId: RealmId, kind: K, ids: readonly DataOwnerIds[K][]) {
    const found = new Map<DataOwnerIds[K], HostData>();
    for (const id of ids) {
      const row =
        kind === 'message'
          ? this.unit.read('host data of messages').get(id as MessageId)
          : this.unit.read('hostData').get(keyOf(kind, id));
      if (row?.realmId === realmId) found.set(id, row.data);
    }
    return found;
  }

  async put(realmId: RealmId, { kind, id }: DataOwnerRef, data: HostData): Promise<void> {
    const row = { realmId, userId: kind === 'user' ? id : null, data };
    if (kind !== 'message') {
      this.unit.change('hostData').set(keyOf(kind, id), row);
      return;
    }
    this.unit.change('host data of messages').set(id, row);
    const message = this.unit.read('messages').get(id)!;
    this.unit.change('messages').set(id, { ...message, version: message.version + 1, hasData: true });
  }
}
