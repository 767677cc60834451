import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { FolderBlobStore, S3BlobStore } from '@parley/blobs';
import type { BlobStore } from '@parley/domain/files';
import { type DatabaseHistory, lastOf, type QueueKey, type StorageHistory } from '@parley/domain/kernel';
import { type Logger, warn } from '@parley/http';
import { counted } from '../kernel/counted.js';
import { StartupError } from '../kernel/startup-error.js';
import type { FilesConfiguration } from './files-location.js';
import { type DatabaseIdentity, FilesClaim, nullIfMissing, readObject } from './files-mark.js';

/** Object in the location of files that remembers the history of the database. */
const HISTORY_OBJECT = 'parley-history.json';

/** End of the history of a database, stored outside of it. */
interface Remembered extends Pick<DatabaseHistory, 'messages'> {
  readonly installation: string;
  /** Newest mark. Only this database and its successors have it. */
  readonly mark: string;
}

export interface RememberedDatabase {
  /** Id of the installation. */
  readonly id: string;
  /** Path of a file; null for a database server. */
  readonly path: string | null;
  readonly history: StorageHistory;
}

/** Place outside of a database. */
interface Memory {
  /** Returns null if it is empty. @throws Error if it cannot be reached */
  read(): Promise<Buffer | null>;
  write(bytes: Buffer): Promise<void>;
}

/**
 * Returns the file next to a SQLite database, which stays in place when the database is replaced, and an object in a store
 * that is not that of the host application.
 */
const memoriesOf = (database: string | null, store: BlobStore | null): readonly Memory[] => [
  ...(database === null ? [] : [besideDatabase(`${database}.history`)]),
  ...(store instanceof FolderBlobStore || store instanceof S3BlobStore ? [amongFiles(store)] : []),
];

/** Reads and writes like SQLite on its own files, without yielding to the event loop. */
const besideDatabase = (path: string): Memory => ({
  async read() {
    try {
      return readFileSync(path);
    } catch (error) {
      return nullIfMissing(error);
    }
  },
  write: async (bytes) => writeFileSync(path, bytes, { mode: 0o600 }),
});

const amongFiles = (store: FolderBlobStore | S3BlobStore): Memory => ({
  async read() {
    if (store instanceof S3BlobStore && store.problem !== null) throw new Error(store.problem);
    return readObject(store, HISTORY_OBJECT);
  },
  write: (bytes) => store.putObject(HISTORY_OBJECT, bytes),
});

/**
 * Notices that a database went back without `parley restore`, such as a copied file or a snapshot. Its end is remembered in
 * other places, which are read before and written after the database, so that a crash in between raises no alarm.
 */
export class HistoryMarks {
  private events = 0;
  /** Newest marks of this run, which later ones replace. */
  private renewed: readonly string[] = [];
  private hasGoneBack = false;

  constructor(
    private readonly database: RememberedDatabase,
    private readonly files: BlobStore | null,
    private readonly logger: Logger,
    private readonly claim: Pick<FilesClaim, 'keep' | 'leave'> | null = null,
  ) {}

  /** Adds a mark if anything has changed, so that a copy made in between is recognized. */
  async stop(): Promise<void> {
    try {
      const hasChanged = (await this.database.history.readHistory()).events !== this.events;
      if (hasChanged && (await this.claim?.keep()) !== false) await this.compare('mark');
    } catch (err) {
      warn(this.logger, { err }, NOT_REMEMBERED);
    }
  }

  /** Stores the end with a new mark, unless another database has taken the location of files over with its memory. */
  readonly keep = async (): Promise<void> => {
    if ((await this.claim?.keep()) !== false) await this.compare('end');
  };

  /** Called when a queue proves that the database lacks events. */
  readonly continue = async (lostEvents: number): Promise<readonly QueueKey[]> =>
    this.goOn(await this.database.history.readHistory(), [], lostEvents, 0);

  /**
   * Compares the database with its memories and updates them. A server adds a `mark` at the start, and stores the `end` every
   * minute, also in a bucket that could not be reached before. A command changes nothing.
   * @throws StartupError for a command if the database went back
   */
  async compare(writes: 'nothing' | 'end' | 'mark'): Promise<void> {
    const read = await Promise.all(
      memoriesOf(this.database.path, this.files).map(async (memory) => ({
        memory,
        bytes: await memory.read().catch(() => undefined),
      })),
    );
    const known = read
      .flatMap(({ bytes }) => parse(bytes))
      .filter(({ installation }) => installation === this.database.id);
    const found = await this.database.history.readHistory();
    const hasChanged = found.events !== this.events;
    // A restored database, and one of an older release, has no marks.
    const isOlder = ({ mark, messages }: Remembered) =>
      messages > found.messages || (found.marks.length > 0 && !found.marks.includes(mark));
    this.events = found.events;
    if (known.some(isOlder)) {
      const lost = Math.max(0, ...known.map(({ messages }) => messages - found.messages));
      if (writes === 'nothing')
        throw new StartupError(`The ${describeLoss(lost)}. Start the server first: it lets ids continue higher.`);
      // A copy with the same identity runs as well, because a loss makes its marks known.
      if (writes === 'end' && this.hasGoneBack && this.claim) return this.claim.leave();
      this.hasGoneBack = true;
      const marks = known.map(({ mark }) => mark);
      await this.goOn(found, marks, lost, lost);
    } else if (writes === 'nothing') return;
    else if (writes === 'mark' || found.marks.length === 0) await this.add();
    // A memory must have the newest mark before a mark that it may have is replaced.
    else if (hasChanged && known.length === read.length && known.every(({ mark }) => mark === found.marks.at(-1)))
      await this.add(this.renewed.slice(0, -1));
    const { marks, messages, events } = await this.database.history.readHistory();
    this.events = events;
    if (marks.length === 0) return;
    const end = { installation: this.database.id, mark: lastOf(marks), messages } satisfies Remembered;
    const bytes = Buffer.from(JSON.stringify(end));
    for (const { memory, bytes: former } of read) {
      if (former === undefined || former?.equals(bytes)) continue;
      await memory.write(bytes).catch((err) => warn(this.logger, { err }, NOT_REMEMBERED));
    }
  }

  /** A full disk does not stop the server. The next minute adds a mark. */
  private async add(replaced?: readonly string[]): Promise<void> {
    const mark = newMark();
    try {
      await this.database.history.addMarks([mark], replaced);
      if (replaced) this.renewed = [...this.renewed.slice(-1), mark];
    } catch (err) {
      warn(this.logger, { err }, NOT_REMEMBERED);
    }
  }

  private async goOn(found: DatabaseHistory, marks: readonly string[], lost: number, lostMessages: number) {
    const removed = await this.database.history.continueHistory(found, [...marks, newMark()], lost);
    if (removed === null) return [];
    const text = `the ${describeLoss(lostMessages)}. Ids and event numbers continue higher, and clients register again`;
    warn(this.logger, {}, text);
    return removed;
  }
}

const describeLoss = (messages: number): string =>
  `database is older than before${messages > 0 ? `, and lacks about its last ${counted(messages, 'message')}` : ''}: ` +
  'it was put back without parley restore';

const NOT_REMEMBERED = 'the end of the database cannot be remembered';

const newMark = (): string => randomBytes(8).toString('hex');

/** Returns nothing for a damaged memory. */
function parse(bytes: Buffer | null | undefined): readonly Remembered[] {
  try {
    const remembered = JSON.parse(bytes?.toString() ?? '') as Remembered;
    return Number.isSafeInteger(remembered.messages) ? [remembered] : [];
  } catch {
    return [];
  }
}

export interface OwnDatabase extends RememberedDatabase {
  readonly isNew: boolean;
  readonly identify: () => Promise<DatabaseIdentity>;
}

interface HistoryOptions {
  /** Ports of the host application. */
  readonly ports: { readonly blobs?: BlobStore | undefined };
  readonly adoptsFiles: boolean;
  readonly isOneOff?: boolean | undefined;
  readonly logger: Logger;
}

/** Claims the location of files, and compares the database with what is remembered of it. */
export async function openHistory(
  own: OwnDatabase | null,
  configuration: FilesConfiguration,
  blobs: BlobStore,
  { ports, adoptsFiles, isOneOff, logger }: HistoryOptions,
): Promise<{ readonly marks: HistoryMarks | null; readonly sharesFiles: boolean }> {
  if (!own) return { marks: null, sharesFiles: false };
  const claim = ports.blobs ? null : new FilesClaim(configuration, own.identify, logger);
  const isOwn = (await claim?.start(blobs, { isNew: own.isNew, adopts: adoptsFiles })) ?? true;
  const marks = new HistoryMarks(own, isOwn ? blobs : null, logger, claim);
  await marks.compare(isOneOff && !adoptsFiles ? 'nothing' : 'mark');
  return { marks, sharesFiles: !isOwn };
}

/** Parts of the server. `database`: see `HmacQueueIds`. */
export const historyParts = (marks: HistoryMarks | null, database: string, release: () => Promise<void>) => ({
  ...(marks && { history: { database, continue: marks.continue }, keepHistory: marks.keep }),
  async release() {
    await marks?.stop();
    await release();
  },
});
