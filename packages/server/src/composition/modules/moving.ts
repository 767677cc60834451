import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ExportLimits,
  type ImportRunner,
  MAX_EXPORTED_BYTES,
  MAX_EXPORTED_MESSAGES,
} from '@parley/domain/exports';
import { FileErasureLedger } from '../../backup/erasure-ledger.js';
import { FolderArchiveWriter } from '../../exports/write-exports.js';
import { Adapter } from '../adapter.js';

export interface MovingOptions {
  /** Folder for temporary files of exports; default: the system's temporary folder. */
  readonly exportsFolder?: string;
  /** Runs imports of uploaded exports; null if only the command line imports. Default: null. */
  readonly importRunner?: ImportRunner | null;
  /** Limits for exports requested by administrators that replace the defaults. */
  readonly exportLimits?: Partial<ExportLimits>;
  /** Path of the ledger of erasures; default: none. */
  readonly erasureLedgerPath?: string;
  /** Email sender and contact address for administrators; null if none is configured. */
  readonly mailFrom?: string | null;
}

/** Exports and imports of organizations. */
export const moving = ({
  exportsFolder,
  importRunner = null,
  exportLimits,
  erasureLedgerPath,
  mailFrom,
}: MovingOptions) =>
  new Adapter({
    archiveWriter: () => new FolderArchiveWriter(exportsFolder ?? join(tmpdir(), `parley-exports-${randomUUID()}`)),
    exportLimits: () => ({
      operator: mailFrom ?? 'the operator of this server',
      maxMessages: MAX_EXPORTED_MESSAGES,
      maxBytes: MAX_EXPORTED_BYTES,
      ...exportLimits,
    }),
    importRunner: () => importRunner,
    erasureLedger: () =>
      erasureLedgerPath === undefined ? { add: async () => {} } : new FileErasureLedger(erasureLedgerPath),
  });
