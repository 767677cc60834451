import type { Repositories } from '@parley/domain/kernel';
import type { Database, Statement } from 'better-sqlite3';
import type { CreateRepositories } from './feature.js';
import { UnitRunner } from './unit-runner.js';
import { isLockedOut, storageBusy } from './write-failures.js';

/** Few suffice, because units await only the database and rarely overlap. */
const MAX_READERS = 4;

/** Read connection for one unit at a time. */
class Reader {
  private readonly runner: UnitRunner;
  private readonly begin: Statement;
  private readonly commit: Statement;

  constructor(
    readonly database: Database,
    createRepositories: CreateRepositories,
    now: () => number,
  ) {
    this.runner = new UnitRunner(database, createRepositories, now, true);
    this.begin = database.prepare('BEGIN');
    this.commit = database.prepare('COMMIT');
  }

  async run<T>(work: (repositories: Repositories) => Promise<T>, acceptsMissingTerms: boolean): Promise<T> {
    try {
      this.begin.run();
      this.runner.start();
      this.runner.connection.hasTerms = acceptsMissingTerms;
      return await this.runner.run(work);
    } catch (error) {
      throw isLockedOut(error) ? storageBusy() : error;
    } finally {
      this.runner.stop();
      if (this.database.inTransaction) this.commit.run();
    }
  }
}

/** Pool of read-only connections, opened on demand and kept. */
export class ReaderPool {
  private readonly idle: Reader[] = [];
  private readonly all: Reader[] = [];
  private readonly waiting: ((reader: Reader) => void)[] = [];
  private onAllIdle: (() => void) | null = null;

  constructor(
    private readonly openReader: () => Database,
    private readonly createRepositories: CreateRepositories,
    private readonly now: () => number,
  ) {
    // Keeps one connection open at all times, which can still read all data if the files lose their names.
    this.idle.push(this.open());
  }

  /** @throws TermsMissing unless `acceptsMissingTerms` */
  async run<T>(work: (repositories: Repositories) => Promise<T>, acceptsMissingTerms = false): Promise<T> {
    const reader = this.take() ?? (await this.takeNext());
    try {
      return await reader.run(work, acceptsMissingTerms);
    } finally {
      this.giveBack(reader);
    }
  }

  async copyTo(path: string): Promise<void> {
    const reader = this.take() ?? (await this.takeNext());
    try {
      await reader.database.backup(path);
    } finally {
      this.giveBack(reader);
    }
  }

  async close(): Promise<void> {
    if (this.idle.length < this.all.length) {
      await new Promise<void>((resolve) => {
        this.onAllIdle = resolve;
      });
    }
    for (const reader of this.all) reader.database.close();
  }

  private takeNext(): Promise<Reader> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  private take(): Reader | undefined {
    const reader = this.idle.pop();
    return reader || this.all.length >= MAX_READERS ? reader : this.open();
  }

  private open(): Reader {
    const opened = new Reader(this.openReader(), this.createRepositories, this.now);
    this.all.push(opened);
    return opened;
  }

  private giveBack(reader: Reader): void {
    const next = this.waiting.shift();
    if (next) {
      next(reader);
      return;
    }
    this.idle.push(reader);
    if (this.idle.length === this.all.length) this.onAllIdle?.();
  }
}
