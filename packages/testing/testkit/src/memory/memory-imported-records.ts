import { topicKey } from '@parley/domain/channels';
import type { ImportedKind, ImportedRecord, ImportedRecordRepository, RecordPosition } from '@parley/domain/exports';
import { compareCodePoints, type ImportBatchId, type MessageId, type RealmId } from '@parley/domain/kernel';
import { messagesOf } from './messages-of.js';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly importedRecords: Map<string, ImportedRecord & { readonly realmId: RealmId }>;
  }
}

const keyOfRecord = (
  realmId: RealmId,
  { batchId, kind, recordId }: Pick<ImportedRecord, 'batchId' | 'kind' | 'recordId'>,
): string => JSON.stringify([realmId, kind, recordId, batchId]);

const byPosition = (a: RecordPosition, b: RecordPosition): number =>
  a.targetId - b.targetId || compareCodePoints(a.recordId, b.recordId);

export class MemoryImportedRecords implements ImportedRecordRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async list(realmId: RealmId, kind: ImportedKind, recordIds: readonly string[]): Promise<readonly ImportedRecord[]> {
    return this.of(realmId, (row) => row.kind === kind && recordIds.includes(row.recordId)).sort(
      (a, b) => compareCodePoints(a.recordId, b.recordId) || a.batchId - b.batchId,
    );
  }

  async listOfBatch(
    realmId: RealmId,
    { id, kind }: { readonly id: ImportBatchId; readonly kind: ImportedKind },
    after: RecordPosition,
    limit: number,
  ): Promise<readonly ImportedRecord[]> {
    return this.of(realmId, (row) => row.batchId === id && row.kind === kind && byPosition(row, after) > 0)
      .sort(byPosition)
      .slice(0, limit);
  }

  async listAnswered(realmId: RealmId, ids: readonly MessageId[], last: number): Promise<ReadonlySet<MessageId>> {
    const later = messagesOf(this.unit, realmId).filter(({ id }) => id > last);
    const answered = messagesOf(this.unit, realmId, ids).filter(({ recipientId, topic }) =>
      later.some((other) => other.recipientId === recipientId && topicKey(other.topic) === topicKey(topic)),
    );
    return new Set(answered.map(({ id }) => id));
  }

  async put(realmId: RealmId, records: readonly ImportedRecord[]): Promise<void> {
    for (const record of records) {
      this.unit.change('importedRecords').set(keyOfRecord(realmId, record), { ...record, realmId });
    }
  }

  async remove(
    realmId: RealmId,
    records: readonly Pick<ImportedRecord, 'batchId' | 'kind' | 'recordId'>[],
  ): Promise<void> {
    for (const record of records) this.unit.change('importedRecords').delete(keyOfRecord(realmId, record));
  }

  private of(realmId: RealmId, matches: (row: ImportedRecord) => boolean): ImportedRecord[] {
    return [...this.unit.read('importedRecords').values()]
      .filter((row) => row.realmId === realmId && matches(row))
      .map(({ realmId: _, ...record }) => record);
  }
}
