import {
  type FileReads,
  type FileTextRepository,
  MAX_READ_ATTEMPTS,
  MAX_READ_BYTES,
  type StoredFile,
} from '@parley/domain/files';
import type { FileId, RealmId } from '@parley/domain/kernel';
import type { SearchedTerm, SearchedWord } from '@parley/domain/markdown';
import type { Statements } from '../engine/statements.js';

/** Maximum number of files considered per word, newest first. */
const MAX_FILES_OF_WORD = 10_000;
/** Highest code point, which ends the range of terms with a common beginning. */
const HIGHEST = '\u{10ffff}';

export class SqlFileTextRepository implements FileTextRepository {
  private readonly anyTerm;
  private readonly withTerms;
  private readonly withBeginning;
  private readonly queue;
  private readonly queueOfRealm;
  private readonly queueAll;
  private readonly countAttempt;
  private readonly dropAttempted;
  private readonly leaveQueue;
  private readonly removeTerms;
  private readonly insertTerms;

  constructor(
    private readonly statements: Statements,
    private readonly files: Pick<FileReads, 'find'>,
  ) {
    const { inSet, elements } = statements.dialect;
    const newest = `ORDER BY file_id DESC LIMIT ${MAX_FILES_OF_WORD}`;
    this.anyTerm = statements.values<1>('SELECT 1 FROM file_term WHERE realm_id = ? LIMIT 1');
    this.withTerms = statements.values<FileId>(
      `SELECT DISTINCT file_id FROM file_term WHERE realm_id = ? AND term ${inSet} ${newest}`,
    );
    this.withBeginning = statements.values<FileId>(
      `SELECT DISTINCT file_id FROM file_term WHERE realm_id = ? AND term >= ? AND term < ? ${newest}`,
    );
    this.queue = statements.tuples<readonly [FileId, RealmId]>(
      'SELECT file_id, realm_id FROM file_to_read WHERE realm_id > ? ORDER BY realm_id, attempts, file_id DESC LIMIT 1',
    );
    const queueFiles = `INSERT INTO file_to_read (file_id, realm_id, attempts)
       SELECT id, realm_id, 0 FROM file WHERE size <= ${MAX_READ_BYTES}`;
    this.queueOfRealm = statements.command(`${queueFiles} AND realm_id = ? ON CONFLICT DO NOTHING`);
    this.queueAll = statements.command(`${queueFiles} ON CONFLICT DO NOTHING`);
    this.countAttempt = statements.command('UPDATE file_to_read SET attempts = attempts + 1 WHERE file_id = ?');
    this.dropAttempted = statements.command(`DELETE FROM file_to_read WHERE attempts >= ${MAX_READ_ATTEMPTS}`);
    this.leaveQueue = statements.command('DELETE FROM file_to_read WHERE file_id = ? AND realm_id = ?');
    this.removeTerms = statements.command(
      `DELETE FROM file_term WHERE realm_id = ? AND file_id = ?
         AND term IN (SELECT term FROM file_term WHERE file_id = ? LIMIT ? + 0)`,
    );
    this.insertTerms = statements.command(
      `INSERT INTO file_term (realm_id, term, file_id)
       SELECT f.realm_id, value, f.id FROM ${elements('text')} CROSS JOIN file f WHERE f.id = ? AND f.realm_id = ?
       ON CONFLICT DO NOTHING`,
    );
  }

  async find(realmId: RealmId, words: readonly SearchedWord[], limit: number): Promise<readonly FileId[]> {
    // Fast path for organizations without indexed files.
    if ((await this.anyTerm.get(realmId)) === undefined) return [];
    const [first, ...others] = await Promise.all(words.flat().map((terms) => this.filesWith(realmId, terms)));
    const common = [...(first ?? [])].filter((id) => others.every((other) => other.has(id)));
    return common.sort((a, b) => b - a).slice(0, limit);
  }

  private async filesWith(realmId: RealmId, alternatives: readonly SearchedTerm[]): Promise<ReadonlySet<FileId>> {
    const terms = alternatives.filter((term) => typeof term === 'string');
    const beginnings = alternatives.flatMap((term) => (typeof term === 'string' ? [] : [term.beginning]));
    const found = await Promise.all([
      this.withTerms.all(realmId, this.statements.dialect.set(terms)),
      ...beginnings.map((beginning) => this.withBeginning.all(realmId, beginning, beginning + HIGHEST)),
    ]);
    return new Set(found.flat());
  }

  async hasQueued(): Promise<boolean> {
    return (await this.queue.get(0)) !== undefined;
  }

  async readAgain(realmId: RealmId | null): Promise<void> {
    if (realmId === null) this.queueAll.defer();
    else this.queueOfRealm.defer(realmId);
  }

  async take(after: RealmId | null): Promise<StoredFile | null> {
    this.dropAttempted.defer();
    const [id, realmId] = (await this.queue.get(after ?? 0)) ?? (await this.queue.get(0)) ?? [];
    if (id === undefined) return null;
    this.countAttempt.defer(id);
    return this.files.find(realmId!, id);
  }

  async add(realmId: RealmId, id: FileId, terms: readonly string[]): Promise<void> {
    if (terms.length > 0) this.insertTerms.defer(this.statements.dialect.set(terms), id, realmId);
  }

  async remove(realmId: RealmId, id: FileId, limit: number): Promise<number> {
    return (await this.removeTerms.run(realmId, id, id, limit)).changes;
  }

  async finish(realmId: RealmId, id: FileId): Promise<void> {
    this.leaveQueue.defer(id, realmId);
  }
}

export const FILE_TEXT_TABLES = `
-- expand: texts in files are found by searches.

-- Search terms of a file's text.
CREATE TABLE file_term (
  realm_id {int} NOT NULL REFERENCES realm (id),
  term {text} NOT NULL,
  file_id {int} NOT NULL REFERENCES file (id) ON DELETE CASCADE,
  PRIMARY KEY (realm_id, term, file_id)
) {withoutRowId};
CREATE INDEX file_term_by_file ON file_term (file_id);
-- Files that are read in the background.
CREATE TABLE file_to_read (
  file_id {int} PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  realm_id {int} NOT NULL REFERENCES realm (id),
  attempts {int} NOT NULL
) {strict};
CREATE INDEX file_to_read_next ON file_to_read (attempts, file_id DESC);
CREATE INDEX file_to_read_by_realm ON file_to_read (realm_id);
INSERT INTO file_to_read (file_id, realm_id, attempts) SELECT id, realm_id, 0 FROM file WHERE size <= ${MAX_READ_BYTES};
`;

const READ_ALL_FILES = `INSERT INTO file_to_read (file_id, realm_id, attempts) SELECT id, realm_id, 0 FROM file WHERE size <= ${MAX_READ_BYTES}
ON CONFLICT (file_id) DO UPDATE SET attempts = 0;
`;

export const READ_FILES_AGAIN = `
-- contract: files get terms for further forms of words in the background.

${READ_ALL_FILES}`;

export const INDEX_WITHOUT_SOFT_HYPHENS = `
-- contract: messages and files get terms of words without their soft hyphens in the background.

UPDATE search_backlog SET unindexed_up_to = (SELECT coalesce(max(id), 0) FROM message) WHERE id = 1;
${READ_ALL_FILES}`;

export const READ_FILES_IN_TURN = `
-- expand: files of each organization are read in turn.

CREATE INDEX file_to_read_in_turn ON file_to_read (realm_id, attempts, file_id DESC);
`;

export const FILE_TEXT_PERSONS = { file_term: { other: ['term'] }, file_to_read: {} };
