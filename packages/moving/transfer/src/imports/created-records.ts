import {
  type ImportBatch,
  type ImportedKind,
  type RecordOrigin,
  recordsFrom,
  rememberCreated,
} from '@parley/domain/exports';
import {
  getOrThrow,
  type RealmId,
  type Repositories,
  slicesOf,
  type Transaction,
  type UnitOfWork,
} from '@parley/domain/kernel';
import { addPlaceholderKey } from '@parley/domain/membership';
import type { ImportOrigins, RecordTarget } from '../exports/realm-copy.js';
import type { ImportedIds } from './import-ids.js';
import type { OnAdded } from './import-structure.js';

const RECORDS_AT_A_TIME = 500;

/** Remembers the records that objects come from, once the objects exist. Messages are remembered with their page. */
export class CreatedRecords {
  private readonly byTarget = new Map<string, RecordTarget[]>();

  constructor(
    private readonly batch: ImportBatch,
    private readonly ids: ImportedIds,
    private readonly origins: ImportOrigins,
  ) {
    for (const record of origins.list()) {
      const key = `${record.origin.kind} ${record.targetId}`;
      const some = this.byTarget.get(key);
      if (some) some.push(record);
      else this.byTarget.set(key, [record]);
    }
  }

  /** Called in the unit that adds the objects. */
  readonly onAdded: OnAdded = async (tx, kind, ids) => {
    await this.remember(
      tx,
      ids.flatMap((id) => this.byTarget.get(`${kind} ${id}`) ?? []),
    );
  };

  /** Remembers all other objects, some of which existed before, and the claims. */
  async rememberOthers(uow: UnitOfWork): Promise<void> {
    for (const slice of slicesOf([...this.origins.list()], RECORDS_AT_A_TIME)) {
      await uow.write(this.batch.realmId, async (tx) => {
        const known = await knownRecords(tx, this.batch, slice);
        await this.remember(
          tx,
          slice.filter((record) => !isIn(known, record)),
        );
      });
    }
    await this.rememberClaims(uow);
  }

  private async remember(tx: Transaction, records: readonly RecordTarget[]): Promise<void> {
    const created = records.map((record) => {
      return { origin: record.origin, targetId: this.ids.targetOf(record), editedAt: null, reactions: 0 };
    });
    await rememberCreated(tx, this.batch, created);
  }

  /** Adds the keys with which people can claim new placeholders. */
  private async rememberClaims(uow: UnitOfWork): Promise<void> {
    const { realmId } = this.batch;
    for (const slice of slicesOf([...this.origins.claims()], RECORDS_AT_A_TIME)) {
      await uow.write(realmId, async (tx) => {
        for (const { userId, key } of slice) {
          await addPlaceholderKey(tx, { realmId, placeholderId: this.ids.users.get(userId), key });
        }
      });
    }
  }
}

/** Remembers the whole export of a complete import. */
export async function rememberExport(
  tx: Transaction,
  batch: ImportBatch,
  { export: whole }: Pick<ImportOrigins, 'export'>,
): Promise<void> {
  if (whole) await rememberCreated(tx, batch, [{ ...whole, editedAt: null, reactions: 0 }]);
}

/** True if earlier imports remember all people, groups, channels, conversations, emoji and claims. */
export async function areRemembered(uow: UnitOfWork, realmId: RealmId, origins: ImportOrigins): Promise<boolean> {
  const { source } = origins;
  for (const slice of slicesOf([...origins.list()], RECORDS_AT_A_TIME)) {
    const known = await uow.read(realmId, (reads) => knownRecords(reads, { realmId, source }, slice));
    if (!slice.every((record) => isIn(known, record))) return false;
  }
  for (const slice of slicesOf([...origins.claims()], RECORDS_AT_A_TIME)) {
    const isKnown = await uow.read(realmId, async ({ placeholderKeys }) => {
      for (const { key } of slice) if ((await placeholderKeys.findByKey(realmId, key)) === null) return false;
      return true;
    });
    if (!isKnown) return false;
  }
  return true;
}

type KnownRecords = ReadonlyMap<ImportedKind, ReadonlySet<string>>;

const isIn = (known: KnownRecords, { origin }: { readonly origin: RecordOrigin }): boolean =>
  getOrThrow(known, origin.kind).has(origin.recordId);

/** Returns the ids of those records that imports from the source remember, by kind. */
async function knownRecords(
  reads: Repositories | Transaction,
  source: Pick<ImportBatch, 'realmId' | 'source'>,
  records: readonly RecordTarget[],
): Promise<KnownRecords> {
  const known = new Map<ImportedKind, ReadonlySet<string>>();
  for (const kind of new Set(records.map(({ origin }) => origin.kind))) {
    const ids = records.flatMap(({ origin }) => (origin.kind === kind ? origin.recordId : []));
    known.set(kind, new Set((await recordsFrom(reads, source, kind, ids)).map(({ recordId }) => recordId)));
  }
  return known;
}
