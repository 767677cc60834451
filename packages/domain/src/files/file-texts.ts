import type { FileId, RealmId } from '../kernel/ids.js';
import type { Repositories, Transaction, UnitOfWork } from '../kernel/unit-of-work.js';
import type { EventLoop } from '../kernel/yielding.js';
import type { SearchedWord, SearchWords } from '../markdown/markdown.js';
import { type BlobStore, readBlob } from './blobs.js';
import { MIB, type StoredFile } from './files.js';

/** Maximum size of a file to read. */
export const MAX_READ_BYTES = 20 * MIB;
/** Maximum number of indexed characters of a file. */
export const MAX_FILE_TEXT = 500_000;
/** Maximum number of indexed terms of a file; a word has one to four. */
export const MAX_FILE_TERMS = 10_000;
/** Maximum length of an indexed term; longer words are data rather than text. */
const MAX_TERM_LENGTH = 100;
/** Number of characters indexed per turn of the event loop. */
const PART = 10_000;
/** Maximum number of terms that a unit of work adds or removes. */
export const TERMS_AT_A_TIME = 2000;
/** Maximum number of attempts, because a file may crash the reading process or the server. */
export const MAX_READ_ATTEMPTS = 2;

/** Reads texts from files. */
export interface FileTextReader {
  /** True for types with text; false for all types if the operator turned reading off. */
  reads(contentType: string): boolean;
  /** Returns the beginning of the text; null for damaged files. @throws DomainError SERVER_BUSY */
  read(bytes: Uint8Array, file: Pick<StoredFile, 'contentType' | 'realmId' | 'ownerId'>): Promise<string | null>;
}

export interface FileTextReads {
  /** Returns at most `limit` files that contain all words, newest first. */
  find(realmId: RealmId, words: readonly SearchedWord[], limit: number): Promise<readonly FileId[]>;
  /** True if files are queued to be read. */
  hasQueued(): Promise<boolean>;
}

/**
 * Search terms of texts in files. New files of at most `MAX_READ_BYTES` are queued to be read. Every implementation
 * passes file-texts.contract.ts.
 */
export interface FileTextRepository extends FileTextReads {
  /** Queues all files of the realm of at most `MAX_READ_BYTES`; null for all realms. */
  readAgain(realmId: RealmId | null): Promise<void>;
  /**
   * Returns the newest file with the fewest attempts in the next realm with queued files, and counts an attempt. The next
   * realm has the lowest id above `after`, or the lowest of all. Null if no file is queued. Files leave the queue after
   * `MAX_READ_ATTEMPTS`.
   */
  take(after: RealmId | null): Promise<StoredFile | null>;
  /** Adds terms to those of a file. Has no effect on missing files. */
  add(realmId: RealmId, id: FileId, terms: readonly string[]): Promise<void>;
  /** Removes at most `limit` terms of a file. Returns the number of removed terms. */
  remove(realmId: RealmId, id: FileId, limit: number): Promise<number>;
  /** Removes a file from the queue. */
  finish(realmId: RealmId, id: FileId): Promise<void>;
}

declare module '../kernel/feature-types.js' {
  interface RepositoryMap {
    fileTexts: [reads: FileTextReads, repository: FileTextRepository];
  }
}

/** Reads queued files one by one, in turn for each organization, so that searches find their texts. */
export class ReadFileTexts {
  static readonly inject = ['unitOfWork', 'blobStore', 'fileTextReader', 'renderedMessages', 'eventLoop'] as const;
  private lastRealmId: RealmId | null = null;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly blobs: BlobStore,
    private readonly reader: FileTextReader,
    private readonly words: SearchWords,
    private readonly eventLoop: EventLoop,
  ) {}

  /** Returns false if no file is queued. @throws DomainError SERVER_BUSY */
  async execute(): Promise<boolean> {
    if (!(await this.uow.readAcross(({ fileTexts }) => fileTexts.hasQueued()))) return false;
    const file = await this.uow.writeAcross(({ fileTexts }) => fileTexts.take(this.lastRealmId));
    if (!file) return false;
    const { realmId, id } = file;
    this.lastRealmId = realmId;
    const languages = await this.uow.read(realmId, (reads) => languagesOf(reads, realmId));
    const terms = this.reader.reads(file.contentType) ? await this.termsOf(file, languages) : [];
    await this.replaceTerms(realmId, id, terms, languages);
    return true;
  }

  /** Replaces the terms in batches. The file remains queued if the search languages have changed since. */
  private async replaceTerms(realmId: RealmId, id: FileId, terms: readonly string[], languages: string): Promise<void> {
    for (let at = 0; at === 0 || at < terms.length; ) {
      const end = at + TERMS_AT_A_TIME;
      const isAdded = await this.uow.write(realmId, async (tx) => {
        const removed = at === 0 ? await tx.fileTexts.remove(realmId, id, TERMS_AT_A_TIME) : 0;
        if (removed === TERMS_AT_A_TIME) return false;
        await tx.fileTexts.add(realmId, id, terms.slice(at, end));
        const isRead = end >= terms.length && (await languagesOf(tx, realmId)) === languages;
        if (isRead) await tx.fileTexts.finish(realmId, id);
        return true;
      });
      if (isAdded) at = end;
    }
  }

  private async termsOf(file: StoredFile, languages: string): Promise<readonly string[]> {
    // The file may have been removed.
    if ((await this.blobs.sizeOf(file.blob)) !== file.size) return [];
    const text = (await this.reader.read(await readBlob(this.blobs, file), file))?.slice(0, MAX_FILE_TEXT);
    if (!text) return [];
    const words = this.words.inLanguages(languages);
    const terms = new Set<string>();
    for (let at = 0; at < text.length && terms.size < MAX_FILE_TERMS; ) {
      const end = endOfPart(text, at);
      for (const term of words.searchTerms(text.slice(at, end))) {
        if (term.length <= MAX_TERM_LENGTH) terms.add(term);
      }
      at = end;
      await this.eventLoop.yield();
    }
    return [...terms].slice(0, MAX_FILE_TERMS);
  }
}

const languagesOf = async ({ realms }: Pick<Repositories | Transaction, 'realms'>, realmId: RealmId): Promise<string> =>
  (await realms.get(realmId)).settings.searchLanguages;

/** Returns the end of the part that begins at `start`, extended to the end of a word. */
function endOfPart(text: string, start: number): number {
  const end = start + PART;
  const restOfWord = text.slice(end, end + MAX_TERM_LENGTH).search(/\s/);
  return restOfWord === -1 ? end : end + restOfWord;
}
