import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Result of `parley backup`, which runs in another process than the server. */
export interface LastBackup {
  /** Start of the newest complete backup, in Unix seconds; 0 if there is none. */
  readonly completeAt: number;
  /** True if the last attempt failed or lacks files. */
  readonly hasFailed: boolean;
}

const pathFor = (database: string): string => `${database}.last-backup`;

/** Returns null before the first backup, and if the file cannot be read. */
export function readLastBackup(database: string): LastBackup | null {
  try {
    return JSON.parse(readFileSync(pathFor(database), 'utf8')) as LastBackup;
  } catch {
    return null;
  }
}

/** Records the start of a complete backup, or null for a failed attempt, in a file next to the database. */
export function recordBackup(database: string, takenAt: Date | null): void {
  const completeAt = takenAt ? Math.floor(takenAt.getTime() / 1000) : (readLastBackup(database)?.completeAt ?? 0);
  const record: LastBackup = { completeAt, hasFailed: takenAt === null };
  const unfinished = `${pathFor(database)}.${process.pid}`;
  try {
    writeFileSync(unfinished, `${JSON.stringify(record)}\n`);
    renameSync(unfinished, pathFor(database));
  } finally {
    rmSync(unfinished, { force: true });
  }
}
