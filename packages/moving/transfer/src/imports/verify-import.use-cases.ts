import {
  getBatch,
  type ImportBatch,
  type ImportedKind,
  type RecordOrigin,
  recordsOfBatch,
  requireSource,
} from '@parley/domain/exports';
import { firstOf, type ImportBatchId, type MessageId, type RealmId, type UnitOfWork } from '@parley/domain/kernel';
import { changeSinceImport } from './undo-import.use-cases.js';

/** Records of an export to compare with an import of the same source. */
export interface ExportedRecords {
  readonly source: string;
  /** Lists the records of all `COMPARED_KINDS`. */
  list(): Iterable<RecordOrigin>;
  has(kind: ComparedKind, recordId: string): boolean;
}

export const COMPARED_KINDS = [
  'person',
  'group',
  'groupMembers',
  'channel',
  'members',
  'conversation',
  'emoji',
  'message',
] as const;
export type ComparedKind = (typeof COMPARED_KINDS)[number];

/** Difference between an export and an import. */
export type ImportDifference =
  | 'not in the import'
  | 'not in the export'
  | 'differs in the export'
  | 'edited in Parley'
  | 'moved in Parley'
  | 'with other reactions in Parley'
  | 'deleted in Parley';

export interface DifferenceLine {
  readonly kind: ImportedKind;
  readonly difference: ImportDifference;
  readonly count: number;
  /** Ids of the first records. */
  readonly examples: readonly string[];
}

export interface VerifyImportInput {
  readonly realmId: RealmId;
  readonly batchId: ImportBatchId;
  readonly records: ExportedRecords;
}

export interface VerifyImportOutput {
  readonly batch: ImportBatch;
  /** The import and the earlier ones of its source. */
  readonly batchIds: readonly ImportBatchId[];
  /** Number of records without a difference. */
  readonly unchanged: number;
  readonly differences: readonly DifferenceLine[];
}

const RECORDS_AT_A_TIME = 200;
const MAX_EXAMPLES = 5;

/** Compares an import and earlier ones of its source with an export of the source. Changes nothing. */
export class VerifyImport {
  static readonly inject = ['unitOfWork'] as const;
  constructor(private readonly uow: UnitOfWork) {}

  /** @throws DomainError UNKNOWN_IMPORT, ANOTHER_SOURCE */
  async execute({ realmId, batchId, records }: VerifyImportInput): Promise<VerifyImportOutput> {
    const all = await this.uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
    const batch = getBatch(all, batchId);
    requireSource(batch, records.source);
    const batches = all.filter(({ id, source }) => id <= batchId && source === batch.source);
    const batchIds = batches.map(({ id }) => id);
    const differences = new Differences();
    let unchanged = 0;
    for (const slice of partsOf(records.list())) {
      for (const origins of byKind(slice)) unchanged += await this.compare(realmId, batchIds, origins, differences);
    }
    for (const earlier of batches) {
      for (const kind of COMPARED_KINDS) await this.noteMissing(earlier, kind, records, differences);
    }
    return { batch, batchIds, unchanged, differences: differences.list() };
  }

  /** Returns the number of records without a difference. All are of one kind. */
  private async compare(
    realmId: RealmId,
    batchIds: readonly ImportBatchId[],
    origins: readonly RecordOrigin[],
    differences: Differences,
  ): Promise<number> {
    const { kind } = firstOf(origins);
    return this.uow.read(realmId, async (reads) => {
      const ids = origins.map(({ recordId }) => recordId);
      const imported = (await reads.importedRecords.list(realmId, kind, ids)).filter(({ batchId }) =>
        batchIds.includes(batchId),
      );
      const byRecord = new Map(imported.map((record) => [record.recordId, record]));
      const targets = kind === 'message' ? imported.map(({ targetId }) => targetId as MessageId) : [];
      const messages = new Map((await reads.messages.list(realmId, targets)).map((message) => [message.id, message]));
      let unchanged = 0;
      for (const { recordId, hash } of origins) {
        const record = byRecord.get(recordId);
        const message = record && messages.get(record.targetId as MessageId);
        let difference: ImportDifference | null = null;
        if (!record) difference = 'not in the import';
        else if (kind === 'message' && !message) difference = 'deleted in Parley';
        else if (record.hash !== hash) difference = 'differs in the export';
        else if (message) difference = CHANGES[(await changeSinceImport(reads, message, record)) ?? 'none'];
        if (difference) differences.add(kind, difference, recordId);
        // Members are a part of the record of their channel or group.
        else if (kind !== 'members' && kind !== 'groupMembers') unchanged++;
      }
      return unchanged;
    });
  }

  private async noteMissing(
    batch: ImportBatch,
    kind: ComparedKind,
    records: ExportedRecords,
    differences: Differences,
  ): Promise<void> {
    for await (const page of recordsOfBatch(this.uow, batch, kind)) {
      for (const { recordId } of page) {
        if (!records.has(kind, recordId)) differences.add(kind, 'not in the export', recordId);
      }
    }
  }
}

const CHANGES = {
  none: null,
  edited: 'edited in Parley',
  moved: 'moved in Parley',
  reaction: 'with other reactions in Parley',
} as const;

class Differences {
  private readonly lines = new Map<string, DifferenceLine & { count: number; readonly examples: string[] }>();

  add(kind: ImportedKind, difference: ImportDifference, recordId: string): void {
    const key = `${kind} ${difference}`;
    const line = this.lines.get(key) ?? { kind, difference, count: 0, examples: [] };
    line.count++;
    if (line.examples.length < MAX_EXAMPLES) line.examples.push(recordId);
    this.lines.set(key, line);
  }

  /** Lists the differences in the order of their first records. */
  list(): readonly DifferenceLine[] {
    return [...this.lines.values()];
  }
}

function byKind(origins: readonly RecordOrigin[]): readonly (readonly RecordOrigin[])[] {
  const groups = new Map<ImportedKind, RecordOrigin[]>();
  for (const origin of origins) {
    const group = groups.get(origin.kind);
    if (group) group.push(origin);
    else groups.set(origin.kind, [origin]);
  }
  return [...groups.values()];
}

function* partsOf(origins: Iterable<RecordOrigin>): Generator<readonly RecordOrigin[]> {
  let part: RecordOrigin[] = [];
  for (const origin of origins) {
    part.push(origin);
    if (part.length < RECORDS_AT_A_TIME) continue;
    yield part;
    part = [];
  }
  yield part;
}
