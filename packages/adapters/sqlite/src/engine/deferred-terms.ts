import type { Database, Statement } from 'better-sqlite3';

/** Limits of the messages without terms, in number and in characters of HTML. The next commit then adds their terms. */
const MAX_PENDING = { messages: 200, characters: 10_000 } as const;

/** Thrown by a read of the search index if newer messages have no terms. The unit of work adds them and repeats the read. */
export class TermsMissing extends Error {
  constructor() {
    super('The search index lacks newer messages');
    this.name = 'TermsMissing';
  }
}

type PendingMessage = readonly [id: number, length: number];

/** Prepares a statement on first use, since the tables are missing in a database that is being created. */
function once<S extends Statement>(prepare: () => S): () => S {
  let statement: S | undefined;
  return () => {
    statement ??= prepare();
    return statement;
  };
}

/**
 * Search terms of new messages, added in batches: terms of many messages together cost little more than those of one, which
 * cost several times as much as storing a message. `search_backlog.indexed_up_to` is the durable position.
 */
export class DeferredTerms {
  private readonly next: () => Statement<[number], PendingMessage>;
  private readonly add: () => Statement<[number]>;
  private readonly move: () => Statement<[number]>;
  /** Estimates, since units may fail or belong to another process. */
  private pending = { messages: 0, characters: 0 };
  private isRequested = false;

  constructor(database: Database) {
    this.next = once(() =>
      database
        .prepare<[number], PendingMessage>(
          `SELECT id, length(rendered_content) FROM message
           WHERE id > (SELECT indexed_up_to FROM search_backlog WHERE id = 1) ORDER BY id LIMIT ? + 0`,
        )
        .raw(),
    );
    // Restored, edited and imported messages have terms already.
    this.add = once(() =>
      database.prepare<[number]>(
        `INSERT INTO message_search (rowid, terms)
         SELECT m.id,
                message_terms(r.settings, m.realm_id, m.sender_id, m.recipient_id, m.topic_key, m.topic, m.rendered_content)
         FROM message m CROSS JOIN realm r ON r.id = m.realm_id
         WHERE m.id > (SELECT indexed_up_to FROM search_backlog WHERE id = 1) AND m.id <= ?
           AND NOT EXISTS (SELECT 1 FROM message_search_docsize known WHERE known.id = m.id)`,
      ),
    );
    this.move = once(() => database.prepare<[number]>('UPDATE search_backlog SET indexed_up_to = ? WHERE id = 1'));
  }

  /** Called for each new message. */
  note(renderedContent: string): void {
    this.pending.messages++;
    this.pending.characters += renderedContent.length;
  }

  /** Makes the next batch add terms. */
  request(): void {
    this.isRequested = true;
  }

  /** True if messages may lack terms. */
  get isPending(): boolean {
    return this.isRequested || this.pending.messages > 0;
  }

  /** True if the current batch must add terms. */
  get isDue(): boolean {
    const { messages, characters } = this.pending;
    return this.isRequested || messages >= MAX_PENDING.messages || characters >= MAX_PENDING.characters;
  }

  /** True if a message in the current snapshot lacks its terms. */
  areMissing(): boolean {
    return this.next().get(1) !== undefined;
  }

  /** Adds the terms of the next messages, at least one of any length. More are due if other messages lack theirs. */
  addSome(): void {
    const messages = this.next().all(MAX_PENDING.messages);
    let characters = 0;
    const some = messages.filter(([, length], index) => {
      characters += length;
      return index === 0 || characters <= MAX_PENDING.characters;
    });
    this.pending = { messages: 0, characters: 0 };
    this.isRequested = some.length < messages.length || messages.length === MAX_PENDING.messages;
    const last = some.at(-1)?.[0];
    if (last === undefined) return;
    this.add().run(last);
    this.move().run(last);
  }

  /** Adds all missing terms. */
  addAll(): void {
    do this.addSome();
    while (this.isRequested);
  }
}
