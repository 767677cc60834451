import type { BlobContent } from '../files/blobs.js';
import { DomainError, declareErrors } from '../kernel/errors.js';
import type { FileId, Id, RealmId, UnixSeconds, UserId } from '../kernel/ids.js';
import { idPayload, jobKind } from '../kernel/jobs.js';
import type { RealmRowReads, RealmRows, RowRules } from '../kernel/rows.js';
import type { Repositories, Transaction } from '../kernel/unit-of-work.js';
import { RENEW_LEASE_MS } from './exports.js';

export type ImportRunId = Id<'importRun'>;

/** Import that an owner requested, from the dry run to its result. An organization has at most one. */
export interface ImportRun {
  readonly id: ImportRunId;
  readonly realmId: RealmId;
  /** Owner who uploaded the files. */
  readonly requesterId: UserId;
  readonly exportFileId: FileId;
  /** CSV file with the accounts of people; null if there is none. */
  readonly peopleFileId: FileId | null;
  /** Identities that claim placeholders, separated by commas; may be empty. */
  readonly claimBy: string;
  /** True to keep public channels public although members who are not in the source can read them. */
  readonly sharesPublic: boolean;
  readonly status: 'checking' | 'checked' | 'importing' | 'imported' | 'failed';
  readonly startedAt: UnixSeconds;
  /** Text of the report; null before the dry run has ended. */
  readonly report: string | null;
  /** HTML page of the report; null if there is none. */
  readonly reportFileId: FileId | null;
  /** Reason for the failure; null without one. */
  readonly problem: string | null;
}

/** Maximum length in UTF-16 units; longer reports and problems are cut. */
export const MAX_IMPORT_REPORT_LENGTH = 200_000;
export const MAX_PROBLEM_LENGTH = 2000;
/** Maximum length in characters. */
export const MAX_CLAIM_BY_LENGTH = 500;

export interface RunPayload extends Readonly<Record<string, number>> {
  readonly runId: ImportRunId;
}

export const RUN_IMPORT = jobKind<RunPayload>({
  name: 'imports.run',
  readPayload: idPayload<RunPayload>('runId'),
  retries: { maxAttempts: 3, firstDelaySeconds: 60, maxDelaySeconds: 3600 },
  leaseSeconds: (4 * RENEW_LEASE_MS) / 1000,
  concurrency: 1,
});

export interface ImportFile {
  readonly name: string;
  readonly content: BlobContent;
}

export interface ImportCommand extends Pick<ImportRun, 'requesterId' | 'claimBy' | 'sharesPublic'> {
  readonly realmId: RealmId;
  readonly stringId: string;
  readonly isDryRun: boolean;
  readonly exported: ImportFile;
  readonly people: ImportFile | null;
}

/** `page`: HTML page of the report; null if it is too large. */
export type ImportOutcome =
  | { readonly problem: string }
  | { readonly problem: null; readonly report: string; readonly page: Uint8Array | null };

/** Plans and writes imports outside of this process, because planning would block the event loop. */
export interface ImportRunner {
  /**
   * Calls `keepGoing` before the command and then about once a second; its error ends the run. Repeating an interrupted import continues it.
   * @throws Error if the run is interrupted
   */
  run(command: ImportCommand, keepGoing: () => Promise<void>): Promise<ImportOutcome>;
}

export const IMPORT_RUN_ROWS: RowRules<ImportRun> = { kind: 'importRun', owner: 'realm', order: ['id'] };

export const IMPORT_RUN_ERRORS = declareErrors({
  /** The application that embeds the server offers no imports, or its operator turned them off; the command line imports. */
  IMPORTS_UNSUPPORTED: 'conflict',
  /** No dry run has succeeded since the upload. */
  IMPORT_NOT_CHECKED: 'conflict',
  /** The import of an uploaded export was interrupted too often. */
  IMPORT_INTERRUPTED: 'conflict',
  /** The list of identities that claim placeholders is malformed. */
  INVALID_CLAIM_BY: 'invalid',
});

type ImportRunErrors = typeof IMPORT_RUN_ERRORS;

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    importRuns: [reads: RealmRowReads<ImportRun>, repository: RealmRows<ImportRun>];
  }
  interface ErrorCodes extends ImportRunErrors {}
}

export const IMPORT_RUN_FEATURE = {
  rows: { importRuns: IMPORT_RUN_ROWS },
  notExported: { importRuns: 'They refer to exports of the original system.' },
};

const isChecked = ({ report, status }: ImportRun): boolean => report !== null && status !== 'imported';

export const isInProgress = ({ status }: ImportRun): boolean => status === 'checking' || status === 'importing';

/** @throws DomainError IMPORT_RUNNING */
export function requireIdle(run: ImportRun | null): void {
  if (run && isInProgress(run)) throw new DomainError('IMPORT_RUNNING', 'An import is already in progress.');
}

/** @throws DomainError IMPORTS_UNSUPPORTED */
export function requireRunner(runner: ImportRunner | null): void {
  if (runner) return;
  throw new DomainError(
    'IMPORTS_UNSUPPORTED',
    'This server cannot import uploaded exports; its operator imports them on the command line.',
  );
}

/** @throws DomainError UNKNOWN_IMPORT */
export function requireRun(run: ImportRun | null): ImportRun {
  if (run) return run;
  throw new DomainError('UNKNOWN_IMPORT', 'There is no export to import; upload one first.');
}

/** @throws DomainError IMPORT_RUNNING, IMPORT_NOT_CHECKED */
export function requireChecked(run: ImportRun): void {
  requireIdle(run);
  if (isChecked(run)) return;
  throw new DomainError('IMPORT_NOT_CHECKED', 'The export must pass a dry run first.');
}

/** @throws DomainError INVALID_CLAIM_BY */
export function requireClaimBy(claimBy: string): void {
  if (claimBy === '' || /^[\w-]+(,[\w-]+)*$/.test(claimBy)) return;
  throw new DomainError('INVALID_CLAIM_BY', 'claim_by must be a list such as email,keycloak.');
}

/** Returns the organization's run, or null. */
export async function findRun(
  { importRuns }: Pick<Repositories | Transaction, 'importRuns'>,
  realmId: RealmId,
): Promise<ImportRun | null> {
  const [run = null] = await importRuns.list(realmId);
  return run;
}

/** Returns the organization's run unless it is in progress or its export waits to be imported. */
export async function findEndedRun(
  reads: Pick<Repositories | Transaction, 'importRuns' | 'files'>,
  realmId: RealmId,
): Promise<ImportRun | null> {
  const run = await findRun(reads, realmId);
  if (!run || isInProgress(run)) return null;
  // Uploaded files are deleted after a week.
  return isChecked(run) && (await reads.files.find(realmId, run.exportFileId)) ? null : run;
}
