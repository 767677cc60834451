import { UnneededFiles } from '../files/files.use-cases.js';
import type { RealmId } from '../kernel/ids.js';
import type { UnitOfWork } from '../kernel/unit-of-work.js';
import type { PersonalReports } from '../membership/erasures.js';
import { findEndedRun, type ImportRun } from './import-runs.js';

/** Removes the reports of imports, which name people and contain messages. */
export class ImportReports implements PersonalReports {
  static readonly inject = [UnneededFiles] as const;
  constructor(private readonly files: UnneededFiles) {}

  /** Removes the run that `covers` accepts, with its files. Keeps one in progress, and one with an export to import. */
  async remove(uow: UnitOfWork, realmId: RealmId, covers: (run: ImportRun) => boolean = () => true): Promise<void> {
    const run = await uow.read(realmId, (reads) => findEndedRun(reads, realmId));
    if (!run || !covers(run)) return;
    const { id, exportFileId, peopleFileId, reportFileId } = run;
    const files = [exportFileId, peopleFileId, reportFileId].filter((fileId) => fileId !== null);
    await this.files.remove(uow, realmId, files);
    // The run is removed after its files, so that a retry after a crash finds them.
    await uow.write(realmId, (tx) => tx.importRuns.remove(realmId, id));
  }
}
