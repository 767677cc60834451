import { tmpdir } from 'node:os';
import type { ImportBatchId, RealmId } from '@parley/domain/kernel';
import { isEmailAddress, realmDeactivated } from '@parley/domain/users';
import type { ImportPlan } from '@parley/import-plan';
import { unicodeEmoji } from '@parley/markdown';
import { RealmReader } from '@parley/transfer/exports';
import { ImportPorts, ImportRealm, MergeImport, UndoImport, VerifyImport } from '@parley/transfer/imports';
import type { ImportRecord, LedgerLine, OpenImport } from '@parley/transfer/records';
import type { Resolve } from '../kernel/resolve.js';
import { described, listOf, MAX_IDS, object, optional, refine, valueType } from '../kernel/values.js';
import { type AuditTrail, byApplication } from '../observation/audit-trail.js';
import { argument, FLAG, ID, properties, TEXT } from './argument-types.js';
import { Addresses } from './references.js';

/** History of another chat as import records (docs/import.md). */
export interface RecordsToImport {
  /** Name of the organization. */
  readonly realm: string;
  /** Records of one source, in any order. */
  readonly records: Iterable<ImportRecord> | AsyncIterable<ImportRecord>;
  /** Folder of the files that records refer to by `path`. */
  readonly folder?: string;
}

export interface RecordsToWrite extends RecordsToImport {
  /** Accounts of people in the source. */
  readonly people?: readonly ImportedPerson[];
  /**
   * Identities in the source that claim a placeholder at the first log-in: `email`, a log-in method, `host` (the
   * application's external ids) or `scim`. Default: none.
   */
  readonly claimBy?: readonly string[];
}

export interface ImportedPerson {
  /** Id, user name or email in the source. */
  readonly person: string;
  readonly email: string;
  /** Default: the name in the source. */
  readonly name?: string;
}

/** Outcome of the records. */
export interface ImportReport {
  readonly source: string;
  readonly records: number;
  /** Number of records by kind, outcome and reason. */
  readonly ledger: readonly LedgerLine[];
  readonly accounts: number;
  /** People who cannot log in. */
  readonly placeholders: number;
  readonly channels: number;
  readonly conversations: number;
  readonly messages: number;
  readonly files: number;
  /** The whole report as text. */
  readonly text: string;
}

export interface WrittenImport {
  readonly realm: string;
  /** Number of the import; null if the organization had everything already. */
  readonly id: number | null;
  readonly report: ImportReport;
}

export interface ListedImport {
  readonly id: number;
  readonly source: string;
  /** Unix seconds. */
  readonly startedAt: number;
  readonly status: 'running' | 'complete' | 'undoing' | 'undone';
  readonly messages: number;
}

export interface ImportRef {
  readonly realm: string;
  readonly id: number;
}

export interface VerifiedImport {
  /** Number of records without a difference. */
  readonly unchanged: number;
  readonly differences: readonly {
    readonly kind: string;
    readonly difference: string;
    readonly count: number;
    /** Ids of the first records. */
    readonly examples: readonly string[];
  }[];
  /** People who can read imported conversations now but could not in the source; null for direct conversations. */
  readonly addedReaders: readonly { readonly userId: number; readonly channel: string | null }[];
}

export interface ImportToUndo extends ImportRef {
  /** True to remove messages that people answered, edited, moved or reacted to, too. Default: false. */
  readonly isForced?: boolean;
  /** True to change nothing. Default: false. */
  readonly isDryRun?: boolean;
}

export interface UndoneImport {
  readonly removed: number;
  readonly kept: number;
  /** Kept messages, at most 1000. */
  readonly keptMessages: readonly {
    readonly id: number;
    readonly reason: 'answered' | 'edited' | 'moved' | 'reaction';
  }[];
  readonly archivedChannels: number;
  /** Number of members of earlier imported channels and groups that are put back. */
  readonly memberships: number;
  /** Members that are put back, at most 1000. */
  readonly revertedMemberships: readonly {
    /** Null for groups. */
    readonly channelId: number | null;
    /** Null for channels. */
    readonly groupId: number | null;
    readonly userId: number;
    /** True if the undo makes the user a member again. */
    readonly isMember: boolean;
  }[];
}

/** Imports the history of other chats. */
export interface Imports {
  /** Returns the report of `write` without any change. @throws DomainError INVALID_IMPORT */
  dryRun(records: RecordsToWrite): Promise<ImportReport>;
  /**
   * Creates an organization from records, or adds new ones to an existing organization. A failure leaves no new
   * organization behind. @throws DomainError INVALID_IMPORT, REALM_DEACTIVATED, IMPORT_RUNNING, IMPORT_CANCELLED,
   * UNDO_UNFINISHED
   */
  write(records: RecordsToWrite): Promise<WrittenImport>;
  /** Oldest first. */
  list(realm: string): Promise<readonly ListedImport[]>;
  /** Compares an import with records of the same source. @throws DomainError UNKNOWN_IMPORT, ANOTHER_SOURCE */
  verify(records: RecordsToImport & ImportRef): Promise<VerifiedImport>;
  /** Removes the messages of an import. @throws DomainError UNKNOWN_IMPORT, IMPORT_RUNNING, LATER_IMPORT */
  undo(undone: ImportToUndo): Promise<UndoneImport>;
}

/** Maximum number of people of an import. */
const MAX_PEOPLE = 200_000;
const RECORDS_OF_SOURCE = {
  realm: TEXT,
  records: valueType<RecordsToImport['records']>(
    'an iterable of import records',
    (value) =>
      typeof value === 'object' && value !== null && (Symbol.asyncIterator in value || Symbol.iterator in value),
  ),
  folder: optional(TEXT),
};
const EMAIL = described(
  refine(TEXT, (text) => (isEmailAddress(text) ? undefined : '')),
  'an email address',
);
const PERSON = object({ person: TEXT, email: EMAIL, name: optional(TEXT) });
const RECORDS = object({
  ...RECORDS_OF_SOURCE,
  people: optional(listOf(PERSON, { max: MAX_PEOPLE })),
  claimBy: optional(listOf(TEXT, { max: MAX_IDS })),
});
const VERIFIED = object({ ...RECORDS_OF_SOURCE, id: ID });
const UNDONE = object({ realm: TEXT, id: ID, isForced: optional(FLAG), isDryRun: optional(FLAG) });

/** Plans and runs imports of records. The planner is loaded on the first use. */
class RecordImports implements Imports {
  constructor(
    private readonly resolve: Resolve,
    private readonly ports: ImportPorts,
  ) {}

  async dryRun(records: RecordsToWrite): Promise<ImportReport> {
    return this.withPlan(records, await this.findExisting(records), reportOf);
  }

  async write(records: RecordsToWrite): Promise<WrittenImport> {
    const realmId = await this.findExisting(records);
    return this.withPlan(records, realmId, async (plan) => {
      if (realmId !== null) {
        const { batch } = await this.resolve(MergeImport).execute({ realmId, source: plan.source });
        return { realm: records.realm, id: batch?.id ?? null, report: await reportOf(plan) };
      }
      const { verifyImport } = await import('@parley/import-plan');
      const { realm } = await this.resolve(ImportRealm).execute({
        source: plan.source,
        stringId: records.realm,
        verify: (imported) => verifyImport(plan, imported, this.resolve(RealmReader)),
      });
      const [batch] = await this.batchesOf(realm.id);
      return { realm: realm.stringId, id: batch!.id, report: await reportOf(plan) };
    });
  }

  async list(realm: string): Promise<readonly ListedImport[]> {
    const batches = await this.batchesOf(await this.resolve(Addresses).realmId(realm));
    return batches.map(({ id, source, startedAt, status, messages }) => ({ id, source, startedAt, status, messages }));
  }

  async verify(records: RecordsToImport & ImportRef): Promise<VerifiedImport> {
    properties('The import', VERIFIED, records);
    const { realmId, batchId } = await this.batchAt(records);
    return this.withPlan(records, null, async (plan) => {
      const { addedReaders } = await import('@parley/import-plan');
      const input = { realmId, batchId, records: plan.records };
      const { batchIds, unchanged, differences } = await this.resolve(VerifyImport).execute(input);
      const added = await addedReaders(plan, { realmId, batchIds }, this.ports.uow, this.resolve(RealmReader));
      return { unchanged, differences, addedReaders: added.map(({ userId, channel }) => ({ userId, channel })) };
    });
  }

  async undo(undone: ImportToUndo): Promise<UndoneImport> {
    const { isForced = false, isDryRun = false } = properties('The import', UNDONE, undone);
    return this.resolve(UndoImport).execute({ ...(await this.batchAt(undone)), isForced, isDryRun });
  }

  private batchesOf(realmId: RealmId) {
    return this.ports.uow.read(realmId, ({ importBatches }) => importBatches.list(realmId));
  }

  private async batchAt({ realm, id }: ImportRef) {
    return { realmId: await this.resolve(Addresses).realmId(realm), batchId: argument('id', ID, id) as ImportBatchId };
  }

  /** Returns null if the import creates the organization. @throws DomainError INVALID_ARGUMENT, REALM_DEACTIVATED */
  private async findExisting(records: RecordsToWrite): Promise<RealmId | null> {
    const { realm: stringId } = properties('The import', RECORDS, records);
    const realms = await this.ports.uow.readAcross((reads) => reads.realms.list());
    const realm = realms.find((it) => it.stringId === stringId);
    if (realm?.isDeactivated) throw realmDeactivated();
    return realm?.id ?? null;
  }

  /** `existing`: organization to import into; null for a new one. */
  private async withPlan<T>(
    records: RecordsToWrite,
    existing: RealmId | null,
    use: (plan: ImportPlan) => Promise<T>,
  ): Promise<T> {
    const { realm: stringId, people = [], claimBy = [] } = records;
    const { loadExisting, planImport } = await import('@parley/import-plan');
    const plan = await planImport(await opened(records), {
      stringId,
      realmUrl: this.ports.realmUrls.urlOf({ stringId, isAtServerAddress: false }),
      mappings: people.map(({ person, email, name = null }) => ({ person, email, name })),
      claimBy,
      temporaryFolder: tmpdir(),
      now: this.ports.clock.now(),
      renderer: this.ports.renderer,
      unicodeEmoji,
      ...(existing !== null && {
        loadExisting: (source: string) => loadExisting(existing, source, this.ports.uow, this.resolve(RealmReader)),
      }),
    });
    try {
      return await use(plan);
    } finally {
      plan.close();
    }
  }
}

async function opened({ records, folder }: RecordsToImport): Promise<OpenImport> {
  const { filesIn, NO_FILES } = await import('@parley/import-plan');
  return {
    records: async function* () {
      yield* records;
    },
    ...(folder === undefined ? NO_FILES : filesIn(folder)),
    close: async () => {},
  };
}

async function reportOf({ summary }: ImportPlan): Promise<ImportReport> {
  const { reportLines } = await import('@parley/import-plan');
  const { source, records, ledger, accounts, placeholders, channels, conversations, messages, files } = summary;
  const counts = { source, records, ledger, accounts, placeholders, channels, conversations, messages, files };
  return { ...counts, text: reportLines(summary).join('\n') };
}

export function importsOf(resolve: Resolve, audits: AuditTrail): Imports {
  const imports = new RecordImports(resolve, resolve(ImportPorts));
  return {
    dryRun: (records) => imports.dryRun(records),
    write: (records) => audits.run(byApplication('imports.write'), () => imports.write(records)),
    list: (realm) => imports.list(realm),
    verify: (records) => imports.verify(records),
    undo: (undone) => audits.run(byApplication('imports.undo'), () => imports.undo(undone)),
  };
}
